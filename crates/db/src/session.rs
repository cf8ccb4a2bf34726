//! A PostgreSQL connection in use by bodies: statements are prepared once per connection, and statements such as
//! `BEGIN` are pipelined with the one that follows.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::Object;
use futures_util::{TryStreamExt, future};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement as Prepared};

use crate::batch::{Queue, RowChange, RowValues, Statement};
use crate::error::Error;
use crate::value::Value;

/// Starts a body that can be rolled back on its own.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT body";

/// A connection in use by a body. When dropped in the middle of a transaction or statement, it is closed instead of
/// returned to the pool.
///
/// Each statement has a deadline: a host that vanished does not close its connections, and the wait would never end.
#[derive(Debug)]
pub(crate) struct Session {
    client: Option<Object>,
    /// The deadline of a statement, in milliseconds.
    deadline: AtomicU64,
    /// The number of statements that await a response.
    outstanding: AtomicUsize,
    /// Control statements to send ahead of the next statements, one each: a `BEGIN`, a savepoint.
    ahead: Mutex<VecDeque<&'static str>>,
    /// Changes to send with the next statement or the commit.
    queue: Mutex<Queue>,
    /// True when the current body may queue changes. Otherwise they are made immediately, so that an error reaches
    /// the body that caused it.
    queues: AtomicBool,
    begun: AtomicBool,
    finished: AtomicBool,
    conflict: AtomicBool,
    lost: AtomicBool,
    /// True when the current body has run a statement that may have changed something.
    dirty: AtomicBool,
    /// The error of the current body's first failed statement: PostgreSQL rejects all others until a rollback.
    failed: Mutex<Option<Error>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        let is_open = self.begun.load(Ordering::Relaxed) && !self.finished.load(Ordering::Relaxed);
        let is_unusable = is_open || self.is_lost() || self.outstanding.load(Ordering::Relaxed) > 0;
        if is_unusable && let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Session {
    pub(crate) fn new(client: Object, ahead: &[&'static str], deadline: Duration) -> Self {
        Self {
            client: Some(client),
            deadline: AtomicU64::new(millis(deadline)),
            outstanding: AtomicUsize::new(0),
            ahead: Mutex::new(ahead.iter().copied().collect()),
            queue: Mutex::default(),
            queues: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            conflict: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            dirty: AtomicBool::new(false),
            failed: Mutex::new(None),
        }
    }

    fn ahead(&self) -> MutexGuard<'_, VecDeque<&'static str>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Result<&Object, Error> {
        self.client.as_ref().ok_or_else(|| Error::Other("the connection is gone".to_owned()))
    }

    /// Waits for a response until the deadline. If the future is dropped meanwhile, the response stays outstanding.
    async fn timed<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        self.within_deadline(answer).await?.map_err(|error| self.noted(error))
    }

    async fn within_deadline<T>(&self, answer: impl Future<Output = T>) -> Result<T, Error> {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
        let deadline = Duration::from_millis(self.deadline.load(Ordering::Relaxed));
        let Ok(answer) = tokio::time::timeout(deadline, answer).await else {
            self.lose();
            let seconds = deadline.as_secs();
            return Err(Error::Unavailable(format!("the database did not answer within {seconds} s")));
        };
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
        Ok(answer)
    }

    /// Extends the deadline for the statements of this transaction.
    pub(crate) async fn extend_deadline(&self, deadline: Duration) -> Result<(), Error> {
        self.deadline.store(millis(deadline), Ordering::Relaxed);
        self.execute(&format!("SET LOCAL statement_timeout = {}", millis(deadline)), &[]).await.map(drop)
    }

    /// Marks the connection as lost and drops the idle ones from the pool, which were opened at the same time to the
    /// same host.
    fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
        if let Some(pool) = self.client.as_ref().and_then(Object::pool) {
            pool.retain(|_, _| false);
        }
    }

    /// Records an error for the caller of the body, however the body handles it.
    fn noted(&self, error: tokio_postgres::Error) -> Error {
        let closed = error.is_closed();
        let is_read_only = error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION);
        let error = Error::from(error);
        match &error {
            Error::Conflict => self.conflict.store(true, Ordering::Relaxed),
            // After a failover, the former primary is read-only: stop using it.
            Error::Unavailable(_) if closed || is_read_only => self.lose(),
            _ => {
                self.failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(|| error.clone());
            }
        }
        error
    }

    /// Returns the first error of the current body.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prepares statements. A connection that is lost here has committed nothing, so the transaction can be retried.
    async fn prepared(&self, texts: &[&'static str]) -> Result<Vec<Prepared>, Error> {
        let client = self.client()?;
        let each = texts.chunk_by(|one, next| std::ptr::eq(*one, *next)).map(async |same| {
            let prepared = client.prepare_cached(same[0]).await?;
            Ok(vec![prepared; same.len()])
        });
        let prepared: Result<Vec<_>, _> = self.timed(future::try_join_all(each)).await;
        prepared.map(|prepared| prepared.into_iter().flatten().collect()).map_err(|error| match error {
            Error::Unavailable(_) if self.is_lost() => Error::Conflict,
            error => error,
        })
    }

    /// Drains the queued changes with their prepared statements. They stay in the queue until all are prepared: no
    /// statement that the body runs concurrently may overtake them.
    async fn changes_ahead(&self) -> Result<(Vec<Prepared>, Vec<Statement>), Error> {
        let mut prepared = Vec::new();
        let mut texts = Vec::new();
        loop {
            {
                let mut queue = self.queue();
                let now = queue.texts();
                if now == texts {
                    return Ok((prepared, queue.take()));
                }
                texts = now;
            }
            prepared = self.prepared(&texts).await.map_err(|_| self.lost_by_queue())?;
        }
    }

    /// Runs `statement`, pipelined after the control statement and the queued changes that precede it.
    async fn within<T>(
        &self,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        let (prepared, changes) = self.changes_ahead().await?;
        let ahead = self.ahead().pop_front();
        if ahead.is_none() && changes.is_empty() {
            return self.timed(statement).await;
        }
        self.begun.store(true, Ordering::Relaxed);
        let client = self.client()?;
        let ahead = async {
            match ahead {
                Some(words) => client.batch_execute(words).await,
                None => Ok(()),
            }
        };
        let changes = executed(client, &prepared, &changes);
        // Polled in this order, everything is on the wire before the first response arrives.
        let (begun, changed, result) = self.within_deadline(future::join3(ahead, changes, statement)).await?;
        begun.map_err(|error| self.noted(error))?;
        changed.map_err(|error| self.queued_failed(error))?;
        result.map_err(|error| self.noted(error))
    }

    /// Handles a failed queued change. If PostgreSQL rejected it, nothing can have been committed; otherwise the
    /// outcome is unknown.
    fn queued_failed(&self, error: tokio_postgres::Error) -> Error {
        let severity = error.as_db_error().and_then(DbError::parsed_severity);
        match severity {
            Some(Severity::Error) => self.lost_by_queue(),
            _ => self.noted(error),
        }
    }

    /// Marks the transaction as lost to a queued change. Its bodies run again without queueing, which shows which of
    /// them failed.
    fn lost_by_queue(&self) -> Error {
        self.conflict.store(true, Ordering::Relaxed);
        Error::Conflict
    }

    /// Marks the current body as dirty, because the next statement may change something.
    pub(crate) fn will_change(&self) {
        self.dirty.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn query(&self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        debug_assert!(
            self.dirty.load(Ordering::Relaxed) || !sql.contains(" RETURNING "),
            "use Tx::returning: {sql}"
        );
        let client = self.client()?;
        self.within(async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, &borrowed(params)).await
        })
        .await
    }

    pub(crate) async fn each_until(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let client = self.client()?;
        let rows = self
            .within(async {
                let statement = client.prepare_cached(sql).await?;
                client.query_raw(&statement, borrowed(params)).await
            })
            .await?;
        let mut rows = pin!(rows);
        while let Some(row) = self.timed(rows.try_next()).await? {
            if f(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) async fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        self.will_change();
        let client = self.client()?;
        self.within(async {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, &borrowed(params)).await
        })
        .await
    }

    /// Makes a change whose row count is not needed; it is sent with the next statement or the commit.
    pub(crate) async fn execute_later(&self, change: RowChange, row: RowValues) -> Result<(), Error> {
        if !self.queues.load(Ordering::Relaxed) {
            return self.execute(change.single(), &row).await.map(drop);
        }
        self.will_change();
        self.queue().push(change, row);
        Ok(())
    }

    pub(crate) async fn prepare(&self, sql: &str) -> Result<(), Error> {
        self.timed(self.client()?.prepare(sql)).await.map(|_| ())
    }

    /// Sets whether the next body may queue changes.
    pub(crate) fn allow_queueing(&self, queues: bool) {
        self.queues.store(queues, Ordering::Relaxed);
    }

    /// Resets the state for another body in the same transaction. In savepoint mode a savepoint precedes it.
    pub(crate) fn next_body(&self, has_savepoints: bool) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.dirty.store(false, Ordering::Relaxed);
        let mut ahead = self.ahead();
        if has_savepoints && ahead.is_empty() {
            ahead.push_back(SAVEPOINT);
        }
    }

    /// Returns true when the current body cannot have changed anything.
    pub(crate) fn is_clean(&self) -> bool {
        !self.dirty.load(Ordering::Relaxed) && self.failed().is_none()
    }

    pub(crate) async fn control(&self, words: &str) -> Result<(), Error> {
        self.timed(self.client()?.batch_execute(words)).await
    }

    /// Runs the last statements of a transaction and commits it in one round trip: if one fails, PostgreSQL rolls
    /// everything back.
    pub(crate) async fn commit(&self, last: &[Statement]) -> Result<(), Error> {
        if last.is_empty() && self.queue().is_empty() {
            return self.finish("COMMIT").await.map_err(|error| self.unconfirmed(error));
        }
        let texts: Vec<_> = last.iter().map(|one| one.sql).collect();
        let (client, prepared) = (self.client()?, self.prepared(&texts).await?);
        let committed = self.within(async {
            let last = executed(client, &prepared, last);
            let (changed, committed) = future::join(last, client.batch_execute("COMMIT")).await;
            changed.and(committed)
        });
        committed.await.map_err(|error| self.unconfirmed(error))?;
        self.finished.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Maps the error of a commit: if the connection was lost, its outcome is unknown.
    fn unconfirmed(&self, error: Error) -> Error {
        match error {
            Error::Unavailable(cause) if self.is_lost() => Error::OutcomeUnknown(cause),
            error => error,
        }
    }

    /// Ends the transaction, if one was begun.
    pub(crate) async fn finish(&self, word: &str) -> Result<(), Error> {
        if self.begun.load(Ordering::Relaxed) {
            self.control(word).await?;
        }
        self.finished.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn met_conflict(&self) -> bool {
        self.conflict.load(Ordering::Relaxed)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Runs statements together; the error is that of the first one that failed.
async fn executed(
    client: &Object,
    prepared: &[Prepared],
    statements: &[Statement],
) -> Result<(), tokio_postgres::Error> {
    let params: Vec<_> = statements.iter().map(|one| borrowed(&one.params)).collect();
    let all = prepared.iter().zip(&params).map(|(sql, params)| client.execute(sql, params));
    let mut all: Vec<_> = all.map(|one| Box::pin(future::maybe_done(one))).collect();
    // `join_all` does not guarantee that it polls many futures at once.
    let all_ended = future::poll_fn(|context| {
        let pending = all.iter_mut().filter_map(|one| one.as_mut().poll(context).is_pending().then_some(()));
        if pending.count() > 0 { Poll::Pending } else { Poll::Ready(()) }
    });
    all_ended.await;
    all.iter_mut().filter_map(|one| one.as_mut().take_output()).try_for_each(|one| one.map(drop))
}

fn borrowed<'p>(params: &'p [Value<'p>]) -> Vec<&'p (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
