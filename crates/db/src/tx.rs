//! The handle on which a body runs its statements.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::batch::{RowChange, RowValues};
use crate::error::Error;
use crate::row::{self, Row};
use crate::seal::CommitRecord;
use crate::session::Session;
use crate::statement::{bind, without_locks};
use crate::value::Value;

/// A transaction, or for [`crate::Db::read`] a connection.
pub struct Tx<'c> {
    inner: Inner<'c>,
    notes: Mutex<Vec<CommitRecord>>,
    /// The commit records of earlier bodies in the same transaction.
    earlier: &'c [CommitRecord],
    /// The error of the first failed change on SQLite; PostgreSQL's session tracks its own.
    failed: Mutex<Option<Error>>,
}

impl std::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

#[derive(Debug)]
pub(crate) enum Inner<'c> {
    /// Behind a mutex only so that a body's future may move between threads on PostgreSQL; it is
    /// never contended.
    Sqlite(&'c Mutex<rusqlite::Connection>),
    Postgres(&'c Session),
}

impl<'c> Tx<'c> {
    pub(crate) fn new(inner: Inner<'c>) -> Self {
        Self::after(inner, &[])
    }

    /// Creates the handle of a body that shares the transaction of earlier ones.
    pub(crate) fn after(inner: Inner<'c>, earlier: &'c [CommitRecord]) -> Self {
        Self { inner, notes: Mutex::default(), earlier, failed: Mutex::default() }
    }

    /// Returns the commit records.
    pub(crate) fn into_commit_records(self) -> Vec<CommitRecord> {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error of a failed change, even if the body continued.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Defers a record to the commit of this transaction; see [`crate::Seal`].
    pub fn defer_to_commit(&self, note: impl Any + Send + Sync) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(note));
    }

    /// Returns the first match of `wanted` in the commit records of this transaction, newest first, by this body or
    /// an earlier one.
    pub fn last_commit_record<N: Any, T>(&self, wanted: impl Fn(&N) -> Option<T>) -> Option<T> {
        let find =
            |notes: &[CommitRecord]| notes.iter().rev().find_map(|note| wanted(note.downcast_ref::<N>()?));
        find(&self.notes.lock().unwrap_or_else(PoisonError::into_inner)).or_else(|| find(self.earlier))
    }

    /// Reads all rows with `map`.
    pub async fn all<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        match &self.inner {
            Inner::Sqlite(_) => {
                let mut items = Vec::new();
                self.each(sql, params, |row| {
                    items.push(map(row)?);
                    Ok(())
                })
                .await?;
                Ok(items)
            }
            Inner::Postgres(session) => {
                let rows = session.query(sql, params).await?;
                rows.iter().map(|row| map(&Row(row::Inner::Postgres(row)))).collect()
            }
        }
    }

    /// Reads rows with `map` up to `max_bytes`, and returns true with them if more follow. The first row is always
    /// returned, whatever its size.
    pub async fn bounded<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        max_bytes: usize,
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<(Vec<T>, bool), Error> {
        let (mut items, mut bytes, mut is_cut) = (Vec::new(), 0, false);
        self.each_until(sql, params, |row| {
            is_cut = bytes > max_bytes;
            if is_cut {
                return Ok(ControlFlow::Break(()));
            }
            bytes += row.size();
            items.push(map(row)?);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        Ok((items, is_cut))
    }

    /// The first row, if there is one.
    pub async fn opt<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement = connection.prepare_cached(&without_locks(sql))?;
                bind(&mut statement, params)?;
                let mut rows = statement.raw_query();
                match rows.next()? {
                    Some(row) => map(&Row(row::Inner::Sqlite(row))).map(Some),
                    None => Ok(None),
                }
            }
            Inner::Postgres(session) => {
                let rows = session.query(sql, params).await?;
                rows.first().map(|row| map(&Row(row::Inner::Postgres(row)))).transpose()
            }
        }
    }

    /// Reads the first row; an error if there is none.
    pub async fn one<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.opt(sql, params, map).await?.ok_or_else(|| Error::Other(format!("no row: {sql}")))
    }

    /// Streams every row to `f`.
    pub async fn each(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_until(sql, params, |row| f(row).map(ControlFlow::Continue)).await
    }

    /// Streams rows to `f` until it breaks.
    async fn each_until(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement = connection.prepare_cached(&without_locks(sql))?;
                bind(&mut statement, params)?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next()? {
                    if f(&Row(row::Inner::Sqlite(row)))?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
            Inner::Postgres(session) => {
                session.each_until(sql, params, |row| f(&Row(row::Inner::Postgres(row)))).await
            }
        }
    }

    /// Runs a statement that changes rows, and counts them.
    pub async fn execute(&self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement = connection.prepare_cached(&without_locks(sql))?;
                let changed = bind(&mut statement, params).and_then(|()| Ok(statement.raw_execute()?));
                changed.map(|rows| rows as u64).inspect_err(|error| self.note(error))
            }
            Inner::Postgres(session) => session.execute(sql, params).await,
        }
    }

    /// Runs a statement that changes rows, and reads the rows that it returns.
    pub async fn returning<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        match &self.inner {
            Inner::Sqlite(_) => self.all(sql, params, map).await.inspect_err(|error| self.note(error)),
            Inner::Postgres(session) => {
                session.will_change();
                self.all(sql, params, map).await
            }
        }
    }

    /// Records that a change failed.
    fn note(&self, error: &Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.clone());
    }

    /// Makes a change whose row count is not needed. It is pipelined with the next statement of the transaction or
    /// with its commit; changes of the same kind are batched. If it fails, the body runs again and receives the
    /// error.
    pub async fn execute_later(&self, change: RowChange, row: RowValues) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(_) => self.execute(change.single(), &row).await.map(drop),
            Inner::Postgres(session) => session.execute_later(change, row).await,
        }
    }

    /// Extends the deadline of this transaction's statements on PostgreSQL, for work that no request waits for.
    /// SQLite limits the transaction as a whole.
    pub async fn extend_deadline(&self, deadline: Duration) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(()),
            Inner::Postgres(session) => session.extend_deadline(deadline).await,
        }
    }

    /// Prepares a statement without running it, for the test of all statements.
    pub async fn prepare(&self, sql: &'static str) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                connection.prepare_cached(&without_locks(sql))?;
                Ok(())
            }
            Inner::Postgres(session) => session.prepare(sql).await,
        }
    }

    /// Notifies the listeners of a PostgreSQL channel when this transaction commits.
    pub async fn notify(&self, channel: &'static str) -> Result<(), Error> {
        self.tell(channel, "").await
    }

    /// Notifies the listeners with a payload of fewer than 8000 bytes.
    pub async fn tell(&self, channel: &'static str, text: &str) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(()),
            Inner::Postgres(session) => {
                let params = [Value::from(channel), Value::from(text)];
                session.execute("SELECT pg_notify($1, $2)", &params).await?;
                Ok(())
            }
        }
    }
}
