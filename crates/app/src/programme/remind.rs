//! Reminds owners of what is late.

use std::collections::BTreeSet;

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::programme::progress::{Item, ItemState};
use attestry_storage::programmes;

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
/// out.
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
    let members: BTreeSet<MemberId> = late.iter().map(|(member, ..)| *member).collect();
    let reminded = Reminded { items: late.len(), members: members.len() };
    if late.is_empty() {
        return Ok(reminded);
    }
    ctx.change(scope, async move |c| {
        let programme = programmes::get(c.t, c.scope).await?.ok_or(MISSING)?;
        for (member, about, line) in late.clone() {
            c.notify(Notification { member, notice: Notice::Overdue, about, line, quote: None });
        }
        c.record("programme.reminded", ENTITY, programme.id, &programme)?;
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
