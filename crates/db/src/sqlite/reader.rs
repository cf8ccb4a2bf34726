//! Readers: threads with a connection each and a shared queue, and connections for reads that run inline.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::Error;
use crate::sqlite::watch::Watch;
use crate::sqlite::work::Work;
use crate::sqlite::{connect, spawn};
use crate::{QUEUE_TIMEOUT, STATEMENT_TIMEOUT};

/// The maximum run time of an inline read: it blocks other requests.
const INLINE_LIMIT: Duration = Duration::from_millis(10);

/// A body that only reads.
pub(super) struct Read {
    pub(super) work: Box<dyn Work>,
    /// True when all its statements see the same snapshot, without a timeout.
    pub(super) is_snapshot: bool,
    /// Set when the caller stops waiting.
    pub(super) gone: Arc<AtomicBool>,
}

impl Read {
    fn run(self, reader: Result<&Reader, Error>) {
        let Self { mut work, is_snapshot, gone } = self;
        if gone.load(Ordering::Relaxed) {
            return;
        }
        let Reader { connection, watch } = match reader {
            Ok(reader) => reader,
            Err(error) => return work.fail(error),
        };
        watch.start((!is_snapshot).then_some(STATEMENT_TIMEOUT), gone);
        let ended = if is_snapshot {
            in_snapshot(connection, work.as_mut())
        } else {
            work.run(connection, &[]);
            Ok(())
        };
        watch.stop();
        match ended {
            Ok(()) => work.answer(),
            Err(error) => work.fail(error),
        }
    }
}

/// A read connection and its watchdog.
#[derive(Debug)]
struct Reader {
    connection: Mutex<Connection>,
    watch: Watch,
}

/// A reader that is opened on first use: each connection caches the schema, and an idle server needs few of them.
#[derive(Debug)]
struct LazyReader {
    path: Arc<PathBuf>,
    /// The number of connections to the file.
    connections: usize,
    /// The lock timeout.
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

/// The sending side of the queue: when it is dropped, the reader threads end.
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
                    read.run(reader.get());
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

/// A connection for reads that run on the calling thread, one at a time.
#[derive(Debug)]
pub(super) struct Inline {
    turn: Mutex<()>,
    reader: LazyReader,
    never: Arc<AtomicBool>,
}

impl Inline {
    pub(super) fn new(path: &Arc<PathBuf>, connections: usize) -> Self {
        // The calling thread must not wait for a lock.
        let reader = LazyReader::new(path, connections, Duration::ZERO);
        Self { turn: Mutex::default(), reader, never: Arc::default() }
    }

    /// Runs a body; `false` when the connection is in use or the file cannot be opened.
    pub(super) fn run(&self, work: &mut dyn Work) -> bool {
        let Ok(_turn) = self.turn.try_lock() else { return false };
        let Ok(Reader { connection, watch }) = self.reader.get() else { return false };
        watch.start(Some(INLINE_LIMIT), Arc::clone(&self.never));
        work.run(connection, &[]);
        watch.stop();
        true
    }
}

/// Sets its flag when the caller stops waiting.
pub(crate) struct GoneOnDrop(pub(super) Arc<AtomicBool>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn in_snapshot(connection: &Mutex<Connection>, work: &mut dyn Work) -> Result<(), Error> {
    let execute = |sql| connection.lock().unwrap_or_else(PoisonError::into_inner).execute_batch(sql);
    execute("BEGIN")?;
    work.run(connection, &[]);
    Ok(execute("ROLLBACK")?)
}
