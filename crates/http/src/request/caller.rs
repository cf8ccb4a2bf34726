//! The caller of an operation. [`Granted`] requires credentials for an organization and the permission that its type
//! names. [`SignedIn`] is for a user's own account, independent of any organization. [`Visitor`], [`Guest`] and
//! [`Anyone`] require no credentials; a test has the list of operations that accept one of them.

use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use attestry_app::identity::principals::{self, CachedSession, Lasting, LastingScope, Refused};
use attestry_app::identity::sso::start_path;
use attestry_app::portals;
use attestry_domain::access::{Actor, Claim, Connection, Credential, Grant, Origin, Principal, Scope};
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{DirectoryTokenId, OrganizationId, UserId};
use attestry_domain::text::Email;
use axum::extract::{ConnectInfo, FromRequestParts, OptionalFromRequestParts, Request};
use cookie::Cookie;
use http::request::Parts;
use http::{Extensions, HeaderMap, header};

use crate::answer::memory::Reservation;
use crate::answer::problem::Problem;
use crate::request::bodies::Share;
use crate::request::facts::{Argument, Facts, Needed};
use crate::request::query::Query;
use crate::state::Api;

pub const API_KEY: &str = "x-api-key";
pub const ORGANIZATION: &str = "x-organization-id";
pub const SESSION_COOKIE: &str = "attestry_session";

/// The context of a request, from its arrival to its response.
#[derive(Debug)]
pub struct RequestContext {
    pub request_id: Arc<str>,
    pub ip: Option<IpAddr>,
    /// The facts of the operation; `None` if the route is not an operation of the API.
    pub facts: Option<Facts>,
    /// The organization whose portal domain is requested.
    pub host: Option<OrganizationId>,
    /// The maximum size of the body in bytes.
    pub body_limit: usize,
    /// The body's share of the memory budget of all bodies.
    pub memory: Share,
    /// The response's share of the memory budget of all responses.
    pub response: Mutex<Option<Reservation>>,
    pub connection: Connection,
    pub claim: OnceLock<Arc<Claim>>,
    /// Set when the caller is identified, so that a rejection can be recorded. It does not prove any permission.
    pub actor: OnceLock<Actor>,
    /// Set when the caller has passed every check of `authenticate`.
    pub admitted: OnceLock<Arc<Principal>>,
    /// Set when an identity provider is identified: its directory, and its token.
    pub directory: OnceLock<(OrganizationId, DirectoryTokenId)>,
    /// The body that an identity provider sent, for the log of its directory.
    pub directory_body: OnceLock<String>,
}

impl RequestContext {
    pub fn origin(&self) -> Origin {
        Origin {
            request_id: Arc::clone(&self.request_id),
            ip: self.ip,
            claim: self.claim.get().cloned(),
            connection: self.connection.clone(),
        }
    }
}

/// Returns the context that the outermost layer created.
pub fn request_context(extensions: &Extensions) -> Result<Arc<RequestContext>, Problem> {
    extensions
        .get::<Arc<RequestContext>>()
        .cloned()
        .ok_or_else(|| Problem::internal("a request without a context"))
}

/// Returns the context of an authenticated request, and the caller's organization.
pub fn caller_of(request: &Request) -> Result<(Arc<RequestContext>, OrganizationId), Problem> {
    let context = request_context(request.extensions())?;
    let caller = context.admitted.get().ok_or_else(|| Problem::internal("a body before its caller"))?;
    let organization = caller.organization;
    Ok((context, organization))
}

/// Returns the address of the client: the peer or, behind a trusted proxy, the address that the proxy reports.
pub fn client_address(
    headers: &HeaderMap,
    peer: Option<&ConnectInfo<SocketAddr>>,
    trusted: &[IpAddr],
) -> Option<IpAddr> {
    let mut address = peer?.0.ip().to_canonical();
    if trusted.is_empty() {
        return Some(address);
    }
    let forwarded: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for hop in forwarded.into_iter().rev() {
        if !trusted.contains(&address) {
            break;
        }
        let Ok(next) = hop.trim().parse::<IpAddr>() else { break };
        address = next.to_canonical();
    }
    Some(address)
}

/// A credential as received.
enum Presented<'a> {
    ApiKey(&'a str),
    Session { token: String, by_cookie: bool },
}

fn presented(headers: &HeaderMap) -> Result<Presented<'_>, Problem> {
    // An API key takes precedence, even over a valid session.
    if let Some(key) = headers.get(API_KEY) {
        return Ok(Presented::ApiKey(key.to_str().unwrap_or_default()));
    }
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let value = value.to_str().unwrap_or_default();
        if let Some((scheme, token)) = value.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
        {
            // Only an API key is this long; a session token is shorter.
            if token.trim().starts_with(attestry_app::identity::api_keys::PREFIX) && token.trim().len() > 50 {
                let detail = "This is an API key: send it in the X-API-Key header.";
                return Err(Problem::new("invalid_session", detail));
            }
            return Ok(Presented::Session { token: token.trim().to_owned(), by_cookie: false });
        }
    }
    if let Some(token) = session_cookie(headers) {
        return Ok(Presented::Session { token, by_cookie: true });
    }
    Err(Problem::new(
        "missing_credentials",
        "Authentication required. Sign in, or send an API key in the X-API-Key header.",
    ))
}

/// Returns the token in the session cookie.
pub fn session_cookie(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(Cookie::split_parse).flatten();
    cookies.find(|cookie| cookie.name() == SESSION_COOKIE).map(|cookie| cookie.value().to_owned())
}

/// The value of `X-Organization-Id`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Nothing,
    /// Not the id of an organization.
    Nonsense,
    Organization(OrganizationId),
}

fn named_organization(headers: &HeaderMap) -> Named {
    match headers.get(ORGANIZATION) {
        None => Named::Nothing,
        // Some clients always send the header.
        Some(value) if value.is_empty() => Named::Nothing,
        Some(value) => {
            value.to_str().ok().and_then(OrganizationId::read).map_or(Named::Nonsense, Named::Organization)
        }
    }
}

fn organization_required() -> Problem {
    Problem::new("organization_required", "Name the organization in the X-Organization-Id header.")
}

/// Authenticates the caller and stores them in the context.
async fn authenticate(parts: &Parts, context: &RequestContext, api: &Api) -> Result<Actor, Problem> {
    if let Some(principal) = context.admitted.get() {
        return Ok(Actor { principal: Arc::clone(principal), origin: context.origin() });
    }
    let named = named_organization(&parts.headers);
    let (principal, allowed) = match presented(&parts.headers)? {
        Presented::ApiKey(text) => by_key(api, context, text, named).await?,
        Presented::Session { token, .. } => by_session(api, context, &token, named).await?,
    };
    let actor = Actor { principal, origin: context.origin() };
    let _ = context.actor.set(actor.clone());
    allowed?;
    api.limits.check_credential(actor.principal.credential)?;
    let _ = context.admitted.set(Arc::clone(&actor.principal));
    if parts.method.is_safe() && context.facts.is_some_and(|facts| facts.is_list) {
        let reserved = api.responses.reserve_page(actor.principal.organization).await?;
        *context.response.lock().unwrap_or_else(PoisonError::into_inner) = Some(reserved);
    }
    Ok(actor)
}

/// Rejects query parameters if the operation has none: the mistake would otherwise go unnoticed.
fn no_stray_query(parts: &Parts, context: &RequestContext, api: &Api) -> Result<(), Problem> {
    let Some(query) = parts.uri.query().filter(|query| !query.is_empty()) else { return Ok(()) };
    // A page accepts whatever parameters a link to it has.
    let takes_query = context.facts.is_none_or(|facts| facts.takes_query);
    if takes_query { Ok(()) } else { Query::parse(Some(query), api.ctx.now()).finish() }
}

type Found = (Arc<Principal>, Result<(), Problem>);

async fn by_key(api: &Api, context: &RequestContext, text: &str, named: Named) -> Result<Found, Problem> {
    let known = match principals::by_api_key(&api.ctx, text, context.ip).await {
        Ok(known) => known,
        // Guessing keys is rate-limited like signing in.
        Err(error) => return Err(refused(api, context, error)),
    };
    let principal = Arc::clone(&known.principal);
    let allowed = match named {
        Named::Nothing => Ok(()),
        Named::Organization(named) if named == principal.organization => Ok(()),
        _ => Err(Problem::new(
            "organization_mismatch",
            "This API key belongs to a different organization from the one in X-Organization-Id.",
        )),
    };
    Ok((principal, allowed))
}

async fn by_session(
    api: &Api,
    context: &RequestContext,
    token: &str,
    named: Named,
) -> Result<Found, Problem> {
    let session = known_session(api, context, token).await?;
    let outsider = || Problem::new("not_a_member", "You are not an active member of this organization.");
    let organization = match named {
        Named::Nothing => return Err(organization_required()),
        Named::Nonsense => return Err(outsider()),
        Named::Organization(organization) => organization,
    };
    match principals::in_organization(&api.ctx, &session, organization).await? {
        Ok(principal) => Ok((principal, Ok(()))),
        Err(Refused::Inactive(inactive)) => Ok((inactive, Err(outsider()))),
        Err(Refused::NotAMember) => Err(outsider()),
        Err(Refused::Unmet(unmet, connection)) => {
            let start = connection.map(start_path);
            Err(attestry_app::Error::Reauthenticate { unmet, organization, start }.into())
        }
    }
}

async fn known_session(
    api: &Api,
    context: &RequestContext,
    token: &str,
) -> Result<Arc<CachedSession>, Problem> {
    match principals::by_session(&api.ctx, token).await {
        Ok(session) => Ok(session),
        Err(error) => Err(refused(api, context, error)),
    }
}

/// Counts an invalid credential against the client's address; a lookup that failed does not count.
fn refused(api: &Api, context: &RequestContext, error: attestry_app::Error) -> Problem {
    let limited = match &error {
        attestry_app::Error::Unauthenticated { .. } => api.limits.check_address(context.ip),
        _ => Ok(()),
    };
    limited.err().unwrap_or_else(|| error.into())
}

/// Proof that the caller has the permission `G`.
#[derive(Debug)]
pub struct Granted<G>(Scope, PhantomData<fn() -> G>);

impl<G> Deref for Granted<G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.0
    }
}

impl<G: Grant> FromRequestParts<Api> for Granted<G> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let context = request_context(&parts.extensions)?;
        let actor = authenticate(parts, &context, api).await?;
        let scope = actor.authorize::<G>().map_err(attestry_app::Error::from)?;
        no_stray_query(parts, &context, api)?;
        Ok(Self(scope, PhantomData))
    }
}

/// The first grant is the permission of the operation; a second one is the permission on the parent of its subject.
impl<G: Grant> Argument for Granted<G> {
    fn describe(facts: &mut Facts) {
        match facts.needs {
            None => facts.needs = Some(Needed::by::<G>()),
            Some(_) => facts.also_needs = Some(Needed::by::<G>()),
        }
    }
}

impl<G: Grant> Argument for GrantedForLong<G> {
    fn describe(facts: &mut Facts) {
        Granted::<G>::describe(facts);
        facts.is_stream = true;
    }
}

/// A grant for a long-lived response, whose credential can be checked again.
#[derive(Debug)]
pub struct GrantedForLong<G> {
    pub scope: Granted<G>,
    pub credential: Lasting,
}

impl<G> GrantedForLong<G> {
    /// Returns the scope with its credential.
    pub fn lasting(self) -> LastingScope {
        LastingScope { scope: self.scope.0, credential: self.credential }
    }
}

impl<G: Grant> FromRequestParts<Api> for GrantedForLong<G> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let scope = Granted::<G>::from_request_parts(parts, api).await?;
        let credential = match presented(&parts.headers)? {
            Presented::ApiKey(text) => Lasting::key(text),
            Presented::Session { token, .. } => Lasting::session(&token, scope.organization()),
        };
        Ok(Self { scope, credential })
    }
}

body! {
    /// The user who makes the request.
    OwnName {
        user_id "userId": optional UserId = "Your own user id; optional.",
    }
    example serde_json::json!({"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

/// Rejects a user id that is not the caller's own, because callers always act in their own name.
pub fn must_be_own(scope: &Scope, user: Option<UserId>) -> Result<(), Problem> {
    let own = scope.principal().map(|principal| principal.user);
    if user.is_none() || user == own {
        return Ok(());
    }
    Err(Problem::new("not_the_author", "userId must be your own id, or be left out."))
}

/// Rejects an organization in the body that is not the caller's.
pub fn must_be_same_organization(scope: &Scope, organization: OrganizationId) -> Result<(), Problem> {
    match organization == scope.organization() {
        true => Ok(()),
        false => Err(Problem::new(
            "organization_mismatch",
            "The organizationId of the body is not the organization you are signed in to.",
        )),
    }
}

/// A user with a session, for operations on their own account.
#[derive(Debug)]
pub struct SignedIn {
    pub session: Arc<CachedSession>,
    pub by_cookie: bool,
    pub origin: Origin,
}

impl FromRequestParts<Api> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let context = request_context(&parts.extensions)?;
        match presented(&parts.headers)? {
            Presented::ApiKey(text) => {
                let (principal, _) = by_key(api, &context, text, Named::Nothing).await?;
                let _ = context.actor.set(Actor { principal, origin: context.origin() });
                Err(Problem::new(
                    "session_required",
                    "This acts on your own account and needs a session; an API key cannot be used.",
                ))
            }
            Presented::Session { token, by_cookie } => {
                let session = known_session(api, &context, &token).await?;
                // Browsers attach the cookie to forged requests as well; the header proves that our own page made
                // this one.
                if by_cookie
                    && !parts.method.is_safe()
                    && named_organization(&parts.headers) == Named::Nothing
                {
                    return Err(organization_required());
                }
                api.limits.check_credential(Credential::Session(session.session.id))?;
                no_stray_query(parts, &context, api)?;
                Ok(Self { session, by_cookie, origin: context.origin() })
            }
        }
    }
}

impl Argument for SignedIn {
    fn describe(facts: &mut Facts) {
        facts.needs_session = true;
    }
}

/// An unauthenticated client, without a rate limit.
#[derive(Debug)]
pub struct Anyone;

impl FromRequestParts<Api> for Anyone {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &Api) -> Result<Self, Problem> {
        Ok(Self)
    }
}

macro_rules! for_everybody {
    ($($type:ty),*) => {
        $(impl Argument for $type {
            fn describe(facts: &mut Facts) {
                facts.is_public = true;
            }
        })*
    };
}

for_everybody!(Anyone, Option<SignedIn>, Visitor, Guest);

/// A session on a route that also works without one: invalid credentials are ignored.
impl OptionalFromRequestParts<Api> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Option<Self>, Problem> {
        match <Self as FromRequestParts<Api>>::from_request_parts(parts, api).await {
            Ok(caller) => Ok(Some(caller)),
            Err(problem) if problem.status().is_server_error() => Err(problem),
            Err(_) => Ok(None),
        }
    }
}

/// An unauthenticated client, rate-limited per address.
#[derive(Debug)]
pub struct Visitor(pub Origin);

impl FromRequestParts<Api> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let context = request_context(&parts.extensions)?;
        // The idempotency layer may have counted this request already.
        if context.claim.get().is_none() {
            api.limits.check_address(context.ip)?;
        }
        no_stray_query(parts, &context, api)?;
        Ok(Self(context.origin()))
    }
}

/// A portal visitor; a portal's own domain shows that portal only.
#[derive(Debug)]
pub struct Guest {
    pub origin: Origin,
    /// The organization whose portal domain is requested.
    pub host: Option<OrganizationId>,
    address: Option<IpAddr>,
}

impl FromRequestParts<Api> for Guest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Visitor(origin) = Visitor::from_request_parts(parts, api).await?;
        let context = request_context(&parts.extensions)?;
        Ok(Self { origin, host: context.host, address: context.ip })
    }
}

impl Guest {
    /// Returns the organization of a published portal for a request that sends mail. Limits such mail to a few per
    /// hour and address, regardless of whose address it is.
    pub async fn asks(&self, api: &Api, portal: &str, email: &Email) -> Result<OrganizationId, Problem> {
        let organization = portals::owner(&api.ctx, portal, self.host).await?;
        api.limits.check_mail(self.address, organization, &email.key())?;
        Ok(organization)
    }
}

/// Returns the owner of the idempotency keys, derived from the credential. `None` if the caller lacks the permission,
/// which the handler will report.
pub async fn idempotency_owner(
    parts: &Parts,
    context: &RequestContext,
    facts: Facts,
    api: &Api,
) -> Result<Option<String>, Problem> {
    if facts.is_public {
        api.limits.check_address(context.ip)?;
        // The path separates unauthenticated clients that choose the same key.
        return Ok(Some(format!("the public at {}", hex(&sha256(parts.uri.path().as_bytes())))));
    }
    let Some(needed) = facts.needs else {
        let Presented::Session { token, .. } = presented(&parts.headers)? else { return Ok(None) };
        return Ok(Some(format!("user {}", known_session(api, context, &token).await?.session.user_id)));
    };
    let actor = authenticate(parts, context, api).await?;
    let owner = match actor.principal.credential {
        Credential::ApiKey(key) => key.to_string(),
        Credential::Session(_) => actor.principal.member.to_string(),
    };
    Ok(actor.principal.permissions.contains(needed.permission).then_some(owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().expect("a header"));
        }
        let trusted: Vec<IpAddr> = trusted.iter().map(|ip| ip.parse().expect("an address")).collect();
        let peer = ConnectInfo(SocketAddr::new(peer.parse().expect("an address"), 1));
        client_address(&headers, Some(&peer), &trusted).expect("an address").to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(address("192.0.2.1", &["203.0.113.9"], &[]), "192.0.2.1");
        assert_eq!(address("192.0.2.1", &["203.0.113.9"], &["10.0.0.1"]), "192.0.2.1");
        assert_eq!(address("10.0.0.1", &["203.0.113.9"], &["10.0.0.1"]), "203.0.113.9");
        assert_eq!(
            address("10.0.0.1", &["1.1.1.1, 203.0.113.9"], &["10.0.0.1"]),
            "203.0.113.9",
            "what came before is hearsay"
        );
        assert_eq!(address("10.0.0.1", &["203.0.113.9, 10.0.0.2"], &["10.0.0.1", "10.0.0.2"]), "203.0.113.9");
        assert_eq!(address("10.0.0.1", &["nonsense"], &["10.0.0.1"]), "10.0.0.1");
        assert_eq!(address("::ffff:10.0.0.1", &["2001:db8::1"], &["10.0.0.1"]), "2001:db8::1");
    }
}
