//! One unit of work. [`Ctx::change`] opens a transaction of an organization and passes the body one value with
//! everything a use case needs: the context, the transaction, the scope, and the methods that record, enqueue and
//! invalidate. The consequences of a change (its journal entries, the claim of its `Idempotency-Key`, waking the job
//! queue, invalidating cached credentials) are handled here, once, and not in the use cases.
//!
//! A body may run more than once, and awaits nothing but its own statements.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{Id, Kind, MemberId, OrganizationId, UserId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::journal::canonical::canonical;
use attestry_storage::jobs::NewJob;
use attestry_storage::members::Membership;
use attestry_storage::{Tx, idempotency, jobs as queue, members, users};
use futures_util::future::try_join_all;
use serde::Serialize;

use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::journal::{Entry, Record};
use crate::core::queue::{AccountEntry, CHANNEL, Job, seal};
use crate::core::sealing::has_enqueued;

/// An event that concerns a member. Notifications are sent at the end of the change, all of one change in one
/// message.
#[derive(Clone, Debug)]
pub(crate) struct Notification {
    pub(crate) member: MemberId,
    pub(crate) notice: Notice,
    pub(crate) about: About,
    pub(crate) line: String,
    /// A quotation that follows the line in a mail.
    pub(crate) quote: Option<String>,
    /// Identifies a notification that must not be repeated.
    pub(crate) occasion: Option<String>,
}

/// The hooks that run after the commit.
#[derive(Debug, Default)]
struct PostCommit {
    enqueued: bool,
    /// The organizations whose journals grow.
    recorded: BTreeSet<OrganizationId>,
    invalidate: Vec<Invalidate>,
    notifications: Vec<Notification>,
}

impl PostCommit {
    fn run(self, ctx: &Ctx) {
        for what in self.invalidate {
            ctx.credentials.invalidate(what);
        }
        // A spurious wake-up does no harm.
        if self.enqueued || has_enqueued(&ctx.sealed_jobs_at, ctx.now()) {
            ctx.job_bell.notify_one();
        }
        (ctx.hooks().committed)(ctx, self.recorded);
    }
}

/// A transaction and its post-commit hooks.
pub(crate) struct Work<'a> {
    pub(crate) ctx: &'a Ctx,
    pub(crate) t: &'a Tx<'a>,
    /// The timestamp of the change.
    pub(crate) now: Time,
    post_commit: Mutex<PostCommit>,
}

impl<'a> Work<'a> {
    fn new(ctx: &'a Ctx, t: &'a Tx<'a>) -> Self {
        Self { ctx, t, now: ctx.now(), post_commit: Mutex::default() }
    }

    pub(crate) fn next_id<K: Kind>(&self) -> Id<K> {
        self.ctx.ids.next()
    }

    /// Returns a change in one organization.
    pub(crate) fn within(&'a self, scope: &'a Scope) -> Change<'a> {
        Change { work: self, scope }
    }

    /// Enqueues a job in this transaction; it becomes visible with the commit.
    pub(crate) async fn put_job(
        &self,
        kind: &str,
        organization: Option<OrganizationId>,
        payload: &[u8],
        unique_key: Option<&str>,
    ) -> Result<(), Error> {
        let job = NewJob {
            id: self.next_id(),
            kind,
            organization,
            payload,
            unique_key,
            run_at: self.ctx.queue_time(self.now),
            created_at: self.now,
        };
        let is_first = !std::mem::replace(&mut self.post_commit().enqueued, true);
        queue::enqueue(self.t, &job).await?;
        if is_first {
            self.t.notify(CHANNEL).await?;
        }
        Ok(())
    }

    /// Enqueues a job of the installation itself.
    pub(crate) async fn enqueue<J: Job>(&self, job: &J) -> Result<(), Error> {
        self.put_job(J::KIND, None, &seal(self.ctx, job)?, None).await
    }

    /// Invalidates cached credentials after the commit.
    pub(crate) fn invalidate(&self, what: Invalidate) {
        self.post_commit().invalidate.push(what);
    }

    /// Notifies a member at the end of the change.
    pub(crate) fn notify(&self, notification: Notification) {
        self.post_commit().notifications.push(notification);
    }

    fn post_commit(&self) -> std::sync::MutexGuard<'_, PostCommit> {
        self.post_commit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the claim of the request's `Idempotency-Key` as applied. A request that has lost its claim fails and
    /// changes nothing.
    async fn settle(&self, origin: &Origin) -> Result<(), Error> {
        match &origin.claim {
            Some(claim) if !idempotency::apply(self.t, claim).await? => Err(Error::Conflict {
                code: "idempotency_in_progress",
                message: "Another request with this Idempotency-Key has taken over. Try again in a moment."
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn end(self) -> PostCommit {
        self.post_commit.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change in one organization.
#[derive(Clone, Copy)]
pub(crate) struct Change<'a> {
    work: &'a Work<'a>,
    pub(crate) scope: &'a Scope,
}

impl<'a> Deref for Change<'a> {
    type Target = Work<'a>;

    fn deref(&self) -> &Work<'a> {
        self.work
    }
}

impl Change<'_> {
    pub(crate) fn organization(&self) -> OrganizationId {
        self.scope.organization()
    }

    /// Records the state of an entity after the change.
    pub(crate) fn record<K: Kind, T: Serialize>(
        &self,
        action: &'static str,
        entity_type: &'static str,
        id: Id<K>,
        state: &T,
    ) -> Result<(), Error> {
        self.put(record(action, entity_type, id, Some(state))?);
        Ok(())
    }

    /// Records that an entity was deleted.
    pub(crate) fn record_gone<K: Kind>(&self, action: &'static str, entity_type: &'static str, id: Id<K>) {
        let (action, entity_type) = (action.into(), entity_type.into());
        self.put(Record { action, entity_type, entity_id: id.to_string(), state: None });
    }

    pub(crate) fn put(&self, record: Record) {
        self.append(Entry { author: self.scope.into(), at: self.now, record });
    }

    /// Appends an entry of this organization that was created elsewhere.
    pub(crate) fn append(&self, entry: Entry) {
        self.post_commit().recorded.insert(entry.author.organization);
        self.t.defer_to_commit(entry);
    }

    /// Returns a change of the account of a user with these memberships.
    pub(crate) fn account<'b>(&'b self, memberships: &'b [Membership]) -> AccountChange<'b> {
        AccountChange { work: self.work, memberships }
    }

    /// Enqueues a job of the organization; at most one waiting job has this name.
    pub(crate) async fn enqueue_named<J: Job>(&self, job: &J, name: &str) -> Result<(), Error> {
        let payload = seal(self.ctx, job)?;
        self.put_job(J::KIND, Some(self.organization()), &payload, Some(name)).await
    }

    /// Enqueues a job of the organization.
    pub(crate) async fn enqueue<J: Job>(&self, job: &J) -> Result<(), Error> {
        self.put_job(J::KIND, Some(self.organization()), &seal(self.ctx, job)?, None).await
    }
}

/// Creates the journal record of an entity.
pub(crate) fn record<K: Kind, T: Serialize>(
    action: &'static str,
    entity_type: &'static str,
    id: Id<K>,
    state: Option<&T>,
) -> Result<Record, Error> {
    Ok(Record {
        action: action.into(),
        entity_type: entity_type.into(),
        entity_id: id.to_string(),
        state: state.map(canonical).transpose()?,
    })
}

/// A change of a user's own account, recorded in each organization in which they are active.
pub(crate) struct AccountChange<'a> {
    work: &'a Work<'a>,
    pub(crate) memberships: &'a [Membership],
}

impl<'a> Deref for AccountChange<'a> {
    type Target = Work<'a>;

    fn deref(&self) -> &Work<'a> {
        self.work
    }
}

impl<'a> AccountChange<'a> {
    /// Returns the same change for some of the memberships.
    pub(crate) fn among<'b>(&'b self, memberships: &'b [Membership]) -> AccountChange<'b>
    where
        'a: 'b,
    {
        AccountChange { work: self.work, memberships }
    }

    /// Records the same action in each organization, in the scope that `scope` returns for the membership. Each
    /// organization gets its own job, so that no transaction locks the journals of several organizations.
    pub(crate) async fn record_everywhere<K: Kind, T: Serialize>(
        &self,
        scope: impl Fn(&Membership) -> Scope,
        action: &'static str,
        entity_type: &'static str,
        id: Id<K>,
        state: Option<&T>,
    ) -> Result<(), Error> {
        let record = record(action, entity_type, id, state)?;
        // PostgreSQL pipelines these statements.
        let enqueued = self.memberships.iter().map(async |membership| {
            let scope = scope(membership);
            let author = (&scope).into();
            let entry = AccountEntry(Entry { author, at: self.now, record: record.clone() });
            self.work.within(&scope).enqueue(&entry).await
        });
        try_join_all(enqueued).await.map(drop)
    }
}

/// The result of a change that was rolled back.
struct RolledBack(Result<(), Error>);

impl From<attestry_storage::Error> for RolledBack {
    fn from(error: attestry_storage::Error) -> Self {
        Self(Err(error.into()))
    }
}

impl Ctx {
    /// Runs one change in one organization, in one transaction. Concurrent changes of the organization run one after
    /// another and share a commit.
    pub(crate) async fn change<T, F>(&self, scope: &Scope, body: F) -> Result<T, Error>
    where
        F: AsyncFn(&Change<'_>) -> Result<T, Error> + Send + Sync + 'static,
        T: Send + 'static,
    {
        let (ctx, scope) = (self.clone(), scope.clone());
        let lane = scope.organization().as_u128();
        let changed = self.db.write_in(lane, async move |t| {
            let work = Work::new(&ctx, t);
            let value = body(&work.within(&scope)).await?;
            let notifications = std::mem::take(&mut work.post_commit().notifications);
            if !notifications.is_empty() {
                (ctx.hooks().notify)(&work.within(&scope), notifications).await?;
            }
            work.settle(scope.origin()).await?;
            Ok::<_, Error>((value, work.end()))
        });
        let (value, post_commit) = changed.await?;
        post_commit.run(self);
        Ok(value)
    }

    /// Runs one change in one organization and rolls it back. It fails as the change would.
    pub(crate) async fn rehearse<F>(&self, scope: &Scope, body: F) -> Result<(), Error>
    where
        F: AsyncFn(&Change<'_>) -> Result<(), Error> + Send + Sync + 'static,
    {
        let (ctx, scope) = (self.clone(), scope.clone());
        let lane = scope.organization().as_u128();
        let rolled_back: Result<(), RolledBack> = self
            .db
            .write_in(lane, async move |t| Err(RolledBack(body(&Work::new(&ctx, t).within(&scope)).await)))
            .await;
        rolled_back.map_or_else(|RolledBack(result)| result, Ok)
    }

    /// Runs a change of a user's own account, with the user locked.
    pub(crate) async fn change_account<T, F>(
        &self,
        user: UserId,
        origin: &Origin,
        body: F,
    ) -> Result<T, Error>
    where
        F: AsyncFn(&AccountChange<'_>) -> Result<T, Error> + Send + Sync + 'static,
        T: Send + 'static,
    {
        let (ctx, origin) = (self.clone(), origin.clone());
        let changed = self.db.write(async move |t| {
            let work = Work::new(&ctx, t);
            users::lock(t, user).await?;
            let memberships = members::of_user(t, user).await?;
            let value = body(&AccountChange { work: &work, memberships: &memberships }).await?;
            work.settle(&origin).await?;
            Ok::<_, Error>((value, work.end()))
        });
        let (value, post_commit) = changed.await?;
        post_commit.run(self);
        Ok(value)
    }

    /// Runs a transaction of the installation itself.
    pub(crate) async fn work<T, F>(&self, body: F) -> Result<T, Error>
    where
        F: AsyncFn(&Work<'_>) -> Result<T, Error> + Send + Sync + 'static,
        T: Send + 'static,
    {
        let ctx = self.clone();
        let done = self.db.write(async move |t| {
            let work = Work::new(&ctx, t);
            let value = body(&work).await?;
            Ok::<_, Error>((value, work.end()))
        });
        let (value, post_commit) = done.await?;
        post_commit.run(self);
        Ok(value)
    }
}
