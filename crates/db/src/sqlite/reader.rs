//! Who reads: threads with a connection each and a queue they share, and connections for reads that are run inline.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::QUEUE_TIMEOUT;
use crate::error::Error;
use crate::sqlite::watch::Watch;
use crate::sqlite::{connect, run, spawn};
use crate::tx::Tx;

/// How long a read may run inline: it holds up other requests.
const INLINE_LIMIT: Duration = Duration::from_millis(10);

pub(super) type Read = Box<dyn FnOnce(Result<&Reader, Error>) + Send>;

/// A connection that reads, and the clock beside it.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) connection: Mutex<Connection>,
    pub(super) watch: Watch,
}

/// One that is opened when it is first used: each connection keeps the schema in memory, and a server with little to do
/// needs few of them.
#[derive(Debug)]
struct LazyReader {
    path: Arc<PathBuf>,
    /// How many connections the file has.
    connections: usize,
    /// How long it waits for a lock.
    patience: Duration,
    opened: OnceLock<Reader>,
}

impl LazyReader {
    fn new(path: &Arc<PathBuf>, connections: usize, patience: Duration) -> Self {
        Self { path: Arc::clone(path), connections, patience, opened: OnceLock::new() }
    }

    fn get(&self) -> Result<&Reader, Error> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let mut connection = connect(&self.path, true, self.connections)?;
        connection.busy_timeout(self.patience)?;
        let watch = Watch::default();
        watch.install(&mut connection)?;
        Ok(self.opened.get_or_init(|| Reader { connection: Mutex::new(connection), watch }))
    }
}

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
pub(super) struct Reads(Arc<ReadQueue>);

impl Reads {
    /// Starts the threads.
    pub(super) fn start(
        path: &Arc<PathBuf>,
        readers: usize,
        queue: usize,
        connections: usize,
    ) -> Result<Self, Error> {
        let reads = Arc::new(ReadQueue { most: queue, ..ReadQueue::default() });
        for number in 0..readers {
            let (reads, reader) = (Arc::clone(&reads), LazyReader::new(path, connections, QUEUE_TIMEOUT));
            spawn(&format!("db-reader-{number}"), move || {
                while let Some(read) = reads.pop() {
                    read(reader.get());
                }
            })?;
        }
        Ok(Self(reads))
    }

    pub(super) fn push(&self, read: Read) -> Result<(), Error> {
        self.0.push(read)
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.0.ready.notify_all();
    }
}

/// A connection for reads that are run on the thread that asks, one at a time.
#[derive(Debug)]
pub(super) struct Inline {
    turn: Mutex<()>,
    reader: LazyReader,
    never: Arc<AtomicBool>,
}

impl Inline {
    pub(super) fn new(path: &Arc<PathBuf>, connections: usize) -> Self {
        // The thread that asks must not wait for a lock.
        let reader = LazyReader::new(path, connections, Duration::ZERO);
        Self { turn: Mutex::default(), reader, never: Arc::default() }
    }

    /// What a body finds; nothing when it is somebody else's turn, or the file cannot be opened.
    pub(super) fn find<T, E, F>(&self, body: &F) -> Option<Result<T, E>>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let _turn = self.turn.try_lock().ok()?;
        let Reader { connection, watch } = self.reader.get().ok()?;
        watch.start(Some(INLINE_LIMIT), Arc::clone(&self.never));
        let (result, _) = run(connection, body, &[]);
        watch.stop();
        Some(result)
    }
}

/// Sets its flag when the caller stops waiting.
pub(super) struct GoneOnDrop(pub(super) Arc<AtomicBool>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn in_snapshot<T, E, F>(connection: &Mutex<Connection>, body: &F) -> Result<T, E>
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
