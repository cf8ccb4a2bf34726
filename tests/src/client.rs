//! Calls into the router and their responses, which must match the OpenAPI document.

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::document;

#[derive(Debug)]
pub struct Call<'a> {
    router: &'a Router,
    method: String,
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(router: &'a Router, method: &str, path: &str) -> Self {
        Self {
            router,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: HeaderMap::new(),
            body: Vec::new(),
        }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).expect("a header's name");
        self.headers.insert(name, HeaderValue::try_from(value).expect("a header's value"));
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("x-api-key", key)
    }

    /// Authenticates with a session token in an organization.
    #[must_use]
    pub fn session(self, token: &str, organization: &str) -> Self {
        self.without("x-api-key")
            .header("authorization", &format!("Bearer {token}"))
            .header("x-organization-id", organization)
    }

    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.raw("application/json", body.to_string())
    }

    #[must_use]
    pub fn raw(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// Sends the request and returns the response with its body unread.
    pub async fn begin(self) -> http::Response<Body> {
        let Self { router, method, path, headers, body } = self;
        let mut request =
            Request::builder().method(method.as_str()).uri(&path).body(Body::from(body)).expect("a request");
        *request.headers_mut() = headers;
        router.clone().oneshot(request).await.expect("an answer")
    }

    pub async fn send(self) -> Reply {
        let (method, path) = (self.method.clone(), self.path.clone());
        let (head, body) = self.begin().await.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let reply = Reply {
            status: head.status,
            headers: head.headers,
            body: body.to_vec(),
            what: format!("{method} {path}"),
        };
        document::check(&method, &path, &reply);
        reply
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    what: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.what, self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a readable header"))
    }

    /// Returns the body of a response with this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}: {}", self.what, self.text());
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// The problem with this status and code.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["code"], code, "{}: {problem}", self.what);
        problem
    }

    /// Returns the fields that a validation problem names, sorted.
    #[track_caller]
    pub fn wrong_fields(&self) -> Vec<String> {
        let problem = self.problem(400, "validation_failed");
        let errors = problem["errors"].as_array().expect("errors");
        let mut fields: Vec<String> =
            errors.iter().map(|e| e["field"].as_str().expect("a field").to_owned()).collect();
        fields.sort();
        fields
    }
}
