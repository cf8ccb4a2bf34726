//! Reminds owners of what is late.

use std::collections::{BTreeSet, HashSet};

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::programme::progress::{Item, ItemState};
use attestry_storage::{inbox, programmes};

use super::{ENTITY, MISSING, status};
use crate::boxed;
use crate::core::change::Notification;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The result of a reminder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reminded {
    /// The late items with an owner.
    pub items: usize,
    /// Their owners. Each gets one mail, unless they switched such mails off.
    pub members: usize,
}

/// Sends one mail to each owner of late items: of those that are named, or of all. Items that are not late are left
/// out, and so are those of which their owner was reminded today.
#[boxed]
pub async fn remind(ctx: &Ctx, scope: &Scope, named: Option<Vec<String>>) -> Result<Reminded, Error> {
    let found = status(ctx, scope).await?;
    let today = found.today;
    let all = found.progress.weeks.into_iter().flat_map(|week| week.items);
    let is_late = |item: &Item| {
        item.state(today) == ItemState::Late && named.as_ref().is_none_or(|named| named.contains(&item.id))
    };
    let late: Vec<(MemberId, About, String)> =
        all.filter(is_late).filter_map(|item| Some((item.assignee?, about(&item), line(&item)))).collect();
    let occasion = format!("reminded {today}");
    ctx.change(scope, async move |c| {
        let programme = programmes::get(c.t, c.scope).await?.ok_or(MISSING)?;
        let members: BTreeSet<MemberId> = late.iter().map(|(member, ..)| *member).collect();
        let mut known: HashSet<(MemberId, String)> = HashSet::new();
        for member in members {
            let records = inbox::reminded(c.t, c.scope, member, &occasion).await?;
            known.extend(records.into_iter().map(|record| (member, record)));
        }
        let is_new = |(member, about, _): &&(MemberId, About, String)| {
            !known.contains(&(*member, about.entity_id.clone()))
        };
        let late: Vec<&(MemberId, About, String)> = late.iter().filter(is_new).collect();
        let members: BTreeSet<MemberId> = late.iter().map(|(member, ..)| *member).collect();
        let reminded = Reminded { items: late.len(), members: members.len() };
        for (member, about, line) in &late {
            c.notify(Notification {
                member: *member,
                notice: Notice::Overdue,
                about: about.clone(),
                line: line.clone(),
                quote: None,
                occasion: Some(occasion.clone()),
            });
        }
        if !late.is_empty() {
            c.record("programme.reminded", ENTITY, programme.id, &programme)?;
        }
        Ok(reminded)
    })
    .await
}

fn about(item: &Item) -> About {
    About::new(item.kind.as_str(), &item.id)
}

fn line(item: &Item) -> String {
    let due = item.due.map_or_else(String::new, |due| format!(", due {due}"));
    format!("{} {}{due}", item.reference, item.title)
}
