//! A body that must keep arriving. A change runs to its end even when its client was told that it took too long, so
//! what it waits for must end by itself: a client that sends a byte now and then would keep it, and its memory, for
//! minutes.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// How long nothing may arrive.
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes a second that must arrive on average, once the first silence is over.
const SLOWEST: u64 = 4 << 10;

/// The client stopped sending, or sends too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body stopped arriving, or arrived too slowly")]
pub(crate) struct Stalled;

pub(crate) struct Arriving {
    body: Body,
    started: Instant,
    /// When it must be there as a whole.
    end: Instant,
    received: u64,
    over: Pin<Box<Sleep>>,
}

impl Arriving {
    pub(crate) fn within(body: Body, within: Duration) -> Body {
        if body.is_end_stream() {
            return body;
        }
        let started = Instant::now();
        let over = Box::pin(tokio::time::sleep(SILENCE.min(within)));
        Body::new(Self { body, started, end: started + within, received: 0, over })
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
        match Pin::new(&mut self.body).poll_frame(context) {
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
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
