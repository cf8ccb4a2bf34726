//! PostgreSQL: pooled connections, and transactions whose `BEGIN` is sent with their first statement (see
//! [`crate::session`]). Writers of one lane share a commit (see [`crate::lane`]). Serialization failures and
//! connections lost before the commit are retried; a connection lost during the commit is not, because the outcome is
//! unknown.
//!
//! A host that vanishes (a failover, a partition) closes none of its connections. Each statement therefore has a
//! deadline, an idle connection is checked before it is used again, and the first lost connection makes the pool drop
//! its idle ones.

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
use crate::lane::{self, Lane, Lanes, Turn};
use crate::migrate::{self, Migration, Pending};
use crate::seal::{CommitRecord, LaneLock, Seal};
use crate::session::Session;
use crate::tx::{Inner, Tx};
use crate::{Access, QUEUE_TIMEOUT, tls};

/// The maximum number of attempts per transaction before the caller gets an error.
const ATTEMPTS: u32 = 6;
/// The maximum idle time of a transaction: it holds row locks that others wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// PostgreSQL's own limit for a statement, and the client's limit for its response.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
const DEADLINE: Duration = Duration::from_secs(12);
/// The deadline in a snapshot, whose statements read whole tables.
const SNAPSHOT_DEADLINE: Duration = Duration::from_mins(10);
/// The time after its beginning within which a transaction is retried.
const RETRY_WINDOW: Duration = Duration::from_secs(15);
/// The idle time after which a connection is checked before it is used.
const CHECK_AFTER: Duration = Duration::from_secs(10);
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval at which a connection that only listens is checked.
const LISTEN_CHECK: Duration = Duration::from_secs(10);
/// Begins a snapshot without timeouts.
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

/// The final outcome of a body: `None` keeps its own result, an error replaces it.
pub(crate) type Answer = Option<Error>;

/// The outcome of one attempt.
pub(crate) enum Attempt {
    Ended(Answer),
    /// The transaction was lost and is retried; the outcome if no attempts are left.
    Again(Answer),
    /// The transaction was lost through no fault of this body.
    Unlucky,
}

/// A body on a connection.
#[derive(Debug)]
pub(crate) enum Run<'l> {
    Read(Session),
    Snapshot(Session),
    Write(Session),
    Lane(&'l Lane, Turn<'l>),
}

impl Run<'_> {
    pub(crate) fn tx(&self) -> Tx<'_> {
        match self {
            Self::Read(session) | Self::Snapshot(session) | Self::Write(session) => {
                Tx::new(Inner::Postgres(session))
            }
            Self::Lane(_, turn) => turn.tx(),
        }
    }

    /// Takes the lane's lock before the body touches anything.
    pub(crate) async fn hold(&self) -> Result<Option<LaneLock>, Error> {
        match self {
            Self::Lane(lane, turn) => lane.hold(turn).await,
            Self::Read(_) | Self::Snapshot(_) | Self::Write(_) => Ok(None),
        }
    }
}

/// The outcome of a body's run.
pub(crate) struct Ran {
    pub(crate) held: Result<Option<LaneLock>, Error>,
    pub(crate) is_ok: bool,
    pub(crate) notes: Vec<CommitRecord>,
}

impl Ran {
    /// Returns the error that replaces the body's result: a body that continued after a failed statement must not
    /// return success.
    pub(crate) fn answer(&self, session: &Session) -> Answer {
        match &self.held {
            Err(error) => Some(error.clone()),
            Ok(_) if self.is_ok => session.failed(),
            Ok(_) => None,
        }
    }
}

/// The retry state of a body.
pub(crate) struct Tries {
    count: u32,
    began: Instant,
    is_first: bool,
}

impl Tries {
    pub(crate) fn begin() -> Self {
        Self { count: 1, began: Instant::now(), is_first: true }
    }

    fn are_over(&self) -> bool {
        self.count == ATTEMPTS || self.began.elapsed() > RETRY_WINDOW
    }

    /// Returns the final outcome, or waits for the backoff and returns `None` when the body is to be retried.
    async fn after(&mut self, attempt: Attempt) -> Option<Answer> {
        self.is_first = false;
        match attempt {
            Attempt::Ended(answer) => return Some(answer),
            // A failure of another body does not count as an attempt.
            Attempt::Unlucky => tokio::task::yield_now().await,
            Attempt::Again(answer) if self.are_over() => return Some(answer),
            Attempt::Again(_) => {
                self.count += 1;
                // Exponential backoff, with an offset per process so that two that collide do not retry in step.
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
            // The connection used last has its statements and pages cached.
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
        // The other connections are for readers and for writers without a lane.
        let writers = Arc::new(Semaphore::new((connections / 2).max(1)));
        Ok(Self { pool, lanes: Lanes::default(), writers, seal: Arc::default(), config, tls })
    }

    /// Gets a pooled connection within the queue timeout: a pooler can accept a connection and never respond.
    async fn client(&self) -> Result<Object, Error> {
        match tokio::time::timeout(QUEUE_TIMEOUT, self.pool.get()).await {
            Ok(client) => Ok(client?),
            Err(_) => Err(Error::Unavailable(format!(
                "no connection was ready within {} s",
                QUEUE_TIMEOUT.as_secs()
            ))),
        }
    }

    /// Opens a connection outside the pool.
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

    /// Opens a session for a lane. The number of open ones is limited so that other work finds a connection.
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
        // Only the first call counts: a database is opened for one product.
        let _ = self.seal.set(seal);
    }

    /// The lane of a body, if it has one.
    pub(crate) fn enter(&self, access: Access) -> Option<Arc<Lane>> {
        match access {
            Access::Lane(number) => Some(self.lanes.enter(number)),
            Access::Find | Access::Read | Access::Snapshot | Access::Write => None,
        }
    }

    /// Gets a connection for a body, waiting for its lane if it has one.
    pub(crate) async fn begin<'l>(
        &self,
        access: Access,
        lane: Option<&'l Lane>,
        tries: &Tries,
    ) -> Result<Run<'l>, Error> {
        Ok(match (access, lane) {
            (Access::Find | Access::Read, _) => Run::Read(self.session(&[]).await?),
            (Access::Snapshot, _) => {
                Run::Snapshot(Session::new(self.client().await?, &[SNAPSHOT], SNAPSHOT_DEADLINE))
            }
            // A retried body does not queue its changes, so that it receives its own errors.
            (Access::Lane(_), Some(lane)) => Run::Lane(lane, lane.begin(self, tries.is_first).await?),
            (Access::Write | Access::Lane(_), _) => Run::Write(self.session(&["BEGIN"]).await?),
        })
    }

    /// Commits a body's changes or rolls them back; `None` when the body is to be run again.
    pub(crate) async fn end(&self, run: Run<'_>, ran: Ran, tries: &mut Tries) -> Option<Answer> {
        let attempt = match run {
            Run::Read(session) => {
                if ran.is_ok || !session.is_lost() || tries.are_over() {
                    return Some(None);
                }
                tries.count += 1;
                return None;
            }
            Run::Snapshot(session) => return Some(session.finish("ROLLBACK").await.err()),
            Run::Write(session) => self.end_alone(&session, ran).await,
            Run::Lane(lane, turn) => lane.end(turn, ran).await,
        };
        tries.after(attempt).await
    }

    async fn end_alone(&self, session: &Session, ran: Ran) -> Attempt {
        let answer = ran.answer(session);
        if session.met_conflict() || session.is_lost() {
            return Attempt::Again(answer.or_else(|| ran.is_ok.then_some(Error::Conflict)));
        }
        if !ran.is_ok || answer.is_some() {
            let _ = session.finish("ROLLBACK").await;
            return Attempt::Ended(answer);
        }
        match lane::commit(session, self.seal(), None, ran.notes).await {
            Ok(()) => Attempt::Ended(None),
            Err(Error::Conflict) => Attempt::Again(Some(Error::Conflict)),
            Err(error) => Attempt::Ended(Some(error)),
        }
    }

    pub(crate) async fn migrate(&self, migrations: &[Migration]) -> Result<usize, Error> {
        // Two processes that start at the same time run one after the other; the second finds nothing left to do.
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

    /// Checks that the encoding is UTF-8, that all indexes are valid and that no page failed its checksum.
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
        // The receiver is fast; messages that do not fit wait in the connection, and none is lost.
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
    /// Waits for the next wake-up and returns its payload; `None` when the connection is lost or does not respond.
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
