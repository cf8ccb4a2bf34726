//! A fresh database for each test. PostgreSQL is the private cluster that `tests/with-postgres`
//! started; each test gets a database of its own in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use attestry_app::Ctx;
use attestry_app::core::keys::Keys;
use attestry_app::identity::setup;
use attestry_blobs::Blobs;
use attestry_db::{Config, Db};
use attestry_domain::clock::{Entropy, SystemClock, SystemEntropy};
use attestry_mail::Mailer;
use attestry_storage::schema::MIGRATIONS;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// The environment variable with the URL of the private cluster.
pub const CLUSTER: &str = "TEST_POSTGRES_URL";

#[derive(Debug)]
pub enum Database {
    Sqlite { dir: TempDir },
    Postgres { name: String },
}

/// The cluster's URL with a database's name in it.
pub fn postgres_url(database: &str) -> String {
    let base = std::env::var(CLUSTER).unwrap_or_else(|_| {
        panic!("{CLUSTER} is not set: run `make test`, or tests/with-postgres before the command")
    });
    base.replace("/postgres?", &format!("/{database}?"))
}

async fn administer(statement: &str) {
    let (client, connection) = tokio_postgres::connect(&postgres_url("postgres"), tokio_postgres::NoTls)
        .await
        .expect("the cluster answers");
    let connection = tokio::spawn(connection);
    client.batch_execute(statement).await.expect("the cluster obeys");
    drop(client);
    let _ = connection.await;
}

/// Returns an unused database name.
pub fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("t{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Database {
    pub async fn create(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::Sqlite { dir: TempDir::new().expect("a folder") },
            Engine::Postgres => {
                let name = fresh_name();
                administer(&format!("CREATE DATABASE {name}")).await;
                Self::Postgres { name }
            }
        }
    }

    pub fn config(&self) -> Config {
        match self {
            Self::Sqlite { dir } => {
                Config::Sqlite { path: dir.path().join("attestry.db"), readers: 2, queue: 256 }
            }
            Self::Postgres { name } => Config::Postgres { url: postgres_url(name), connections: 4 },
        }
    }

    pub fn open(&self) -> Db {
        Db::open(&self.config()).expect("the database opens")
    }

    /// Creates a context like that of a server on this database, to set up data next to real servers.
    pub async fn context(&self, secret: &str) -> Ctx {
        let db = self.open();
        db.migrate(MIGRATIONS).await.expect("the migrations run");
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        let keys = Keys::new(secret.as_bytes(), Arc::clone(&entropy)).expect("keys");
        let (mailer, _) = Mailer::memory("Attestry <attestry@example.com>").expect("a mailer");
        let ctx = Ctx::assemble(
            Arc::new(SystemClock),
            entropy,
            db,
            keys,
            mailer,
            Blobs::memory(),
            crate::settings(),
        );
        setup::bind_secret_key(&ctx, false).await.expect("bound");
        ctx
    }

    pub fn engine(&self) -> Engine {
        match self {
            Self::Sqlite { .. } => Engine::Sqlite,
            Self::Postgres { .. } => Engine::Postgres,
        }
    }

    pub async fn remove(self) {
        if let Self::Postgres { name } = self {
            administer(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}
