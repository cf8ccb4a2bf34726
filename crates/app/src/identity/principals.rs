//! Principals of credentials. One indexed look-up finds the principal, which is then cached for a few seconds: a
//! request with a cached credential causes no reads or writes. A change of a credential or a membership invalidates
//! the cache of this process immediately; other processes follow within [`CREDENTIAL_CACHE_TTL`].

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Credential, Principal, Scope};
use attestry_domain::hash::{Hash, sha256};
use attestry_domain::id::{OrganizationId, SsoConnectionId};
use attestry_domain::identity::sign_in::Unmet;
use attestry_storage::members::{self, Standing};
use attestry_storage::{api_keys, directory, sessions, sso_connections};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::credentials::Touch;
pub use crate::core::credentials::{CachedPrincipal, CachedSession, CredentialCache, Invalidate};
use crate::core::error::Error;
use crate::core::keys::{public_part, same};
use crate::identity::api_keys::PREFIX;

/// The age up to which requests of identity providers are kept.
const DIRECTORY_REQUESTS_KEPT: Duration = Duration::from_hours(24 * 14);

/// The lifetime of a cached credential.
pub(crate) const CREDENTIAL_CACHE_TTL: Duration = Duration::from_secs(4);

fn bad_key() -> Error {
    Error::Unauthenticated {
        code: "invalid_api_key",
        message: "The API key is not valid: it may be mistyped, expired or revoked, or its member may be inactive.",
    }
}

pub(crate) fn bad_session() -> Error {
    Error::Unauthenticated { code: "invalid_session", message: "The session has ended; sign in again." }
}

/// Returns the member that an API key acts as.
#[boxed]
pub async fn by_api_key(ctx: &Ctx, text: &str, ip: Option<IpAddr>) -> Result<Arc<CachedPrincipal>, Error> {
    let prefix = public_part(PREFIX, text).ok_or_else(bad_key)?;
    let known = known_key(ctx, sha256(text.as_bytes()), prefix).await?;
    note_key(ctx, &known, ctx.now(), ip);
    Ok(known)
}

async fn known_key(ctx: &Ctx, hash: Hash, prefix: &str) -> Result<Arc<CachedPrincipal>, Error> {
    let now = ctx.now();
    if let Some(known) = ctx.credentials.known.get(&hash)
        && known.until > now
    {
        return Ok(known);
    }
    let prefix = prefix.to_owned();
    let before = ctx.credentials.forgotten.load(Ordering::SeqCst);
    let found = ctx.db.find(async move |t| api_keys::find(t, &prefix).await).await?.ok_or_else(bad_key)?;
    let expired = found.key.expires_at.is_some_and(|at| at <= now);
    if !same(&found.secret_hash, &hash) || expired {
        return Err(bad_key());
    }
    let fresh = now.plus(CREDENTIAL_CACHE_TTL);
    let known = Arc::new(CachedPrincipal {
        principal: Arc::new(Principal {
            organization: found.key.organization_id,
            member: found.key.member_id,
            user: found.user,
            email: found.email,
            credential: Credential::ApiKey(found.key.id),
            permissions: found.key.scopes.within(found.role.permissions()),
            zone: found.zone,
        }),
        until: found.key.expires_at.map_or(fresh, |at| at.min(fresh)),
        touched: AtomicI64::new(found.key.last_used_at.map_or(0, Time::as_millis)),
    });
    if ctx.credentials.forgotten.load(Ordering::SeqCst) == before {
        ctx.credentials.known.insert(hash, Arc::clone(&known));
    }
    Ok(known)
}

fn note_key(ctx: &Ctx, known: &CachedPrincipal, now: Time, ip: Option<IpAddr>) {
    if let Credential::ApiKey(key) = known.principal.credential {
        ctx.credentials.touch(&known.touched, now, Touch::Key(key, now, ip));
    }
}

/// Returns the session of a token.
#[boxed]
pub async fn by_session(ctx: &Ctx, token: &str) -> Result<Arc<CachedSession>, Error> {
    let known = known_session(ctx, sha256(token.as_bytes())).await?;
    note_session(ctx, &known, ctx.now());
    Ok(known)
}

async fn known_session(ctx: &Ctx, hash: Hash) -> Result<Arc<CachedSession>, Error> {
    let now = ctx.now();
    if let Some(known) = ctx.credentials.sessions.get(&hash)
        && known.until > now
    {
        return Ok(known);
    }
    let before = ctx.credentials.forgotten.load(Ordering::SeqCst);
    let (session, email) =
        ctx.db.find(async move |t| sessions::find(t, &hash).await).await?.ok_or_else(bad_session)?;
    if session.expires_at <= now || now.since(session.last_seen_at) > ctx.settings.session_idle {
        return Err(bad_session());
    }
    let until = now.plus(CREDENTIAL_CACHE_TTL).min(session.expires_at);
    let touched = AtomicI64::new(session.last_seen_at.as_millis());
    let known = Arc::new(CachedSession { session, email, until, touched });
    if ctx.credentials.forgotten.load(Ordering::SeqCst) == before {
        ctx.credentials.sessions.insert(hash, Arc::clone(&known));
    }
    Ok(known)
}

fn note_session(ctx: &Ctx, known: &CachedSession, now: Time) {
    ctx.credentials.touch(&known.touched, now, Touch::Session(known.session.id, now));
}

/// The reason for which a session does not act in an organization.
#[derive(Debug)]
pub enum Refused {
    NotAMember,
    /// The attempt is recorded in the organization's journal.
    Inactive(Arc<Principal>),
    /// The session does not meet the organization's policy; a connection may help.
    Unmet(Unmet, Option<SsoConnectionId>),
}

/// Returns the member that a session acts as in one organization.
#[boxed]
pub async fn in_organization(
    ctx: &Ctx,
    known: &CachedSession,
    organization: OrganizationId,
) -> Result<Result<Arc<Principal>, Refused>, Error> {
    let key = sha256(format!("{} {organization}", known.session.id).as_bytes());
    let now = ctx.now();
    if let Some(known) = ctx.credentials.known.get(&key)
        && known.until > now
    {
        return Ok(Ok(Arc::clone(&known.principal)));
    }
    let before = ctx.credentials.forgotten.load(Ordering::SeqCst);
    let (user, session) = (known.session.user_id, known.session.clone());
    let found = ctx.db.find(async move |t| members::standing(t, organization, &session).await).await?;
    let Some(Standing { member, role, is_active, zone, demands, .. }) = found else {
        return Ok(Err(Refused::NotAMember));
    };
    let principal = Arc::new(Principal {
        organization,
        member,
        user,
        email: known.email.clone(),
        credential: Credential::Session(known.session.id),
        permissions: role.permissions(),
        zone,
    });
    if !demands.is_known_to(&known.session) {
        return Ok(Err(Refused::NotAMember));
    }
    if !is_active {
        return Ok(Err(Refused::Inactive(principal)));
    }
    if let Some(unmet) = demands.unmet(&known.session, now) {
        let connection =
            ctx.db.find(async move |t| sso_connections::of_user(t, organization, user).await).await?;
        return Ok(Err(Refused::Unmet(unmet, connection)));
    }
    let remembered = CachedPrincipal {
        principal: Arc::clone(&principal),
        until: now.plus(CREDENTIAL_CACHE_TTL),
        touched: AtomicI64::new(i64::MAX),
    };
    if ctx.credentials.forgotten.load(Ordering::SeqCst) == before {
        ctx.credentials.known.insert(key, Arc::new(remembered));
    }
    Ok(Ok(principal))
}

/// The credential that a long-running response depends on.
#[derive(Clone, Debug)]
pub enum Lasting {
    Key { hash: Hash, prefix: String },
    Session { hash: Hash, organization: OrganizationId },
}

impl Lasting {
    pub fn key(text: &str) -> Self {
        let prefix = public_part(PREFIX, text).unwrap_or_default().to_owned();
        Self::Key { hash: sha256(text.as_bytes()), prefix }
    }

    pub fn session(token: &str, organization: OrganizationId) -> Self {
        Self::Session { hash: sha256(token.as_bytes()), organization }
    }

    /// The error code for a credential that is no longer valid.
    pub(crate) fn invalid(&self) -> &'static str {
        match self {
            Self::Key { .. } => "invalid_api_key",
            Self::Session { .. } => "invalid_session",
        }
    }

    /// Returns the current principal; `None` if the credential is no longer valid. This does not count as a use, so
    /// that a session that is only checked becomes idle.
    pub(crate) async fn principal(&self, ctx: &Ctx) -> Result<Option<Arc<Principal>>, Error> {
        let found = match self {
            Self::Key { hash, prefix } => {
                known_key(ctx, *hash, prefix).await.map(|known| Some(Arc::clone(&known.principal)))
            }
            Self::Session { hash, organization } => match known_session(ctx, *hash).await {
                Ok(known) => in_organization(ctx, &known, *organization).await.map(Result::ok),
                Err(error) => Err(error),
            },
        };
        match found {
            Err(Error::Unauthenticated { .. }) => Ok(None),
            other => other,
        }
    }
}

/// A scope for a long-running response, valid as long as its credential.
#[derive(Clone, Debug)]
pub struct LastingScope {
    pub scope: Scope,
    pub credential: Lasting,
}

impl LastingScope {
    /// Checks that the credential is still valid with the same permissions.
    pub(crate) async fn is_allowed(&self, ctx: &Ctx) -> Result<bool, Error> {
        let was = self.scope.principal();
        let now = self.credential.principal(ctx).await?;
        let rights = |principal: &Principal| (principal.member, principal.permissions);
        Ok(now.is_some() && now.as_deref().map(rights) == was.map(rights))
    }
}

/// Writes the last use of credentials in the background; this extends sessions in use.
#[boxed]
pub async fn write_touches(ctx: Ctx) {
    let receiver = ctx.credentials.touches.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let Some(mut touches) = receiver else { return };
    while let Some(touch) = touches.recv().await {
        let (lifetime, max_age) = (ctx.settings.session_lifetime, ctx.settings.session_max_age);
        let written: Result<(), attestry_storage::Error> = ctx
            .db
            .write(async move |t| match &touch {
                Touch::Key(key, at, ip) => api_keys::touch(t, *key, *at, *ip).await,
                Touch::Session(session, at) => sessions::touch(t, *session, *at, lifetime, max_age).await,
                Touch::Directory(organization, token, at) => {
                    directory::touch(t, *organization, *token, *at).await
                }
                Touch::Request(request) => {
                    directory::log_request(t, request, request.at.minus(DIRECTORY_REQUESTS_KEPT)).await
                }
            })
            .await;
        if let Err(error) = written {
            ctx.outages.met("the last use of a credential", &error.to_string());
        }
    }
}
