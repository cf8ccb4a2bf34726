//! Who writes: one thread, which runs the waiting transactions one after the other and commits them together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::STATEMENT_TIMEOUT;
use crate::error::Error;
use crate::seal::Note;
use crate::sqlite::watch::Watch;
use crate::sqlite::{Sealed, panic_text, run};
use crate::tx::{Inner, Tx};

/// How many transactions share one commit at most.
const BATCH: usize = 64;
/// How many of them share one in any case, if so many wait.
const FEW: usize = 8;

/// How many transactions the next commit takes: half of those who write, so that the requests of the other half are read
/// and answered meanwhile. Where the commit takes longer than all before it, as on a slow disk, as many as can share it.
#[derive(Debug)]
struct Pace(usize);

impl Pace {
    fn learn(&mut self, writers: usize, bodies: Duration, commit: Duration) {
        self.0 = if commit > bodies { BATCH } else { (writers / 2).clamp(FEW, BATCH) };
    }
}

/// A transaction that waits for the writer.
pub(super) trait Work: Send {
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

pub(super) struct Transaction<T, E, F> {
    body: F,
    result: Option<Result<T, E>>,
    notes: Vec<Note>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Transaction<T, E, F> {
    pub(super) fn new(body: F, reply: oneshot::Sender<Result<T, E>>) -> Self {
        Self { body, result: None, notes: Vec::new(), reply }
    }
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

pub(super) fn write_loop(
    mut connection: Connection,
    mut waiting: mpsc::Receiver<Box<dyn Work>>,
    seal: &Sealed,
) {
    let watch = Watch::default();
    if let Err(error) = watch.install(&mut connection) {
        tracing::error!(%error, "the writer has no statement timeout");
    }
    let connection = Mutex::new(connection);
    let never = Arc::new(AtomicBool::new(false));
    let mut pace = Pace(BATCH);
    while let Some(first) = waiting.blocking_recv() {
        watch.start(Some(STATEMENT_TIMEOUT), Arc::clone(&never));
        write_batch(&connection, first, &mut waiting, seal, &mut pace);
        watch.stop();
    }
}

/// One commit for those who wait. Returns when everybody of the batch has an answer.
fn write_batch(
    connection: &Mutex<Connection>,
    first: Box<dyn Work>,
    waiting: &mut mpsc::Receiver<Box<dyn Work>>,
    seal: &Sealed,
    pace: &mut Pace,
) {
    let began = Instant::now();
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
        if done.len() < pace.0 {
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
    let (bodies, commit_began) = (began.elapsed(), Instant::now());
    let committed = statement(connection, "COMMIT");
    pace.learn(done.len() + waiting.len(), bodies, commit_began.elapsed());
    match committed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_those_who_write_share_a_commit_unless_it_is_slow() {
        let (short, long) = (Duration::from_micros(100), Duration::from_millis(1));
        let mut pace = Pace(BATCH);
        for (writers, most) in [(1, FEW), (16, 8), (40, 20), (500, BATCH)] {
            pace.learn(writers, long, short);
            assert_eq!(pace.0, most, "{writers}");
        }
        pace.learn(16, short, long);
        assert_eq!(pace.0, BATCH);
    }
}
