//! Group commit on PostgreSQL. The writers of one lane (an organization) run one after the other on a shared open
//! transaction: each runs its own body in its own task, and the last one in the queue seals and commits for all. A
//! single writer begins, runs and commits as usual; under load many writers share one commit.
//!
//! A lane takes the lock that its writers need anyway ([`crate::Seal::hold`]) before it touches anything else, so
//! that two processes with a lane for the same organization queue up instead of deadlocking. No transaction holds the
//! locks of two lanes.
//!
//! Most bodies that fail do so before they change anything, and then there is nothing to roll back. A body that fails
//! later poisons the whole transaction: the bodies that shared it, which have not returned yet, run again, and for a
//! while the lane is in savepoint mode: it sets a savepoint before each body and queues no changes. The same happens
//! when the transaction is lost for another reason (a broken connection, a deadlock, a failed queued change, a
//! cancelled writer).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, watch};

use crate::QUEUE_TIMEOUT;
use crate::error::Error;
use crate::postgres::{Attempt, Postgres, Ran};
use crate::seal::{CommitRecord, LaneLock, Seal};
use crate::session::{SAVEPOINT, Session};
use crate::tx::{Inner, Tx};

/// The maximum number of bodies per commit: PostgreSQL caches 64 savepoints of a transaction.
const MAX_BODIES_PER_COMMIT: usize = 32;
/// The time that a writer waits for a later one to commit before it commits itself, in case they were all cancelled.
const COMMIT_WAIT_TIMEOUT: Duration = Duration::from_millis(20);
/// The number of transactions of a lane that run in savepoint mode after one was poisoned.
const SAVEPOINT_MODE_TRANSACTIONS: usize = 16;

/// The lanes in use. The map holds weak references: a lane is dropped with its last user and removes itself from the
/// map.
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
        // A new lane may have started under the same number.
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
    /// The number of transactions that still run in savepoint mode.
    savepoint_transactions_left: AtomicUsize,
}

/// An open transaction that other writers may join.
struct Open {
    session: Session,
    held: Option<LaneLock>,
    notes: Vec<CommitRecord>,
    bodies: usize,
    seal: Option<Arc<dyn Seal>>,
    /// True in savepoint mode: each body has a savepoint.
    has_savepoints: bool,
    /// The result of the commit, set once.
    outcome: watch::Sender<Option<Result<(), Error>>>,
    _turn: OwnedSemaphorePermit,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.session.fmt(f)
    }
}

/// Counts a writer while it waits for the lane.
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
        let (waiting, savepoint_transactions_left) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { number, lanes, open: Mutex::default(), waiting, savepoint_transactions_left }
    }

    /// Waits for the lane's transaction and owns it until the turn ends. If the task is cancelled, the connection is
    /// closed and the bodies that share the transaction run again.
    pub(crate) async fn begin(&self, postgres: &Postgres, queues: bool) -> Result<Turn<'_>, Error> {
        let waiting = Waiting::new(&self.waiting);
        let Ok(mut place) = tokio::time::timeout(QUEUE_TIMEOUT, self.open.lock()).await else {
            return Err(Error::Busy("too many writes of this organization are waiting"));
        };
        drop(waiting);
        let open = match place.take() {
            Some(open) => {
                open.session.next_body(open.has_savepoints);
                open
            }
            None => Open::begin(postgres, self.take_savepoint_mode()).await?,
        };
        open.session.allow_queueing(queues && !open.has_savepoints);
        Ok(Turn { open, place })
    }

    /// Takes the lane's lock, with the first body of a transaction.
    pub(crate) async fn hold(&self, turn: &Turn<'_>) -> Result<Option<LaneLock>, Error> {
        match &turn.open.seal {
            Some(seal) if turn.open.held.is_none() => {
                seal.hold(&Tx::new(Inner::Postgres(&turn.open.session)), self.number).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Ends a body's turn.
    pub(crate) async fn end(&self, mut turn: Turn<'_>, ran: Ran) -> Attempt {
        let answer = ran.answer(&turn.open.session);
        let kept = ran.is_ok && answer.is_none();
        if let Ok(Some(held)) = ran.held {
            turn.open.held = Some(held);
        }
        match self.hand_on(turn, kept, ran.notes).await {
            End::Done => Attempt::Ended(answer),
            End::Failed(error) => Attempt::Ended(Some(error)),
            End::Lost if kept => Attempt::Unlucky,
            End::Lost => Attempt::Again(answer),
            End::Broken(error) => Attempt::Again(Some(error)),
        }
    }

    /// Passes the transaction to the next writer, or commits it if none waits. `kept` is true when the body
    /// succeeded.
    async fn hand_on(
        &self,
        Turn { mut place, mut open }: Turn<'_>,
        kept: bool,
        notes: Vec<CommitRecord>,
    ) -> End {
        if let Err(lost) = settle(&open.session, open.has_savepoints, kept).await {
            open.outcome.send_replace(Some(Err(Error::Conflict)));
            if open.bodies > 0 || matches!(lost, Lost::Conflict) {
                self.enter_savepoint_mode();
            }
            return match lost {
                Lost::Broken(error) if kept => End::Broken(error),
                Lost::Poisoned if !kept => {
                    let _ = open.session.finish("ROLLBACK").await;
                    End::Done
                }
                Lost::Broken(_) => End::Done,
                Lost::Conflict | Lost::Poisoned => End::Lost,
            };
        }
        if !kept && open.bodies == 0 && self.waiting.load(Ordering::SeqCst) == 0 {
            // Nothing was changed and no writer is waiting: there is nothing to commit.
            let _ = open.session.finish("ROLLBACK").await;
            return End::Done;
        }
        open.bodies += 1;
        if kept {
            open.notes.extend(notes);
        }
        let outcome = open.outcome.subscribe();
        if self.waiting.load(Ordering::SeqCst) > 0 && open.bodies < MAX_BODIES_PER_COMMIT {
            *place = Some(open);
            drop(place);
            return self.shared(outcome, kept).await;
        }
        let committed = open.commit_to_the_end().await;
        // Before the next transaction begins: it may need savepoint mode.
        let end = self.committed(committed, kept);
        drop(place);
        end
    }

    fn enter_savepoint_mode(&self) {
        self.savepoint_transactions_left.store(SAVEPOINT_MODE_TRANSACTIONS, Ordering::Relaxed);
    }

    /// Returns true when the next transaction runs in savepoint mode, and counts it.
    fn take_savepoint_mode(&self) -> bool {
        self.savepoint_transactions_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }

    /// Waits until another writer commits the shared transaction.
    async fn shared(&self, mut outcome: watch::Receiver<Option<Result<(), Error>>>, kept: bool) -> End {
        loop {
            let settled = tokio::time::timeout(COMMIT_WAIT_TIMEOUT, outcome.wait_for(Option::is_some)).await;
            match settled.map(|known| known.map(|known| known.clone())) {
                Ok(Ok(committed)) => return self.committed(committed.unwrap_or(Err(Error::Conflict)), kept),
                // The transaction was dropped with the task that owned it.
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

    /// Maps the result of the commit to the end of a body's turn.
    fn committed(&self, committed: Result<(), Error>, kept: bool) -> End {
        match committed {
            // A body that failed changed nothing, whatever happened to the others.
            _ if !kept => End::Done,
            Ok(()) => End::Done,
            Err(Error::Conflict) => {
                self.enter_savepoint_mode();
                End::Lost
            }
            Err(error) => End::Failed(error),
        }
    }
}

/// A body's turn on the lane's transaction.
#[derive(Debug)]
pub(crate) struct Turn<'l> {
    open: Open,
    /// The lane's slot, to which the transaction returns for the next writer.
    place: MutexGuard<'l, Option<Open>>,
}

impl Turn<'_> {
    pub(crate) fn tx(&self) -> Tx<'_> {
        Tx::after(Inner::Postgres(&self.open.session), &self.open.notes)
    }
}

/// The outcome of a turn.
enum End {
    /// The body's own result is returned.
    Done,
    /// The commit failed.
    Failed(Error),
    /// The transaction was lost, including the body's changes.
    Lost,
    /// The body's changes could not be saved.
    Broken(Error),
}

enum Lost {
    /// The transaction conflicted with another, its connection broke, or a queued change failed.
    Conflict,
    /// A body failed after it had changed something.
    Poisoned,
    Broken(Error),
}

/// Keeps a body's changes or rolls them back. An error means that the whole transaction is lost.
async fn settle(session: &Session, has_savepoints: bool, keep: bool) -> Result<(), Lost> {
    if session.met_conflict() || session.is_lost() {
        return Err(Lost::Conflict);
    }
    if keep || session.is_clean() {
        return Ok(());
    }
    if !has_savepoints {
        return Err(Lost::Poisoned);
    }
    session.control("ROLLBACK TO body").await.map_err(Lost::Broken)
}

impl Open {
    async fn begin(postgres: &Postgres, has_savepoints: bool) -> Result<Self, Error> {
        let seal = postgres.seal().cloned();
        // The lane's lock is sent with the first statement, the body with the second.
        let ahead: &[&str] = match (&seal, has_savepoints) {
            (Some(_), true) => &["BEGIN", SAVEPOINT],
            (None, true) => &["BEGIN; SAVEPOINT body"],
            (_, false) => &["BEGIN"],
        };
        let (session, turn) = postgres.lane_session(ahead).await?;
        let outcome = watch::Sender::new(None);
        Ok(Self {
            session,
            held: None,
            notes: Vec::new(),
            bodies: 0,
            seal,
            has_savepoints,
            outcome,
            _turn: turn,
        })
    }

    /// Commits in a separate task: if the caller is cancelled, the other writers still get the outcome.
    async fn commit_to_the_end(self) -> Result<(), Error> {
        let committed = tokio::spawn(async move {
            let Self { session, held, notes, seal, outcome, .. } = self;
            let committed = commit(&session, seal.as_ref(), held, notes).await;
            // Report the outcome to all writers before the connection returns to the pool.
            outcome.send_replace(Some(committed.clone()));
            committed
        });
        committed.await.unwrap_or_else(|error| Err(Error::Unavailable(error.to_string())))
    }
}

/// Seals the commit records and commits.
pub(crate) async fn commit(
    session: &Session,
    seal: Option<&Arc<dyn Seal>>,
    held: Option<LaneLock>,
    notes: Vec<CommitRecord>,
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
