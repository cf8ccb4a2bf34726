//! Request bodies that must keep arriving, and are read to their end. A change runs to completion even after its
//! client got a timeout, so everything it waits for must end by itself: a client that sends a byte now and then would
//! keep the change, and its memory, alive for minutes.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use tokio::time::{Instant, Sleep};

/// The maximum time without new bytes.
const SILENCE: Duration = Duration::from_secs(10);
/// The minimum average rate in bytes per second, once the first [`SILENCE`] is over.
const SLOWEST: u64 = 4 << 10;

/// The client stopped sending, or sends too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body stopped arriving, or arrived too slowly")]
pub struct Stalled;

#[derive(Debug)]
pub struct Arriving {
    /// `None` once it was moved to `unread`.
    body: Option<Body>,
    unread: Unread,
    started: Instant,
    /// The deadline for the whole body.
    end: Instant,
    received: u64,
    over: Pin<Box<Sleep>>,
}

/// The unread rest of a request body.
///
/// A connection that is closed with unread data is reset, and the client may lose the response: it would not learn
/// that its change was made.
#[derive(Clone, Debug, Default)]
pub struct Unread(Arc<Mutex<Option<Body>>>);

/// The limits of draining, in bytes and time.
const MAX_DRAINED_BYTES: usize = 64 << 10;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

impl Unread {
    /// Reads the rest of a small body.
    pub async fn drain(self) {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rest) = rest else { return };
        let drained = Limited::new(rest, MAX_DRAINED_BYTES).collect();
        // Errors are ignored, because the rest of the body is not needed.
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, drained).await;
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

impl Arriving {
    pub fn within(body: Body, within: Duration, unread: &Unread) -> Body {
        if body.is_end_stream() {
            return body;
        }
        let started = Instant::now();
        let over = Box::pin(tokio::time::sleep(SILENCE.min(within)));
        let (body, unread) = (Some(body), unread.clone());
        Body::new(Self { body, unread, started, end: started + within, received: 0, over })
    }

    /// Returns the deadline for the next bytes.
    fn next_by(&self) -> Instant {
        let on_average = self.started + SILENCE + Duration::from_secs(self.received / SLOWEST);
        (Instant::now() + SILENCE).min(on_average).min(self.end)
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        match Pin::new(body).poll_frame(context) {
            Poll::Pending => self.over.as_mut().poll(context).map(|()| Some(Err(Stalled.into()))),
            Poll::Ready(frame) => {
                if let Some(Ok(frame)) = &frame {
                    self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                    let next_by = self.next_by();
                    self.over.as_mut().reset(next_by);
                }
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}
