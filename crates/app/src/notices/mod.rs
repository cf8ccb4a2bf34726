//! Notifications, by mail, in the inbox and to chat channels: at once for what happens, in one digest a day for what is
//! due.

pub mod chat;
pub(crate) mod digests;
pub mod inbox;
pub(crate) mod mail_templates;

use std::collections::BTreeMap;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::date::Date;
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::members::Person;
use attestry_domain::identity::notices::{Notice, Notices, NoticesPatch};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::users::User;
use attestry_domain::registers::Register;
use attestry_domain::registers::risks::Risk;
use attestry_domain::tasks::Task;
use attestry_domain::text::Parse;
use attestry_storage::members::Membership;
use attestry_storage::notices;
use attestry_storage::{members, organizations, users};
use serde::{Deserialize, Serialize};

use crate::boxed;
use crate::core::change::{Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::identity::confirmation::own_scope;
use crate::notices::inbox::NewItem;
use crate::notices::mail_templates::MailSection;

/// Days that a digest looks ahead for tasks.
const DIGEST_DAYS_AHEAD: i64 = 7;
/// Days that a digest looks ahead for acceptances of risks.
const ACCEPTANCE_DAYS_AHEAD: i64 = 14;
/// The local hour from which digests are sent.
const HOUR: u8 = 8;
const PURPOSE: &str = "unsubscribe";

/// Notifies each of these members once, except the caller.
pub(crate) fn tell_others(
    c: &Change<'_>,
    whom: impl IntoIterator<Item = MemberId>,
    notice: Notice,
    about: &About,
    line: &str,
    quote: Option<&str>,
) {
    let mut told = Vec::new();
    for member in whom {
        if Some(member) != c.scope.member() && !told.contains(&member) {
            let (about, line, quote) = (about.clone(), line.to_owned(), quote.map(str::to_owned));
            c.notify(Notification { member, notice, about, line, quote, occasion: None });
            told.push(member);
        }
    }
}

/// The maximum number of notifications that a mail names.
const MAX_LINES: usize = 30;

/// The subject of a mail, or the text of an inbox item, about several notifications of a kind. It names no record,
/// because not everybody who may read the item may see each of them.
fn summary(notice: Notice, count: usize) -> String {
    match notice {
        Notice::Assigned => format!("{count} things were assigned to you"),
        Notice::Overdue => format!("{count} things of yours are overdue"),
        Notice::DueSoon => format!("{count} things of yours are due soon"),
        Notice::Automations => format!("{count} messages from your automations"),
        Notice::Policies => format!("{count} policies or statements need you, or have changed"),
        Notice::Portal => format!("{count} messages from the trust portal"),
        Notice::Mentioned => format!("{count} comments mention you"),
    }
}

/// Sends the notifications of a change: to the inbox of each member, in one mail for each member and kind, and to the
/// chat channels.
pub(crate) async fn tell(c: &Change<'_>, happened: Vec<Notification>) -> Result<(), Error> {
    let mut by_member: BTreeMap<(MemberId, Notice), Vec<Notification>> = BTreeMap::new();
    for notification in happened {
        by_member.entry((notification.member, notification.notice)).or_default().push(notification);
    }
    let mut heard = chat::Heard::new();
    for ((member, notice), mut told) in by_member {
        let person = members::get(c.t, c.scope, member).await?.filter(|person| person.member.is_active);
        let Some(person) = person else { continue };
        told.retain(|one| inbox::may_hear(&person, notice, &one.about));
        let Person { user, .. } = person;
        if told.is_empty() {
            continue;
        }
        for one in &told {
            let people = heard.entry(notice).or_default().entry(one.line.clone()).or_default();
            // These concern the whole channel, not one person.
            if !matches!(notice, Notice::Portal | Notice::Automations) {
                people.push(user.name.clone());
            }
        }
        if told.len() > inbox::MAX_ITEMS {
            let text = summary(notice, told.len());
            inbox::deliver(c, member, NewItem { kind: notice, text, about: None, occasion: None }).await?;
        } else {
            for Notification { about, line, occasion, .. } in &told {
                let (text, about, occasion) = (line.clone(), Some(about.clone()), occasion.clone());
                inbox::deliver(c, member, NewItem { kind: notice, text, about, occasion }).await?;
            }
        }
        if notices::get(c.t, user.id).await?.is_some_and(|wanted| wanted.wants(notice)) {
            mail(c, &user, notice, &told).await?;
        }
    }
    chat::tell(c, heard).await
}

/// Sends one mail about notifications of one kind.
async fn mail(c: &Change<'_>, to: &User, notice: Notice, told: &[Notification]) -> Result<(), Error> {
    let [first, ..] = told else { return Ok(()) };
    let subject = match (notice, told.len()) {
        (Notice::Assigned, 1) => format!("Assigned to you: {}", first.line),
        (Notice::Overdue, 1) => format!("Overdue: {}", first.line),
        (Notice::Assigned | Notice::Overdue, count) => summary(notice, count),
        _ => first.line.clone(),
    };
    let heading = match notice {
        Notice::Assigned => "This was assigned to you",
        Notice::Policies => "A policy or a statement needs you, or has changed",
        Notice::Mentioned => "You were mentioned in a comment",
        Notice::Overdue => "You are asked to look at what is overdue",
        Notice::Portal => "The trust portal needs your attention, or has changed",
        _ => "This happened to an automation of yours",
    };
    let lines = told.iter().take(MAX_LINES).flat_map(|one| [Some(&one.line), one.quote.as_ref()]);
    let mut lines: Vec<String> = lines.flatten().cloned().collect();
    if told.len() > MAX_LINES {
        lines.push(format!("and {} more", told.len() - MAX_LINES));
    }
    send(c, to, &[notice], &subject, vec![MailSection { heading: heading.to_owned(), lines }]).await
}

/// An active member with their notification settings.
async fn recipient(c: &Change<'_>, member: MemberId) -> Result<Option<(Person, Notices)>, Error> {
    let person = members::get(c.t, c.scope, member).await?.filter(|person| person.member.is_active);
    let Some(person) = person else { return Ok(None) };
    Ok(notices::get(c.t, person.user.id).await?.map(|wanted| (person, wanted)))
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

/// A line of a digest.
struct DueLine {
    about: About,
    text: String,
    due: Date,
    is_late: bool,
}

impl DueLine {
    fn kind(&self) -> Notice {
        if self.is_late { Notice::Overdue } else { Notice::DueSoon }
    }
}

/// What is due in an organization, by the member who is responsible.
async fn due_lines(c: &Change<'_>, today: Date) -> Result<BTreeMap<MemberId, Vec<DueLine>>, Error> {
    let mut by_member: BTreeMap<MemberId, Vec<DueLine>> = BTreeMap::new();
    for task in notices::due_tasks(c.t, c.scope, today.plus_days(DIGEST_DAYS_AHEAD)).await? {
        by_member.entry(task.assignee).or_default().push(DueLine {
            about: About::new(Task::ENTITY, &task.id),
            text: format!("{}-{} {} (due {})", Task::REFERENCE, task.number, task.title, task.due),
            due: task.due,
            is_late: task.due < today,
        });
    }
    for risk in notices::ending_acceptances(c.t, c.scope, today.plus_days(ACCEPTANCE_DAYS_AHEAD)).await? {
        let is_late = risk.due < today;
        let verb = if is_late { "ended" } else { "ends" };
        by_member.entry(risk.assignee).or_default().push(DueLine {
            about: About::new(Risk::ENTITY, &risk.id),
            text: format!(
                "{}-{} {} (its acceptance {verb} on {})",
                Risk::REFERENCE,
                risk.number,
                risk.title,
                risk.due
            ),
            due: risk.due,
            is_late,
        });
    }
    Ok(by_member)
}

/// Sends the digests of an organization, unless it had those of `today` already.
pub(crate) async fn digest(ctx: &Ctx, organization: OrganizationId, today: Date) -> Result<(), Error> {
    let scope = Scope::system(organization, "digest");
    ctx.change(&scope, async move |c| {
        if !notices::begin_digest(c.t, c.scope, today).await? {
            return Ok(());
        }
        let mut heard = chat::Heard::new();
        for (member, mut due) in due_lines(c, today).await? {
            let Some((person, wanted)) = recipient(c, member).await? else { continue };
            due.retain(|line| inbox::may_hear(&person, line.kind(), &line.about));
            let user = person.user;
            for kind in [Notice::Overdue, Notice::DueSoon] {
                let count = due.iter().filter(|line| line.kind() == kind).count();
                if count > inbox::MAX_ITEMS {
                    let (text, occasion) = (summary(kind, count), None);
                    inbox::deliver(c, member, NewItem { kind, text, about: None, occasion }).await?;
                    continue;
                }
                for line in due.iter().filter(|line| line.kind() == kind) {
                    let occasion = Some(format!("{kind} {}", line.due));
                    let (text, about) = (line.text.clone(), Some(line.about.clone()));
                    inbox::deliver(c, member, NewItem { kind, text, about, occasion }).await?;
                }
            }
            for line in &due {
                let kind = line.kind();
                heard.entry(kind).or_default().entry(line.text.clone()).or_default().push(user.name.clone());
            }
            let lines = |is_late: bool| -> Vec<String> {
                due.iter().filter(|line| line.is_late == is_late).map(|line| line.text.clone()).collect()
            };
            let told: Vec<MailSection> =
                [(wanted.overdue, "Overdue", lines(true)), (wanted.due_soon, "Due soon", lines(false))]
                    .into_iter()
                    .filter(|(is_wanted, _, lines)| *is_wanted && !lines.is_empty())
                    .map(|(_, heading, lines)| MailSection { heading: heading.to_owned(), lines })
                    .collect();
            if !told.is_empty() {
                let count: usize = told.iter().map(|told| told.lines.len()).sum();
                let subject = if count == 1 {
                    "1 thing is due or overdue".to_owned()
                } else {
                    format!("{count} things are due or overdue")
                };
                send(c, &user, &[Notice::Overdue, Notice::DueSoon], &subject, told).await?;
            }
        }
        chat::tell(c, heard).await
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
            let scope = |membership: &Membership| own_scope(membership, &user, session.id, &from);
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
