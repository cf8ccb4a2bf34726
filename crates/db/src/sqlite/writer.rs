//! The writer: one thread, which runs the waiting transactions one after the other and commits them together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::STATEMENT_TIMEOUT;
use crate::error::Error;
use crate::seal::CommitRecord;
use crate::sqlite::watch::Watch;
use crate::sqlite::work::Work;
use crate::sqlite::{Sealed, panic_text};
use crate::tx::{Inner, Tx};

/// The maximum number of transactions per commit.
const MAX_TRANSACTIONS_PER_COMMIT: usize = 64;
/// The minimum batch limit: if this many transactions are waiting, they share a commit.
const MIN_BATCH_LIMIT: usize = 8;

/// The batch limit of the next commit: half of the current writers, so that the requests of the other half are read
/// and answered meanwhile. If the commit takes longer than the bodies before it, as on a slow disk, the limit is the
/// maximum.
#[derive(Debug)]
struct BatchLimit(usize);

impl BatchLimit {
    fn learn(&mut self, writers: usize, bodies: Duration, commit: Duration) {
        self.0 = if commit > bodies {
            MAX_TRANSACTIONS_PER_COMMIT
        } else {
            (writers / 2).clamp(MIN_BATCH_LIMIT, MAX_TRANSACTIONS_PER_COMMIT)
        };
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
    let mut limit = BatchLimit(MAX_TRANSACTIONS_PER_COMMIT);
    while let Some(first) = waiting.blocking_recv() {
        watch.start(Some(STATEMENT_TIMEOUT), Arc::clone(&never));
        write_batch(&connection, first, &mut waiting, seal, &mut limit);
        watch.stop();
    }
}

/// Runs the waiting transactions with one commit. Returns when every caller of the batch has a result.
fn write_batch(
    connection: &Mutex<Connection>,
    first: Box<dyn Work>,
    waiting: &mut mpsc::Receiver<Box<dyn Work>>,
    seal: &Sealed,
    limit: &mut BatchLimit,
) {
    let began = Instant::now();
    if let Err(error) = statement(connection, "BEGIN IMMEDIATE") {
        return first.fail(error);
    }
    let mut done: Vec<Box<dyn Work>> = Vec::new();
    let mut notes = Vec::new();
    let mut next = Some(first);
    while let Some(mut work) = next.take() {
        if !work.is_abandoned() {
            match run_one(connection, work.as_mut(), &notes) {
                Ok(Ran::Kept | Ran::LeftNothing) => {
                    notes.extend(work.take_commit_records());
                    done.push(work);
                }
                Ok(Ran::Poisoned) => {
                    let _ = statement(connection, "ROLLBACK");
                    work.answer();
                    return done.into_iter().for_each(|work| write_alone(connection, work, seal));
                }
                Err(error) => {
                    // SQLite aborted the whole transaction (disk full, I/O error). The other bodies are retried
                    // alone; the one that caused it gets the error.
                    let _ = statement(connection, "ROLLBACK");
                    work.fail(error);
                    return done.into_iter().for_each(|work| write_alone(connection, work, seal));
                }
            }
        }
        if done.len() < limit.0 {
            next = waiting.try_recv().ok();
        }
    }
    if let Err(error) = seal_notes(connection, seal, notes) {
        let _ = statement(connection, "ROLLBACK");
        if done.len() == 1 {
            return done.into_iter().for_each(|work| work.fail(error.clone()));
        }
        // One of the commit records cannot be sealed: run alone, only its body gets the error.
        return done.into_iter().for_each(|work| write_alone(connection, work, seal));
    }
    let (bodies, commit_began) = (began.elapsed(), Instant::now());
    let committed = statement(connection, "COMMIT");
    limit.learn(done.len() + waiting.len(), bodies, commit_began.elapsed());
    match committed {
        Ok(()) => done.into_iter().for_each(Work::answer),
        Err(error) => {
            let _ = statement(connection, "ROLLBACK");
            for work in done {
                work.fail(error.clone());
            }
        }
    }
}

fn write_alone(connection: &Mutex<Connection>, mut work: Box<dyn Work>, seal: &Sealed) {
    let mut attempt = || -> Result<(), Error> {
        statement(connection, "BEGIN IMMEDIATE")?;
        if run_one(connection, work.as_mut(), &[])? == Ran::Poisoned {
            return statement(connection, "ROLLBACK");
        }
        seal_notes(connection, seal, work.take_commit_records())?;
        statement(connection, "COMMIT")
    };
    match attempt() {
        Ok(()) => work.answer(),
        Err(error) => {
            let _ = statement(connection, "ROLLBACK");
            work.fail(error);
        }
    }
}

/// The effect of a body on the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    /// It succeeded, and its changes are to be committed.
    Kept,
    /// It failed before it changed anything.
    LeftNothing,
    /// It failed after it had changed something: the transaction cannot be committed.
    Poisoned,
}

/// Runs one body. An error means that the transaction around it was rolled back.
fn run_one(
    connection: &Mutex<Connection>,
    work: &mut dyn Work,
    earlier: &[CommitRecord],
) -> Result<Ran, Error> {
    let changes = || connection.lock().unwrap_or_else(PoisonError::into_inner).total_changes();
    let before = changes();
    let keep = work.run(connection, earlier);
    if connection.lock().unwrap_or_else(PoisonError::into_inner).is_autocommit() {
        return Err(Error::Unavailable("SQLite rolled the transaction back".to_owned()));
    }
    Ok(match keep {
        true => Ran::Kept,
        false if changes() == before => Ran::LeftNothing,
        false => Ran::Poisoned,
    })
}

fn statement(connection: &Mutex<Connection>, sql: &str) -> Result<(), Error> {
    let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Seals the commit records of a batch.
fn seal_notes(connection: &Mutex<Connection>, seal: &Sealed, notes: Vec<CommitRecord>) -> Result<(), Error> {
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
        let mut limit = BatchLimit(MAX_TRANSACTIONS_PER_COMMIT);
        for (writers, most) in [(1, MIN_BATCH_LIMIT), (16, 8), (40, 20), (500, MAX_TRANSACTIONS_PER_COMMIT)] {
            limit.learn(writers, long, short);
            assert_eq!(limit.0, most, "{writers}");
        }
        limit.learn(16, short, long);
        assert_eq!(limit.0, MAX_TRANSACTIONS_PER_COMMIT);
    }
}
