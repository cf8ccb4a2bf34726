//! A body with a deadline. A change runs to its end even when its client was told that it took too long, so what
//! it waits for must end by itself: a client that sends a byte now and then would keep it for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Sleep;

pub(crate) struct Deadline {
    body: Body,
    over: Pin<Box<Sleep>>,
}

impl Deadline {
    pub(crate) fn on(body: Body, after: Duration) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Self { body, over: Box::pin(tokio::time::sleep(after)) })
    }
}

impl HttpBody for Deadline {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending => {
                self.over.as_mut().poll(context).map(|()| Some(Err("it took too long to arrive".into())))
            }
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
