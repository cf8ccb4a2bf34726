//! What a body runs its statements on.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::batch::{RowChange, RowValues};
use crate::error::Error;
use crate::row::{self, Row};
use crate::seal::Note;
use crate::session::Session;
use crate::statement::rewritten;
use crate::value::Value;

/// A transaction, or for [`crate::Db::read`] a connection.
pub struct Tx<'c> {
    inner: Inner<'c>,
    notes: Mutex<Vec<Note>>,
    /// What bodies before this one left in the same transaction.
    earlier: &'c [Note],
    /// The first statement that failed on SQLite; PostgreSQL's session knows its own.
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

    /// For a body that shares the transaction of others.
    pub(crate) fn after(inner: Inner<'c>, earlier: &'c [Note]) -> Self {
        Self { inner, notes: Mutex::default(), earlier, failed: Mutex::default() }
    }

    /// What was left for whoever commits.
    pub(crate) fn into_notes(self) -> Vec<Note> {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The change that failed, although the body may have gone on.
    pub(crate) fn failed(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Leaves something for whoever commits this transaction; see [`crate::Seal`].
    pub fn leave(&self, note: impl Any + Send + Sync) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(note));
    }

    /// What `wanted` takes from the newest note it accepts, left in this transaction by this body or an earlier one.
    pub fn last_note<N: Any, T>(&self, wanted: impl Fn(&N) -> Option<T>) -> Option<T> {
        let find = |notes: &[Note]| notes.iter().rev().find_map(|note| wanted(note.downcast_ref::<N>()?));
        find(&self.notes.lock().unwrap_or_else(PoisonError::into_inner)).or_else(|| find(self.earlier))
    }

    /// All rows, each read by `map`.
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

    /// Rows up to so many bytes, each read by `map`, and whether more follow. The first row is there however large it is.
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
                let mut statement = connection.prepare_cached(&rewritten(sql))?;
                let mut rows = statement.query(rusqlite::params_from_iter(params))?;
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

    /// The one row there must be.
    pub async fn one<T>(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl Fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.opt(sql, params, map).await?.ok_or_else(|| Error::Other(format!("no row: {sql}")))
    }

    /// Hands every row to `f` as it is read, however many there are.
    pub async fn each(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.each_until(sql, params, |row| f(row).map(ControlFlow::Continue)).await
    }

    /// The same until `f` has had enough.
    async fn each_until(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement = connection.prepare_cached(&rewritten(sql))?;
                let mut rows = statement.query(rusqlite::params_from_iter(params))?;
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

    /// Runs a statement and tells how many rows it changed.
    pub async fn execute(&self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let mut statement = connection.prepare_cached(&rewritten(sql))?;
                let changed = statement.execute(rusqlite::params_from_iter(params)).map_err(Error::from);
                changed.map(|rows| rows as u64).inspect_err(|error| {
                    *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
                })
            }
            Inner::Postgres(session) => session.execute(sql, params).await,
        }
    }

    /// Makes a change whose row count nobody needs. It is made before the next statement of the transaction and before
    /// its commit, and travels with them; changes of the same kind are made together. Should it fail, the body is run
    /// again and told.
    pub async fn execute_later(&self, change: RowChange, row: RowValues) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(_) => self.execute(change.single(), &row).await.map(drop),
            Inner::Postgres(session) => session.execute_later(change, row).await,
        }
    }

    /// Lets the statements of this transaction take so long on PostgreSQL, for work that no request waits for. SQLite
    /// bounds the transaction as a whole.
    pub async fn extend_deadline(&self, deadline: Duration) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(()),
            Inner::Postgres(session) => session.extend_deadline(deadline).await,
        }
    }

    /// Prepares a statement without running it: the test of all statements.
    pub async fn prepare(&self, sql: &'static str) -> Result<(), Error> {
        match &self.inner {
            Inner::Sqlite(connection) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                connection.prepare_cached(&rewritten(sql))?;
                Ok(())
            }
            Inner::Postgres(session) => session.prepare(sql).await,
        }
    }

    /// Wakes whoever listens on a PostgreSQL channel, when this transaction commits.
    pub async fn notify(&self, channel: &'static str) -> Result<(), Error> {
        self.tell(channel, "").await
    }

    /// The same, with something to say: fewer than 8000 bytes.
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
