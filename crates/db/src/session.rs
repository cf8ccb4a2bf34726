//! One connection to PostgreSQL while bodies use it: statements prepared once a connection, and what must travel ahead
//! of a statement sent together with it.

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

/// Begins a body, so that it can be taken back alone.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT body";

/// A connection while a body uses it. Dropped in the middle of a transaction or of a statement, it is closed rather
/// than given back.
///
/// Each statement has a deadline: a host that vanished does not close its connections, and would be waited for for ever.
#[derive(Debug)]
pub(crate) struct Session {
    client: Option<Object>,
    /// Milliseconds.
    deadline: AtomicU64,
    /// Statements that were sent and not answered yet.
    outstanding: AtomicUsize,
    /// What travels ahead of the next statements, one each: a `BEGIN`, a savepoint.
    ahead: Mutex<VecDeque<&'static str>>,
    /// Changes that travel with the next statement or the commit.
    queue: Mutex<Queue>,
    /// Whether the present body may queue changes. Otherwise they are made at once, so that an error reaches the body
    /// that caused it.
    queues: AtomicBool,
    begun: AtomicBool,
    finished: AtomicBool,
    conflict: AtomicBool,
    lost: AtomicBool,
    /// Whether the present body has run a statement that may have changed something.
    dirty: AtomicBool,
    /// The first statement of the present body that failed: PostgreSQL does nothing more until it is
    /// taken back.
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

    /// Waits for an answer until the deadline. If this is dropped meanwhile, the answer stays outstanding.
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

    /// Lets the statements of this transaction take longer.
    pub(crate) async fn extend_deadline(&self, deadline: Duration) -> Result<(), Error> {
        self.deadline.store(millis(deadline), Ordering::Relaxed);
        self.execute(&format!("SET LOCAL statement_timeout = {}", millis(deadline)), &[]).await.map(drop)
    }

    /// Gives the connection up. Those that lie idle were made at the same time and to the same host: they go, too.
    fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
        if let Some(pool) = self.client.as_ref().and_then(Object::pool) {
            pool.retain(|_, _| false);
        }
    }

    /// Notes what the caller of the body must know, however the body treats the error.
    fn noted(&self, error: tokio_postgres::Error) -> Error {
        let closed = error.is_closed();
        let is_read_only = error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION);
        let error = Error::from(error);
        match &error {
            Error::Conflict => self.conflict.store(true, Ordering::Relaxed),
            // A server that was the primary before a failover is no longer written to.
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

    /// What failed in the present body, if anything did.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prepares statements. A connection that is lost here has committed nothing: it can be tried again.
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

    /// The queued changes, prepared. They stay in the queue until all of them are: whatever the body runs at the same
    /// time must not overtake them.
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

    /// Runs `statement`, with what must travel ahead of it.
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
        // Polled in this order, all of it is on the wire before anything is answered.
        let (begun, changed, result) = self.within_deadline(future::join3(ahead, changes, statement)).await?;
        begun.map_err(|error| self.noted(error))?;
        changed.map_err(|error| self.queued_failed(error))?;
        result.map_err(|error| self.noted(error))
    }

    /// A queued change failed. If PostgreSQL has refused it, nothing can have been committed; otherwise nobody knows.
    fn queued_failed(&self, error: tokio_postgres::Error) -> Error {
        let severity = error.as_db_error().and_then(DbError::parsed_severity);
        match severity {
            Some(Severity::Error) => self.lost_by_queue(),
            _ => self.noted(error),
        }
    }

    /// The transaction is lost to a queued change. Whose it was is found out by running its bodies again, which then make
    /// their changes at once.
    fn lost_by_queue(&self) -> Error {
        self.conflict.store(true, Ordering::Relaxed);
        Error::Conflict
    }

    pub(crate) async fn query(&self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        if !sql.starts_with("SELECT") {
            self.dirty.store(true, Ordering::Relaxed);
        }
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
        self.dirty.store(true, Ordering::Relaxed);
        let client = self.client()?;
        self.within(async {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, &borrowed(params)).await
        })
        .await
    }

    /// Makes a change whose row count nobody needs: with the next statement, or the commit.
    pub(crate) async fn execute_later(&self, change: RowChange, row: RowValues) -> Result<(), Error> {
        if !self.queues.load(Ordering::Relaxed) {
            return self.execute(change.single(), &row).await.map(drop);
        }
        self.dirty.store(true, Ordering::Relaxed);
        self.queue().push(change, row);
        Ok(())
    }

    pub(crate) async fn prepare(&self, sql: &str) -> Result<(), Error> {
        self.timed(self.client()?.prepare(sql)).await.map(|_| ())
    }

    /// Whether the next body may queue changes.
    pub(crate) fn allow_queueing(&self, queues: bool) {
        self.queues.store(queues, Ordering::Relaxed);
    }

    /// Makes ready for another body in the same transaction; `careful`: a savepoint travels ahead of it.
    pub(crate) fn next_body(&self, careful: bool) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.dirty.store(false, Ordering::Relaxed);
        let mut ahead = self.ahead();
        if careful && ahead.is_empty() {
            ahead.push_back(SAVEPOINT);
        }
    }

    /// Whether the present body can have left nothing behind, however it ended.
    pub(crate) fn is_clean(&self) -> bool {
        !self.dirty.load(Ordering::Relaxed) && self.failed().is_none()
    }

    pub(crate) async fn control(&self, words: &str) -> Result<(), Error> {
        self.timed(self.client()?.batch_execute(words)).await
    }

    /// Runs the last statements of a transaction and commits it, all in one flight: should one of them fail, PostgreSQL
    /// takes everything back.
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

    /// The error of a commit. If its connection was lost, nobody knows whether it arrived.
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
    // `join_all` does not promise to poll all of many futures at once.
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
