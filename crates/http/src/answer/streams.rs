//! Server-sent events as an answer.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use http::{HeaderName, HeaderValue, header};

use crate::state::Api;

/// Keeps proxies from holding events back.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The last event of a stream that ended as it should.
pub fn done() -> Event {
    Event::default().data("[DONE]")
}

/// Streams events as they come; comments keep a silent stream open.
pub fn stream(api: &Api, events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let sse = Sse::new(events).keep_alive(KeepAlive::new().interval(api.http.keep_alive));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, sse).into_response()
}

/// Streams events that bring their own comments and are nobody else's business.
pub fn private_stream(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Sse::new(events)).into_response()
}
