//! The inboxes of members: delivering notifications to them, and reading them.

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_domain::identity::inbox::{About, InboxFilter, InboxItem, Marked};
use attestry_domain::identity::members::Person;
use attestry_domain::identity::notices::Notice;
use attestry_domain::journal::feed::{self, Reach, VISIBILITY_RULES};
use attestry_domain::page::{After, Page};
use attestry_domain::policies::Policy;
use attestry_domain::registers::Register;
use attestry_domain::tasks::Task;
use attestry_storage::inbox::{self, Reader};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The maximum number of items that one change delivers of a kind; more become one item.
pub(crate) const MAX_ITEMS: usize = 10;

/// A notification for an inbox.
#[derive(Clone, Debug)]
pub(crate) struct NewItem {
    pub(crate) kind: Notice,
    pub(crate) text: String,
    pub(crate) about: Option<About>,
    /// Identifies an item that must not be repeated.
    pub(crate) occasion: Option<String>,
}

/// Delivers a notification to the inbox of a member.
pub(crate) async fn deliver(c: &Change<'_>, member: MemberId, new: NewItem) -> Result<(), Error> {
    let NewItem { kind, text, about, occasion } = new;
    let item = InboxItem {
        id: c.next_id(),
        member_id: member,
        kind,
        text,
        about,
        actor_id: c.scope.member(),
        created_at: c.now,
        read_at: None,
    };
    Ok(inbox::insert(c.t, c.scope, &item, occasion.as_deref()).await?)
}

/// A page of the caller's inbox, with the number of all unread items. Without a member it is empty.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: InboxFilter,
    limit: u16,
    after: Option<After>,
) -> Result<(Page<InboxItem>, i64), Error> {
    let Some(reader) = reader(scope) else { return Ok((Page::empty(), 0)) };
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let page = inbox::list(t, &own, &reader, filter, limit, after.as_ref()).await?;
        Ok::<_, Error>((page, inbox::unread(t, &own, &reader).await?))
    });
    found.await
}

/// Marks items of the caller's inbox as read or unread; returns the number of unread ones. It is not recorded in the
/// journal: reading is private.
#[boxed]
pub async fn mark(ctx: &Ctx, scope: &Scope, marked: Marked, is_read: bool) -> Result<i64, Error> {
    let Some(reader) = reader(scope) else { return Ok(0) };
    ctx.change(scope, async move |c| {
        let member = reader.member;
        let read_at = is_read.then_some(c.now);
        match &marked {
            Marked::UpTo(last) => inbox::mark_up_to(c.t, c.scope, member, *last, read_at).await?,
            Marked::Some(ids) => {
                for id in ids {
                    inbox::mark(c.t, c.scope, member, *id, read_at).await?;
                }
            }
        }
        Ok(inbox::unread(c.t, c.scope, &reader).await?)
    })
    .await
}

/// Deletes the items about a deleted record.
pub(crate) async fn remove_all(c: &Change<'_>, record: &str) -> Result<(), Error> {
    Ok(inbox::delete_of_entity(c.t, c.scope, record).await?)
}

/// The kinds of records in the journal, each once.
fn kinds() -> impl Iterator<Item = &'static str> {
    let mut kinds: Vec<&str> = VISIBILITY_RULES.iter().map(|(kind, ..)| *kind).collect();
    kinds.dedup();
    kinds.into_iter()
}

/// The caller as the reader of their own inbox; `None` if the caller is no member.
fn reader(scope: &Scope) -> Option<Reader> {
    let permissions = scope.permissions();
    let visible: Vec<&str> = kinds().filter(|kind| feed::reach(kind, permissions).is_some()).collect();
    Some(Reader {
        member: scope.member()?,
        kinds: format!(",{},", visible.join(",")),
        only_assigned_tasks: feed::reach(Task::ENTITY, permissions) != Some(Reach::All),
        only_published_policies: feed::reach(Policy::ENTITY, permissions) != Some(Reach::All),
    })
}

/// Returns true if a member may be told of a record.
pub(crate) fn may_hear(person: &Person, notice: Notice, about: &About) -> bool {
    match feed::reach(&about.entity_type, person.member.role.permissions()) {
        Some(Reach::Published) => matches!(notice, Notice::Policies | Notice::Mentioned),
        reach => reach.is_some(),
    }
}
