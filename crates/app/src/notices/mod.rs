//! Mail notifications: at once for assignments and automations, in one digest a day for due tasks.

pub(crate) mod digests;
pub(crate) mod mail_templates;

use std::collections::BTreeMap;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::date::Date;
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::members::Person;
use attestry_domain::identity::notices::{Notice, Notices, NoticesPatch};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::users::User;
use attestry_domain::registers::Register;
use attestry_domain::tasks::Task;
use attestry_domain::text::Parse;
use attestry_storage::members::Membership;
use attestry_storage::notices::{self, DueTask};
use attestry_storage::{members, organizations, users};
use serde::{Deserialize, Serialize};

use crate::boxed;
use crate::core::change::{Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::identity::sessions;
use crate::notices::mail_templates::MailSection;

/// Days that a digest looks ahead.
const DIGEST_DAYS_AHEAD: i64 = 7;
/// The local hour from which digests are sent.
const HOUR: u8 = 8;
const PURPOSE: &str = "unsubscribe";

/// Notifies each of these members once, except the caller.
pub(crate) fn tell_others(
    c: &Change<'_>,
    whom: impl IntoIterator<Item = MemberId>,
    notice: Notice,
    line: &str,
) {
    let mut told = Vec::new();
    for member in whom {
        if Some(member) != c.scope.member() && !told.contains(&member) {
            c.notify(Notification { member, notice, line: line.to_owned() });
            told.push(member);
        }
    }
}

/// Sends the notifications of a change: one mail for each member and kind.
pub(crate) async fn tell(c: &Change<'_>, happened: Vec<Notification>) -> Result<(), Error> {
    let mut by_member: BTreeMap<(MemberId, Notice), Vec<String>> = BTreeMap::new();
    for Notification { member, notice, line } in happened {
        by_member.entry((member, notice)).or_default().push(line);
    }
    for ((member, notice), lines) in by_member {
        let subject = match (notice, lines.as_slice()) {
            (Notice::Assigned, [one]) => format!("Assigned to you: {one}"),
            (Notice::Assigned, many) => format!("{} things were assigned to you", many.len()),
            (Notice::Overdue, [one]) => format!("Overdue: {one}"),
            (Notice::Overdue, many) => format!("{} things of yours are overdue", many.len()),
            (_, [one, ..]) => one.clone(),
            (_, []) => continue,
        };
        let opening = match notice {
            Notice::Assigned => "This was assigned to you",
            Notice::Policies => "A policy or a statement needs you, or has changed",
            Notice::Mentioned => "Somebody mentioned you in a comment",
            Notice::Overdue => "You are asked to look at what is overdue",
            Notice::Portal => "The trust portal needs your attention, or has changed",
            _ => "This happened to an automation of yours",
        };
        let told = vec![MailSection { heading: opening.to_owned(), lines }];
        if let Some((user, wanted)) = recipient(c, member).await?
            && wanted.wants(notice)
        {
            send(c, &user, &[notice], &subject, told).await?;
        }
    }
    Ok(())
}

/// An active member's user and notification settings.
async fn recipient(c: &Change<'_>, member: MemberId) -> Result<Option<(User, Notices)>, Error> {
    let person = members::get(c.t, c.scope, member).await?.filter(|person| person.member.is_active);
    let Some(Person { user, .. }) = person else { return Ok(None) };
    Ok(notices::get(c.t, user.id).await?.map(|wanted| (user, wanted)))
}

/// Sends a mail with a link to unsubscribe.
async fn send(
    c: &Change<'_>,
    to: &User,
    kinds: &[Notice],
    subject: &str,
    told: Vec<MailSection>,
) -> Result<(), Error> {
    let Some(organization) = organizations::get(c.t, c.scope).await? else { return Ok(()) };
    let link = unsubscribe_link(c.ctx, to.id, kinds)?;
    c.enqueue(&Mail(mail_templates::notice(c.ctx, to, &organization.name, subject, told, &link))).await
}

/// Sends the digests of an organization, unless it had those of `today` already.
pub(crate) async fn digest(ctx: &Ctx, organization: OrganizationId, today: Date) -> Result<(), Error> {
    let scope = Scope::system(organization, "digest");
    ctx.change(&scope, async move |c| {
        if !notices::begin_digest(c.t, c.scope, today).await? {
            return Ok(());
        }
        let mut by_member: BTreeMap<MemberId, Vec<DueTask>> = BTreeMap::new();
        for task in notices::due(c.t, c.scope, today.plus_days(DIGEST_DAYS_AHEAD)).await? {
            by_member.entry(task.assignee).or_default().push(task);
        }
        for (member, tasks) in by_member {
            let Some((user, wanted)) = recipient(c, member).await? else { continue };
            let lines = |is_late: bool| -> Vec<String> {
                let of = tasks.iter().filter(|task| (task.due < today) == is_late);
                of.map(|task| {
                    format!("{}-{} {} (due {})", Task::REFERENCE, task.number, task.title, task.due)
                })
                .collect()
            };
            let told: Vec<MailSection> = [
                (wanted.overdue, "Overdue", lines(true)),
                (wanted.due_soon, "Due within seven days", lines(false)),
            ]
            .into_iter()
            .filter(|(is_wanted, _, lines)| *is_wanted && !lines.is_empty())
            .map(|(_, heading, lines)| MailSection { heading: heading.to_owned(), lines })
            .collect();
            if !told.is_empty() {
                let count: usize = told.iter().map(|told| told.lines.len()).sum();
                let subject = if count == 1 {
                    "1 task is due or overdue".to_owned()
                } else {
                    format!("{count} tasks are due or overdue")
                };
                send(c, &user, &[Notice::Overdue, Notice::DueSoon], &subject, told).await?;
            }
        }
        Ok(())
    })
    .await
}

/// The organizations whose digests are due, with their local date.
pub(crate) async fn due_digests(ctx: &Ctx) -> Result<Vec<(OrganizationId, Date)>, Error> {
    let now = ctx.now();
    let all = ctx.db.read(async |t| notices::organizations(t).await).await?;
    let is_due = |(organization, zone, sent): (OrganizationId, attestry_domain::Zone, Option<Date>)| {
        let today = zone.date_of(now);
        let is_time = zone.hour_of(now) >= HOUR && sent.is_none_or(|sent| sent < today);
        is_time.then_some((organization, today))
    };
    Ok(all.into_iter().filter_map(is_due).collect())
}

/// The payload of an unsubscribe link.
#[derive(Serialize, Deserialize)]
struct Unsubscription {
    user: UserId,
    kinds: Vec<String>,
}

fn unsubscribe_link(ctx: &Ctx, user: UserId, kinds: &[Notice]) -> Result<String, Error> {
    let kinds = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    let token = ctx.keys.ticket(PURPOSE, &Unsubscription { user, kinds })?;
    Ok(ctx.link(&format!("/unsubscribe?token={token}")))
}

/// The notification settings of a user.
#[boxed]
pub async fn get(ctx: &Ctx, user: UserId) -> Result<Notices, Error> {
    let found = ctx.db.read(async move |t| notices::get(t, user).await).await?;
    found.ok_or(Error::NotFound("user"))
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    session: &Session,
    patch: NoticesPatch,
    origin: Origin,
) -> Result<Notices, Error> {
    let (session, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        let user = users::get(a.t, session.user_id).await?.ok_or(Error::NotFound("user"))?;
        let before = notices::get(a.t, user.id).await?.ok_or(Error::NotFound("user"))?;
        let after = before.patched(patch);
        if after != before {
            notices::set(a.t, user.id, after).await?;
            let scope = |membership: &Membership| sessions::own_scope(membership, &user, session.id, &from);
            a.record_everywhere(scope, CHANGED, "user-notifications", user.id, Some(&after)).await?;
        }
        Ok(after)
    })
    .await
}

const CHANGED: &str = "user.notifications_changed";

/// Switches off the notifications that an unsubscribe link names.
#[boxed]
pub async fn unsubscribe(ctx: &Ctx, token: &str, origin: Origin) -> Result<Notices, Error> {
    let wrong = || Error::Gone {
        code: "link_expired",
        message: "This link is damaged. Use the one in the mail, or sign in and change your notifications.",
    };
    let Unsubscription { user, kinds } = ctx.keys.read_ticket(PURPOSE, token).ok_or_else(wrong)?;
    let kinds: Vec<Notice> = kinds.iter().filter_map(|kind| Notice::parse(kind).ok()).collect();
    let from = origin.clone();
    ctx.change_account(user, &origin, async move |a| {
        let before = notices::get(a.t, user).await?.ok_or_else(wrong)?;
        let after = before.without(&kinds);
        if after != before {
            notices::set(a.t, user, after).await?;
            let scope =
                |membership: &Membership| Scope::visitor(membership.organization, Some(user), from.clone());
            a.record_everywhere(scope, CHANGED, "user-notifications", user, Some(&after)).await?;
        }
        Ok(after)
    })
    .await
}
