//! PostgreSQL: pooled connections, and transactions whose `BEGIN` travels with their first statement (see
//! [`crate::session`]). Writers of one lane share a commit (see [`crate::lane`]).
//! Serialization failures and connections lost before the commit are tried again; one lost during the
//! commit is not, because nobody knows how it ended.
//!
//! A host that vanishes (a failover, a partition) closes none of its connections. Each statement therefore has a
//! deadline, an idle connection is checked before it is used again, and the first one that is lost takes the others that
//! lie idle with it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, QueueMode, RecyclingMethod, Runtime,
};
use futures_util::future;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Error;
use crate::lane::{self, Attempt, Lanes};
use crate::migrate::{self, Migration, Pending};
use crate::seal::Seal;
use crate::session::Session;
use crate::tx::{Inner, Tx};
use crate::{QUEUE_TIMEOUT, tls};

/// How often a transaction is tried before its caller is told to come back later.
const ATTEMPTS: u32 = 6;
/// How long a transaction may lie idle: it holds rows that others wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that PostgreSQL may take for a statement, and that its response is waited for.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
const DEADLINE: Duration = Duration::from_secs(12);
/// The same in a snapshot, whose statements read whole tables.
const SNAPSHOT_DEADLINE: Duration = Duration::from_mins(10);
/// Time after its beginning within which a transaction is retried.
const RETRY_WINDOW: Duration = Duration::from_secs(15);
/// A connection that lay idle for longer is checked before it is used.
const CHECK_AFTER: Duration = Duration::from_secs(10);
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval at which a connection that only listens is checked.
const LISTEN_CHECK: Duration = Duration::from_secs(10);
/// A view of one moment, for as long as it is looked at.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

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

/// Counts how often a transaction was tried, and for how long.
struct Tries {
    count: u32,
    began: Instant,
}

impl Tries {
    fn begin() -> Self {
        Self { count: 1, began: Instant::now() }
    }

    fn are_over(&self) -> bool {
        self.count == ATTEMPTS || self.began.elapsed() > RETRY_WINDOW
    }

    /// What to answer; `None` when it is to be tried again, after a while.
    async fn after<T, E>(&mut self, attempt: Attempt<T, E>) -> Option<Result<T, E>> {
        match attempt {
            Attempt::Ended(result) => return Some(result),
            // Somebody else's misfortune does not count.
            Attempt::Again(None) => tokio::task::yield_now().await,
            Attempt::Again(Some(error)) if self.are_over() => return Some(Err(error)),
            Attempt::Again(Some(_)) => {
                self.count += 1;
                // Longer each time, and not the same for two processes that collide.
                let spread = u64::from(std::process::id() % 7) + u64::from(self.count);
                tokio::time::sleep(Duration::from_millis((1 << self.count) * 2 + spread)).await;
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
                Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
            }))
            .pre_recycle(Hook::async_fn(|client, metrics| {
                let is_fresh = metrics.last_used() < CHECK_AFTER;
                Box::pin(async move {
                    if is_fresh {
                        return Ok(());
                    }
                    match tokio::time::timeout(CHECK_TIMEOUT, client.simple_query("")).await {
                        Ok(checked) => checked.map(drop).map_err(HookError::Backend),
                        Err(_) => Err(HookError::message("the connection does not answer")),
                    }
                })
            }))
            .build()
            .map_err(|error| Error::Other(error.to_string()))?;
        // The rest is for those who read, and for what belongs to no lane.
        let writers = Arc::new(Semaphore::new((connections / 2).max(1)));
        Ok(Self { pool, lanes: Lanes::default(), writers, seal: Arc::default(), config, tls })
    }

    /// A connection, in as long as a request may wait for it: a pooler can accept one and answer nothing.
    async fn client(&self) -> Result<Object, Error> {
        match tokio::time::timeout(QUEUE_TIMEOUT, self.pool.get()).await {
            Ok(client) => Ok(client?),
            Err(_) => Err(Error::Unavailable(format!(
                "no connection was ready within {} s",
                QUEUE_TIMEOUT.as_secs()
            ))),
        }
    }

    /// A connection of its own, beside the pool.
    async fn connect(&self) -> Result<(Client, Connection<Socket, TlsStream>), Error> {
        match tokio::time::timeout(QUEUE_TIMEOUT, self.config.connect(self.tls.clone())).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(Error::Unavailable(format!(
                "no connection was made within {} s",
                QUEUE_TIMEOUT.as_secs()
            ))),
        }
    }

    pub(crate) async fn session(&self, ahead: &[&'static str]) -> Result<Session, Error> {
        Ok(Session::new(self.client().await?, ahead, DEADLINE))
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
        let mut tries = Tries::begin();
        loop {
            let session = self.session(&[]).await?;
            let result = body(&Tx::new(Inner::Postgres(&session))).await;
            if result.is_ok() || !session.is_lost() || tries.are_over() {
                return result;
            }
            tries.count += 1;
        }
    }

    pub(crate) async fn snapshot<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let session = Session::new(self.client().await?, &[SNAPSHOT], SNAPSHOT_DEADLINE);
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
        let mut tries = Tries::begin();
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
        let (lane, mut tries, mut is_first) = (self.lanes.enter(lane), Tries::begin(), true);
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
        let lock = self.client().await?;
        let created =
            lock.batch_execute("CREATE TABLE IF NOT EXISTS schema_lock (id BIGINT PRIMARY KEY)").await;
        if let Err(error) = created
            && error.as_db_error().map(|e| e.code().code()) != Some("23505")
        {
            return Err(error.into());
        }
        lock.batch_execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; LOCK TABLE schema_lock IN EXCLUSIVE MODE").await?;
        let result = async {
            let (mut client, connection) = self.connect().await?;
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
        let client = self.client().await?;
        let pending = tokio::time::timeout(DEADLINE, migrate::postgres_pending(&client, migrations)).await;
        pending.unwrap_or_else(|_| {
            drop(Object::take(client));
            Err(Error::Unavailable("the database does not answer".to_owned()))
        })
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
        let (client, mut connection) = self.connect().await?;
        // Whoever listens is quick to hear; what does not fit waits in the connection, and nothing is lost.
        let (send, messages) = mpsc::channel(64);
        let driver = tokio::spawn(async move {
            while let Some(Ok(message)) = future::poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(said) = message
                    && send.send(said.payload().to_owned()).await.is_err()
                {
                    return;
                }
            }
        });
        let listen = format!("LISTEN {channel}");
        match tokio::time::timeout(DEADLINE, client.batch_execute(&listen)).await {
            Ok(listening) => listening?,
            Err(_) => return Err(Error::Unavailable("the database does not answer".to_owned())),
        }
        Ok(Wakeups { messages, client, driver: driver.abort_handle() })
    }
}

/// Wake-ups from other processes.
#[derive(Debug)]
pub struct Wakeups {
    messages: mpsc::Receiver<String>,
    client: Client,
    driver: AbortHandle,
}

impl Wakeups {
    /// Waits for the next one and answers what it says; `None` when the connection is gone, or no longer answers.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Ok(message) = tokio::time::timeout(LISTEN_CHECK, self.messages.recv()).await {
                return message;
            }
            match tokio::time::timeout(CHECK_TIMEOUT, self.client.simple_query("")).await {
                Ok(Ok(_)) => {}
                _ => return None,
            }
        }
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
