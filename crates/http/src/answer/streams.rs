//! Server-sent events as a response.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use http::{HeaderName, HeaderValue, header};

use crate::state::Api;

/// The header that stops proxies from buffering events.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns the last event of a stream that ended normally.
pub fn done() -> Event {
    Event::default().data("[DONE]")
}

/// Streams events; comments keep an idle stream open.
pub fn stream(api: &Api, events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let sse = Sse::new(events).keep_alive(KeepAlive::new().interval(api.http.keep_alive));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, sse).into_response()
}

/// Streams private events, which must not be stored and include their own comments.
pub fn private_stream(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Sse::new(events)).into_response()
}
