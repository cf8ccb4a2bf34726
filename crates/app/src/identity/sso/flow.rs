//! The sign-in with a connection: the redirect to the provider, and its answer. The state of a sign-in travels in an
//! encrypted ticket that is bound to the browser, so a stranger causes no rows and no browser can finish another's.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::hash::{Hash, sha256};
use attestry_domain::id::{SessionId, SsoConnectionId, SsoSignInId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sso::{
    Groups, SsoConnection, SsoSignIn, claim, groups_of, has_several_factors,
};
use attestry_domain::text::{Email, Name, Parse};
use attestry_oidc::{Authorization, Claims, Client, Expected, Failure, Provider, Tokens};
use attestry_storage::sso_connections;
use attestry_storage::sso_connections::SealedConnection;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::accounts::{self, Outcome};
use super::{CONNECTION, MISSING, client_secret, oidc, redirect_uri};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::keys::same;
use crate::identity::confirmation::must_be_fresh;
use crate::identity::sessions::SignedIn;
use crate::identity::tickets::{self, Ticket};

/// The lifetime of a sign-in that is under way.
const LIFETIME: Duration = Duration::from_mins(10);
/// The lifetime of a start for a signed-in user, which the console follows at once.
const START_LIFETIME: Duration = Duration::from_mins(1);
const STATE: &str = "sso state";
const START: &str = "sso start";
const SWITCH: &str = "sso switch";
const MAX_NEXT: usize = 500;
const MAX_EMAIL: usize = 320;
/// The length of the cookie: 32 random bytes in base64url.
const COOKIE_LENGTH: usize = 43;

/// The reason for sending a browser to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    SignIn,
    /// Confirms a session.
    Confirm,
    /// Links an identity to the account of a session.
    Link,
    /// Shows the claims, and signs nobody in.
    Test,
}

#[derive(Serialize, Deserialize)]
struct State {
    connection: SsoConnectionId,
    config_version: i64,
    nonce: String,
    verifier: String,
    /// The hash of the browser's cookie.
    browser: Hash,
    next: String,
    purpose: Purpose,
    session: Option<SessionId>,
    began_at: Time,
}

#[derive(Serialize, Deserialize)]
struct Start {
    connection: SsoConnectionId,
    purpose: Purpose,
    session: SessionId,
    next: String,
}

/// A sign-in that does not succeed: a code for the person, and the cause for the log and the owner.
#[derive(Clone, Debug)]
pub struct Refused {
    pub code: &'static str,
    pub cause: String,
}

pub(crate) fn refused(code: &'static str, cause: impl Into<String>) -> Refused {
    Refused { code, cause: cause.into() }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Gone { .. } => "sso_expired",
            Error::Forbidden { code, .. } | Error::Conflict { code, .. } => code,
            _ => "sso_unavailable",
        };
        refused(code, error.to_string())
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let code = match failure {
            Failure::Unreachable(_) => "sso_unavailable",
            Failure::Issuer(_) | Failure::Answer(_) | Failure::Refused(_) => "sso_provider_error",
            Failure::Token(_) => "sso_token_invalid",
            Failure::NotFresh(_) => "sso_not_fresh",
        };
        refused(code, failure.to_string())
    }
}

/// The path to go on to: a path or an address of this server, or its root.
fn path_of(public_url: &str, asked: Option<&str>) -> String {
    let own = || -> Option<String> {
        let asked = asked?;
        let asked = asked.strip_prefix(public_url).unwrap_or(asked);
        let is_path = asked.starts_with('/') && !asked.starts_with("//") && !asked.contains('\\');
        if !is_path || asked.len() > MAX_NEXT || asked.chars().any(char::is_control) {
            return None;
        }
        let base = Url::parse(public_url).ok()?;
        let joined = base.join(asked).ok()?;
        (joined.origin() == base.origin()).then(|| asked.to_owned())
    };
    own().unwrap_or_else(|| "/".to_owned())
}

/// The start of a flow, as a browser asks for it.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub next: Option<String>,
    pub login_hint: Option<String>,
    /// The issuer, if the provider's own page led here.
    pub issuer: Option<String>,
    pub ticket: Option<String>,
}

/// The browser of a flow.
#[derive(Clone, Debug)]
pub struct Browser {
    /// The cookie that binds the flow to it, if it has one.
    pub cookie: Option<String>,
    /// The session that it has already.
    pub session: Option<Session>,
    pub user_agent: Option<String>,
    pub origin: Origin,
}

impl Browser {
    /// True if it has the cookie with this hash.
    fn is(&self, cookie: &Hash) -> bool {
        self.cookie.as_ref().is_some_and(|own| same(&sha256(own.as_bytes()), cookie))
    }

    fn session_id(&self) -> Option<SessionId> {
        self.session.as_ref().map(|session| session.id)
    }
}

/// The address at the provider, and the cookie of the browser.
#[derive(Clone, Debug)]
pub struct Leaving {
    pub url: String,
    pub cookie: String,
}

/// A connection that can be used; for a test also one that is not enabled.
async fn usable(ctx: &Ctx, id: SsoConnectionId, purpose: Purpose) -> Result<SealedConnection, Refused> {
    let found = ctx.db.read(async move |t| sso_connections::find(t, id).await).await.map_err(Error::from)?;
    let found = found.filter(|found| found.connection.is_enabled || purpose == Purpose::Test);
    found.ok_or_else(|| refused("sso_disabled", "There is no such connection, or it is disabled."))
}

/// Issues the start of a flow for a signed-in user, so that no foreign page can begin one.
#[boxed]
pub async fn start_ticket(
    ctx: &Ctx,
    session: &Session,
    connection: SsoConnectionId,
    purpose: Purpose,
    next: Option<String>,
) -> Result<String, Error> {
    if purpose == Purpose::Link {
        must_be_fresh(ctx, session).await?;
    }
    usable(ctx, connection, purpose).await.map_err(|_| MISSING)?;
    let next = path_of(&ctx.settings.public_url, next.as_deref());
    let start = Start { connection, purpose, session: session.id, next };
    let Ticket { text, .. } = tickets::issue_for(ctx, START, start, START_LIFETIME)?;
    Ok(ctx.link(&format!("{}?ticket={text}", super::start_path(connection))))
}

/// Begins a flow.
#[boxed]
pub async fn start(
    ctx: &Ctx,
    connection: SsoConnectionId,
    asked: Asked,
    browser: Browser,
) -> Result<Leaving, Refused> {
    let session = browser.session_id();
    let (purpose, next) = match &asked.ticket {
        None => (Purpose::SignIn, path_of(&ctx.settings.public_url, asked.next.as_deref())),
        Some(text) => {
            let start: Start = tickets::read(ctx, START, text)?;
            if start.connection != connection || Some(start.session) != session {
                return Err(refused("sso_expired", "The start is of another connection or session."));
            }
            let spent = text.clone();
            ctx.work(async move |work| tickets::redeem(work.t, &spent, work.now).await).await?;
            (start.purpose, start.next)
        }
    };
    let found = usable(ctx, connection, purpose).await?;
    let own = &found.connection;
    if asked.issuer.is_some_and(|issuer| issuer != own.issuer) {
        return Err(refused("sso_disabled", "The start names another issuer."));
    }
    let provider = oidc(ctx)?.provider(&own.issuer, ctx.now()).await?;
    let known = browser.cookie.filter(|cookie| cookie.len() == COOKIE_LENGTH);
    let cookie = known.unwrap_or_else(|| ctx.keys.token().text);
    let (nonce, verifier) = (ctx.keys.token().text, ctx.keys.token().text);
    let state = State {
        connection,
        config_version: own.config_version,
        nonce: nonce.clone(),
        verifier: verifier.clone(),
        browser: sha256(cookie.as_bytes()),
        next,
        purpose,
        session: session.filter(|_| purpose != Purpose::SignIn),
        began_at: ctx.now(),
    };
    let Ticket { text: state, .. } = tickets::issue_for(ctx, STATE, state, LIFETIME)?;
    let redirect_uri = redirect_uri(ctx, connection);
    let client = Client { id: own.client_id.as_str(), secret: None, redirect_uri: &redirect_uri };
    let hint = asked.login_hint.as_deref().filter(|hint| hint.len() <= MAX_EMAIL);
    let request = Authorization {
        scopes: &own.scopes,
        state: &state,
        nonce: &nonce,
        verifier: &verifier,
        login_hint: hint,
        is_fresh: purpose == Purpose::Confirm,
    };
    let url = provider.authorization_url(&client, &request)?;
    Ok(Leaving { url: url.into(), cookie })
}

/// The answer of a provider, as a browser brings it.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub state: Option<String>,
    pub code: Option<String>,
    pub issuer: Option<String>,
    pub error: Option<String>,
}

/// The end of a flow.
#[derive(Clone, Debug)]
pub enum Returned {
    /// A new session.
    Opened {
        signed_in: Box<SignedIn>,
        next: String,
    },
    /// The session of the browser goes on, with a new grant.
    Granted {
        next: String,
    },
    /// Another person is signed in here; the ticket replaces their session after a click.
    Switch {
        ticket: String,
    },
    Tested {
        connection: SsoConnectionId,
        sign_in: SsoSignInId,
    },
}

/// A person as the provider describes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) subject: String,
    pub(crate) email: Option<Email>,
    /// False if the provider says that the address is not verified, or has no say about it.
    pub(crate) is_verified: bool,
    pub(crate) name: Option<Name>,
    pub(crate) groups: Option<Vec<String>>,
    /// True if the provider left the groups out because there are too many.
    pub(crate) has_too_many_groups: bool,
    pub(crate) has_mfa: bool,
    /// When the provider authenticated the user in this flow.
    pub(crate) confirmed_at: Option<Time>,
    pub(crate) sid: Option<String>,
    /// Encrypted.
    pub(crate) id_token: Option<Vec<u8>>,
}

/// A person whom an identity provider authenticated, ready to be settled in a transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Authenticated {
    pub(crate) connection: SsoConnectionId,
    pub(crate) config_version: i64,
    pub(crate) profile: Profile,
    pub(crate) next: String,
    /// The hash of the browser's cookie.
    pub(crate) browser: Hash,
}

/// The maximum number of bytes of an ID token that is kept for signing out.
const MAX_KEPT_TOKEN: usize = 8 * 1024;
/// The maximum number of bytes of the claims of a test that are kept.
const MAX_KEPT_CLAIMS: usize = 16 * 1024;

/// Ends a flow. An attempt whose state is right is recorded for the owner of the connection.
#[boxed]
pub async fn finish(
    ctx: &Ctx,
    connection: SsoConnectionId,
    answer: Answer,
    browser: Browser,
) -> Result<Returned, Refused> {
    let text = answer.state.as_deref().ok_or_else(|| refused("sso_expired", "There is no state."))?;
    let state: State = tickets::read(ctx, STATE, text)?;
    if state.connection != connection {
        return Err(refused("sso_expired", "The state is of another connection."));
    }
    let found = usable(ctx, connection, state.purpose).await?;
    if found.connection.config_version != state.config_version {
        return Err(refused("sso_expired", "The connection has changed since."));
    }
    if !browser.is(&state.browser) {
        return Err(refused("sso_wrong_browser", "The browser is another one, or lost its cookie."));
    }
    if state.session.is_some() && browser.session_id() != state.session {
        return Err(refused("sso_wrong_browser", "The session is another one."));
    }
    let is_test = state.purpose == Purpose::Test;
    let (mut seen, from) = (Seen::default(), browser.clone());
    let settled = match trace(ctx, &found, &state, &answer, text).await {
        Ok(traced) => {
            seen = Seen::of(&found.connection, &traced, is_test);
            settle(ctx, &found.connection, &state, traced, browser).await
        }
        Err(refused) => Err(refused),
    };
    let failure = settled.as_ref().err();
    let recorded = SsoSignIn {
        id: ctx.ids.next(),
        organization_id: found.connection.organization_id,
        connection_id: connection,
        at: ctx.now(),
        is_test,
        result: failure.map_or("signed_in", |refused| refused.code).to_owned(),
        reason: failure.map(|refused| refused.cause.clone()),
        request_id: from.origin.request_id.to_string(),
        subject: seen.subject,
        email: seen.email,
        claims: seen.claims,
        group_count: seen.group_count,
        role: seen.role,
    };
    let sign_in = recorded.id;
    record(ctx, recorded, found.connection.config_version, from).await?;
    match settled {
        _ if is_test => Ok(Returned::Tested { connection, sign_in }),
        settled => settled,
    }
}

/// Stores an attempt; one that is a test and succeeds marks the connection as tested, if its configuration is still the
/// one that was tested.
async fn record(ctx: &Ctx, attempt: SsoSignIn, config_version: i64, browser: Browser) -> Result<(), Error> {
    let user = browser.session.map(|session| session.user_id);
    let scope = Scope::visitor(attempt.organization_id, user, browser.origin);
    ctx.change(&scope, async move |c| {
        let is_tested = attempt.is_test && attempt.reason.is_none();
        if is_tested
            && let Some(mut sealed) = sso_connections::lock(c.t, c.scope, attempt.connection_id).await?
            && sealed.connection.config_version == config_version
        {
            sealed.connection.tested_at = Some(c.now);
            sealed.connection.version += 1;
            sso_connections::put(c.t, c.scope, &sealed).await?;
            c.record("sso_connection.tested", CONNECTION, attempt.connection_id, &sealed.connection)?;
        }
        Ok(sso_connections::record_sign_in(c.t, c.scope, &attempt).await?)
    })
    .await
}

/// What an attempt showed, for its record.
#[derive(Default)]
struct Seen {
    subject: Option<String>,
    email: Option<String>,
    claims: Option<Value>,
    group_count: Option<i64>,
    role: Option<String>,
}

impl Seen {
    fn of(connection: &SsoConnection, Traced { claims, all, .. }: &Traced, is_test: bool) -> Self {
        let named = match groups_of(all, connection.groups_claim.as_str()) {
            Groups::Named(groups) => Some(groups),
            Groups::TooMany | Groups::Missing => None,
        };
        let email = claim(all, connection.email_claim.as_str()).and_then(Value::as_str);
        let is_kept = is_test && Value::Object(all.clone()).to_string().len() <= MAX_KEPT_CLAIMS;
        let kept = |(name, value): (&String, &Value)| {
            (name.clone(), if is_kept { value.clone() } else { Value::Null })
        };
        Self {
            subject: Some(claims.subject.clone()),
            email: email.map(|email| email.chars().filter(|c| !c.is_control()).take(MAX_EMAIL).collect()),
            claims: Some(Value::Object(all.iter().map(kept).collect())),
            group_count: named.as_ref().map(|groups| i64::try_from(groups.len()).unwrap_or(i64::MAX)),
            role: named
                .and_then(|groups| connection.roles_of(&groups))
                .map(|roles| roles.as_str().to_owned()),
        }
    }
}

/// The verified response of the provider.
struct Traced {
    claims: Claims,
    /// The claims, with those of the userinfo endpoint.
    all: Map<String, Value>,
    tokens: Tokens,
}

/// Redeems the state, exchanges the code and verifies the token; returns the claims, also those of the userinfo
/// endpoint.
async fn trace(
    ctx: &Ctx,
    found: &SealedConnection,
    state: &State,
    answer: &Answer,
    text: &str,
) -> Result<Traced, Refused> {
    let (own, now) = (&found.connection, ctx.now());
    let oidc = oidc(ctx)?;
    let provider = oidc.provider(&own.issuer, now).await?;
    must_name_issuer(&provider, answer.issuer.as_deref())?;
    match answer.error.as_deref() {
        None => {}
        Some("access_denied") => return Err(refused("sso_denied", "The provider answered access_denied.")),
        Some(error) => {
            let shown: String = error.chars().filter(|c| !c.is_control()).take(100).collect();
            return Err(refused("sso_provider_error", format!("The provider answered {shown:?}.")));
        }
    }
    let spent = text.to_owned();
    let redeemed =
        ctx.work(async move |work| tickets::redeem_for(work.t, &spent, work.now, LIFETIME).await).await;
    redeemed.map_err(|error| match error {
        Error::Gone { .. } => refused("sso_replayed", "The answer was used before."),
        other => other.into(),
    })?;
    let code = answer.code.as_deref().ok_or_else(|| refused("sso_provider_error", "There is no code."))?;
    let secret = client_secret(ctx, found).await?;
    let redirect_uri = redirect_uri(ctx, own.id);
    let client =
        Client { id: own.client_id.as_str(), secret: secret.as_deref(), redirect_uri: &redirect_uri };
    let tokens = oidc.exchange(&provider, &client, code, &state.verifier).await?;
    let expected = Expected {
        nonce: &state.nonce,
        began_at: state.began_at,
        must_be_fresh: state.purpose == Purpose::Confirm,
    };
    let claims = oidc.verify(&provider, &client, &tokens, expected, ctx.now()).await?;
    let mut all = claims.all.clone();
    let lacks_email = claim(&all, own.email_claim.as_str()).is_none();
    let lacks_groups = groups_of(&all, own.groups_claim.as_str()) == Groups::Missing;
    if lacks_email || lacks_groups {
        let more = oidc.user_info(&provider, &tokens, &claims.subject).await?;
        for (name, value) in more {
            all.entry(name).or_insert(value);
        }
    }
    Ok(Traced { claims, all, tokens })
}

fn must_name_issuer(provider: &Provider, named: Option<&str>) -> Result<(), Refused> {
    match named {
        Some(issuer) if issuer == provider.issuer() => Ok(()),
        None if !provider.sends_issuer() => Ok(()),
        Some(_) => Err(refused("sso_token_invalid", "The answer names another issuer.")),
        None => Err(refused(
            "sso_token_invalid",
            "The answer names no issuer, although the provider promises it.",
        )),
    }
}

/// True if the claim says so, also as text.
fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true) || value.as_str() == Some("true")
}

/// True if the provider vouches for an address.
fn vouches(serves_everybody: bool, email: Option<&Email>, claims: &Map<String, Value>) -> bool {
    let verified = claims.get("email_verified").map(is_true);
    if !serves_everybody {
        // The domain is verified and the provider is the organization's own, so it need not say anything.
        return verified != Some(false);
    }
    // Such a provider verifies the addresses of the domains that it hosts.
    let hosted = claims.get("hd").and_then(Value::as_str).map(str::to_lowercase);
    let own =
        email.and_then(|email| email.as_str().rsplit_once('@').map(|(_, domain)| domain.to_lowercase()));
    verified == Some(true) && hosted.is_some() && hosted == own
}

fn profile_of(
    ctx: &Ctx,
    connection: &SsoConnection,
    Traced { claims, all, tokens }: Traced,
) -> Result<Profile, Refused> {
    let address = claim(&all, connection.email_claim.as_str()).and_then(Value::as_str);
    let email = address.and_then(|text| Email::parse(text).ok());
    let is_verified = vouches(connection.serves_everybody(), email.as_ref(), &all);
    let groups = groups_of(&all, connection.groups_claim.as_str());
    let name = all.get("name").and_then(Value::as_str).and_then(|name| Name::parse(name).ok());
    let is_kept = connection.signs_out_at_provider && tokens.id_token.len() <= MAX_KEPT_TOKEN;
    let id_token = match is_kept {
        true => Some(ctx.keys.seal(accounts::ID_TOKEN, tokens.id_token.as_bytes())?),
        false => None,
    };
    Ok(Profile {
        subject: claims.subject,
        email,
        is_verified,
        name,
        has_too_many_groups: groups == Groups::TooMany,
        groups: if let Groups::Named(groups) = groups { Some(groups) } else { None },
        has_mfa: has_several_factors(&claims.methods),
        confirmed_at: claims.is_fresh.then(|| ctx.now()),
        sid: claims.session,
        id_token,
    })
}

async fn settle(
    ctx: &Ctx,
    connection: &SsoConnection,
    state: &State,
    traced: Traced,
    browser: Browser,
) -> Result<Returned, Refused> {
    let profile = profile_of(ctx, connection, traced)?;
    let authenticated = Authenticated {
        connection: connection.id,
        config_version: connection.config_version,
        profile,
        next: state.next.clone(),
        browser: state.browser,
    };
    if state.purpose == Purpose::Test {
        accounts::rehearse(ctx, authenticated, browser).await?;
        return Ok(Returned::Granted { next: String::new() });
    }
    let next = authenticated.next.clone();
    match accounts::settle(ctx, authenticated.clone(), state.purpose, browser).await? {
        Outcome::Opened(signed_in) => Ok(Returned::Opened { signed_in, next }),
        Outcome::Granted => Ok(Returned::Granted { next }),
        Outcome::AnotherPerson => {
            let Ticket { text, .. } = tickets::issue(ctx, SWITCH, authenticated)?;
            Ok(Returned::Switch { ticket: text })
        }
    }
}

/// Replaces the session of another person, after a click.
#[boxed]
pub async fn switch(ctx: &Ctx, ticket: &str, browser: Browser) -> Result<SignedIn, Error> {
    let authenticated: Authenticated = tickets::read(ctx, SWITCH, ticket)?;
    if !browser.is(&authenticated.browser) {
        return Err(tickets::expired());
    }
    let spent = ticket.to_owned();
    ctx.work(async move |work| tickets::redeem(work.t, &spent, work.now).await).await?;
    let alone = Browser { session: None, ..browser };
    match accounts::settle(ctx, authenticated, Purpose::SignIn, alone).await {
        Ok(Outcome::Opened(signed_in)) => Ok(*signed_in),
        Ok(_) => Err(Error::internal("a switch without a session")),
        Err(refused) => Err(Error::Forbidden { code: "sso_refused", message: refused.cause }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn provider_of_everybody_vouches_for_the_domain_that_it_hosts() {
        let email = Email::parse("eve@Acme.example").expect("an address");
        let read = |email: Option<&Email>, claims: &Value| {
            vouches(true, email, claims.as_object().expect("an object"))
        };
        for claims in [
            json!({"email_verified": true, "hd": "acme.example"}),
            json!({"email_verified": "true", "hd": "ACME.example"}),
        ] {
            assert!(read(Some(&email), &claims), "{claims}");
        }
        for claims in [
            json!({}),
            json!({"email_verified": true}),
            json!({"email_verified": true, "hd": null}),
            json!({"email_verified": true, "hd": ""}),
            json!({"email_verified": true, "hd": true}),
            json!({"email_verified": true, "hd": ["acme.example"]}),
            json!({"email_verified": true, "hd": "evil.example"}),
            json!({"email_verified": true, "hd": "sub.acme.example"}),
            json!({"hd": "acme.example"}),
            json!({"email_verified": null, "hd": "acme.example"}),
            json!({"email_verified": 1, "hd": "acme.example"}),
            json!({"email_verified": false, "hd": "acme.example"}),
            json!({"email_verified": "false", "hd": "acme.example"}),
        ] {
            assert!(!read(Some(&email), &claims), "{claims}");
        }
        assert!(!read(None, &json!({"email_verified": true, "hd": "acme.example"})));
        assert!(!read(None, &json!({"email_verified": true})));
    }

    #[test]
    fn provider_of_one_organization_vouches_unless_it_denies() {
        let read = |claims: &Value| vouches(false, None, claims.as_object().expect("an object"));
        for claims in [json!({}), json!({"email_verified": true}), json!({"email_verified": "true"})] {
            assert!(read(&claims), "{claims}");
        }
        for claims in [json!({"email_verified": false}), json!({"email_verified": "false"})] {
            assert!(!read(&claims), "{claims}");
        }
    }

    #[test]
    fn paths_lead_to_this_server() {
        let base = "https://attestry.example";
        for own in ["/", "/policies/pol_1?x=1#y", "/a/b"] {
            assert_eq!(path_of(base, Some(own)), own);
            assert_eq!(path_of(base, Some(&format!("{base}{own}"))), own);
        }
        for foreign in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "https:evil.example",
            "https://attestry.example.evil.example/",
            "https://attestry.example@evil.example/",
            "https://attestry.example//evil.example",
            "evil",
            "/\t/evil.example",
            "\\\\evil.example",
            "",
        ] {
            assert_eq!(path_of(base, Some(foreign)), "/", "{foreign:?}");
        }
        assert_eq!(path_of(base, Some(&format!("/{}", "a".repeat(500)))), "/");
        assert_eq!(path_of(base, None), "/");
    }
}
