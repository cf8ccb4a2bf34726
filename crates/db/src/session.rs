//! One connection to PostgreSQL while bodies use it: statements prepared once a connection, and what must travel ahead
//! of a statement sent together with it.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use deadpool_postgres::Object;
use futures_util::{TryStreamExt, future};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::Error;
use crate::seal::Statement;
use crate::value::Value;

/// Begins a body, so that it can be taken back alone.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT body";

/// A connection while a body uses it. Dropped in the middle of a transaction, it is closed rather
/// than given back.
#[derive(Debug)]
pub(crate) struct Session {
    client: Option<Object>,
    /// What travels ahead of the next statements, one each: a `BEGIN`, a savepoint.
    ahead: Mutex<VecDeque<&'static str>>,
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
        if self.begun.load(Ordering::Relaxed)
            && !self.finished.load(Ordering::Relaxed)
            && let Some(client) = self.client.take()
        {
            drop(Object::take(client));
        }
    }
}

impl Session {
    pub(crate) fn new(client: Object, ahead: &[&'static str]) -> Self {
        Self {
            client: Some(client),
            ahead: Mutex::new(ahead.iter().copied().collect()),
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

    fn client(&self) -> Result<&Object, Error> {
        self.client.as_ref().ok_or_else(|| Error::Other("the connection is gone".to_owned()))
    }

    /// Notes what the caller of the body must know, however the body treats the error.
    fn noted(&self, error: tokio_postgres::Error) -> Error {
        let closed = error.is_closed();
        let error = Error::from(error);
        match &error {
            Error::Conflict => self.conflict.store(true, Ordering::Relaxed),
            Error::Unavailable(_) if closed => self.lost.store(true, Ordering::Relaxed),
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

    /// Runs `statement`, with what must travel ahead of it.
    async fn within<T>(
        &self,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        let ahead = self.ahead().pop_front();
        let result = match ahead {
            Some(ahead) => {
                self.begun.store(true, Ordering::Relaxed);
                let ahead = self.client()?.batch_execute(ahead);
                // Polled in this order, both are on the wire before either is answered.
                let (begun, result) = future::join(ahead, statement).await;
                begun.and(result)
            }
            None => statement.await,
        };
        result.map_err(|error| self.noted(error))
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

    pub(crate) async fn each(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let client = self.client()?;
        let rows = self
            .within(async {
                let statement = client.prepare_cached(sql).await?;
                client.query_raw(&statement, borrowed(params)).await
            })
            .await?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(|error| self.noted(error))? {
            f(&row)?;
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

    pub(crate) async fn prepare(&self, sql: &str) -> Result<(), Error> {
        self.client()?.prepare(sql).await.map(|_| ()).map_err(|error| self.noted(error))
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
        self.client()?.batch_execute(words).await.map_err(|error| self.noted(error))
    }

    /// Runs the last statements of a transaction and commits it, all in one flight: should one of them fail, PostgreSQL
    /// takes everything back.
    pub(crate) async fn commit(&self, last: &[Statement]) -> Result<(), Error> {
        if last.is_empty() {
            return self.finish("COMMIT").await;
        }
        let client = self.client()?;
        let prepared = future::try_join_all(last.iter().map(|one| client.prepare_cached(one.sql)));
        let prepared = prepared.await.map_err(|error| match self.noted(error) {
            // Lost before the commit was sent: it can be tried again.
            Error::Unavailable(_) if self.is_lost() => Error::Conflict,
            error => error,
        })?;
        let params: Vec<_> = last.iter().map(|one| borrowed(&one.params)).collect();
        let changes = prepared.iter().zip(&params).map(|(sql, params)| client.execute(sql, params));
        // Polled in this order, all of it is on the wire before anything is answered.
        let (changed, committed) =
            future::join(future::join_all(changes), client.batch_execute("COMMIT")).await;
        for changed in changed {
            changed.map_err(|error| self.noted(error))?;
        }
        committed.map_err(|error| self.noted(error))?;
        self.finished.store(true, Ordering::Relaxed);
        Ok(())
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

fn borrowed<'p>(params: &'p [Value<'p>]) -> Vec<&'p (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
