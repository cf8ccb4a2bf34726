//! SQLite: reader threads with a connection each, and one writer thread that gathers waiting
//! transactions, runs one after the other and commits them with one fsync. Reads that find a few rows by their keys are
//! run where they are asked for: handing them to another thread would cost more than they do. Nobody is told `Ok`
//! before the commit. Most bodies that fail do so before they change anything, and then there is nothing to take back;
//! when one fails later, or SQLite itself gives up the whole transaction, the neighbours are run again one by one.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::migrate::{self, Migration, Pending};
use crate::seal::{Note, Seal};
use crate::tx::{Inner, Tx};
use crate::{QUEUE_TIMEOUT, STATEMENT_TIMEOUT};

/// How many transactions share one commit at most.
const BATCH: usize = 64;
/// How much of the file all connections together map, and keep in their caches. A page that is mapped counts in full
/// for each connection, so a large file mapped by each would look like a leak.
const MAPPED: i64 = 96 << 20;
const CACHED: i64 = 48 << 20;
/// How long a read may run where it was asked for, and holds up other requests.
const SHORT: Duration = Duration::from_millis(10);
/// How many steps of SQLite's machine pass between two looks at the clock.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    path: Arc<PathBuf>,
    reads: Arc<Reads>,
    here: Arc<[Here]>,
    writes: mpsc::Sender<Box<dyn Work>>,
    seal: Sealed,
}

/// Who seals a commit; set once.
type Sealed = Arc<OnceLock<Arc<dyn Seal>>>;

type Read = Box<dyn FnOnce(&Mutex<Connection>, &Watch) + Send>;

/// A queue that several reader threads share.
#[derive(Default)]
struct ReadQueue {
    state: Mutex<ReadState>,
    ready: Condvar,
    most: usize,
}

#[derive(Default)]
struct ReadState {
    waiting: VecDeque<Read>,
    closed: bool,
}

impl std::fmt::Debug for ReadQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadQueue")
    }
}

impl ReadQueue {
    fn push(&self, read: Read) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.len() >= self.most {
            return Err(Error::Busy("too many reads are waiting"));
        }
        state.waiting.push_back(read);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    fn pop(&self) -> Option<Read> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(read) = state.waiting.pop_front() {
                return Some(read);
            }
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The asking side of the queue: when the last one is gone, the reader threads end.
#[derive(Debug)]
struct Reads(Arc<ReadQueue>);

impl Drop for Reads {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.0.ready.notify_all();
    }
}

/// Tells SQLite to stop a statement: when it took too long, or nobody waits for it any more.
#[derive(Clone, Debug, Default)]
struct Watch(Arc<Mutex<Option<Watched>>>);

/// When the statement is stopped at the latest, and whether somebody still waits for it.
type Watched = (Option<Instant>, Arc<AtomicBool>);

impl Watch {
    fn start(&self, limit: Option<Duration>, gone: Arc<AtomicBool>) {
        let deadline = limit.map(|limit| Instant::now() + limit);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((deadline, gone));
    }

    fn stop(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn install(&self, connection: &mut Connection) -> Result<(), Error> {
        let watched = Arc::clone(&self.0);
        connection.progress_handler(
            STEPS_BETWEEN_CHECKS,
            Some(move || {
                let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.as_ref().is_some_and(|(deadline, gone)| {
                    gone.load(Ordering::Relaxed) || deadline.is_some_and(|at| Instant::now() >= at)
                })
            }),
        )?;
        Ok(())
    }
}

/// A connection for reads that are run where they are asked for, by one at a time.
#[derive(Debug)]
struct Here {
    turn: Mutex<()>,
    connection: Mutex<Connection>,
    watch: Watch,
    never: Arc<AtomicBool>,
}

impl Here {
    fn open(path: &Path, connections: usize) -> Result<Self, Error> {
        let mut connection = connect(path, true, connections)?;
        // Whoever asks must not wait for a lock here.
        connection.busy_timeout(Duration::ZERO)?;
        let watch = Watch::default();
        watch.install(&mut connection)?;
        Ok(Self { turn: Mutex::default(), connection: Mutex::new(connection), watch, never: Arc::default() })
    }

    /// What a body finds; nothing when it is somebody else's turn.
    fn find<T, E, F>(&self, body: &F) -> Option<Result<T, E>>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let _turn = self.turn.try_lock().ok()?;
        self.watch.start(Some(SHORT), Arc::clone(&self.never));
        let (result, _) = run(&self.connection, body, &[]);
        self.watch.stop();
        Some(result)
    }
}

/// Sets its flag when the caller stops waiting.
struct GoneOnDrop(Arc<AtomicBool>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

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
        let here = thread::available_parallelism().map_or(1, usize::from);
        let connections = readers + here + 1;
        let writer = connect(path, false, connections)?;
        let (writes, waiting) = mpsc::channel(queue.max(1));
        let seal = Sealed::default();
        let sealed = Arc::clone(&seal);
        spawn("db-writer", move || write_loop(writer, waiting, &sealed))?;
        let reads = Arc::new(ReadQueue { most: queue.max(1), ..ReadQueue::default() });
        for number in 0..readers {
            let mut connection = connect(path, true, connections)?;
            let watch = Watch::default();
            watch.install(&mut connection)?;
            let reads = Arc::clone(&reads);
            spawn(&format!("db-reader-{number}"), move || {
                let connection = Mutex::new(connection);
                while let Some(read) = reads.pop() {
                    read(&connection, &watch);
                }
            })?;
        }
        let here: Result<_, _> = (0..here).map(|_| Here::open(path, connections)).collect();
        Ok(Self { path: Arc::new(path.to_owned()), reads: Arc::new(Reads(reads)), here: here?, writes, seal })
    }

    /// Reads a few rows by their keys, right here if that is possible. What takes longer or fails is tried again like
    /// any other read.
    pub(crate) async fn find<T, E, F>(&self, body: F) -> Result<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match self.here.iter().find_map(|here| here.find(&body)) {
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
        self.reads.0.push(Box::new(move |connection, watch| {
            if gone.load(Ordering::Relaxed) {
                return;
            }
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
        let work = Box::new(Transaction { body, result: None, notes: Vec::new(), reply });
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
        blocking(move || migrate::sqlite_pending(&mut connect(&path, false, 1)?, &migrations)).await
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

/// Writes what the bodies of a commit left.
fn seal_notes(connection: &Mutex<Connection>, seal: &Sealed, notes: Vec<Note>) -> Result<(), Error> {
    let Some(seal) = seal.get().filter(|_| !notes.is_empty()) else { return Ok(()) };
    let tx = Tx::new(Inner::Sqlite(connection));
    let sealed = async {
        for one in seal.seal(&tx, None, notes).await? {
            tx.execute(one.sql, &one.params).await?;
        }
        Ok(())
    };
    match catch_unwind(AssertUnwindSafe(|| sealed.now_or_never())) {
        Ok(Some(result)) => result,
        Ok(None) => Err(Error::ForeignAwait),
        Err(panic) => Err(Error::Panic(panic_text(panic.as_ref()))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

fn in_snapshot<T, E, F>(connection: &Mutex<Connection>, body: &F) -> Result<T, E>
where
    F: AsyncFn(&Tx<'_>) -> Result<T, E>,
    E: From<Error>,
{
    let locked = || connection.lock().unwrap_or_else(PoisonError::into_inner);
    locked().execute_batch("BEGIN").map_err(Error::from)?;
    let (result, _) = run(connection, body, &[]);
    locked().execute_batch("ROLLBACK").map_err(Error::from)?;
    result
}

/// A transaction that waits for the writer.
trait Work: Send {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Runs the body and keeps its result; `true` when its changes are to stay.
    fn run(&mut self, connection: &Mutex<Connection>, earlier: &[Note]) -> bool;
    /// What the body left for the commit and for the bodies after it.
    fn take_notes(&mut self) -> Vec<Note>;
    /// What the body did is on disk, or it did nothing: tells the caller what it returned.
    fn committed(self: Box<Self>);
    /// Nothing of it was kept.
    fn failed(self: Box<Self>, error: Error);
}

struct Transaction<T, E, F> {
    body: F,
    result: Option<Result<T, E>>,
    notes: Vec<Note>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Work for Transaction<T, E, F>
where
    F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(&mut self, connection: &Mutex<Connection>, earlier: &[Note]) -> bool {
        let (result, notes) = run(connection, &self.body, earlier);
        let keep = result.is_ok();
        self.notes = if keep { notes } else { Vec::new() };
        self.result = Some(result);
        keep
    }

    fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn committed(self: Box<Self>) {
        if let Some(result) = self.result {
            let _ = self.reply.send(result);
        }
    }

    fn failed(self: Box<Self>, error: Error) {
        // A body that had refused by itself keeps its own words.
        let result = match self.result {
            Some(Err(own)) => Err(own),
            _ => Err(error.into()),
        };
        let _ = self.reply.send(result);
    }
}

fn write_loop(mut connection: Connection, mut waiting: mpsc::Receiver<Box<dyn Work>>, seal: &Sealed) {
    let watch = Watch::default();
    if let Err(error) = watch.install(&mut connection) {
        tracing::error!(%error, "the writer has no statement timeout");
    }
    let connection = Mutex::new(connection);
    let never = Arc::new(AtomicBool::new(false));
    while let Some(first) = waiting.blocking_recv() {
        watch.start(Some(STATEMENT_TIMEOUT), Arc::clone(&never));
        write_batch(&connection, first, &mut waiting, seal);
        watch.stop();
    }
}

/// One commit for all that wait. Returns when everybody of the batch has an answer.
fn write_batch(
    connection: &Mutex<Connection>,
    first: Box<dyn Work>,
    waiting: &mut mpsc::Receiver<Box<dyn Work>>,
    seal: &Sealed,
) {
    if let Err(error) = statement(connection, "BEGIN IMMEDIATE") {
        return first.failed(error);
    }
    let mut done: Vec<Box<dyn Work>> = Vec::new();
    let mut notes = Vec::new();
    let mut next = Some(first);
    while let Some(mut work) = next.take() {
        if !work.is_abandoned() {
            match run_one(connection, work.as_mut(), &notes) {
                Ok(Ran::Kept | Ran::LeftNothing) => {
                    notes.extend(work.take_notes());
                    done.push(work);
                }
                Ok(Ran::Spoiled) => {
                    let _ = statement(connection, "ROLLBACK");
                    work.committed();
                    return done.into_iter().for_each(|work| write_alone(connection, work, seal));
                }
                Err(error) => {
                    // SQLite gave up the whole transaction (disk full, I/O error). Whoever shared it is
                    // tried again alone; whoever broke it is told.
                    let _ = statement(connection, "ROLLBACK");
                    work.failed(error);
                    return done.into_iter().for_each(|work| write_alone(connection, work, seal));
                }
            }
        }
        if done.len() < BATCH {
            next = waiting.try_recv().ok();
        }
    }
    if let Err(error) = seal_notes(connection, seal, notes) {
        let _ = statement(connection, "ROLLBACK");
        if done.len() == 1 {
            return done.into_iter().for_each(|work| work.failed(error.clone()));
        }
        // What one of them left cannot be sealed: alone, only that one is told.
        return done.into_iter().for_each(|work| write_alone(connection, work, seal));
    }
    match statement(connection, "COMMIT") {
        Ok(()) => done.into_iter().for_each(Work::committed),
        Err(error) => {
            let _ = statement(connection, "ROLLBACK");
            for work in done {
                work.failed(error.clone());
            }
        }
    }
}

fn write_alone(connection: &Mutex<Connection>, mut work: Box<dyn Work>, seal: &Sealed) {
    let mut attempt = || -> Result<(), Error> {
        statement(connection, "BEGIN IMMEDIATE")?;
        if run_one(connection, work.as_mut(), &[])? == Ran::Spoiled {
            return statement(connection, "ROLLBACK");
        }
        seal_notes(connection, seal, work.take_notes())?;
        statement(connection, "COMMIT")
    };
    match attempt() {
        Ok(()) => work.committed(),
        Err(error) => {
            let _ = statement(connection, "ROLLBACK");
            work.failed(error);
        }
    }
}

/// What a body left in the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    /// What it changed, which is to stay.
    Kept,
    /// It failed before it changed anything.
    LeftNothing,
    /// It failed after it had changed something: the transaction cannot be committed.
    Spoiled,
}

/// Runs one body. An error means that the transaction around it is gone.
fn run_one(connection: &Mutex<Connection>, work: &mut dyn Work, earlier: &[Note]) -> Result<Ran, Error> {
    let changes = || connection.lock().unwrap_or_else(PoisonError::into_inner).total_changes();
    let before = changes();
    let keep = work.run(connection, earlier);
    if connection.lock().unwrap_or_else(PoisonError::into_inner).is_autocommit() {
        return Err(Error::Unavailable("SQLite rolled the transaction back".to_owned()));
    }
    Ok(match keep {
        true => Ran::Kept,
        false if changes() == before => Ran::LeftNothing,
        false => Ran::Spoiled,
    })
}

fn statement(connection: &Mutex<Connection>, sql: &str) -> Result<(), Error> {
    let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
