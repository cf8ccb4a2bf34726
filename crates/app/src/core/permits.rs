//! Permits: limits on how much of one kind of work, or of memory, a process uses concurrently, shared fairly.
//!
//! Keys (an organization, a network, a grant) are served in turn: free permits go to the key that has waited longest
//! since its last permit, so that a thousand requests of one organization delay another's by one. No key holds more
//! than its share, and waiting is bounded in number and in time.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::core::error::Error;

/// Limits for one kind of work.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The total number of permits.
    pub permits: usize,
    /// The maximum number of permits that one key holds.
    pub per_key: usize,
    /// The maximum number of waiting requests, of all keys together.
    pub waiting: usize,
    /// The maximum number of waiting requests of one key.
    pub waiting_per_key: usize,
    /// The maximum wait.
    pub timeout: Duration,
}

/// The maximum wait of work that a client waits for.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

impl Limits {
    /// Limits for work that requests wait for.
    pub const fn of_requests(permits: usize) -> Self {
        let timeout = REQUEST_TIMEOUT;
        Self { permits, per_key: permits, waiting: 512, waiting_per_key: 32, timeout }
    }

    /// Limits without a queue: a permit is available immediately or refused.
    pub const fn without_queue(permits: usize, per_key: usize) -> Self {
        Self { permits, per_key, waiting: 0, waiting_per_key: 0, timeout: Duration::ZERO }
    }

    /// Limits for the work of jobs, whose number the queue limits.
    pub const fn of_jobs(permits: usize) -> Self {
        let (waiting, timeout) = (usize::MAX, Duration::MAX);
        Self { permits, per_key: permits, waiting, waiting_per_key: waiting, timeout }
    }
}

/// Seconds after which a refused request may be retried.
const RETRY_AFTER_SECONDS: u64 = 2;

/// The reason for refusing a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many requests of the key are waiting.
    Share,
    /// Too many requests are waiting, or the wait timed out.
    Busy,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let message = match refusal {
            Refusal::Share => {
                "Too many requests of this kind are in progress for you; try again when some have ended."
            }
            Refusal::Busy => "The server is busy with requests of this kind; try again in a moment.",
        };
        Self::Overloaded { message, retry_after: RETRY_AFTER_SECONDS }
    }
}

/// The owner of permits, such as an organization.
pub trait Key: Eq + Hash + Clone + std::fmt::Debug + Send + 'static {}

impl<K: Eq + Hash + Clone + std::fmt::Debug + Send + 'static> Key for K {}

/// Permits for one kind of work.
#[derive(Debug)]
pub struct FairPermits<K: Key> {
    state: Arc<Mutex<State<K>>>,
    timeout: Duration,
}

#[derive(Debug)]
struct State<K: Key> {
    limits: Limits,
    free: usize,
    held: HashMap<K, usize>,
    /// The waiting requests by key; the key at the front is next.
    queues: VecDeque<(K, VecDeque<Request<K>>)>,
    waiting: usize,
}

/// A waiting request for a number of permits.
#[derive(Debug)]
struct Request<K: Key> {
    weight: usize,
    turn: oneshot::Sender<Permit<K>>,
}

impl<K: Key> State<K> {
    fn held(&self, key: &K) -> usize {
        self.held.get(key).copied().unwrap_or(0)
    }

    fn take(&mut self, key: &K, weight: usize) {
        self.free -= weight;
        *self.held.entry(key.clone()).or_default() += weight;
    }

    fn give_back(&mut self, key: &K, weight: usize) {
        self.free += weight;
        if let Some(held) = self.held.get_mut(key) {
            *held -= weight;
            if *held == 0 {
                self.held.remove(key);
            }
        }
    }

    /// Returns the next request, if there are enough permits for it. A key that holds its share is skipped; a request
    /// for more than is free is not, so that small requests do not overtake a large one forever.
    fn next(&mut self) -> Option<(K, Request<K>)> {
        let has_room = |state: &Self, (key, queue): &(K, VecDeque<Request<K>>)| {
            queue.front().is_some_and(|request| state.held(key) + request.weight <= state.limits.per_key)
        };
        let place = self.queues.iter().position(|queue| has_room(self, queue))?;
        if self.queues[place].1.front()?.weight > self.free {
            return None;
        }
        let (key, mut queue) = self.queues.remove(place)?;
        let request = queue.pop_front()?;
        if !queue.is_empty() {
            self.queues.push_back((key.clone(), queue));
        }
        Some((key, request))
    }
}

fn lock<K: Key>(state: &Mutex<State<K>>) -> MutexGuard<'_, State<K>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands out the free permits.
fn hand_out<K: Key>(shared: &Arc<Mutex<State<K>>>, state: &mut State<K>) {
    while let Some((key, Request { weight, turn })) = state.next() {
        state.take(&key, weight);
        let permit = Permit { state: Some(Arc::clone(shared)), key: key.clone(), weight };
        if let Err(mut permit) = turn.send(permit) {
            // The waiter has gone; dropping its permit here would lock the state again.
            permit.state = None;
            state.give_back(&key, weight);
        }
    }
}

impl<K: Key> FairPermits<K> {
    pub fn new(limits: Limits) -> Self {
        let state =
            State { limits, free: limits.permits, held: HashMap::new(), queues: VecDeque::new(), waiting: 0 };
        Self { state: Arc::new(Mutex::new(state)), timeout: limits.timeout }
    }

    /// Returns the number of permits in use.
    pub fn in_use(&self) -> usize {
        let state = lock(&self.state);
        state.limits.permits - state.free
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> usize {
        lock(&self.state).waiting
    }

    /// Returns true if a key holds as many permits as it can.
    pub(crate) fn is_at_limit(&self, key: &K) -> bool {
        let state = lock(&self.state);
        state.held(key) >= state.limits.per_key
    }

    /// Waits for a permit.
    pub async fn acquire(&self, key: K) -> Result<Permit<K>, Refusal> {
        self.acquire_many(key, 1).await
    }

    /// Waits for this many permits, capped at the maximum of one key.
    pub async fn acquire_many(&self, key: K, weight: usize) -> Result<Permit<K>, Refusal> {
        let mut waiter = match self.enter(key, weight)? {
            Entered::Permit(permit) => return Ok(permit),
            Entered::Waiter(waiter) => waiter,
        };
        match tokio::time::timeout(self.timeout, &mut waiter.turn).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::Busy),
        }
    }

    fn enter(&self, key: K, weight: usize) -> Result<Entered<K>, Refusal> {
        let mut state = lock(&self.state);
        let weight = weight.min(state.limits.per_key).min(state.limits.permits);
        let queued =
            state.queues.iter().find(|(queued, _)| *queued == key).map_or(0, |(_, queue)| queue.len());
        let is_next = state.queues.is_empty() || queued == 0 && state.free >= weight;
        if is_next && state.free >= weight && state.held(&key) + weight <= state.limits.per_key {
            state.take(&key, weight);
            return Ok(Entered::Permit(Permit { state: Some(Arc::clone(&self.state)), key, weight }));
        }
        if queued >= state.limits.waiting_per_key {
            return Err(Refusal::Share);
        }
        if state.waiting >= state.limits.waiting {
            return Err(Refusal::Busy);
        }
        let (sender, turn) = oneshot::channel();
        let request = Request { weight, turn: sender };
        state.waiting += 1;
        match state.queues.iter_mut().find(|(queued, _)| *queued == key) {
            Some((_, queue)) => queue.push_back(request),
            None => state.queues.push_back((key, VecDeque::from([request]))),
        }
        Ok(Entered::Waiter(Waiter { state: Arc::clone(&self.state), turn }))
    }

    /// Runs CPU-bound work on a blocking thread, once there is a permit. The permit is held until the work is done,
    /// even if the caller stops waiting.
    pub async fn work<T: Send + 'static>(
        &self,
        key: K,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.acquire(key).await?;
        permit.work(work).await
    }
}

enum Entered<K: Key> {
    Permit(Permit<K>),
    Waiter(Waiter<K>),
}

/// A position in the queue.
struct Waiter<K: Key> {
    state: Arc<Mutex<State<K>>>,
    turn: oneshot::Receiver<Permit<K>>,
}

impl<K: Key> Drop for Waiter<K> {
    fn drop(&mut self) {
        self.turn.close();
        // A permit that arrived at the last moment is released by its own drop, after this lock.
        let late = self.turn.try_recv().ok();
        let mut state = lock(&self.state);
        state.waiting -= 1;
        state.queues.retain_mut(|(_, queue)| {
            queue.retain(|request| !request.turn.is_closed());
            !queue.is_empty()
        });
        hand_out(&self.state, &mut state);
        drop(state);
        drop(late);
    }
}

/// A permit for one piece of work, released on drop.
#[derive(Debug)]
pub struct Permit<K: Key> {
    /// `None` once released.
    state: Option<Arc<Mutex<State<K>>>>,
    key: K,
    weight: usize,
}

impl<K: Key> Permit<K> {
    /// Releases all but this many permits.
    pub fn shrink(&mut self, weight: usize) {
        let Some(shared) = self.state.as_ref().filter(|_| weight < self.weight) else { return };
        let mut state = lock(shared);
        state.give_back(&self.key, self.weight - weight);
        self.weight = weight;
        hand_out(shared, &mut state);
    }

    /// Runs CPU-bound work on a blocking thread, and releases the permit afterwards.
    pub async fn work<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let done = spawn_blocking(move || {
            let done = work();
            drop(self);
            done
        });
        done.await.map_err(Error::internal)
    }
}

impl<K: Key> Drop for Permit<K> {
    fn drop(&mut self) {
        let Some(shared) = self.state.take() else { return };
        let mut state = lock(&shared);
        state.give_back(&self.key, self.weight);
        hand_out(&shared, &mut state);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::FutureExt;
    use futures_util::future::join_all;

    use super::*;

    const ONE: Limits =
        Limits { permits: 1, per_key: 1, waiting: 4, waiting_per_key: 2, timeout: Duration::from_mins(1) };

    fn is_unused(permits: &FairPermits<char>) -> bool {
        let state = lock(&permits.state);
        (state.free, state.waiting) == (state.limits.permits, 0)
            && state.held.is_empty()
            && state.queues.is_empty()
    }

    #[tokio::test]
    async fn keys_take_turns() {
        let permits = FairPermits::new(Limits { waiting_per_key: 10, waiting: 20, ..ONE });
        let first = permits.acquire('a').await.unwrap();
        let order = Mutex::new(Vec::new());
        let waiters = ['a', 'a', 'a', 'b', 'c', 'b'].map(|key| {
            let (permits, order) = (&permits, &order);
            async move {
                let permit = permits.acquire(key).await.unwrap();
                order.lock().unwrap().push(key);
                drop(permit);
            }
        });
        let mut all = Box::pin(join_all(waiters));
        assert!(all.as_mut().now_or_never().is_none(), "everybody waits");
        drop(first);
        all.await;
        assert_eq!(*order.lock().unwrap(), ['a', 'b', 'c', 'a', 'b', 'a']);
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn waiting_is_bounded_for_a_key_and_in_all() {
        let permits = FairPermits::new(ONE);
        let held = permits.acquire('a').await.unwrap();
        let mut waiting = Vec::new();
        for key in ['a', 'a', 'b', 'b'] {
            let mut waiter = Box::pin(permits.acquire(key));
            assert!(waiter.as_mut().now_or_never().is_none());
            waiting.push(waiter);
        }
        assert_eq!(permits.acquire('a').await.unwrap_err(), Refusal::Share);
        assert_eq!(permits.acquire('c').await.unwrap_err(), Refusal::Busy);
        // A dropped request makes room, and is skipped when it is next.
        drop(waiting.remove(0));
        let mut last = Box::pin(permits.acquire('c'));
        assert!(last.as_mut().now_or_never().is_none());
        drop(held);
        let permit = waiting.remove(0).await.unwrap();
        drop((permit, waiting));
        drop(last.await.unwrap());
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn a_key_holds_no_more_than_its_share() {
        let permits = FairPermits::new(Limits { permits: 4, per_key: 2, ..ONE });
        let held = [permits.acquire('a').await.unwrap(), permits.acquire('a').await.unwrap()];
        let mut third = Box::pin(permits.acquire('a'));
        assert!(third.as_mut().now_or_never().is_none(), "it waits, although two are free");
        let other = permits.acquire('b').await.unwrap();
        drop(held);
        third.await.unwrap();
        drop(other);
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn a_large_request_is_not_overtaken_for_ever() {
        let permits = FairPermits::new(Limits { permits: 10, per_key: 8, ..ONE });
        let mut first = permits.acquire_many('a', 6).await.unwrap();
        let mut large = Box::pin(permits.acquire_many('b', 100));
        assert!(large.as_mut().now_or_never().is_none(), "as much as a key can have");
        let mut small = Box::pin(permits.acquire_many('c', 5));
        assert!(small.as_mut().now_or_never().is_none());
        assert_eq!(permits.in_use(), 6);
        first.shrink(2);
        assert_eq!(permits.in_use(), 10);
        drop(large.await.unwrap());
        drop((small.await.unwrap(), first));
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn a_permit_for_a_waiter_that_leaves_is_handed_on() {
        let permits = FairPermits::new(ONE);
        let held = permits.acquire('a').await.unwrap();
        let mut leaving = Box::pin(permits.acquire('b'));
        let mut staying = Box::pin(permits.acquire('c'));
        assert!(leaving.as_mut().now_or_never().is_none() && staying.as_mut().now_or_never().is_none());
        drop(held);
        // It received the permit, and was not polled since.
        drop(leaving);
        drop(staying.await.unwrap());
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn a_wait_ends() {
        let permits = FairPermits::new(Limits { timeout: Duration::from_millis(1), ..ONE });
        let held = permits.acquire('a').await.unwrap();
        assert_eq!(permits.acquire('b').await.unwrap_err(), Refusal::Busy);
        drop(held);
        permits.acquire('b').await.unwrap();
        assert!(is_unused(&permits));
    }

    #[tokio::test]
    async fn a_permit_is_held_until_the_work_is_done_though_nobody_waits() {
        let permits = FairPermits::new(ONE);
        let (done, wait) = mpsc::channel::<()>();
        tokio::select! {
            biased;
            _ = permits.work('a', move || wait.recv()) => panic!("the work is not done yet"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(permits.in_use(), 1);
        done.send(()).unwrap();
        assert_eq!(permits.work('a', || 1).await.unwrap(), 1);
    }
}
