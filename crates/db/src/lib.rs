//! One small interface to two native drivers: SQLite through `rusqlite`, PostgreSQL through `tokio-postgres`. SQL is
//! written once, with `$1…` parameters and `FOR UPDATE` where a row must be locked, and runs on both; a transaction
//! body is an async closure that awaits nothing but its own statements.
//!
//! - [`Db::read`]: statements without a transaction; each sees the newest commit.
//! - [`Db::find`]: the same for a few rows that are found by their keys.
//! - [`Db::snapshot`]: one consistent view for several statements.
//! - [`Db::write`]: one transaction. It may run more than once (a conflict, a lost connection), so a body must be
//!   repeatable; an error rolls it back and affects no other transaction.

mod batch;
mod error;
mod lane;
mod migrate;
mod postgres;
mod row;
mod seal;
mod session;
mod sqlite;
mod statement;
mod tls;
mod tx;
mod value;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future;

use crate::postgres::{Ran, Tries};
use crate::sqlite::work::Body;

pub use batch::{RowChange, RowValues, SIZES, Statement};
pub use error::{Constraint, Error};
pub use migrate::{Migration, Pending};
pub use row::Row;
pub use seal::{CommitRecord, LaneLock, Seal};
pub use tls::is_postgres;
pub use tx::Tx;
pub use value::Value;

/// The database to open, and its connection and queue limits.
#[derive(Clone, Debug)]
pub enum Config {
    Sqlite { path: PathBuf, readers: usize, queue: usize },
    Postgres { url: String, connections: usize },
}

/// The maximum run time of a statement.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum time that a request waits in a queue before it fails as busy.
pub(crate) const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// The name of the engine behind a [`Db`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Config {
    /// Checks a configuration without connecting.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite { .. } => Ok(()),
            Self::Postgres { url, .. } => tls::parse(url).map(drop),
        }
    }
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// The access mode of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Find,
    Snapshot,
    Write,
    Lane(u128),
}

#[derive(Clone, Debug)]
enum Inner {
    Sqlite(sqlite::Sqlite),
    Postgres(Box<postgres::Postgres>),
}

/// A database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Db(Inner);

impl Db {
    /// Opens the database. A missing SQLite file is created; PostgreSQL is first contacted by the first statement.
    pub fn open(config: &Config) -> Result<Self, Error> {
        Ok(Self(match config {
            Config::Sqlite { path, readers, queue } => {
                Inner::Sqlite(sqlite::Sqlite::open(path, *readers, *queue)?)
            }
            Config::Postgres { url, connections } => {
                Inner::Postgres(Box::new(postgres::Postgres::open(url, *connections)?))
            }
        }))
    }

    pub fn engine(&self) -> Engine {
        match &self.0 {
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
        }
    }

    /// Runs statements that only read.
    pub async fn read<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.run(Access::Read, body).await
    }

    /// Runs statements that find a few rows by their keys, each of which sees the newest commit.
    pub async fn find<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.run(Access::Find, body).await
    }

    /// Runs statements that only read and all see the same snapshot, without a timeout.
    pub async fn snapshot<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.run(Access::Snapshot, body).await
    }

    /// Runs one transaction. `Ok` means that it is on disk.
    pub async fn write<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.run(Access::Write, body).await
    }

    /// Runs one transaction in a lane: writers that would wait for the same locks anyway run one after the other
    /// there and share a commit. SQLite has one lane for all.
    pub async fn write_in<T, E, F>(&self, lane: u128, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.run(Access::Lane(lane), body).await
    }

    /// Runs a body. Only this function and `sqlite::work::Body` are monomorphized for each body; the code that it calls is not generic.
    async fn run<T, E, F>(&self, access: Access, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.0 {
            Inner::Sqlite(sqlite) => {
                let (mut work, answer) = Body::new(body);
                if access == Access::Find
                    && sqlite.find(&mut work)
                    && let Some(Ok(found)) = work.take_result()
                {
                    return Ok(found);
                }
                let work = Box::new(work);
                let _reading = match access {
                    Access::Find | Access::Read => Some(sqlite.read(work, false)?),
                    Access::Snapshot => Some(sqlite.read(work, true)?),
                    Access::Write | Access::Lane(_) => {
                        sqlite.write(work).await?;
                        None
                    }
                };
                let stopped =
                    |_| Err(Error::Unavailable("the thread of the database stopped".to_owned()).into());
                answer.await.unwrap_or_else(stopped)
            }
            Inner::Postgres(postgres) => {
                let (lane, mut tries) = (postgres.enter(access), Tries::begin());
                loop {
                    let run = postgres.begin(access, lane.as_deref(), &tries).await?;
                    let tx = run.tx();
                    // Polled in this order, so that the lock is requested first.
                    let (held, result) = future::join(run.hold(), body(&tx)).await;
                    let ran = Ran { held, is_ok: result.is_ok(), notes: tx.into_commit_records() };
                    if let Some(answer) = postgres.end(run, ran, &mut tries).await {
                        return answer.map_or(result, |error| Err(error.into()));
                    }
                }
            }
        }
    }

    /// Sets the [`Seal`] that processes commit records before each commit.
    pub fn sealed_by(&self, seal: Arc<dyn Seal>) {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.sealed_by(seal),
            Inner::Postgres(postgres) => postgres.sealed_by(seal),
        }
    }

    /// Applies the migrations that are missing. Safe to call from several processes at once.
    pub async fn migrate(&self, migrations: &[Migration]) -> Result<usize, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.migrate(migrations.to_vec()).await,
            Inner::Postgres(postgres) => postgres.migrate(migrations).await,
        }
    }

    /// Lists the migrations that are missing, and those that another version applied.
    pub async fn pending(&self, migrations: &[Migration]) -> Result<Pending, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.pending(migrations.to_vec()).await,
            Inner::Postgres(postgres) => postgres.pending(migrations).await,
        }
    }

    /// Returns the problems that the engine finds in its own files; empty when there are none.
    pub async fn check(&self) -> Result<Vec<String>, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.check().await,
            Inner::Postgres(postgres) => postgres.check().await,
        }
    }

    /// Runs the engine's housekeeping: statistics and, on SQLite, the checkpoint of the write-ahead log.
    pub async fn maintain(&self) -> Result<(), Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.maintain().await,
            Inner::Postgres(_) => Ok(()),
        }
    }

    /// Subscribes to a PostgreSQL channel; `None` on SQLite, which has no channels.
    pub async fn listen(&self, channel: &'static str) -> Option<Result<postgres::Wakeups, Error>> {
        match &self.0 {
            Inner::Sqlite(_) => None,
            Inner::Postgres(postgres) => Some(postgres.listen(channel).await),
        }
    }
}

pub use postgres::Wakeups;
