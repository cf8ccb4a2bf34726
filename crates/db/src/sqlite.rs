//! SQLite: reader threads with a connection each, and one writer thread that gathers waiting
//! transactions, runs one after the other and commits them with one fsync. Reads that find a few rows by their keys are
//! run inline, on the thread that asks: handing them over would cost more than they do. Nobody is told `Ok`
//! before the commit. Most bodies that fail do so before they change anything, and then there is nothing to take back;
//! when one fails later, or SQLite itself gives up the whole transaction, the neighbours are run again one by one.

mod reader;
mod watch;
mod writer;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use futures_util::FutureExt;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::migrate::{self, Migration, Pending};
use crate::seal::{Note, Seal};
use crate::sqlite::reader::{GoneOnDrop, Inline, Reader, Reads, in_snapshot};
use crate::sqlite::writer::{Transaction, Work, write_loop};
use crate::tx::{Inner, Tx};
use crate::{QUEUE_TIMEOUT, STATEMENT_TIMEOUT};

/// How much of the file all connections together map, and keep in their caches. A page that is mapped counts in full
/// for each connection, so a large file mapped by each would look like a leak.
const MAPPED: i64 = 96 << 20;
const CACHED: i64 = 48 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    path: Arc<PathBuf>,
    reads: Arc<Reads>,
    inline: Arc<[Inline]>,
    writes: mpsc::Sender<Box<dyn Work>>,
    seal: Sealed,
}

/// Who seals a commit; set once.
type Sealed = Arc<OnceLock<Arc<dyn Seal>>>;

/// Opens the file as one of so many connections.
fn connect(path: &Path, read_only: bool, connections: usize) -> Result<Connection, Error> {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(QUEUE_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(512);
    // Without this, a statement is parsed anew whenever a parameter changes, once there are statistics.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if !read_only {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // An acknowledged write survives power loss.
        connection.pragma_update(None, "synchronous", "FULL")?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    let connections = i64::try_from(connections).unwrap_or(i64::MAX).max(1);
    // A negative size is in KiB.
    connection.pragma_update(None, "cache_size", -(CACHED / connections / 1024))?;
    connection.pragma_update(None, "mmap_size", MAPPED / connections)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

impl Sqlite {
    pub(crate) fn open(path: &Path, readers: usize, queue: usize) -> Result<Self, Error> {
        // Made by hand so that only its owner can read it; SQLite gives its side files the same mode.
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        made.map_err(|error| Error::Unavailable(format!("{}: {error}", path.display())))?;
        // The writer first: it switches the file to WAL.
        let readers = readers.max(1);
        let inline = thread::available_parallelism().map_or(1, usize::from);
        let connections = readers + inline + 1;
        let writer = connect(path, false, connections)?;
        let (writes, waiting) = mpsc::channel(queue.max(1));
        let seal = Sealed::default();
        let sealed = Arc::clone(&seal);
        spawn("db-writer", move || write_loop(writer, waiting, &sealed))?;
        let path = Arc::new(path.to_owned());
        let reads = Arc::new(Reads::start(&path, readers, queue.max(1), connections)?);
        let inline = (0..inline).map(|_| Inline::new(&path, connections)).collect();
        Ok(Self { path, reads, inline, writes, seal })
    }

    /// Reads a few rows by their keys, on this thread if a connection is free. What takes longer or fails is tried again
    /// like any other read.
    pub(crate) async fn find<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match self.inline.iter().find_map(|inline| inline.find(&body)) {
            Some(Ok(found)) => Ok(found),
            Some(Err(_)) | None => self.read(body, false).await,
        }
    }

    pub(crate) async fn read<T, E, F>(&self, body: F, snapshot: bool) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let gone = Arc::new(AtomicBool::new(false));
        let guard = GoneOnDrop(Arc::clone(&gone));
        self.reads.push(Box::new(move |reader| {
            if gone.load(Ordering::Relaxed) {
                return;
            }
            let Reader { connection, watch } = match reader {
                Ok(reader) => reader,
                Err(error) => return drop(reply.send(Err(error.into()))),
            };
            watch.start((!snapshot).then_some(STATEMENT_TIMEOUT), gone);
            let result =
                if snapshot { in_snapshot(connection, &body) } else { run(connection, &body, &[]).0 };
            watch.stop();
            // Nobody waits any more: there is nobody to tell.
            let _ = reply.send(result);
        }))?;
        let result =
            answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the reader stopped".to_owned()).into()));
        drop(guard);
        result
    }

    pub(crate) async fn write<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let work = Box::new(Transaction::new(body, reply));
        self.writes.send_timeout(work, QUEUE_TIMEOUT).await.map_err(|error| match error {
            mpsc::error::SendTimeoutError::Timeout(_) => Error::Busy("too many writes are waiting"),
            mpsc::error::SendTimeoutError::Closed(_) => Error::Unavailable("the writer stopped".to_owned()),
        })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped".to_owned()).into()))
    }

    pub(crate) fn sealed_by(&self, seal: Arc<dyn Seal>) {
        // The first one stays: a database is opened for one product.
        let _ = self.seal.set(seal);
    }

    pub(crate) async fn migrate(&self, migrations: Vec<Migration>) -> Result<usize, Error> {
        let path = Arc::clone(&self.path);
        blocking(move || migrate::sqlite(&mut connect(&path, false, 1)?, &migrations)).await
    }

    pub(crate) async fn pending(&self, migrations: Vec<Migration>) -> Result<Pending, Error> {
        let path = Arc::clone(&self.path);
        blocking(move || migrate::sqlite_pending(&connect(&path, false, 1)?, &migrations)).await
    }

    pub(crate) async fn check(&self) -> Result<Vec<String>, Error> {
        let path = Arc::clone(&self.path);
        blocking(move || {
            let connection = connect(&path, true, 1)?;
            let mut found = Vec::new();
            let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
            let mut lines = statement.query([])?;
            while let Some(line) = lines.next()? {
                found.push(line.get::<_, String>(0)?);
            }
            found.retain(|line| line != "ok");
            Ok(found)
        })
        .await
    }

    pub(crate) async fn maintain(&self) -> Result<(), Error> {
        let path = Arc::clone(&self.path);
        blocking(move || {
            let connection = connect(&path, false, 1)?;
            // Gathering statistics reads much once: not through memory that stays ours.
            connection.execute_batch("PRAGMA mmap_size = 0; PRAGMA cache_size = -2048; PRAGMA optimize")?;
            // Busy readers may keep some of the log: the next round takes it.
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(())
        })
        .await
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map(|_| ())
        .map_err(|error| Error::Other(format!("cannot start the thread {name}: {error}")))
}

async fn blocking<T: Send + 'static>(
    body: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(body).await.unwrap_or_else(|error| Err(Error::Panic(error.to_string())))
}

/// Polls a body once: on SQLite every statement is ready at once, so a body that is not has
/// awaited something else.
fn run<T, E, F>(connection: &Mutex<Connection>, body: &F, earlier: &[Note]) -> (Result<T, E>, Vec<Note>)
where
    F: AsyncFn(&Tx<'_>) -> Result<T, E>,
    E: From<Error>,
{
    let tx = Tx::after(Inner::Sqlite(connection), earlier);
    let result = match catch_unwind(AssertUnwindSafe(|| body(&tx).now_or_never())) {
        Ok(Some(result)) => result,
        Ok(None) => Err(Error::ForeignAwait.into()),
        Err(panic) => Err(Error::Panic(panic_text(panic.as_ref())).into()),
    };
    // A body that went on after a failed statement must not be told that its work was kept.
    match (result, tx.failed()) {
        (Ok(_), Some(error)) => (Err(error.into()), Vec::new()),
        (result, _) => (result, tx.into_notes()),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
