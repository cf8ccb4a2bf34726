//! Reading a body into memory: up to the limit of its route, within the memory budget of all bodies, and only as fast
//! as it arrives.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::problem::Problem;
use crate::request::arrival::Stalled;

pub const JSON: &str = "application/json";
pub const MULTIPART: &str = "multipart/form-data";

/// The memory budget of all bodies that are being read. Unauthenticated clients get a part of it, so that they cannot
/// lock out those with credentials.
#[derive(Debug)]
pub struct Budget {
    units: usize,
    all: Arc<Semaphore>,
    public: Arc<Semaphore>,
}

/// The size of one permit in bytes.
const UNIT: usize = 1 << 10;

impl Budget {
    pub fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).clamp(4, Semaphore::MAX_PERMITS);
        Self { units, all: Arc::new(Semaphore::new(units)), public: Arc::new(Semaphore::new(units / 4)) }
    }

    pub fn bytes_in_use(&self) -> usize {
        let free = self.all.available_permits() + self.public.available_permits();
        (self.units + self.units / 4 - free) * UNIT
    }

    pub fn share(&self, is_public: bool) -> Share {
        let (of, all) = if is_public { (&self.public, self.units / 4) } else { (&self.all, self.units) };
        Share { of: Arc::clone(of), all, taken: Mutex::default() }
    }
}

/// The share of the budget that one request has acquired; released when the request ends.
#[derive(Debug)]
pub struct Share {
    of: Arc<Semaphore>,
    /// The size of the whole budget in units.
    all: usize,
    taken: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Share {
    /// Ensures that this request has acquired `bytes`.
    pub fn take(&self, bytes: usize) -> Result<(), Problem> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let has = taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(UNIT).saturating_sub(has);
        if more == 0 {
            return Ok(());
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.of).try_acquire_many_owned(more) else {
            return Err(Problem {
                retry_after: Some(1),
                ..Problem::new(
                    "unavailable",
                    "The server is receiving as much data as it can hold; try again in a moment.",
                )
            });
        };
        match &mut *taken {
            Some(taken) => taken.merge(permit),
            none => *none = Some(permit),
        }
        Ok(())
    }
}

/// A meter of the memory that parsing takes in addition to the body itself.
#[derive(Debug)]
pub struct Meter<'a> {
    share: &'a Share,
    bytes: usize,
    taken: usize,
}

impl<'a> Meter<'a> {
    /// The number of bytes acquired from the budget at a time.
    const STEP: usize = 256 << 10;

    pub fn beyond(share: &'a Share, body: usize) -> Self {
        Self { share, bytes: body, taken: body }
    }

    pub fn charge(&mut self, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        if self.bytes > self.taken {
            self.taken = self.bytes + Self::STEP;
            if self.taken > self.share.all * UNIT {
                let detail =
                    "Reading this takes more memory than the server has for bodies; send less at a time.";
                return Err(Problem::new("payload_too_large", detail));
            }
            self.share.take(self.taken)?;
        }
        Ok(())
    }
}

/// Reads a body of at most `limit` bytes into one buffer; a body that arrives as a single frame is not copied.
pub async fn read_body(body: Body, limit: usize, share: &Share) -> Result<Bytes, Problem> {
    let announced = body.size_hint().exact().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut body = Limited::new(body, limit);
    let Some(first) = next_bytes(&mut body, limit).await? else { return Ok(Bytes::new()) };
    share.take(first.len())?;
    if body.is_end_stream() {
        return Ok(first);
    }
    // Allocate at most 1 MiB for a length that is only announced.
    let mut bytes = BytesMut::with_capacity(announced.min(limit).min(1 << 20).max(first.len()));
    bytes.extend_from_slice(&first);
    drop(first);
    while let Some(more) = next_bytes(&mut body, limit).await? {
        share.take(bytes.len() + more.len())?;
        bytes.extend_from_slice(&more);
    }
    Ok(bytes.freeze())
}

async fn next_bytes(body: &mut Limited<Body>, limit: usize) -> Result<Option<Bytes>, Problem> {
    match body.frame().await {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
        Some(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Some(Err(error)) => Err(broken_off(&*error)),
    }
}

/// Returns the problem for a body that was interrupted.
pub fn broken_off(error: &(dyn std::error::Error + 'static)) -> Problem {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<Stalled>() {
            return Problem::new(
                "body_timeout",
                "The body stopped arriving, or arrived too slowly; send it again.",
            );
        }
        cause = error.source();
    }
    Problem::new("malformed_body", format!("The body could not be read to its end: {error}."))
}

pub fn too_large(limit: usize) -> Problem {
    Problem::new(
        "payload_too_large",
        format!("The body is larger than the {limit} bytes this operation accepts."),
    )
}

/// The result of comparing the media type of a body. Charsets other than UTF-8 are not converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    Wanted,
    /// The right media type in a charset other than UTF-8.
    OtherCharset,
    Other,
}

/// Compares the media type of the body with the expected one.
pub fn media_type(headers: &HeaderMap, wanted: &str) -> MediaType {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';');
    if !parts.next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted) {
        return MediaType::Other;
    }
    let charset = parts
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let is_utf8 = charset.is_none_or(|(_, value)| {
        let value = value.trim().trim_matches('"');
        ["utf-8", "utf8", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(value))
    });
    if is_utf8 { MediaType::Wanted } else { MediaType::OtherCharset }
}

/// Rejects a body that is not of this media type, in UTF-8.
pub fn must_be(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    match media_type(headers, wanted) {
        MediaType::Wanted => Ok(()),
        MediaType::OtherCharset => Err(Problem::new("unsupported_media_type", "Send the body in UTF-8.")),
        MediaType::Other => {
            Err(Problem::new("unsupported_media_type", format!("Send the body as Content-Type: {wanted}.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let budget = Budget::new(8 << 10);
        let (one, other) = (budget.share(false), budget.share(false));
        one.take(5000).expect("room");
        one.take(6000).expect("the same memory, and a little more");
        other.take(4000).expect_err("no room");
        drop(one);
        other.take(8 << 10).expect("room again");
        budget.share(true).take(2 << 10).expect("strangers have their own part");
        budget.share(true).take(3 << 10).expect_err("a small one");
    }

    #[test]
    fn other_characters_than_utf8_are_noticed() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, text.parse().expect("a header"));
            media_type(&headers, JSON)
        };
        for good in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\"; x=y"]
        {
            assert_eq!(of(good), MediaType::Wanted, "{good}");
        }
        assert_eq!(of("application/json; charset=iso-8859-1"), MediaType::OtherCharset);
        assert_eq!(of("text/plain"), MediaType::Other);
    }
}
