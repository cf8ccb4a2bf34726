//! A body that must keep arriving, and is read to its end. A change runs to its end even when its client was told that
//! it took too long, so what it waits for must end by itself: a client that sends a byte now and then would keep it, and
//! its memory, for minutes.

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

/// How long nothing may arrive.
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes a second that must arrive on average, once the first silence is over.
const SLOWEST: u64 = 4 << 10;

/// The client stopped sending, or sends too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body stopped arriving, or arrived too slowly")]
pub struct Stalled;

#[derive(Debug)]
pub struct Arriving {
    /// None once it was handed to `unread`.
    body: Option<Body>,
    unread: Unread,
    started: Instant,
    /// When it must be there as a whole.
    end: Instant,
    received: u64,
    over: Pin<Box<Sleep>>,
}

/// The unread rest of a request body.
///
/// A connection that is closed while something lies unread in it is reset, and the client may lose the response: a change
/// would be made, and nobody told.
#[derive(Clone, Debug, Default)]
pub struct Unread(Arc<Mutex<Option<Body>>>);

/// Bounds of draining: bytes and time.
const MAX_DRAINED_BYTES: usize = 64 << 10;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

impl Unread {
    /// Reads the rest of a small body.
    pub async fn drain(self) {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rest) = rest else { return };
        let drained = Limited::new(rest, MAX_DRAINED_BYTES).collect();
        // Whatever is wrong with it, nobody wanted it.
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

    /// When the next bytes must be there.
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
