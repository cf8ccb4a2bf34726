//! The memory budget of large responses: reserved before a list is read, and released after the last byte is sent.
//! Permits are shared fairly between organizations, each has a maximum share, and a slow client delays only its own
//! organization.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use attestry_app::core::permits::{FairPermits, Limits, Permit};
use attestry_domain::id::OrganizationId;
use attestry_domain::page::MAX_PAGE_BYTES;
use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::answer::problem::Problem;

/// The size of one permit in bytes.
const UNIT: usize = 64 << 10;
/// Responses up to this size are not counted.
const SMALL: usize = 256 << 10;
/// The memory of a page while it is built: its rows, and their JSON in a buffer that doubles as it grows.
const PAGE: usize = 3 * MAX_PAGE_BYTES;
/// The number of bytes passed to a connection at a time.
const PIECE: usize = 64 << 10;
/// The memory of a response that is built while it is sent.
const STREAM: usize = 1 << 20;

/// Memory reserved for the response to a request; without an organization if no credentials are needed.
pub type Reservation = Permit<Option<OrganizationId>>;

#[derive(Debug)]
pub struct ResponseMemory(FairPermits<Option<OrganizationId>>);

impl ResponseMemory {
    pub fn new(bytes: usize) -> Self {
        let permits = (bytes / UNIT).max(2 * PAGE / UNIT);
        Self(FairPermits::new(Limits {
            per_key: permits / 2,
            waiting: 2048,
            waiting_per_key: 1024,
            ..Limits::of_requests(permits)
        }))
    }

    pub fn bytes_in_use(&self) -> usize {
        self.0.in_use() * UNIT
    }

    /// Reserves the maximum memory of a page.
    pub async fn reserve_page(&self, whose: OrganizationId) -> Result<Reservation, Problem> {
        Ok(self.0.acquire_many(Some(whose), PAGE / UNIT).await.map_err(attestry_app::Error::from)?)
    }

    /// Reserves the memory of a response until it is sent.
    pub async fn hold(
        &self,
        response: Response,
        reserved: Option<Reservation>,
        whose: Option<OrganizationId>,
    ) -> Result<Response, Problem> {
        let size = response.body().size_hint().exact().and_then(|size| usize::try_from(size).ok());
        let reservation = match (reserved, size) {
            (_, Some(..=SMALL)) | (None, None) => return Ok(response),
            (Some(mut reserved), size) => {
                reserved.shrink(size.unwrap_or(STREAM).div_ceil(UNIT));
                reserved
            }
            (None, Some(size)) => {
                let acquired = self.0.acquire_many(whose, size.div_ceil(UNIT)).await;
                acquired.map_err(attestry_app::Error::from)?
            }
        };
        Ok(response.map(|body| Body::new(Held { body, rest: Bytes::new(), _reservation: reservation })))
    }
}

/// A body with its reservation. It is sent in pieces, because the connection buffers all it gets, whether or not the
/// client reads it.
struct Held {
    body: Body,
    /// Bytes of a large frame that have not been sent yet.
    rest: Bytes,
    _reservation: Reservation,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = self.rest.len().min(PIECE);
        // Copied, because a slice would keep the whole frame in memory until the last piece is written.
        let piece = Bytes::copy_from_slice(&self.rest.split_to(length));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
