//! SQLite: reader threads with a connection each, and one writer thread that collects waiting transactions, runs them
//! one after the other and commits them with one fsync. Reads that find a few rows by their keys run inline, on the
//! calling thread: handing them over would cost more than they do. No caller gets `Ok` before the commit. Most bodies
//! that fail do so before they change anything, and then there is nothing to roll back; when one fails later, or
//! SQLite itself aborts the whole transaction, the other bodies run again one by one.

mod reader;
mod watch;
pub(crate) mod work;
mod writer;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::mpsc;

use crate::QUEUE_TIMEOUT;
use crate::error::Error;
use crate::migrate::{self, Migration, Pending};
use crate::seal::Seal;
use crate::sqlite::reader::{GoneOnDrop, Inline, Read, Reads};
use crate::sqlite::work::Work;
use crate::sqlite::writer::write_loop;

/// The bytes of the file that all connections together map into memory and cache. A mapped page counts in full for
/// each connection, so a large file mapped by each would look like a leak.
const MAX_MAPPED_BYTES: i64 = 96 << 20;
const MAX_CACHED_BYTES: i64 = 48 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    path: Arc<PathBuf>,
    reads: Arc<Reads>,
    inline: Arc<[Inline]>,
    writes: mpsc::Sender<Box<dyn Work>>,
    seal: Sealed,
}

/// The [`Seal`] of commits; set once.
type Sealed = Arc<OnceLock<Arc<dyn Seal>>>;

/// Opens the file as one of `connections`, which share the memory limits.
fn connect(path: &Path, read_only: bool, connections: usize) -> Result<Connection, Error> {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(QUEUE_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(512);
    // Without this, once there are statistics, a statement is parsed again whenever a parameter changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if !read_only {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // An acknowledged write survives power loss.
        connection.pragma_update(None, "synchronous", "FULL")?;
    }
    connection.pragma_update(None, "foreign_keys", true)?;
    let connections = i64::try_from(connections).unwrap_or(i64::MAX).max(1);
    // A negative size is in KiB.
    connection.pragma_update(None, "cache_size", -(MAX_CACHED_BYTES / connections / 1024))?;
    connection.pragma_update(None, "mmap_size", MAX_MAPPED_BYTES / connections)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

impl Sqlite {
    pub(crate) fn open(path: &Path, readers: usize, queue: usize) -> Result<Self, Error> {
        // Created here so that only its owner can read it; SQLite gives its side files the same mode.
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

    /// Runs a body that finds a few rows on this thread; `false` if no connection is free.
    pub(crate) fn find(&self, work: &mut dyn Work) -> bool {
        self.inline.iter().any(|inline| inline.run(work))
    }

    /// Queues a body that reads; a reader skips or stops it once the guard is dropped.
    pub(crate) fn read(&self, work: Box<dyn Work>, is_snapshot: bool) -> Result<GoneOnDrop, Error> {
        let gone = Arc::new(AtomicBool::new(false));
        self.reads.push(Read { work, is_snapshot, gone: Arc::clone(&gone) })?;
        Ok(GoneOnDrop(gone))
    }

    /// Queues a transaction for the writer.
    pub(crate) async fn write(&self, work: Box<dyn Work>) -> Result<(), Error> {
        self.writes.send_timeout(work, QUEUE_TIMEOUT).await.map_err(|error| match error {
            mpsc::error::SendTimeoutError::Timeout(_) => Error::Busy("too many writes are waiting"),
            mpsc::error::SendTimeoutError::Closed(_) => Error::Unavailable("the writer stopped".to_owned()),
        })
    }

    pub(crate) fn sealed_by(&self, seal: Arc<dyn Seal>) {
        // Only the first call counts: a database is opened for one product.
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
            // Gathering statistics reads many pages once: without a mapping and with a small cache, the process does
            // not retain that memory.
            connection.execute_batch("PRAGMA mmap_size = 0; PRAGMA cache_size = -2048; PRAGMA optimize")?;
            // Active readers may retain a part of the log: the next run truncates it.
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

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
