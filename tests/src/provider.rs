//! An identity provider that speaks OpenID Connect over HTTP and signs whatever a test wants: the double of an outside
//! company, honest unless it is told otherwise.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attestry_domain::Time;
use attestry_domain::hash::sha256;
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use axum::extract::State as Shared;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

pub const CLIENT: &str = "attestry";
pub const SECRET: &str = "the client's secret";

/// A token before it is signed.
#[derive(Clone, Debug)]
pub struct Draft {
    pub header: Map<String, Value>,
    pub claims: Map<String, Value>,
    /// The number of the key that signs it; the provider publishes those up to the current one.
    pub key: usize,
    /// Replaces the whole token.
    pub text: Option<String>,
}

impl Draft {
    pub fn set(&mut self, name: &str, value: Value) {
        self.claims.insert(name.to_owned(), value);
    }

    pub fn remove(&mut self, name: &str) {
        self.claims.remove(name);
    }
}

type Craft = Box<dyn FnOnce(&mut Draft) + Send>;

/// A code that was handed out.
struct Code {
    nonce: String,
    challenge: String,
    redirect_uri: String,
    claims: Map<String, Value>,
    at: Time,
}

#[derive(Default)]
struct State {
    issuer: String,
    keys: Vec<EcdsaKeyPair>,
    /// The keys that are published.
    published: Vec<usize>,
    codes: HashMap<String, Code>,
    /// The ids of further clients.
    clients: Vec<String>,
    /// Changes the next token.
    craft: Option<Craft>,
    /// Changes the metadata.
    metadata: Map<String, Value>,
    userinfo: Option<Value>,
    /// The subject of the last token.
    subject: Value,
    key_requests: usize,
    token_requests: usize,
    is_down: bool,
    count: usize,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

/// The provider; it ends with the test.
#[derive(Clone)]
pub struct IdentityProvider {
    pub issuer: String,
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdentityProvider").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

fn new_key() -> EcdsaKeyPair {
    EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key")
}

fn encoded(value: &Map<String, Value>) -> String {
    URL_SAFE_NO_PAD.encode(Value::Object(value.clone()).to_string())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

/// The fields of a query or a form.
fn fields(text: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{text}")).expect("a query");
    url.query_pairs().into_owned().collect()
}

impl IdentityProvider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let state =
            State { issuer: issuer.clone(), keys: vec![new_key()], published: vec![0], ..State::default() };
        let own = Self { issuer, state: Arc::new(Mutex::new(state)) };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .route("/userinfo", get(userinfo))
            .fallback(any(async || StatusCode::NOT_FOUND))
            .with_state(own.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        own.state().server = Some(server);
        own
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signs the next token with a new key, and publishes it.
    pub fn rotate(&self) {
        let mut state = self.state();
        state.keys.push(new_key());
        let newest = state.keys.len() - 1;
        state.published = vec![newest];
    }

    /// The number of requests for the keys so far.
    pub fn key_requests(&self) -> usize {
        self.state().key_requests
    }

    /// The number of requests for tokens so far.
    pub fn token_requests(&self) -> usize {
        self.state().token_requests
    }

    /// Answers requests for the metadata with 503, or as usual again.
    pub fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// Ends the server: connections are refused from now on. The returned socket reserves the port, so that no other
    /// program gets it.
    pub async fn stop(&self) -> TcpSocket {
        let server = self.state().server.take().expect("a running server");
        server.abort();
        // The port is closed when the task has ended.
        let _ = server.await;
        let address: SocketAddr =
            self.issuer.trim_start_matches("http://").parse().expect("the address of the issuer");
        let port = TcpSocket::new_v4().expect("a socket");
        port.set_reuseaddr(true).expect("an option");
        port.bind(address).expect("its own port");
        port
    }

    /// Registers another client with the same secret.
    pub fn register(&self, client_id: &str) {
        self.state().clients.push(client_id.to_owned());
    }

    /// Changes the next token.
    pub fn craft(&self, change: impl FnOnce(&mut Draft) + Send + 'static) {
        self.state().craft = Some(Box::new(change));
    }

    /// Adds fields to the metadata.
    pub fn describe(&self, fields: Value) {
        self.state().metadata = object(fields);
    }

    /// The answer of the userinfo endpoint.
    pub fn inform(&self, claims: Value) {
        self.state().userinfo = Some(claims);
    }

    /// Authenticates a person with these claims, as if a browser had followed `location`; returns the path and the query
    /// with which the browser comes back.
    pub fn authorize(&self, location: &str, claims: Value, now: Time) -> String {
        let (address, query) = location.split_once('?').expect("a query");
        assert_eq!(address, format!("{}/authorize", self.issuer));
        let asked = fields(query);
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["code_challenge_method"], "S256");
        assert_eq!(asked["client_id"], CLIENT);
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"), "{}", asked["scope"]);
        let mut state = self.state();
        state.count += 1;
        let code = format!("code{}", state.count);
        let mut claims = object(claims);
        if asked.get("prompt").is_some_and(|prompt| prompt == "login") {
            claims.entry("auth_time").or_insert(json!(now.as_millis() / 1000));
        }
        state.codes.insert(
            code.clone(),
            Code {
                nonce: asked["nonce"].clone(),
                challenge: asked["code_challenge"].clone(),
                redirect_uri: asked["redirect_uri"].clone(),
                claims,
                at: now,
            },
        );
        let path = asked["redirect_uri"].split('/').skip(3).collect::<Vec<_>>().join("/");
        let mut back = reqwest::Url::parse(&format!("http://x/{path}")).expect("an address");
        back.query_pairs_mut().append_pair("state", &asked["state"]).append_pair("code", &code);
        format!("{}?{}", back.path(), back.query().unwrap_or_default())
    }

    fn signed(state: &State, draft: &Draft) -> String {
        if let Some(text) = &draft.text {
            return text.clone();
        }
        let message = format!("{}.{}", encoded(&draft.header), encoded(&draft.claims));
        let signature =
            state.keys[draft.key].sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    /// Signs a token with the current key.
    pub fn sign(&self, claims: Value) -> String {
        let state = self.state();
        let key = state.keys.len() - 1;
        let header = object(json!({"alg": "ES256", "kid": format!("key{key}"), "typ": "logout+jwt"}));
        Self::signed(&state, &Draft { header, claims: object(claims), key, text: None })
    }

    /// The public key in DER, for attacks that use it as a secret.
    pub fn public_key(&self) -> Vec<u8> {
        let state = self.state();
        let key = state.keys.last().expect("a key").public_key();
        key.as_der().expect("a key").as_ref().to_vec()
    }
}

async fn metadata(Shared(own): Shared<IdentityProvider>) -> Response {
    let state = own.state();
    if state.is_down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let issuer = &state.issuer;
    let mut answer = object(json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "userinfo_endpoint": format!("{issuer}/userinfo"),
        "jwks_uri": format!("{issuer}/keys"), "end_session_endpoint": format!("{issuer}/logout"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"], "backchannel_logout_supported": true
    }));
    answer.extend(state.metadata.clone());
    Json(Value::Object(answer)).into_response()
}

async fn keys(Shared(own): Shared<IdentityProvider>) -> Json<Value> {
    let mut state = own.state();
    state.key_requests += 1;
    let key = |number: &usize| {
        let point = state.keys[*number].public_key().as_ref().to_vec();
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": format!("key{number}"),
            "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..])
        })
    };
    Json(json!({"keys": state.published.iter().map(key).collect::<Vec<_>>()}))
}

fn refuse(code: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({"error": code}))).into_response()
}

/// The id and the secret of the client in the header.
fn client_of(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    let text = String::from_utf8(STANDARD.decode(value).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let plain = |text: &str| fields(&format!("x={text}")).remove("x");
    Some((plain(id)?, plain(secret)?))
}

async fn token(Shared(own): Shared<IdentityProvider>, headers: HeaderMap, body: String) -> Response {
    let form = fields(&body);
    let mut state = own.state();
    state.token_requests += 1;
    let is_known = |id: &String| id == CLIENT || state.clients.contains(id);
    if !client_of(&headers).is_some_and(|(id, secret)| is_known(&id) && secret == SECRET) {
        return refuse("invalid_client");
    }
    let Some(code) = form.get("code").and_then(|code| state.codes.remove(code)) else {
        return refuse("invalid_grant");
    };
    let verifier = form.get("code_verifier").map(String::as_str).unwrap_or_default();
    let is_proved = URL_SAFE_NO_PAD.encode(sha256(verifier.as_bytes())) == code.challenge;
    if !is_proved || form.get("redirect_uri") != Some(&code.redirect_uri) {
        return refuse("invalid_grant");
    }
    let seconds = code.at.as_millis() / 1000;
    let mut claims = object(json!({
        "iss": state.issuer, "aud": CLIENT, "iat": seconds, "exp": seconds + 300, "nonce": code.nonce
    }));
    claims.extend(code.claims);
    let key = state.keys.len() - 1;
    let header = object(json!({"alg": "ES256", "kid": format!("key{key}")}));
    let mut draft = Draft { header, claims, key, text: None };
    if let Some(craft) = state.craft.take() {
        craft(&mut draft);
    }
    state.subject = draft.claims.get("sub").cloned().unwrap_or_default();
    let id_token = IdentityProvider::signed(&state, &draft);
    Json(json!({"access_token": "an access token", "token_type": "Bearer", "expires_in": 60, "id_token": id_token}))
        .into_response()
}

async fn userinfo(Shared(own): Shared<IdentityProvider>, headers: HeaderMap) -> Response {
    let state = own.state();
    let is_right = headers.get(header::AUTHORIZATION).is_some_and(|value| value == "Bearer an access token");
    match &state.userinfo {
        Some(claims) if is_right => Json(claims.clone()).into_response(),
        _ => Json(json!({"sub": state.subject})).into_response(),
    }
}
