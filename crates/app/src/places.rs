//! Work that computes for a while: on a thread of its own, and only some of it at a time.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::error::Error;

/// Places for one kind of work.
#[derive(Debug)]
pub struct Places(Arc<Semaphore>);

impl Places {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most)))
    }

    /// Does the work once a place is free. The place is taken until the work is done, whether or not anybody still waits
    /// for it.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let place = Arc::clone(&self.0).acquire_owned().await.map_err(Error::internal)?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(place);
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
}
