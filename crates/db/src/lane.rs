//! Group commit on PostgreSQL. Writers of one lane take turns on one open transaction: each runs its
//! own body in its own task behind a savepoint, and the last of those who wait commits for all. Alone,
//! a writer begins, runs and commits as ever; under load sixteen share one commit.
//!
//! A body that fails takes back its savepoint alone. When the transaction is lost as a whole (the
//! connection broke, a deadlock, a writer was cancelled in the middle), whoever shared it was not
//! answered yet and runs again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, watch};

use crate::error::Error;
use crate::postgres::{Postgres, Session};
use crate::tx::{Inner, Tx};

/// How many bodies share one commit at most: PostgreSQL keeps 64 savepoints of a transaction at hand.
const BATCH: usize = 32;
/// How long a writer trusts that somebody behind it will commit: if they all went away, it does.
const PATIENCE: Duration = Duration::from_millis(20);

/// How one attempt went.
pub(crate) enum Attempt<T, E> {
    Ended(Result<T, E>),
    /// The transaction was lost, through no fault of this body unless an error is given.
    Again(Option<E>),
}

#[derive(Debug, Default)]
pub(crate) struct Lane {
    open: Mutex<Option<Open>>,
    waiting: AtomicUsize,
}

/// A transaction that others may join.
#[derive(Debug)]
struct Open {
    session: Session,
    bodies: usize,
    /// Set once: whether the commit is on disk.
    outcome: watch::Sender<Option<Result<(), Error>>>,
}

/// Counts a writer for as long as it waits for its turn.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Lane {
    pub(crate) async fn write<T, E, F>(&self, postgres: &Postgres, body: &F) -> Attempt<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let waiting = Waiting::new(&self.waiting);
        let mut turn = self.open.lock().await;
        drop(waiting);
        let mut open = match turn.take() {
            Some(open) => {
                open.session.next_body();
                open
            }
            None => match postgres.session(Some("BEGIN; SAVEPOINT body")).await {
                Ok(session) => Open { session, bodies: 0, outcome: watch::Sender::new(None) },
                Err(error) => return Attempt::Ended(Err(error.into())),
            },
        };
        // From here to the end of its turn this task alone holds the transaction: if it is cancelled,
        // the connection is closed and those who share it run again.
        let result = body(&Tx(Inner::Postgres(&open.session))).await;
        // A body that went on after a failed statement must not be told that its work was kept.
        let result = match (result, open.session.failed()) {
            (Ok(_), Some(error)) => Err(error.into()),
            (result, _) => result,
        };
        if let Err(attempt) = settle(&open.session, &result).await {
            open.outcome.send_replace(Some(Err(Error::Conflict)));
            return match (attempt, result) {
                (Lost::Conflict, Err(error)) => Attempt::Again(Some(error)),
                (Lost::Conflict, Ok(_)) => Attempt::Again(None),
                (Lost::Broken(_), Err(error)) => Attempt::Ended(Err(error)),
                (Lost::Broken(error), Ok(_)) => Attempt::Again(Some(error.into())),
            };
        }
        if result.is_err() && open.bodies == 0 && self.waiting.load(Ordering::SeqCst) == 0 {
            // Nothing was changed and nobody is here: there is nothing to commit.
            let _ = open.session.finish("ROLLBACK").await;
            return Attempt::Ended(result);
        }
        open.bodies += 1;
        let outcome = open.outcome.subscribe();
        if self.waiting.load(Ordering::SeqCst) > 0 && open.bodies < BATCH {
            *turn = Some(open);
            drop(turn);
            return self.shared(outcome, result).await;
        }
        let committed = commit_to_the_end(open).await;
        drop(turn);
        answer(committed, result)
    }

    /// Waits for whoever commits.
    async fn shared<T, E>(
        &self,
        mut outcome: watch::Receiver<Option<Result<(), Error>>>,
        result: Result<T, E>,
    ) -> Attempt<T, E>
    where
        E: From<Error>,
    {
        loop {
            let settled = tokio::time::timeout(PATIENCE, outcome.wait_for(Option::is_some)).await;
            match settled.map(|known| known.map(|known| known.clone())) {
                Ok(Ok(committed)) => return answer(committed.unwrap_or(Err(Error::Conflict)), result),
                // The transaction was dropped with the task that held it.
                Ok(Err(_)) => return Attempt::Again(None),
                Err(_) => {
                    let mut turn = self.open.lock().await;
                    if outcome.borrow().is_none()
                        && let Some(open) = turn.take()
                    {
                        commit_to_the_end(open).await.ok();
                    }
                }
            }
        }
    }
}

enum Lost<E> {
    Conflict,
    Broken(E),
}

/// Keeps or takes back what a body did. An error means that the whole transaction is gone.
async fn settle<T, E>(session: &Session, result: &Result<T, E>) -> Result<(), Lost<Error>> {
    if session.met_conflict() || session.is_lost() {
        return Err(Lost::Conflict);
    }
    if session.is_untouched() || result.is_ok() {
        return Ok(());
    }
    session.control("ROLLBACK TO body").await.map_err(Lost::Broken)
}

/// Commits in a task of its own: if this one is cancelled, the others still learn how it ended.
async fn commit_to_the_end(open: Open) -> Result<(), Error> {
    tokio::spawn(commit(open)).await.unwrap_or_else(|error| Err(Error::Unavailable(error.to_string())))
}

async fn commit(open: Open) -> Result<(), Error> {
    let Open { session, outcome, .. } = open;
    let committed = session.finish("COMMIT").await;
    // Told before the connection goes back, and to everybody who shared it.
    outcome.send_replace(Some(committed.clone()));
    committed
}

/// What a writer is told once it is known how the commit went.
fn answer<T, E: From<Error>>(committed: Result<(), Error>, result: Result<T, E>) -> Attempt<T, E> {
    match (committed, result) {
        // A body that refused by itself changed nothing, whatever became of the rest.
        (_, Err(error)) => Attempt::Ended(Err(error)),
        (Ok(()), Ok(value)) => Attempt::Ended(Ok(value)),
        (Err(Error::Conflict), Ok(_)) => Attempt::Again(None),
        (Err(error), Ok(_)) => Attempt::Ended(Err(error.into())),
    }
}
