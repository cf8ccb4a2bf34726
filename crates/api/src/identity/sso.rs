//! `/v1/auth/sso`: signing in with a connection, and what a provider sends.

use std::sync::Arc;

use attestry_app::identity::confirmation;
use attestry_app::identity::sso::flow::{self, Answer, Asked, Browser, Leaving, Purpose, Refused, Returned};
use attestry_app::identity::sso::{self, Offered, sign_out, start_path};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{SsoConnectionId, SsoIdentityId, kind};
use attestry_domain::identity::sso::SsoIdentity;
use attestry_domain::text::{Email, Line};
use attestry_http::answer::lists;
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema;
use attestry_http::request::caller::{Granted, SignedIn, Visitor};
use attestry_http::request::form::Form;
use attestry_http::request::path::{IdAt, PathId};
use attestry_http::request::query::{FromQuery, NoQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use cookie::{Cookie, SameSite};
use http::header::{CACHE_CONTROL, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use crate::identity::auth::{Done, LoggedIn, session_cookie_of, signed_in, user_agent};
use crate::identity::sso_connections::StartView;

/// The cookie that binds a flow to the browser.
const BROWSER_COOKIE: &str = "attestry_sso";
const COOKIE_PATH: &str = "/v1/auth/sso";
const COOKIE_SECONDS: i64 = 600;

body! {
    /// The address of a person who wants to sign in.
    AskSignInMethods {
        email "email": required Email = "The address; whether it has an account makes no difference.",
    }
    example json!({"email": "ada@acme.example"})
}

/// Single sign-on for a domain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OfferedSso, example = json!(offered_example()))]
pub(crate) struct OfferedView {
    #[schema(value_type = String, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    connection_id: SsoConnectionId,
    name: String,
    start_url: String,
    /// True if nothing else signs in to the organization of the domain.
    is_required: bool,
}

fn offered_example() -> Value {
    json!({
        "connectionId": "idc_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Acme",
        "startUrl": "/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/start", "isRequired": true
    })
}

impl From<Offered> for OfferedView {
    fn from(Offered { connection, name, is_required }: Offered) -> Self {
        Self { connection_id: connection, name, start_url: start_path(connection), is_required }
    }
}

/// The ways to sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignInMethods, example = json!({"methods": ["password", "passkey"], "sso": offered_example()}))]
pub(crate) struct MethodsView {
    methods: [&'static str; 2],
    /// Null if the domain of the address has no connection.
    #[schema(required)]
    sso: Option<OfferedView>,
}

/// Shows the ways to sign in with an address
///
/// The answer depends on the domain of the address alone.
#[utoipa::path(
    post, path = "/v1/auth/sign-in-methods", tag = "Sign-in", request_body = AskSignInMethods,
    responses((status = 200, body = MethodsView, description = "The ways to sign in."))
)]
pub(crate) async fn show_sign_in_methods(
    api: State<Api>,
    _visitor: Visitor,
    Valid(body): Valid<AskSignInMethods>,
) -> Result<Json<MethodsView>, Problem> {
    let offered = sso::offered(&api.ctx, &body.email).await?;
    Ok(Json(MethodsView { methods: ["password", "passkey"], sso: offered.map(Into::into) }))
}

/// The query of a start.
#[derive(Debug)]
pub(crate) struct StartQuery(Asked);

impl FromQuery for StartQuery {
    fn read(query: &mut Query) -> Self {
        Self(Asked {
            next: query.raw("next").or(query.raw("target_link_uri")),
            login_hint: query.raw("login_hint"),
            issuer: query.raw("iss"),
            ticket: query.raw("ticket"),
        })
    }
}

impl IntoParams for StartQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            parameter(
                "next",
                "The path to go on to, or an address of this server; anything else is ignored.",
            ),
            parameter("target_link_uri", "The same, from the provider's own page of applications."),
            parameter("login_hint", "The address of the person, for the provider."),
            parameter("iss", "The issuer, from the provider's own page of applications."),
            parameter("ticket", "The ticket of a start for a signed-in user."),
        ]
    }
}

/// A parameter of the protocol.
fn parameter(name: &str, about: &str) -> Parameter {
    lists::parameter(name, schema(json!({"type": "string", "maxLength": 8000})), about)
}

fn browser_of(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut named = all.flat_map(Cookie::split_parse).filter_map(Result::ok);
    named.find(|cookie| cookie.name() == BROWSER_COOKIE).map(|cookie| cookie.value().to_owned())
}

fn browser_cookie(api: &Api, value: &str) -> String {
    Cookie::build((BROWSER_COOKIE, value))
        .path(COOKIE_PATH)
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(api.http.secure)
        .max_age(cookie::time::Duration::seconds(COOKIE_SECONDS))
        .to_string()
}

/// The browser of a request, and the id of the request.
fn arrived(visitor: Visitor, session: Option<SignedIn>, headers: &HeaderMap) -> (Browser, Arc<str>) {
    let Visitor(origin) = visitor;
    let request_id = Arc::clone(&origin.request_id);
    let session = session.map(|caller| caller.session.session.clone());
    (Browser { cookie: browser_of(headers), session, user_agent: user_agent(headers), origin }, request_id)
}

fn no_connection() -> Refused {
    Refused { code: "sso_disabled", cause: "There is no such connection.".to_owned() }
}

/// Redirects a browser, and sets cookies.
fn redirect(to: &str, cookies: &[String]) -> Result<Response, Problem> {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_str(to).map_err(Problem::internal)?);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies {
        headers.append(SET_COOKIE, HeaderValue::from_str(cookie).map_err(Problem::internal)?);
    }
    Ok(response)
}

/// Leads to the sign-in page with a code that it explains; the cause is only logged.
fn failed(refused: &Refused, request_id: &str) -> Result<Response, Problem> {
    let Refused { code, cause } = refused;
    tracing::warn!(code, cause, request_id, "a sign-in with a connection failed");
    redirect(&format!("/sign-in?error={code}&reference={request_id}"), &[])
}

/// Starts a sign-in with a connection
///
/// For browsers: leads to the provider, or back to the sign-in page.
#[utoipa::path(
    get, path = "/v1/auth/sso/{connectionId}/start", tag = "Sign-in", params(StartQuery),
    responses((status = 303, description = "The way to the provider, or to the sign-in page with the code of an error."))
)]
pub(crate) async fn start_sso(
    api: State<Api>,
    visitor: Visitor,
    session: Option<SignedIn>,
    id: PathId<kind::SsoConnection>,
    headers: HeaderMap,
    ValidQuery(StartQuery(asked)): ValidQuery<StartQuery>,
) -> Result<Response, Problem> {
    let (browser, request_id) = arrived(visitor, session, &headers);
    let left = match id.found() {
        Ok(id) => flow::start(&api.ctx, id, asked, browser).await,
        Err(_) => Err(no_connection()),
    };
    match left {
        Ok(Leaving { url, cookie }) => redirect(&url, &[browser_cookie(&api, &cookie)]),
        Err(refused) => failed(&refused, &request_id),
    }
}

/// The query of a provider's answer. Providers add parameters of their own.
#[derive(Debug)]
pub(crate) struct CallbackQuery(Answer);

impl FromQuery for CallbackQuery {
    fn read(query: &mut Query) -> Self {
        let answer = Answer {
            state: query.raw("state"),
            code: query.raw("code"),
            issuer: query.raw("iss"),
            error: query.raw("error"),
        };
        query.ignore_others();
        Self(answer)
    }
}

impl IntoParams for CallbackQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            parameter("state", "The state of the start."),
            parameter("code", "The authorization code."),
            parameter("iss", "The issuer (RFC 9207)."),
            parameter("error", "The code of an error at the provider."),
        ]
    }
}

/// Finishes a sign-in with a connection
///
/// For browsers: the provider leads here. Leads on to the page of the start, or to the sign-in page.
#[utoipa::path(
    get, path = "/v1/auth/sso/{connectionId}/callback", tag = "Sign-in", params(CallbackQuery),
    responses((status = 303, description = "The way on, or to the sign-in page with the code of an error."))
)]
pub(crate) async fn finish_sso(
    api: State<Api>,
    visitor: Visitor,
    session: Option<SignedIn>,
    id: PathId<kind::SsoConnection>,
    headers: HeaderMap,
    ValidQuery(CallbackQuery(answer)): ValidQuery<CallbackQuery>,
) -> Result<Response, Problem> {
    let (browser, request_id) = arrived(visitor, session, &headers);
    let returned = match id.found() {
        Ok(id) => flow::finish(&api.ctx, id, answer, browser).await,
        Err(_) => Err(no_connection()),
    };
    match returned {
        Ok(Returned::Opened { signed_in, next }) => {
            redirect(&next, &[session_cookie_of(&api, &signed_in.token.text)])
        }
        Ok(Returned::Granted { next }) => redirect(&next, &[]),
        Ok(Returned::Switch { ticket }) => redirect(&format!("/sign-in?switch={ticket}"), &[]),
        Ok(Returned::Tested { connection, sign_in }) => {
            redirect(&format!("/settings/security?connection={connection}&tested={sign_in}"), &[])
        }
        Err(refused) => failed(&refused, &request_id),
    }
}

body! {
    /// The ticket of a sign-in by another person.
    SwitchSession (Medium) {
        ticket "ticket": required TicketText = "The ticket in the address of the sign-in page.",
    }
    example json!({"ticket": "b3BhcXVl"})
}

/// A ticket, which holds the proof of a provider.
pub(crate) type TicketText = Line<1, 20_000>;

/// Replaces the session of another person
///
/// A sign-in with a connection in a browser in which another person is signed in waits for this, so that no foreign page
/// can swap the session.
#[utoipa::path(
    post, path = "/v1/auth/sso/switch", tag = "Sign-in", request_body = SwitchSession,
    responses(
        (status = 200, body = LoggedIn, description = "A session, in a cookie and as a token."),
        (status = 403, description = "The person may no longer sign in."),
        (status = 410, description = "The ticket was used or has expired."),
    )
)]
pub(crate) async fn switch_session(
    api: State<Api>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Valid<SwitchSession>,
) -> Result<Response, Problem> {
    let (browser, _) = arrived(visitor, None, &headers);
    let opened = flow::switch(&api.ctx, body.0.ticket.as_str(), browser).await?;
    Ok(signed_in(&api, opened))
}

attestry_domain::words! {
    /// The reason of a signed-in user for going to a provider.
    StartPurpose {
        /// Confirms the session in the organization of the connection.
        Confirm = "confirm",
        /// Links an identity to the account.
        Link = "link",
    }
}

body! {
    /// A flow at a provider for a signed-in user.
    StartSso {
        purpose "purpose": required StartPurpose = "`confirm` confirms the session; `link` links an identity to your account.",
        next "next": optional Line<1, 500> = "The path to go on to.",
    }
    example json!({"purpose": "confirm", "next": "/policies"})
}

/// Starts a flow for a signed-in user
///
/// To link an identity, the session must have been confirmed within the last ten minutes.
#[utoipa::path(
    post, path = "/v1/auth/sso/{connectionId}/start-ticket", tag = "Sign-in", request_body = StartSso,
    responses((status = 200, body = StartView, description = "The address to open."))
)]
pub(crate) async fn start_sso_ticket(
    api: State<Api>,
    caller: SignedIn,
    id: PathId<kind::SsoConnection>,
    body: Valid<StartSso>,
) -> Result<Json<StartView>, Problem> {
    let StartSso { purpose, next } = body.0;
    let purpose = match purpose {
        StartPurpose::Confirm => Purpose::Confirm,
        StartPurpose::Link => Purpose::Link,
    };
    let (session, next) = (&caller.session.session, next.map(Line::into_string));
    Ok(Json(StartView::new(flow::start_ticket(&api.ctx, session, id.found()?, purpose, next).await?)))
}

body! {
    /// The form that a provider sends.
    LogoutTokenForm {
        logout_token "logout_token": required Line<1, 5_000> = "The logout token.",
    }
    example json!({"logout_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl"})
}

/// Ends what a connection granted
///
/// For providers (OpenID Connect Back-Channel Logout).
#[utoipa::path(
    post, path = "/v1/auth/sso/{connectionId}/logout-token", tag = "Sign-in",
    request_body(content = LogoutTokenForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, body = Done, description = "The sessions have ended."),
        (status = 400, description = "The token is not valid."),
    )
)]
pub(crate) async fn receive_logout_token(
    api: State<Api>,
    visitor: Visitor,
    id: PathId<kind::SsoConnection>,
    form: Form,
) -> Result<Json<Done>, Problem> {
    let token = form.field("logout_token").unwrap_or_default();
    sign_out::by_provider(&api.ctx, id.found()?, token, visitor.0).await?;
    Ok(Json(Done::DONE))
}

/// A person at an identity provider, linked to an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoIdentity, example = json!(identity_example()))]
pub(crate) struct IdentityView {
    #[schema(value_type = String, example = "idn_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SsoIdentityId,
    #[schema(value_type = String, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    connection_id: SsoConnectionId,
    subject: String,
    /// The address that the provider last gave.
    #[schema(required)]
    email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    last_used_at: Time,
}

fn identity_example() -> Value {
    json!({
        "id": "idn_01jcqg3v5mefzr7d0a6w3k9x2b", "connectionId": "idc_01jcqg3v5mefzr7d0a6w3k9x2b", "subject": "a81f",
        "email": "ada@acme.example", "createdAt": "2026-11-15T09:30:00.000Z", "lastUsedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<SsoIdentity> for IdentityView {
    fn from(one: SsoIdentity) -> Self {
        Self {
            id: one.id,
            connection_id: one.connection_id,
            subject: one.subject,
            email: one.email,
            created_at: one.created_at,
            last_used_at: one.last_used_at,
        }
    }
}

page_of! {
    pub(crate) IdentityList = IdentityView, "SsoIdentityList", identity_example(), HAS_TOTAL = false
}

/// Lists the identities of a member
#[utoipa::path(
    get, path = "/v1/people/{id}/identities", tag = "People",
    responses((status = 200, body = IdentityList, description = "The identities at the organization's providers, oldest first."))
)]
pub(crate) async fn list_identities(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    id: PathId<kind::Member>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<IdentityList>, Problem> {
    Ok(Json(PageView::whole(sign_out::identities(&api.ctx, &scope, id.found()?).await?)))
}

/// Removes an identity of a member
///
/// What it granted ends. The member can be linked again at their next sign-in.
#[utoipa::path(
    delete, path = "/v1/people/{id}/identities/{identityId}", tag = "People",
    responses((status = 200, body = Done, description = "The identity is removed."))
)]
pub(crate) async fn remove_identity(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    member: IdAt<kind::Member, 0>,
    identity: IdAt<kind::SsoIdentity, 1>,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    sign_out::unlink(&api.ctx, &scope, member.found()?, identity.found()?).await?;
    Ok(Json(Done::DONE))
}

/// Removes an identity of your account
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    delete, path = "/v1/auth/identities/{id}", tag = "Sign-in",
    responses(
        (status = 200, body = Done, description = "The identity is removed."),
        (status = 409, description = "It is the only way to sign in to the account."),
    )
)]
pub(crate) async fn remove_own_identity(
    api: State<Api>,
    caller: SignedIn,
    id: PathId<kind::SsoIdentity>,
) -> Result<Json<Done>, Problem> {
    sign_out::unlink_own(&api.ctx, &caller.session.session, id.found()?, caller.origin).await?;
    Ok(Json(Done::DONE))
}
