//! Group commit on PostgreSQL. Writers of one lane (an organization) take turns on one open transaction: each runs its
//! own body in its own task, and the last of those who wait seals and commits for all. Alone, a writer begins, runs and
//! commits as ever; under load many share one commit.
//!
//! A lane holds what its writers would wait for anyway ([`crate::Seal::hold`]) before it touches anything else, so that
//! two processes with a lane for the same organization take turns instead of waiting for each other. No transaction
//! holds that of two lanes.
//!
//! Most bodies that fail do so before they change anything, and then there is nothing to take back. One that fails later
//! takes the whole transaction with it: whoever shared it was not answered yet and runs again, and for a while the lane
//! is careful: it puts a savepoint before each body, and no change is queued. The same holds when the transaction is
//! lost otherwise (the connection broke, a deadlock, a queued change failed, a writer was cancelled in the middle).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future;
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, watch};

use crate::QUEUE_TIMEOUT;
use crate::error::Error;
use crate::postgres::Postgres;
use crate::seal::{Held, Note, Seal};
use crate::session::{SAVEPOINT, Session};
use crate::tx::{Inner, Tx};

/// How many bodies share one commit at most: PostgreSQL keeps 64 savepoints of a transaction at hand.
const BATCH: usize = 32;
/// How long a writer trusts that somebody behind it will commit: if they all went away, it does.
const PATIENCE: Duration = Duration::from_millis(20);
/// How many transactions of a lane are careful after one was spoiled.
const CAREFUL: usize = 16;

/// How one attempt went.
pub(crate) enum Attempt<T, E> {
    Ended(Result<T, E>),
    /// The transaction was lost, through no fault of this body unless an error is given.
    Again(Option<E>),
}

/// The lanes that somebody is in. The map owns none of them: a lane ends with the last one who is in it, and takes itself
/// out of the map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes(Arc<StdMutex<HashMap<u128, Weak<Lane>>>>);

impl Lanes {
    pub(crate) fn enter(&self, number: u128) -> Arc<Lane> {
        let mut all = self.all();
        if let Some(lane) = all.get(&number).and_then(Weak::upgrade) {
            return lane;
        }
        let lane = Arc::new(Lane::new(number, self.clone()));
        all.insert(number, Arc::downgrade(&lane));
        lane
    }

    fn all(&self) -> StdMutexGuard<'_, HashMap<u128, Weak<Lane>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let mut all = self.lanes.all();
        // Another one may have begun under the same number.
        if all.get(&self.number).is_some_and(|lane| lane.strong_count() == 0) {
            all.remove(&self.number);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Lane {
    number: u128,
    lanes: Lanes,
    open: Mutex<Option<Open>>,
    waiting: AtomicUsize,
    careful: AtomicUsize,
}

/// A transaction that others may join.
struct Open {
    session: Session,
    held: Option<Held>,
    notes: Vec<Note>,
    bodies: usize,
    seal: Option<Arc<dyn Seal>>,
    /// Whether each body has a savepoint.
    careful: bool,
    /// Set once: whether the commit is on disk.
    outcome: watch::Sender<Option<Result<(), Error>>>,
    _turn: OwnedSemaphorePermit,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.session.fmt(f)
    }
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
    fn new(number: u128, lanes: Lanes) -> Self {
        let (waiting, careful) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { number, lanes, open: Mutex::default(), waiting, careful }
    }

    pub(crate) async fn write<T, E, F>(&self, postgres: &Postgres, body: &F, queues: bool) -> Attempt<T, E>
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let mut turn = match self.begin(postgres, queues).await {
            Ok(turn) => turn,
            Err(error) => return Attempt::Ended(Err(error.into())),
        };
        let (result, notes) = self.run(&mut turn.open, body).await;
        match self.end(turn, result.is_ok(), notes).await {
            End::Told => Attempt::Ended(result),
            End::Failed(error) => Attempt::Ended(Err(error.into())),
            End::Lost => Attempt::Again(result.err()),
            End::Broken(error) => Attempt::Again(Some(error.into())),
        }
    }

    /// Waits for its turn. From here to its end this task alone holds the transaction: if it is cancelled, the
    /// connection is closed and those who share it run again.
    async fn begin(&self, postgres: &Postgres, queues: bool) -> Result<Turn<'_>, Error> {
        let waiting = Waiting::new(&self.waiting);
        let Ok(mut place) = tokio::time::timeout(QUEUE_TIMEOUT, self.open.lock()).await else {
            return Err(Error::Busy("too many writes of this organization are waiting"));
        };
        drop(waiting);
        let open = match place.take() {
            Some(open) => {
                open.session.next_body(open.careful);
                open
            }
            None => Open::begin(postgres, self.is_careful()).await?,
        };
        open.session.allow_queueing(queues && !open.careful);
        Ok(Turn { open, place })
    }

    /// Hands the transaction on, or commits it if nobody waits. `kept`: whether the body succeeded.
    async fn end(&self, Turn { mut place, mut open }: Turn<'_>, kept: bool, notes: Vec<Note>) -> End {
        if let Err(lost) = settle(&open.session, open.careful, kept).await {
            open.outcome.send_replace(Some(Err(Error::Conflict)));
            if open.bodies > 0 || matches!(lost, Lost::Conflict) {
                self.be_careful();
            }
            return match lost {
                Lost::Broken(error) if kept => End::Broken(error),
                Lost::Spoiled if !kept => {
                    let _ = open.session.finish("ROLLBACK").await;
                    End::Told
                }
                Lost::Broken(_) => End::Told,
                Lost::Conflict | Lost::Spoiled => End::Lost,
            };
        }
        if !kept && open.bodies == 0 && self.waiting.load(Ordering::SeqCst) == 0 {
            // Nothing was changed and nobody is here: there is nothing to commit.
            let _ = open.session.finish("ROLLBACK").await;
            return End::Told;
        }
        open.bodies += 1;
        if kept {
            open.notes.extend(notes);
        }
        let outcome = open.outcome.subscribe();
        if self.waiting.load(Ordering::SeqCst) > 0 && open.bodies < BATCH {
            *place = Some(open);
            drop(place);
            return self.shared(outcome, kept).await;
        }
        let committed = open.commit_to_the_end().await;
        // Before the next one begins: it may have to be careful.
        let end = self.committed(committed, kept);
        drop(place);
        end
    }

    fn be_careful(&self) {
        self.careful.store(CAREFUL, Ordering::Relaxed);
    }

    /// Whether the next transaction is to be careful.
    fn is_careful(&self) -> bool {
        self.careful.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Runs one body; the first one of a transaction travels together with what the lane holds.
    async fn run<T, E, F>(&self, open: &mut Open, body: &F) -> (Result<T, E>, Vec<Note>)
    where
        F: AsyncFn(&Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let session = &open.session;
        let tx = Tx::after(Inner::Postgres(session), &open.notes);
        let result = match &open.seal {
            Some(seal) if open.held.is_none() => {
                let held_by = Tx::new(Inner::Postgres(session));
                // Polled in this order, what is held is asked for first.
                let (held, result) = future::join(seal.hold(&held_by, self.number), body(&tx)).await;
                match held {
                    Ok(held) => {
                        open.held = Some(held);
                        result
                    }
                    Err(error) => Err(error.into()),
                }
            }
            _ => body(&tx).await,
        };
        // A body that went on after a failed statement must not be told that its work was kept.
        match (result, session.failed()) {
            (Ok(_), Some(error)) => (Err(error.into()), Vec::new()),
            (result, _) => (result, tx.into_notes()),
        }
    }

    /// Waits for whoever commits.
    async fn shared(&self, mut outcome: watch::Receiver<Option<Result<(), Error>>>, kept: bool) -> End {
        loop {
            let settled = tokio::time::timeout(PATIENCE, outcome.wait_for(Option::is_some)).await;
            match settled.map(|known| known.map(|known| known.clone())) {
                Ok(Ok(committed)) => return self.committed(committed.unwrap_or(Err(Error::Conflict)), kept),
                // The transaction was dropped with the task that held it.
                Ok(Err(_)) => return End::Lost,
                Err(_) => {
                    let mut place = self.open.lock().await;
                    if outcome.borrow().is_none()
                        && let Some(open) = place.take()
                    {
                        open.commit_to_the_end().await.ok();
                    }
                }
            }
        }
    }

    /// How it ends for a body once it is known how the commit went.
    fn committed(&self, committed: Result<(), Error>, kept: bool) -> End {
        match committed {
            // A body that refused by itself changed nothing, whatever became of the rest.
            _ if !kept => End::Told,
            Ok(()) => End::Told,
            Err(Error::Conflict) => {
                self.be_careful();
                End::Lost
            }
            Err(error) => End::Failed(error),
        }
    }
}

/// A body's turn on the lane's transaction.
struct Turn<'l> {
    open: Open,
    /// Where the transaction is put for the next one.
    place: MutexGuard<'l, Option<Open>>,
}

/// How a turn ended.
enum End {
    /// The body's own result is the answer.
    Told,
    /// The commit failed.
    Failed(Error),
    /// The transaction was lost, and the body with it.
    Lost,
    /// What the body did could not be kept.
    Broken(Error),
}

enum Lost {
    /// The transaction met another, its connection broke, or a queued change failed.
    Conflict,
    /// A body failed after it had changed something.
    Spoiled,
    Broken(Error),
}

/// Keeps or takes back what a body did. An error means that the whole transaction is gone.
async fn settle(session: &Session, careful: bool, keep: bool) -> Result<(), Lost> {
    if session.met_conflict() || session.is_lost() {
        return Err(Lost::Conflict);
    }
    if keep || session.is_clean() {
        return Ok(());
    }
    if !careful {
        return Err(Lost::Spoiled);
    }
    session.control("ROLLBACK TO body").await.map_err(Lost::Broken)
}

impl Open {
    async fn begin(postgres: &Postgres, careful: bool) -> Result<Self, Error> {
        let seal = postgres.seal().cloned();
        // What the lane holds travels with the first statement, the body with the second.
        let ahead: &[&str] = match (&seal, careful) {
            (Some(_), true) => &["BEGIN", SAVEPOINT],
            (None, true) => &["BEGIN; SAVEPOINT body"],
            (_, false) => &["BEGIN"],
        };
        let (session, turn) = postgres.lane_session(ahead).await?;
        let outcome = watch::Sender::new(None);
        Ok(Self { session, held: None, notes: Vec::new(), bodies: 0, seal, careful, outcome, _turn: turn })
    }

    /// Commits in a task of its own: if this one is cancelled, the others still learn how it ended.
    async fn commit_to_the_end(self) -> Result<(), Error> {
        let committed = tokio::spawn(async move {
            let Self { session, held, notes, seal, outcome, .. } = self;
            let committed = commit(&session, seal.as_ref(), held, notes).await;
            // Told before the connection goes back, and to everybody who shared it.
            outcome.send_replace(Some(committed.clone()));
            committed
        });
        committed.await.unwrap_or_else(|error| Err(Error::Unavailable(error.to_string())))
    }
}

/// Seals what was left and commits.
pub(crate) async fn commit(
    session: &Session,
    seal: Option<&Arc<dyn Seal>>,
    held: Option<Held>,
    notes: Vec<Note>,
) -> Result<(), Error> {
    let mut last = Vec::new();
    if let Some(seal) = seal.filter(|_| !notes.is_empty()) {
        let sealed = seal.seal(&Tx::new(Inner::Postgres(session)), held, notes).await;
        if session.met_conflict() || session.is_lost() {
            return Err(Error::Conflict);
        }
        last = sealed?;
    }
    session.commit(&last).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_shared_and_leaves_nothing_behind() {
        let lanes = Lanes::default();
        let (one, same) = (lanes.enter(1), lanes.enter(1));
        assert!(Arc::ptr_eq(&one, &same));
        let another = lanes.enter(2);
        drop((one, another));
        assert_eq!(lanes.all().len(), 1);
        drop(same);
        assert!(lanes.all().is_empty());
    }

    #[test]
    fn lanes_that_begin_and_end_at_once_leave_nothing_behind() {
        let lanes = Lanes::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|number| drop(lanes.enter(number % 3))));
            }
        });
        assert!(lanes.all().is_empty());
    }
}
