//! HTTP requests. A connection carries one request and uses HTTP/1.1.
//!
//! Responses are requested without compression and never decompressed, so the limit applies to the bytes received and
//! a small response cannot expand.

use std::fmt;

use attestry_domain::automations::hosts::AllowedHosts;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, LOCATION, USER_AGENT,
};
use http::{Method, StatusCode, response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::ext::ReasonPhrase;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use url::{Position, Url};

use crate::permission::host_of;
use crate::{Parts, Refusal, encoded, headers, permission};

/// The default `User-Agent`.
const AGENT: &str = concat!("Attestry-Automation/", env!("CARGO_PKG_VERSION"));

/// The maximum number of bytes of response headers.
const HEAD: usize = 64 * 1024;

const METHODS: &[Method] =
    &[Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
const METHOD_NAMES: &str = "GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS";

#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    pub url: String,
    pub method: String,
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Base64 in JSON.
    #[serde(default, deserialize_with = "encoded::deserialize")]
    pub body: Option<Vec<u8>>,
}

/// Prints only the method, because everything else may be a secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("method", &self.method).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    pub status: u16,
    pub status_text: String,
    /// The URL of the last response, without a fragment.
    pub url: String,
    pub redirected: bool,
    /// Sorted by name; a name may occur more than once.
    pub headers: Vec<(String, String)>,
    /// The bytes as received: still encoded if `content-encoding` is set. Base64 in JSON.
    #[serde(serialize_with = "encoded::serialize")]
    pub body: Vec<u8>,
}

/// One request of a chain of redirects.
struct Hop {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

enum Answer {
    Final(Box<response::Parts>, Vec<u8>),
    Redirect(StatusCode, Url),
}

pub(crate) async fn fetch(
    parts: &Parts,
    hosts: &AllowedHosts,
    request: Request,
    redirects: usize,
) -> Result<Response, Refusal> {
    let deadline = parts.deadline();
    let mut hop = Hop::first(request)?;
    for followed in 0..=redirects {
        permission::check(hosts, &hop.url)?;
        match parts.within(deadline, host_of(&hop.url)?, hop.ask(parts)).await? {
            Answer::Redirect(status, target) => hop.follow(status, target),
            Answer::Final(head, body) => return Ok(hop.response(&head, body, followed > 0)),
        }
    }
    Err(Refusal::Redirects(redirects))
}

impl Hop {
    fn first(request: Request) -> Result<Self, Refusal> {
        let method = Method::from_bytes(request.method.to_ascii_uppercase().as_bytes())
            .ok()
            .filter(|method| METHODS.contains(method))
            .ok_or(Refusal::Method(METHOD_NAMES))?;
        match (&method, &request.body) {
            (&Method::GET, Some(_)) => return Err(Refusal::Body("GET")),
            (&Method::HEAD, Some(_)) => return Err(Refusal::Body("HEAD")),
            _ => {}
        }
        Ok(Self {
            url: Url::parse(&request.url).ok().and_then(permission::tidy).ok_or(Refusal::Url)?,
            method,
            headers: headers::read(&request.headers)?,
            body: request.body.unwrap_or_default().into(),
        })
    }

    /// Follows a redirect as browsers do.
    fn follow(&mut self, status: StatusCode, target: Url) {
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = Bytes::new();
            headers::without_body(&mut self.headers);
        }
        if target.origin() != self.url.origin() {
            headers::for_another_origin(&mut self.headers);
        }
        self.url = target;
    }

    /// Connects, sends the request and reads the response.
    async fn ask(&self, parts: &Parts) -> Result<Answer, Refusal> {
        let host = self.url.host().ok_or(Refusal::Url)?;
        let port = self.url.port_or_known_default().ok_or(Refusal::Url)?;
        let request = self.request()?;
        let stream = parts.connect(&host, port).await?.stream;
        if self.url.scheme() == "https" {
            let stream = parts.encrypt(&host, stream, parts.trust.strict()).await?;
            self.converse(stream, request, parts.body_limit).await
        } else {
            self.converse(stream, request, parts.body_limit).await
        }
    }

    fn request(&self) -> Result<http::Request<Full<Bytes>>, Refusal> {
        let (from, to) = (Position::BeforePath, Position::AfterQuery);
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.url[from..to].parse().map_err(|_| Refusal::Url)?;
        let authority = &self.url[Position::BeforeHost..Position::AfterPort];
        let mut all = HeaderMap::new();
        all.insert(HOST, HeaderValue::from_str(authority).map_err(|_| Refusal::Url)?);
        all.insert(CONNECTION, HeaderValue::from_static("close"));
        all.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        all.insert(ACCEPT, HeaderValue::from_static("*/*"));
        all.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if self.body.is_empty() && [Method::POST, Method::PUT, Method::PATCH].contains(&self.method) {
            all.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        // The script's headers replace these.
        all.extend(self.headers.clone());
        *request.headers_mut() = all;
        Ok(request)
    }

    async fn converse<S>(
        &self,
        stream: S,
        request: http::Request<Full<Bytes>>,
        limit: usize,
    ) -> Result<Answer, Refusal>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let failed = |error: hyper::Error| self.failure(&error);
        let mut builder = http1::Builder::new();
        builder.max_header_size(HEAD);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Aborted when this function returns.
        let mut driver = JoinSet::new();
        driver.spawn(connection);
        let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
        if head.status.is_informational() {
            return Err(Refusal::NotHttp(self.host()));
        }
        match self.target(&head)? {
            Some(target) => Ok(Answer::Redirect(head.status, target)),
            None => Ok(Answer::Final(Box::new(head), self.read(body, limit).await?)),
        }
    }

    /// The target of a redirect; `None` if the response is not one.
    fn target(&self, head: &response::Parts) -> Result<Option<Url>, Refusal> {
        let redirects = matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = head.headers.get(LOCATION).filter(|_| redirects) else { return Ok(None) };
        std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .filter(|target| matches!(target.scheme(), "http" | "https"))
            .filter(|target| target.username().is_empty() && target.password().is_none())
            .and_then(permission::tidy)
            .map(Some)
            .ok_or_else(|| Refusal::Redirect(self.host()))
    }

    /// Reads a body up to the limit.
    async fn read(&self, mut body: Incoming, limit: usize) -> Result<Vec<u8>, Refusal> {
        let too_large = || Refusal::TooLarge { host: self.host(), limit };
        if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > limit) {
            return Err(too_large());
        }
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| self.failure(&error))?.into_data() else { continue };
            if data.len() > limit - read.len() {
                return Err(too_large());
            }
            read.extend_from_slice(&data);
        }
        Ok(read)
    }

    fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    fn failure(&self, error: &hyper::Error) -> Refusal {
        let host = self.host();
        tracing::debug!(host, %error, "no complete answer");
        if error.is_parse_too_large() {
            Refusal::AnswerHeaders(host)
        } else if error.is_parse() {
            Refusal::NotHttp(host)
        } else {
            Refusal::Incomplete(host)
        }
    }

    fn response(&self, head: &response::Parts, body: Vec<u8>, redirected: bool) -> Response {
        let own_reason = head.extensions.get::<ReasonPhrase>().map(|reason| lossy(reason.as_bytes()));
        let usual_reason = || head.status.canonical_reason().unwrap_or_default().to_owned();
        let header = |(name, value): (&http::HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), lossy(value.as_bytes()))
        };
        let mut headers: Vec<_> = head.headers.iter().map(header).collect();
        // A stable sort, so that headers of the same name keep their order.
        headers.sort_by(|a, b| a.0.cmp(&b.0));
        Response {
            status: head.status.as_u16(),
            status_text: own_reason.unwrap_or_else(usual_reason),
            url: self.url.to_string(),
            redirected,
            headers,
            body,
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
