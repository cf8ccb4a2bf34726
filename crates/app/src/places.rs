//! Work that computes for a while: on a thread of its own, and only some of it at a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::error::Error;

/// Places for one kind of work.
#[derive(Debug)]
pub struct Places(Arc<Semaphore>);

impl Places {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most)))
    }

    /// A place, once one is free.
    pub(crate) async fn place(&self) -> Result<Place, Error> {
        Arc::clone(&self.0)
            .acquire_owned()
            .await
            .map(|permit| Place { _permit: permit, _share: None })
            .map_err(Error::internal)
    }

    /// A place, if one becomes free soon enough for somebody who waits.
    pub(crate) async fn place_soon(&self) -> Result<Place, Error> {
        let place = tokio::time::timeout(PATIENCE, self.place()).await;
        place.unwrap_or_else(|_| Err(Error::Unavailable("all places are taken".to_owned())))
    }

    /// Does the work once a place is free.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.place().await?.work(work).await
    }
}

/// Places of which nobody has more than some at once.
#[derive(Debug)]
pub(crate) struct SharedPlaces<K> {
    all: Places,
    each: usize,
    shares: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: Eq + Hash> SharedPlaces<K> {
    pub(crate) fn new(most: usize, each: usize) -> Self {
        Self { all: Places::new(most), each, shares: Mutex::default() }
    }

    /// A place for somebody who has fewer than their share.
    pub(crate) async fn place_soon(&self, whose: K) -> Result<Place, Error> {
        let share = self.share(whose).try_acquire_owned().map_err(|_| Error::TooMany {
            message: "Too many downloads at once with this link; wait until one has ended.",
            retry_after: PATIENCE.as_secs(),
        })?;
        let place = self.all.place_soon().await?;
        Ok(Place { _share: Some(share), ..place })
    }

    fn share(&self, whose: K) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shares.get(&whose).and_then(Weak::upgrade) {
            return known;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        shares.insert(whose, Arc::downgrade(&share));
        share
    }
}

/// How long somebody waits for a place that others may keep.
const PATIENCE: Duration = Duration::from_secs(10);

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
    _share: Option<OwnedSemaphorePermit>,
}

impl Place {
    /// Does the work. The place is taken until the work is done, whether or not anybody still waits for it.
    pub(crate) async fn work<T: Send + 'static>(
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_place_is_taken_until_the_work_is_done_though_nobody_waits() {
        let places = Places::new(1);
        let (done, wait) = mpsc::channel::<()>();
        tokio::select! {
            biased;
            _ = places.work(move || wait.recv()) => panic!("the work is not done yet"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(places.0.available_permits(), 0);
        done.send(()).unwrap();
        assert_eq!(places.work(|| 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn nobody_takes_more_than_their_share() {
        let places = SharedPlaces::new(4, 2);
        let first = places.place_soon('a').await.unwrap();
        let _second = places.place_soon('a').await.unwrap();
        assert!(matches!(places.place_soon('a').await, Err(Error::TooMany { .. })));
        let _other = places.place_soon('b').await.unwrap();
        drop(first);
        assert!(places.place_soon('a').await.is_ok());
    }
}
