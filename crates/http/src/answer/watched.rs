//! Monitoring of streamed responses. A panic or an error in the middle can no longer become a problem: the connection
//! is aborted, so that the client does not mistake a part for the whole, and the failure is logged and counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::layers::panic_text;
use crate::request::caller::RequestContext;
use crate::state::Api;

#[derive(Debug)]
pub struct Watched {
    body: Body,
    api: Api,
    request_id: Arc<str>,
}

impl Watched {
    /// Monitors a response of unknown length; one that is already complete cannot fail.
    pub fn on(response: Response, api: &Api, context: &RequestContext) -> Response {
        if response.body().size_hint().exact().is_some() {
            return response;
        }
        let (api, request_id) = (api.clone(), Arc::clone(&context.request_id));
        response.map(|body| Body::new(Self { body, api, request_id }))
    }

    fn broke_off(&mut self, cause: &'static str, error: &str) -> BoxError {
        self.body = Body::empty();
        self.api.metrics.count_broken_answer(cause);
        tracing::error!(request_id = %self.request_id, cause, error, "an answer broke off");
        "the answer broke off".into()
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let body = &mut self.body;
        match catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(context))) {
            Ok(Poll::Ready(Some(Err(error)))) => {
                Poll::Ready(Some(Err(self.broke_off("error", &error.to_string()))))
            }
            Ok(frame) => frame.map(|frame| frame.map(|frame| frame.map_err(Into::into))),
            Err(panic) => Poll::Ready(Some(Err(self.broke_off("panic", &panic_text(panic.as_ref()))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
