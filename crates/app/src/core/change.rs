//! One unit of work. [`Ctx::change`] opens the transaction of an organization and hands the body one value with what a
//! use case needs: the context, the transaction, the scope; recording, enqueueing, forgetting. What follows from a
//! change (its journal entries, the claim of its `Idempotency-Key`, the bell of the job queue, credentials that are no
//! longer what they were) is done here, once, and no use case does it by hand.
//!
//! A body may run more than once, and awaits nothing but its own statements.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{Id, Kind, MemberId, OrganizationId, UserId};
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

/// Something that happened and concerns a member. It is told once the change is complete: many things of one change in
/// one message.
#[derive(Clone, Debug)]
pub(crate) struct Notification {
    pub(crate) member: MemberId,
    pub(crate) notice: Notice,
    pub(crate) line: String,
}

/// What is done when the transaction is on disk.
#[derive(Debug, Default)]
struct PostCommit {
    enqueued: bool,
    /// Whose journal grows.
    recorded: BTreeSet<OrganizationId>,
    invalidate: Vec<Invalidate>,
    notifications: Vec<Notification>,
}

impl PostCommit {
    fn run(self, ctx: &Ctx) {
        for what in self.invalidate {
            ctx.credentials.invalidate(what);
        }
        // Ringing too often does no harm.
        if self.enqueued || has_enqueued(&ctx.sealed_jobs_at, ctx.now()) {
            ctx.job_bell.notify_one();
        }
        (ctx.hooks().committed)(ctx, self.recorded);
    }
}

/// A transaction, and what is to happen when it is on disk.
pub(crate) struct Work<'a> {
    pub(crate) ctx: &'a Ctx,
    pub(crate) t: &'a Tx<'a>,
    /// When it happens.
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

    /// Acts in an organization.
    pub(crate) fn within(&'a self, scope: &'a Scope) -> Change<'a> {
        Change { work: self, scope }
    }

    /// Puts a job into the queue: it is there when the transaction is on disk, and not otherwise.
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

    /// Puts a job of the installation itself into the queue.
    pub(crate) async fn enqueue<J: Job>(&self, job: &J) -> Result<(), Error> {
        self.put_job(J::KIND, None, &seal(self.ctx, job)?, None).await
    }

    /// Whatever is remembered of this is no longer true once the transaction is on disk.
    pub(crate) fn invalidate(&self, what: Invalidate) {
        self.post_commit().invalidate.push(what);
    }

    /// Tells a member of this once the change is complete.
    pub(crate) fn notify(&self, notification: Notification) {
        self.post_commit().notifications.push(notification);
    }

    fn post_commit(&self) -> std::sync::MutexGuard<'_, PostCommit> {
        self.post_commit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles the claim of the request's `Idempotency-Key`; a request that has lost it changes nothing.
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

    /// Records an entity as it is after the change.
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

    /// Records that an entity is gone.
    pub(crate) fn record_gone<K: Kind>(&self, action: &'static str, entity_type: &'static str, id: Id<K>) {
        let (action, entity_type) = (action.into(), entity_type.into());
        self.put(Record { action, entity_type, entity_id: id.to_string(), state: None });
    }

    pub(crate) fn put(&self, record: Record) {
        self.append(Entry { author: self.scope.into(), at: self.now, record });
    }

    /// Appends an entry of this organization that was made elsewhere.
    pub(crate) fn append(&self, entry: Entry) {
        self.post_commit().recorded.insert(entry.author.organization);
        self.t.leave(entry);
    }

    /// The account of a user with these memberships.
    pub(crate) fn account<'b>(&'b self, memberships: &'b [Membership]) -> AccountChange<'b> {
        AccountChange { work: self.work, memberships }
    }

    /// The same for a job that is there once under a name.
    pub(crate) async fn enqueue_named<J: Job>(&self, job: &J, name: &str) -> Result<(), Error> {
        let payload = seal(self.ctx, job)?;
        self.put_job(J::KIND, Some(self.organization()), &payload, Some(name)).await
    }

    /// Puts a job of the organization into the queue.
    pub(crate) async fn enqueue<J: Job>(&self, job: &J) -> Result<(), Error> {
        self.put_job(J::KIND, Some(self.organization()), &seal(self.ctx, job)?, None).await
    }
}

/// What is recorded of an entity.
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

/// A change of a user's own account, which shows in each organization they are active in.
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

impl AccountChange<'_> {
    /// Records the same in each organization, each time in the scope it is given. A job for each does it: nobody holds
    /// the journals of several organizations at once.
    pub(crate) async fn record_everywhere<K: Kind, T: Serialize>(
        &self,
        scope: impl Fn(&Membership) -> Scope,
        action: &'static str,
        entity_type: &'static str,
        id: Id<K>,
        state: Option<&T>,
    ) -> Result<(), Error> {
        let record = record(action, entity_type, id, state)?;
        // On PostgreSQL all of them travel together.
        let enqueued = self.memberships.iter().map(async |membership| {
            let scope = scope(membership);
            let author = (&scope).into();
            let entry = AccountEntry(Entry { author, at: self.now, record: record.clone() });
            self.work.within(&scope).enqueue(&entry).await
        });
        try_join_all(enqueued).await.map(drop)
    }
}

impl Ctx {
    /// One change in one organization, in one transaction. Its writers take turns, and share a commit.
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

    /// A change of a user's own account.
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

    /// A transaction of the installation itself.
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
