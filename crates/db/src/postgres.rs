//! PostgreSQL: pooled connections, statements prepared once a connection, a transaction whose
//! `BEGIN` travels with its first statement. Writers of one lane share a commit (see [`crate::lane`]).
//! Serialization failures and connections lost before the commit are tried again; one lost during the
//! commit is not, because nobody knows how it ended.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Hook, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::{TryStreamExt, future};
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Error;
use crate::lane::{Attempt, Lane};
use crate::migrate::{self, Migration, Pending};
use crate::tls;
use crate::tx::{Inner, Tx};
use crate::value::Value;
use crate::{QUEUE_TIMEOUT, STATEMENT_TIMEOUT};

/// How often a transaction is tried before its caller is told to come back later.
const ATTEMPTS: u32 = 6;
/// How many transactions may be open for writing at once.
const LANES: usize = 8;
/// How long a transaction may lie idle: it holds rows that others wait for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// A view of one moment, for as long as it is looked at.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    lanes: Arc<[Lane; LANES]>,
    config: tokio_postgres::Config,
    tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

/// A connection while a body uses it. Dropped in the middle of a transaction, it is closed rather
/// than given back.
#[derive(Debug)]
pub(crate) struct Session {
    client: Option<Object>,
    /// What travels ahead of the next statement: a `BEGIN`, a savepoint, or nothing.
    ahead: Mutex<Option<&'static str>>,
    begun: AtomicBool,
    finished: AtomicBool,
    conflict: AtomicBool,
    lost: AtomicBool,
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
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
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

    /// Makes ready for another body in the same transaction: a savepoint travels ahead of it.
    pub(crate) fn next_body(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert("SAVEPOINT body");
    }

    /// Whether what was to travel ahead never left, because no statement followed it.
    pub(crate) fn is_untouched(&self) -> bool {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) async fn control(&self, words: &str) -> Result<(), Error> {
        self.client()?.batch_execute(words).await.map_err(|error| self.noted(error))
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
        Ok(Self { pool, lanes: Arc::default(), config, tls })
    }

    pub(crate) async fn session(&self, begin: Option<&'static str>) -> Result<Session, Error> {
        Ok(Session {
            client: Some(self.pool.get().await?),
            ahead: Mutex::new(begin),
            begun: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            conflict: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            failed: Mutex::new(None),
        })
    }

    pub(crate) async fn read<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        for attempt in 1.. {
            let session = self.session(None).await?;
            let result = body(&Tx(Inner::Postgres(&session))).await;
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
        let session = self.session(Some(SNAPSHOT)).await?;
        let result = body(&Tx(Inner::Postgres(&session))).await;
        session.finish("ROLLBACK").await?;
        result
    }

    /// One transaction, shared with whoever else waits in the same lane.
    pub(crate) async fn write<T, E, F>(&self, lane: u64, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let lane = &self.lanes[usize::try_from(lane).unwrap_or(0) % LANES];
        let mut attempt = 1;
        loop {
            match lane.write(self, &body).await {
                Attempt::Ended(result) => return result,
                // Somebody else's misfortune does not count.
                Attempt::Again(None) => tokio::task::yield_now().await,
                Attempt::Again(Some(error)) if attempt == ATTEMPTS => return Err(error),
                Attempt::Again(Some(_)) => {
                    attempt += 1;
                    // Longer each time, and not the same for two processes that collide.
                    let spread = u64::from(std::process::id() % 7) + u64::from(attempt);
                    tokio::time::sleep(Duration::from_millis((1 << attempt) * 2 + spread)).await;
                }
            }
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
        let mut client = self.pool.get().await?;
        migrate::postgres_pending(&mut client, migrations).await
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
        let session = self.session(None).await?;
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
        let (send, messages) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Some(Ok(message)) = future::poll_fn(|cx| connection.poll_message(cx)).await {
                if matches!(message, AsyncMessage::Notification(_)) {
                    // A full channel means that a wake-up is already waiting.
                    let _ = send.try_send(());
                }
                if send.is_closed() {
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
    messages: mpsc::Receiver<()>,
    _client: Arc<tokio_postgres::Client>,
}

impl Wakeups {
    /// Waits for the next one; `false` when the connection is gone.
    pub async fn next(&mut self) -> bool {
        self.messages.recv().await.is_some()
    }
}
