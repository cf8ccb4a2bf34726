//! The outermost layer, around all routes: request id, client address, timeout, panics, problem bodies, security
//! headers, metrics, and the journal entries of forbidden requests.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use attestry_app::core::refusals::{self, Refusal};
use attestry_app::identity::directory;
use attestry_domain::access::Connection;
use attestry_domain::id::RequestId;
use attestry_domain::identity::directory::DirectoryRequest;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use tracing::instrument::WithSubscriber;

use crate::answer::problem::Problem;
use crate::answer::scim::is_scim;
use crate::answer::watched::Watched;
use crate::request::arrival::{Arriving, Unread};
use crate::request::bodies::too_large;
use crate::request::caller::{RequestContext, client_address};
use crate::request::facts::FactTable;
use crate::request::{idempotency, portal_hosts};
use crate::state::Api;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The time that an external service may take to begin a streamed response, in addition to the request timeout.
const STREAM_BEGINS: Duration = Duration::from_mins(11);

/// Returns true if a route contains a secret.
fn is_secret(route: &str) -> bool {
    route.contains("{ticket}") || route.contains("{token}")
}

/// The content security policy of pages that have their own.
#[derive(Clone, Copy, Debug)]
pub struct PagePolicy(pub &'static str);

/// The state of the outermost layer.
#[derive(Debug, Clone)]
pub struct Outer {
    pub api: Api,
    pub facts: Arc<FactTable>,
}

pub async fn outer(State(outer): State<Outer>, mut request: Request, next: Next) -> Response {
    let Outer { api, facts: table } = outer;
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let facts = route.as_ref().and_then(|route| table.get(&method, route.as_str()));
    let body_limit =
        facts.and_then(|facts| facts.body_limit.bytes()).unwrap_or(usize::MAX).min(api.http.body_limit);
    let host = portal_hosts::owner(&api, request.headers(), request.uri()).await;
    let context = Arc::new(RequestContext {
        facts,
        host: host.as_ref().ok().copied().flatten(),
        body_limit,
        memory: api.bodies.share(facts.is_none_or(|facts| facts.is_public)),
        request_id: request_id(&api, request.headers()),
        ip: client_address(
            request.headers(),
            request.extensions().get::<ConnectInfo<SocketAddr>>(),
            &api.http.trusted_proxies,
        ),
        response: Mutex::default(),
        connection: Connection::default(),
        claim: OnceLock::new(),
        actor: OnceLock::new(),
        admitted: OnceLock::new(),
        directory: OnceLock::new(),
        directory_body: OnceLock::new(),
    });
    // A client that disconnects cancels this function, but not the task that it has spawned.
    let _hang_up = HangUp(context.connection.clone());
    let uri = request.uri().clone();
    request.extensions_mut().insert(Arc::clone(&context));

    let announced = announced_length(request.headers());
    let mut response = if let Err(problem) = host {
        problem.into_response()
    } else if context.host.is_some() && !portal_hosts::serves(route.as_ref().map(MatchedPath::as_str)) {
        Problem::not_found("address").into_response()
    } else if route.is_some() && announced.is_some_and(|length| length > body_limit) {
        too_large(body_limit).into_response()
    } else {
        let response = answer(&api, &context, request, next).await;
        let reserved = context.response.lock().unwrap_or_else(PoisonError::into_inner).take();
        let whose = context.admitted.get().map(|principal| principal.organization);
        api.responses.hold(response, reserved, whose).await.unwrap_or_else(IntoResponse::into_response)
    };
    let problem = response.extensions_mut().remove::<Problem>().or_else(|| foreign_failure(&response));
    log_for_directory(&api, &context, &method, &uri, &response, problem.as_ref());
    if let Some(problem) = problem {
        let operation = format!("{method} {}", route.as_ref().map_or(uri.path(), MatchedPath::as_str));
        if problem.status() == StatusCode::FORBIDDEN
            && let Some(actor) = context.actor.get()
        {
            let (code, operation, target) = (problem.code, operation.clone(), uri.path().to_owned());
            let refusal = Refusal { code, operation, target };
            if let Err(error) = refusals::record(&api.ctx, actor, refusal).await {
                tracing::error!(request_id = %context.request_id, %error, "a refusal was not recorded");
            }
        }
        log(&api, &problem, &context, &operation);
        // A page contains its error message.
        if response.extensions().get::<PagePolicy>().is_none() {
            let mut finished = match is_scim(uri.path()) {
                true => problem.scim_answer(),
                false => problem.answer(&context.request_id),
            };
            for name in [header::ALLOW, header::CONTENT_RANGE] {
                if let Some(value) = response.headers().get(&name) {
                    finished.headers_mut().insert(name, value.clone());
                }
            }
            response = finished;
        }
    }
    finish_headers(&api, &context, &mut response);
    response = Watched::on(response, &api, &context);
    let took = started.elapsed();
    let name = route.as_ref().map_or("none", MatchedPath::as_str);
    api.metrics.count(method_label(&method), name, response.status().as_u16(), took);
    // A path that contains a secret must not be logged.
    let path = if is_secret(name) { name } else { uri.path() };
    tracing::debug!(
        request_id = %context.request_id, method = %method, path,
        status = response.status().as_u16(), took_us = took.as_micros(), "request"
    );
    response
}

/// Adds the request of an identity provider to the log of its directory.
fn log_for_directory(
    api: &Api,
    context: &RequestContext,
    method: &Method,
    uri: &Uri,
    response: &Response,
    problem: Option<&Problem>,
) {
    let Some((organization_id, token_id)) = context.directory.get().copied() else { return };
    let status = problem.map_or_else(|| response.status(), Problem::status);
    let request = DirectoryRequest {
        id: api.ctx.ids.next(),
        organization_id,
        token_id,
        at: api.ctx.now(),
        method: method.to_string(),
        path: uri.path_and_query().map_or_else(|| uri.path().to_owned(), ToString::to_string),
        status: i64::from(status.as_u16()),
        detail: problem.map(|problem| problem.detail.clone()),
        body: context.directory_body.get().cloned(),
    };
    directory::log(&api.ctx, request);
}

/// Returns true if the body is compressed.
fn is_compressed(headers: &HeaderMap) -> bool {
    let plain = |value: &HeaderValue| value.is_empty() || value.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get_all(header::CONTENT_ENCODING).iter().any(|value| !plain(value))
}

/// Closes the connection when it is dropped.
struct HangUp(Connection);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Runs the rest of the request with a timeout, and responds even after a panic or a stall.
///
/// A request that changes something runs in its own task: a client that disconnects does not stop it halfway, so
/// everything that belongs to a change (storing its response for replay, invalidating a cached credential) is
/// completed.
async fn answer(api: &Api, context: &RequestContext, request: Request, next: Next) -> Response {
    let limit = api.http.request_timeout + transfer_time(context, request.headers());
    let is_stream = context.facts.is_some_and(|facts| facts.is_stream);
    // An external service gets additional time to begin a stream.
    let limit = if is_stream { limit + STREAM_BEGINS } else { limit };
    let unread = Unread::default();
    let request = request.map(|body| Arriving::within(body, limit, &unread));
    let ended = if is_compressed(request.headers()) {
        drop(request);
        let about = "The body is compressed. Send it as it is, without Content-Encoding.";
        Ok(Ok(Problem::new("unsupported_media_type", about).into_response()))
    } else if request.method().is_safe() || is_stream {
        let work = AssertUnwindSafe(next.run(request)).catch_unwind();
        tokio::time::timeout(limit, work).await.map(|ended| ended.map_err(|panic| panic_text(panic.as_ref())))
    } else {
        let work = tokio::spawn(idempotency::run(api.clone(), request, next).with_current_subscriber());
        tokio::time::timeout(limit, work).await.map(|ended| {
            ended.map_err(|error| {
                error.try_into_panic().map_or_else(|e| e.to_string(), |p| panic_text(p.as_ref()))
            })
        })
    };
    unread.drain().await;
    let problem = match ended {
        Ok(Ok(response)) => return response,
        Ok(Err(panic)) => Problem::internal(format!("panic: {panic}")),
        Err(_) => timed_out(),
    };
    problem.into_response()
}

pub fn timed_out() -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            "timeout",
            "The request takes too long; check whether it was carried out before you repeat it.",
        )
    }
}

pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Returns the label of a method. Unknown methods share one, because clients can invent any number of them and each
/// counter would stay forever.
fn method_label(method: &Method) -> &'static str {
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS]
        .iter()
        .zip(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        .find(|(known, _)| *known == method)
        .map_or("other", |(_, label)| label)
}

fn announced_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns the additional time for transferring the body on a slow connection.
fn transfer_time(context: &RequestContext, headers: &HeaderMap) -> Duration {
    const SLOWEST: usize = 32 << 10;
    let unknown = if headers.contains_key(header::TRANSFER_ENCODING) { context.body_limit } else { 0 };
    let length = announced_length(headers).unwrap_or(unknown);
    Duration::from_secs((length / SLOWEST) as u64)
}

/// Converts an error response that did not come from our own code to a problem.
fn foreign_failure(response: &Response) -> Option<Problem> {
    let status = response.status();
    let is_page = response.extensions().get::<PagePolicy>().is_some();
    if is_page || !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    Some(match status {
        StatusCode::NOT_FOUND => Problem::not_found("address"),
        StatusCode::METHOD_NOT_ALLOWED => method_not_allowed(),
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new("payload_too_large", "The body is larger than this operation accepts.")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            Problem::new("unsupported_media_type", "Send the body as JSON.")
        }
        status if status.is_client_error() => {
            Problem::new("bad_request", "The request cannot be understood.")
        }
        status => Problem::internal(format!("an answer {status} without a problem")),
    })
}

pub fn method_not_allowed() -> Problem {
    Problem::new("method_not_allowed", "This path does not support that method; see the Allow header.")
}

/// Codes of problems that external services cause.
const OUTSIDE: &[&str] = &["ai_failed", "ai_busy", "domain_check_failed", "hosting_busy"];

fn log(api: &Api, problem: &Problem, context: &RequestContext, operation: &str) {
    if let Some(cause) = &problem.cause {
        if OUTSIDE.contains(&problem.code) {
            tracing::warn!(request_id = %context.request_id, operation, cause, "an outside service failed");
        } else if problem.status() == StatusCode::SERVICE_UNAVAILABLE {
            tracing::debug!(request_id = %context.request_id, operation, cause, "request refused for now");
            api.ctx.outages.met(operation, cause);
        } else {
            tracing::error!(request_id = %context.request_id, operation, cause, "request failed");
        }
    }
}

/// Returns the client's request id if it is valid, or a new one.
fn request_id(api: &Api, headers: &HeaderMap) -> Arc<str> {
    let sane = |text: &&str| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:/+=".contains(&b))
    };
    match headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(sane) {
        Some(text) => text.into(),
        None => {
            let id: RequestId = api.ctx.ids.next();
            id.to_string().trim_start_matches("req_").into()
        }
    }
}

fn finish_headers(api: &Api, context: &RequestContext, response: &mut Response) {
    let policy = response.extensions().get::<PagePolicy>().copied();
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    let fixed = |text: &'static str| HeaderValue::from_static(text);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, fixed("DENY"));
    headers.insert(header::REFERRER_POLICY, fixed("no-referrer"));
    let policy = policy.map_or("default-src 'none'; frame-ancestors 'none'", |policy| policy.0);
    headers.insert(header::CONTENT_SECURITY_POLICY, fixed(policy));
    headers.entry(header::CACHE_CONTROL).or_insert(fixed("no-store"));
    if api.http.secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, fixed("max-age=31536000"));
    }
}
