//! PostgreSQL: pooled connections, and transactions whose `BEGIN` travels with their first statement (see
//! [`crate::session`]). Writers of one lane share a commit (see [`crate::lane`]).
//! Serialization failures and connections lost before the commit are tried again; one lost during the
//! commit is not, because nobody knows how it ended.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deadpool_postgres::{Hook, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime};
use futures_util::future;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Error;
use crate::lane::{self, Attempt, Lanes};
use crate::migrate::{self, Migration, Pending};
use crate::seal::Seal;
use crate::session::Session;
use crate::tls;
use crate::tx::{Inner, Tx};
use crate::{QUEUE_TIMEOUT, STATEMENT_TIMEOUT};

/// How often a transaction is tried before its caller is told to come back later.
const ATTEMPTS: u32 = 6;
/// How long a transaction may lie idle: it holds rows that others wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// A view of one moment, for as long as it is looked at.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    lanes: Lanes,
    writers: Arc<Semaphore>,
    seal: Arc<OnceLock<Arc<dyn Seal>>>,
    config: tokio_postgres::Config,
    tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

/// Counts how often a transaction was tried.
struct Tries(u32);

impl Tries {
    /// What to answer; `None` when it is to be tried again, after a while.
    async fn after<T, E>(&mut self, attempt: Attempt<T, E>) -> Option<Result<T, E>> {
        match attempt {
            Attempt::Ended(result) => return Some(result),
            // Somebody else's misfortune does not count.
            Attempt::Again(None) => tokio::task::yield_now().await,
            Attempt::Again(Some(error)) if self.0 == ATTEMPTS => return Some(Err(error)),
            Attempt::Again(Some(_)) => {
                self.0 += 1;
                // Longer each time, and not the same for two processes that collide.
                let spread = u64::from(std::process::id() % 7) + u64::from(self.0);
                tokio::time::sleep(Duration::from_millis((1 << self.0) * 2 + spread)).await;
            }
        }
        None
    }
}

impl Postgres {
    pub(crate) fn open(url: &str, connections: usize) -> Result<Self, Error> {
        let (mut config, tls) = tls::parse(url)?;
        config.application_name("attestry").connect_timeout(QUEUE_TIMEOUT);
        let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config.clone(), tls.clone(), manager_config);
        let settings = format!(
            "SET statement_timeout = {}; SET idle_in_transaction_session_timeout = {}; SET TIME ZONE 'UTC'",
            STATEMENT_TIMEOUT.as_millis(),
            IDLE_TIMEOUT.as_millis()
        );
        let pool = Pool::builder(manager)
            .max_size(connections.max(1))
            .runtime(Runtime::Tokio1)
            // The one that was used last has its statements and pages at hand.
            .queue_mode(QueueMode::Lifo)
            .wait_timeout(Some(QUEUE_TIMEOUT))
            .create_timeout(Some(QUEUE_TIMEOUT))
            .post_create(Hook::async_fn(move |client, _| {
                let settings = settings.clone();
                Box::pin(async move {
                    client.batch_execute(&settings).await.map_err(deadpool_postgres::HookError::Backend)
                })
            }))
            .build()
            .map_err(|error| Error::Other(error.to_string()))?;
        // The rest is for those who read, and for what belongs to no lane.
        let writers = Arc::new(Semaphore::new((connections / 2).max(1)));
        Ok(Self { pool, lanes: Lanes::default(), writers, seal: Arc::default(), config, tls })
    }

    pub(crate) async fn session(&self, ahead: &[&'static str]) -> Result<Session, Error> {
        Ok(Session::new(self.pool.get().await?, ahead))
    }

    /// A session for a lane: of those only so many are open at once, so that others find a connection.
    pub(crate) async fn lane_session(
        &self,
        ahead: &[&'static str],
    ) -> Result<(Session, OwnedSemaphorePermit), Error> {
        let turn = tokio::time::timeout(QUEUE_TIMEOUT, Arc::clone(&self.writers).acquire_owned()).await;
        let turn = turn.map_err(|_| Error::Busy("too many organizations are writing"))?;
        let turn = turn.map_err(|error| Error::Other(error.to_string()))?;
        Ok((self.session(ahead).await?, turn))
    }

    pub(crate) fn seal(&self) -> Option<&Arc<dyn Seal>> {
        self.seal.get()
    }

    pub(crate) fn sealed_by(&self, seal: Arc<dyn Seal>) {
        // The first one stays: a database is opened for one product.
        let _ = self.seal.set(seal);
    }

    pub(crate) async fn read<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        for attempt in 1.. {
            let session = self.session(&[]).await?;
            let result = body(&Tx::new(Inner::Postgres(&session))).await;
            if result.is_ok() || !session.is_lost() || attempt == ATTEMPTS {
                return result;
            }
        }
        Err(Error::Conflict.into())
    }

    pub(crate) async fn snapshot<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let session = self.session(&[SNAPSHOT]).await?;
        let result = body(&Tx::new(Inner::Postgres(&session))).await;
        session.finish("ROLLBACK").await?;
        result
    }

    /// One transaction of its own.
    pub(crate) async fn write<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let mut tries = Tries(1);
        loop {
            if let Some(result) = tries.after(self.write_alone(&body).await).await {
                return result;
            }
        }
    }

    /// One transaction, shared with whoever else waits in the same lane.
    pub(crate) async fn write_in<T, E, F>(&self, lane: u128, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let (lane, mut tries, mut is_first) = (self.lanes.enter(lane), Tries(1), true);
        loop {
            // One that is run again makes its changes at once, and so meets its own error.
            if let Some(result) = tries.after(lane.write(self, &body, is_first).await).await {
                return result;
            }
            is_first = false;
        }
    }

    async fn write_alone<T, E, F>(&self, body: &F) -> Attempt<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let session = match self.session(&["BEGIN"]).await {
            Ok(session) => session,
            Err(error) => return Attempt::Ended(Err(error.into())),
        };
        let tx = Tx::new(Inner::Postgres(&session));
        let result = body(&tx).await;
        // A body that went on after a failed statement must not be told that its work was kept.
        let result = match (result, session.failed()) {
            (Ok(_), Some(error)) => Err(error.into()),
            (result, _) => result,
        };
        if session.met_conflict() || session.is_lost() {
            return Attempt::Again(result.err().or_else(|| Some(Error::Conflict.into())));
        }
        let value = match result {
            Ok(value) => value,
            Err(error) => {
                let _ = session.finish("ROLLBACK").await;
                return Attempt::Ended(Err(error));
            }
        };
        match lane::commit(&session, self.seal(), None, tx.into_notes()).await {
            Ok(()) => Attempt::Ended(Ok(value)),
            Err(Error::Conflict) => Attempt::Again(Some(Error::Conflict.into())),
            Err(error) => Attempt::Ended(Err(error.into())),
        }
    }

    pub(crate) async fn migrate(&self, migrations: &[Migration]) -> Result<usize, Error> {
        // Two processes that start at once take turns: the second finds nothing left to do.
        let lock = self.pool.get().await?;
        let created =
            lock.batch_execute("CREATE TABLE IF NOT EXISTS schema_lock (id BIGINT PRIMARY KEY)").await;
        if let Err(error) = created
            && error.as_db_error().map(|e| e.code().code()) != Some("23505")
        {
            return Err(error.into());
        }
        lock.batch_execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; LOCK TABLE schema_lock IN EXCLUSIVE MODE").await?;
        let result = async {
            let (mut client, connection) = self.config.connect(self.tls.clone()).await?;
            let driver = tokio::spawn(connection);
            let applied = migrate::postgres(&mut client, migrations).await;
            drop(client);
            let _ = driver.await;
            applied
        }
        .await;
        lock.batch_execute("COMMIT").await?;
        result
    }

    pub(crate) async fn pending(&self, migrations: &[Migration]) -> Result<Pending, Error> {
        let client = self.pool.get().await?;
        migrate::postgres_pending(&client, migrations).await
    }

    /// Whether it keeps text as we do, its indexes are usable, and it has met damaged pages.
    pub(crate) async fn check(&self) -> Result<Vec<String>, Error> {
        const CHECKS: &[(&str, &str)] = &[
            (
                "SELECT CAST(pg_encoding_to_char(encoding) AS TEXT) FROM pg_database WHERE datname = current_database() AND pg_encoding_to_char(encoding) <> 'UTF8'",
                "the database is not in UTF8 but in",
            ),
            (
                "SELECT CAST(c.relname AS TEXT) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready)",
                "an index is not valid; run REINDEX INDEX on",
            ),
            (
                "SELECT CAST(checksum_failures AS TEXT) FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0",
                "damaged pages were met:",
            ),
        ];
        let session = self.session(&[]).await?;
        let mut found = Vec::new();
        for (sql, meaning) in CHECKS {
            for row in session.query(sql, &[]).await? {
                found.push(format!("{meaning} {}", row.get::<_, String>(0)));
            }
        }
        Ok(found)
    }

    pub(crate) async fn listen(&self, channel: &'static str) -> Result<Wakeups, Error> {
        let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
        // Whoever listens is quick to hear; what does not fit waits in the connection, and nothing is lost.
        let (send, messages) = mpsc::channel(64);
        tokio::spawn(async move {
            while let Some(Ok(message)) = future::poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(said) = message
                    && send.send(said.payload().to_owned()).await.is_err()
                {
                    return;
                }
            }
        });
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        Ok(Wakeups { messages, _client: Arc::new(client) })
    }
}

/// Wake-ups from other processes.
#[derive(Debug)]
pub struct Wakeups {
    messages: mpsc::Receiver<String>,
    _client: Arc<tokio_postgres::Client>,
}

impl Wakeups {
    /// Waits for the next one and answers what it says; `None` when the connection is gone.
    pub async fn next(&mut self) -> Option<String> {
        self.messages.recv().await
    }
}
