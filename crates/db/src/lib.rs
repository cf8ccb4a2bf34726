//! One small face over two native drivers: SQLite through `rusqlite`, PostgreSQL through
//! `tokio-postgres`. SQL is written once, with `$1…` parameters and `FOR UPDATE` where a row must
//! be held, and runs on both; a transaction body is an async closure that awaits nothing but its
//! own statements.
//!
//! - [`Db::read`]: statements without a transaction, each sees the newest commit.
//! - [`Db::find`]: the same for a few rows that are found by their keys.
//! - [`Db::snapshot`]: one consistent view for several statements.
//! - [`Db::write`]: one transaction. It may run more than once (a conflict, a lost connection), so
//!   a body must be repeatable; an error rolls it back and harms nobody else.

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

pub use batch::{RowChange, RowValues, SIZES, Statement};
pub use error::{Constraint, Error};
pub use migrate::{Migration, Pending};
pub use row::Row;
pub use seal::{Held, Note, Seal};
pub use statement::sqlite_text;
pub use tls::is_postgres;
pub use tx::Tx;
pub use value::Value;

/// Which database, and how hard it may be driven.
#[derive(Clone, Debug)]
pub enum Config {
    Sqlite { path: PathBuf, readers: usize, queue: usize },
    Postgres { url: String, connections: usize },
}

/// How long one statement may run before it is stopped.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a request may wait for its turn before it is told to come back later.
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

#[derive(Clone, Debug)]
enum Inner {
    Sqlite(sqlite::Sqlite),
    Postgres(Box<postgres::Postgres>),
}

/// A database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Db(Inner);

impl Db {
    /// Opens the database. SQLite is created when it is not there; PostgreSQL is reached for the
    /// first time by the first statement.
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
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.read(body, false).await,
            Inner::Postgres(postgres) => postgres.read(body).await,
        }
    }

    /// Runs statements that find a few rows by their keys, each of which sees the newest commit.
    pub async fn find<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.find(body).await,
            Inner::Postgres(postgres) => postgres.read(body).await,
        }
    }

    /// Runs statements that only read and all see the same moment, for as long as they take.
    pub async fn snapshot<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.read(body, true).await,
            Inner::Postgres(postgres) => postgres.snapshot(body).await,
        }
    }

    /// Runs one transaction. `Ok` means that it is on disk.
    pub async fn write<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.write(body).await,
            Inner::Postgres(postgres) => postgres.write(body).await,
        }
    }

    /// Who seals what transactions leave, before they are committed.
    pub fn sealed_by(&self, seal: Arc<dyn Seal>) {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.sealed_by(seal),
            Inner::Postgres(postgres) => postgres.sealed_by(seal),
        }
    }

    /// Runs one transaction in a lane: writers who would wait for the same rows anyway take turns
    /// there and share a commit. SQLite has one lane for all.
    pub async fn write_in<T, E, F>(&self, lane: u128, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.write(body).await,
            Inner::Postgres(postgres) => postgres.write_in(lane, body).await,
        }
    }

    /// Applies the migrations that are missing. Safe to call from several processes at once.
    pub async fn migrate(&self, migrations: &[Migration]) -> Result<usize, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.migrate(migrations.to_vec()).await,
            Inner::Postgres(postgres) => postgres.migrate(migrations).await,
        }
    }

    /// Which migrations are missing, and which were applied by a newer version.
    pub async fn pending(&self, migrations: &[Migration]) -> Result<Pending, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.pending(migrations.to_vec()).await,
            Inner::Postgres(postgres) => postgres.pending(migrations).await,
        }
    }

    /// What the engine itself finds wrong with its files; nothing when all is well.
    pub async fn check(&self) -> Result<Vec<String>, Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.check().await,
            Inner::Postgres(postgres) => postgres.check().await,
        }
    }

    /// Housekeeping of the engine itself: statistics and, on SQLite, the write-ahead log.
    pub async fn maintain(&self) -> Result<(), Error> {
        match &self.0 {
            Inner::Sqlite(sqlite) => sqlite.maintain().await,
            Inner::Postgres(_) => Ok(()),
        }
    }

    /// The messages of a PostgreSQL channel, for waking up; `None` where there is no such thing.
    pub async fn listen(&self, channel: &'static str) -> Option<Result<postgres::Wakeups, Error>> {
        match &self.0 {
            Inner::Sqlite(_) => None,
            Inner::Postgres(postgres) => Some(postgres.listen(channel).await),
        }
    }
}

pub use postgres::Wakeups;
