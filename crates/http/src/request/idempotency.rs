//! `Idempotency-Key` on any POST, as part of the outermost layer: handlers are not aware of it.
//!
//! Signing in and out and their first steps are exempt, because repeating them is harmless and a response with a fresh
//! token or ticket must not be replayed. Secrets in other responses are left out of the stored copy.

use std::sync::Arc;
use std::time::Duration;

use attestry_app::core::idempotency::{self, Begun, CLAIM_TIMEOUT};
use attestry_domain::access::Claim;
use attestry_domain::hash::{hex, sha256};
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::problem::{FieldProblem, Problem};
use crate::layers::timed_out;
use crate::request::bodies::{JSON, read_body};
use crate::request::caller::{idempotency_owner, request_context};
use crate::request::uploads::boundary;
use crate::state::Api;

const KEY: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The maximum length of a key.
pub const MAX_KEY_BYTES: usize = 255;

/// The timeout of a request with a claim, shorter than the lock of the claim.
const LIFETIME: Duration = Duration::from_secs(CLAIM_TIMEOUT.as_secs() - 10);
const EXEMPT: &[&str] = &[
    "/v1/auth/login",
    "/v1/auth/login/second-factor",
    "/v1/auth/passkeys/sign-in-options",
    "/v1/auth/passkeys/sign-in",
    "/v1/auth/passkeys/registration-options",
    "/v1/auth/passkeys/confirm-options",
    "/v1/auth/sso/switch",
    "/v1/auth/sso/{connectionId}/start-ticket",
    "/v1/organization/sso-connections/{connectionId}/test",
    "/v1/auth/logout",
];

/// The copy to store of a response that contains a secret.
#[derive(Clone, Debug)]
pub struct WithoutSecret(Vec<u8>);

impl WithoutSecret {
    pub fn of<T: Serialize>(view: &T) -> Result<Self, Problem> {
        Ok(Self(serde_json::to_vec(view).map_err(Problem::internal)?))
    }
}

#[derive(Serialize, Deserialize)]
struct Remembered<'a> {
    status: u16,
    location: Option<String>,
    etag: Option<String>,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Runs the rest of the request, once for each key.
pub async fn run(api: Api, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key(KEY) {
        return next.run(request).await;
    }
    guarded(&api, request, next).await.unwrap_or_else(IntoResponse::into_response)
}

fn key(headers: &HeaderMap) -> Result<String, Problem> {
    let text = headers.get(KEY).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    if (1..=MAX_KEY_BYTES).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err(Problem::invalid(vec![FieldProblem::new(
        "Idempotency-Key",
        "must have 1 to 255 printable ASCII characters",
    )]))
}

async fn guarded(api: &Api, request: Request, next: Next) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let context = request_context(&parts.extensions)?;
    let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let Some(facts) = context.facts.filter(|facts| !facts.is_directory && !EXEMPT.contains(&route)) else {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    let Some(owner) = idempotency_owner(&parts, &context, facts, api).await? else {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    let key = key(&parts.headers)?;
    let boundary = if facts.takes_form { boundary(&parts.headers)? } else { None };
    let bytes = read_body(body, context.body_limit, &context.memory).await?;
    // Unauthenticated clients may choose the same key, so the hash of the body tells them apart.
    let owner = match facts.is_public {
        true => format!("{owner} {}", hex(&sha256(&bytes))),
        false => owner,
    };
    let operation = format!("POST {}", parts.uri);
    let said = without(&bytes, boundary.as_deref().unwrap_or_default().as_bytes());
    let request = idempotency::Request { owner: &owner, key: &key, operation: &operation, body: &said };
    let claim = match idempotency::begin(&api.ctx, request).await? {
        Begun::Replay(answer) => return replay(&answer),
        Begun::Run(claim) => claim,
    };
    let _ = context.claim.set(Arc::clone(&claim));
    drop(said);
    let body = if boundary.is_some() { in_frames(bytes) } else { Body::from(bytes) };
    // The response is stored uncompressed.
    parts.headers.remove(header::ACCEPT_ENCODING);
    // The request must end before another one can take over its claim.
    let work = tokio::time::timeout(LIFETIME, next.run(Request::from_parts(parts, body)));
    let Ok(response) = work.await else { return Err(timed_out()) };
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    if !response.status().is_success() || !is_json {
        // A failed request changed nothing and may be repeated. A response that cannot be stored (a file, a stream)
        // is sent as it is: if the request changed something, a repeated one gets an error that says so.
        if let Err(error) = idempotency::release(&api.ctx, &claim).await {
            // It can be taken over when its lock expires.
            tracing::debug!(%error, "a claim was not released");
        }
        return Ok(response);
    }
    remember(api, &claim, response).await
}

/// Splits a body at the boundary of its form, which a client generates anew each time it sends the same form.
fn without<'a>(body: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    if !boundary.is_empty() {
        for place in memmem::find_iter(body, boundary) {
            pieces.push(&body[start..place]);
            start = place + boundary.len();
        }
    }
    pieces.push(&body[start..]);
    pieces
}

/// Returns a buffered form as a body of small frames, so that its reader copies no more than one at a time.
fn in_frames(bytes: Bytes) -> Body {
    const FRAME: usize = 64 << 10;
    let frames = stream::unfold(bytes, async |mut bytes| {
        // Without yielding, the reader would take all frames that are ready.
        tokio::task::yield_now().await;
        let frame = bytes.split_to(bytes.len().min(FRAME));
        (!frame.is_empty()).then_some((Ok::<_, std::io::Error>(frame), bytes))
    });
    Body::from_stream(frames.fuse())
}

async fn remember(api: &Api, claim: &Arc<Claim>, response: Response) -> Result<Response, Problem> {
    let (mut head, body) = response.into_parts();
    let bytes = body.collect().await.map_err(Problem::internal)?.to_bytes();
    let without_secret = head.extensions.remove::<WithoutSecret>();
    let kept = without_secret.as_ref().map_or(bytes.as_ref(), |WithoutSecret(kept)| kept);
    let text =
        |name: &HeaderName| head.headers.get(name).and_then(|v| v.to_str().ok()).map(ToOwned::to_owned);
    let remembered = Remembered {
        status: head.status.as_u16(),
        location: text(&header::LOCATION),
        etag: text(&header::ETAG),
        body: serde_json::from_slice(kept).map_err(Problem::internal)?,
    };
    let answer = serde_json::to_vec(&remembered).map_err(Problem::internal)?;
    if let Err(error) = idempotency::finish(&api.ctx, claim, &answer).await {
        // The change is committed and its claim settled: a repeated request gets an error that says so.
        tracing::warn!(%error, "an idempotent answer was not kept");
    }
    Ok(Response::from_parts(head, Body::from(bytes)))
}

fn replay(answer: &[u8]) -> Result<Response, Problem> {
    let Remembered { status, location, etag, body } =
        serde_json::from_slice(answer).map_err(Problem::internal)?;
    let status = StatusCode::from_u16(status).map_err(Problem::internal)?;
    let mut response = (status, body.get().to_owned()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    for (name, value) in [(header::LOCATION, location), (header::ETAG, etag)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    }
    Ok(response)
}
