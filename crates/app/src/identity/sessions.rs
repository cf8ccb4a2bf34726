//! Signing in and out, and managing one's own sessions.

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::hash::Hash;
use attestry_domain::id::{OrganizationId, SessionId, SsoConnectionId, UserId};
use attestry_domain::identity::sessions::{Session, confirmed_until, is_recent};
use attestry_domain::identity::sign_in::{SecondFactor, SignInMethod, Unmet};
use attestry_domain::identity::users::User;
use attestry_domain::text::{Email, Name};
pub use attestry_storage::members::Membership;
pub use attestry_storage::sso_identities::Link;
use attestry_storage::ways_in::{self, Exemption};
use attestry_storage::{members, passkeys, session_grants, sessions, users};
use serde::{Deserialize, Serialize};

use crate::boxed;
use crate::core::change::{AccountChange, Work};
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::keys::Token;
use crate::core::throttle::{PASSWORDS, Verified, prove};
use crate::identity::confirmation::{self, own_scope};
use crate::identity::exemptions::ExemptSignIn;
use crate::identity::passwords;
use crate::identity::principals::bad_session;
use crate::identity::second_factors::{self, Code, VerifiedCode};
use crate::identity::sign_in_failure::SignInFailure;
use crate::identity::tickets::{self, Ticket};

/// The state of a session in the journal, without any data that would allow its use.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionState {
    id: SessionId,
    user_id: UserId,
    created_at: Time,
    expires_at: Time,
    method: SignInMethod,
    second_factor: Option<SecondFactor>,
    /// The connection that authenticated the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_id: Option<SsoConnectionId>,
}

impl SessionState {
    /// Names the connection that authenticated the user.
    pub(crate) fn granted_by(self, connection: SsoConnectionId) -> Self {
        Self { connection_id: Some(connection), ..self }
    }
}

impl From<&Session> for SessionState {
    fn from(session: &Session) -> Self {
        let Session { id, user_id, created_at, expires_at, method, second_factor, .. } = *session;
        Self { id, user_id, created_at, expires_at, method, second_factor, connection_id: None }
    }
}

/// A new session; its token is shown only once.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub token: Token,
    pub session: Session,
    pub user: User,
}

/// The verified factors of a sign-in, before the session is opened.
pub(crate) struct Proven {
    pub(crate) user: User,
    pub(crate) method: SignInMethod,
    /// The verified password, whose failures are cleared.
    pub(crate) password: Option<Verified>,
    pub(crate) code: Option<VerifiedCode>,
}

/// The sign-in that waits for a second factor. It holds no longer once the password is changed.
#[derive(Serialize, Deserialize)]
struct Challenge {
    user: UserId,
    password: Hash,
}

const CHALLENGE: &str = "second factor";

/// A password hash as a challenge refers to it.
fn fingerprint(ctx: &Ctx, password_hash: &str) -> Hash {
    ctx.keys.mac(&[b"challenge", password_hash.as_bytes()])
}

/// Signs in. `user_agent` is the name that the client reports, so that users can tell their sessions apart. An account
/// with an authenticator app needs a code, here or with [`sign_in_with_code`].
#[boxed]
pub async fn sign_in(
    ctx: &Ctx,
    email: &Email,
    password: &str,
    code: Option<Code>,
    user_agent: Option<String>,
    origin: Origin,
) -> Result<SignedIn, Error> {
    let key = email.key();
    let account = key.clone();
    let found = ctx.db.read(async move |t| users::by_email(t, &account).await).await?;
    let hash = found.as_ref().and_then(|(_, hash)| hash.clone());
    let check = ctx.hashing.check(&origin, password, hash);
    // The same job is enqueued whether or not the account exists, so that the response time does not reveal it.
    let failed = SignInFailure { email: key.clone(), origin: origin.clone() };
    let note = async move |work: &Work<'_>, _| work.enqueue(&failed).await;
    let proof = prove(ctx, &PASSWORDS, &key, origin.ip, check, note).await?;
    let (Some((user, Some(hash))), Some(proof)) = (found, proof) else {
        return Err(bad_credentials());
    };
    let own = user.id;
    let methods = ctx.db.read(async move |t| second_factors::methods(t, own).await).await?;
    let code = match code {
        _ if methods.is_empty() => None,
        Some(code) => Some(verified_code(ctx, &user, code).await?),
        None => {
            let challenge = Challenge { user: user.id, password: fingerprint(ctx, &hash) };
            let Ticket { text, expires_at } = tickets::issue(ctx, CHALLENGE, challenge)?;
            return Err(Error::SecondFactorRequired { challenge: text, methods, expires_at });
        }
    };
    let proven = Proven { user, method: SignInMethod::Password, password: Some(proof), code };
    open(ctx, proven, user_agent, origin, async |_| Ok(())).await
}

/// Finishes a sign-in that waits for its second factor.
#[boxed]
pub async fn sign_in_with_code(
    ctx: &Ctx,
    challenge: &str,
    code: Code,
    user_agent: Option<String>,
    origin: Origin,
) -> Result<SignedIn, Error> {
    let Challenge { user, password } = tickets::read(ctx, CHALLENGE, challenge)?;
    let found = ctx
        .db
        .read(async move |t| Ok::<_, Error>((users::get(t, user).await?, users::password(t, user).await?)))
        .await?;
    let (Some(user), Some(hash)) = found else { return Err(tickets::expired()) };
    if fingerprint(ctx, &hash) != password {
        return Err(tickets::expired());
    }
    let code = Some(verified_code(ctx, &user, code).await?);
    let proven = Proven { user, method: SignInMethod::Password, password: None, code };
    open(ctx, proven, user_agent, origin, async |_| Ok(())).await
}

async fn verified_code(ctx: &Ctx, user: &User, code: Code) -> Result<VerifiedCode, Error> {
    second_factors::verify(ctx, user, code).await?.ok_or_else(second_factors::wrong_code)
}

pub(crate) fn bad_credentials() -> Error {
    Error::Unauthenticated {
        code: "invalid_credentials",
        message: "The e-mail address or the password is wrong.",
    }
}

/// A session that begins now.
pub(crate) fn begin(
    ctx: &Ctx,
    user_id: UserId,
    method: SignInMethod,
    second_factor: Option<SecondFactor>,
    user_agent: Option<String>,
    origin: &Origin,
) -> Session {
    let now = ctx.now();
    // By single sign-on, no credentials of the account were used.
    let confirmed_at = if method == SignInMethod::Sso { Time::from_millis(0) } else { now };
    Session {
        id: ctx.ids.next(),
        user_id,
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(ctx.settings.session_lifetime.min(ctx.settings.session_max_age)),
        ip: origin.ip.map(|ip| ip.to_string()),
        user_agent,
        confirmed_at,
        method,
        second_factor,
        longest_gap: 0,
    }
}

/// Starts a session for an authenticated user. `settle` runs in its transaction.
pub(crate) async fn open<F>(
    ctx: &Ctx,
    proven: Proven,
    user_agent: Option<String>,
    origin: Origin,
    settle: F,
) -> Result<SignedIn, Error>
where
    F: AsyncFn(&AccountChange<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let now = ctx.now();
    let Proven { user, method, password, code } = proven;
    let second_factor = match method {
        SignInMethod::Password => code.map(VerifiedCode::factor),
        SignInMethod::Passkey => Some(SecondFactor::Passkey),
        SignInMethod::Sso => None,
    };
    let session = begin(ctx, user.id, method, second_factor, user_agent, &origin);
    let token = ctx.keys.token();
    let (kept, hash, account, from) = (session.clone(), token.hash, user.clone(), origin.clone());
    ctx.change_account(user.id, &origin, async move |a| {
        if a.memberships.is_empty() {
            return Err(Error::Forbidden {
                code: "no_active_membership",
                message:
                    "This account is not active in any organization; ask an administrator to bring it back."
                        .to_owned(),
            });
        }
        let scope = |membership: &Membership| own_scope(membership, &account, kept.id, &from);
        settle(a).await?;
        if let Some(password) = password {
            password.clear(a.t).await?;
        }
        if let Some(code) = code {
            code.spend(a, &account, scope).await?;
        }
        sessions::insert(a.t, &kept, &hash).await?;
        let state = SessionState::from(&kept);
        users::signed_in(a.t, account.id, now).await?;
        if kept.second_factor.is_some_and(SecondFactor::is_lasting) {
            users::proved(a.t, account.id, now).await?;
        }
        let exemptions = ways_in::exemptions(a.t, account.id).await?;
        for Exemption { organization, member, .. } in exemptions.into_iter().filter(|one| one.is_sso_required)
        {
            a.enqueue(&ExemptSignIn { organization, member }).await?;
        }
        a.record_everywhere(scope, "session.created", "session", kept.id, Some(&state)).await
    })
    .await?;
    Ok(SignedIn { token, session, user: User { last_login: Some(now), ..user } })
}

#[boxed]
pub async fn sign_out(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    end(ctx, session, session.id, origin).await.map(drop)
}

/// Lists the active sessions of a user, the most recently used first. A session by single sign-on sees only itself: it
/// is of one organization, and the person may have others.
#[boxed]
pub async fn list(ctx: &Ctx, own: &Session) -> Result<Vec<Session>, Error> {
    let (user, now, idle_since) = (own.user_id, ctx.now(), ctx.now().minus(ctx.settings.session_idle));
    let all = ctx.db.read(async move |t| sessions::of_user(t, user, now, idle_since).await).await?;
    Ok(all.into_iter().filter(|one| may_see(own, one.id)).collect())
}

fn may_see(own: &Session, id: SessionId) -> bool {
    own.method != SignInMethod::Sso || own.id == id
}

/// Ends a session of the same user.
#[boxed]
pub async fn end_one(ctx: &Ctx, own: &Session, id: SessionId, origin: Origin) -> Result<(), Error> {
    match may_see(own, id) && end(ctx, own, id, origin).await? {
        true => Ok(()),
        false => Err(Error::NotFound("session")),
    }
}

/// Returns the memberships whose organizations may know of a session.
async fn known_to(a: &AccountChange<'_>, session: &Session) -> Result<Vec<Membership>, Error> {
    let mut all = a.memberships.to_vec();
    if session.method == SignInMethod::Sso {
        let granted = session_grants::organizations(a.t, session.id).await?;
        all.retain(|membership| granted.contains(&membership.organization));
    }
    Ok(all)
}

/// Ends a session, if it belongs to the user of `own`.
async fn end(ctx: &Ctx, own: &Session, id: SessionId, origin: Origin) -> Result<bool, Error> {
    let (by, whose, from) = (own.id, own.user_id, origin.clone());
    ctx.change_account(whose, &origin, async move |a| {
        // Another process may have ended the session while this one still caches it.
        a.invalidate(Invalidate::Session(id));
        let Some(session) = sessions::get(a.t, id).await? else { return Ok(false) };
        let known_to = known_to(a, &session).await?;
        if !sessions::delete(a.t, id, whose).await? {
            return Ok(false);
        }
        let Some(user) = users::get(a.t, whose).await? else { return Ok(true) };
        let scope = |membership: &Membership| own_scope(membership, &user, by, &from);
        a.among(&known_to)
            .record_everywhere(scope, "session.ended", "session", id, None::<&SessionState>)
            .await?;
        Ok(true)
    })
    .await
}

/// The ways in which a user can confirm their identity, and the time until which they did.
#[derive(Clone, Debug)]
pub struct Confirmation {
    pub confirmed_until: Option<Time>,
    /// The session may change how the account signs in.
    pub is_fresh: bool,
    pub methods: Vec<SignInMethod>,
    /// The connections that can authenticate the user again, for their own organizations.
    pub connections: Vec<Link>,
    /// A password is confirmed together with a code of the authenticator app.
    pub needs_code: bool,
}

#[boxed]
pub async fn confirmation(
    ctx: &Ctx,
    session: &Session,
    organization: Option<OrganizationId>,
) -> Result<Confirmation, Error> {
    let (id, user, now) = (session.id, session.user_id, ctx.now());
    ctx.db
        .read(async move |t| {
            let session = sessions::get(t, id).await?.ok_or_else(bad_session)?;
            let granted = match organization {
                Some(organization) => {
                    let scope = Scope::visitor(organization, Some(user), Origin::command("confirmation"));
                    session_grants::confirmed_at(t, &scope, id).await?
                }
                None => None,
            };
            let own = session.is_confirmed(now).then(|| session.confirmed_until());
            let granted = granted.filter(|at| is_recent(*at, now)).map(confirmed_until);
            let connections =
                second_factors::links(t, &session).await?.into_iter().filter(|one| one.is_enabled);
            let connections: Vec<Link> = connections.collect();
            let needs_code = !second_factors::methods(t, user).await?.is_empty();
            let mut methods = Vec::new();
            if !passkeys::of_user(t, user).await?.is_empty() {
                methods.push(SignInMethod::Passkey);
            }
            if users::password(t, user).await?.is_some() {
                methods.push(SignInMethod::Password);
            }
            if !connections.is_empty() {
                methods.push(SignInMethod::Sso);
            }
            let confirmed_until = own.max(granted);
            let is_fresh = confirmation::is_fresh(t, &session, now).await?;
            Ok(Confirmation { confirmed_until, is_fresh, methods, connections, needs_code })
        })
        .await
}

/// Verifies the password of a signed-in user again, with a code of the authenticator app if there is one, and marks
/// the session as confirmed. An account without a password is confirmed with the code. Returns the time until which that
/// counts.
#[boxed]
pub async fn confirm(
    ctx: &Ctx,
    session: &Session,
    password: Option<&str>,
    code: Option<Code>,
    origin: Origin,
) -> Result<Time, Error> {
    let id = session.user_id;
    let (user, has_password, methods) = ctx
        .db
        .read(async move |t| {
            let has_password = users::password(t, id).await?.is_some();
            Ok::<_, Error>((users::get(t, id).await?, has_password, second_factors::methods(t, id).await?))
        })
        .await?;
    let user = user.ok_or_else(bad_session)?;
    let proof = match password {
        Some(password) => Some(passwords::prove_own(ctx, id, "password", password, &origin).await?),
        None if has_password => return Err(Error::field("password", "is required")),
        None if methods.is_empty() => {
            let message =
                "cannot be used: this account has no password. Confirm with a passkey or by single sign-on";
            return Err(Error::field("password", message));
        }
        None => None,
    };
    let code = match code {
        _ if methods.is_empty() => None,
        Some(code @ Code::Totp(_)) => {
            let wrong =
                || Error::field("code", "is wrong, has expired or was used before; wait for the next one");
            Some(second_factors::verify(ctx, &user, code).await?.ok_or_else(wrong)?)
        }
        Some(Code::Recovery(_)) => {
            return Err(Error::field("code", "must be six digits: a recovery code is for signing in"));
        }
        None => return Err(Error::field("code", "is required: this account has an authenticator app")),
    };
    let (own, from) = (session.id, origin.clone());
    confirmed(ctx, session, code.map(VerifiedCode::factor), origin, async move |a| {
        if let Some(proof) = &proof {
            proof.clear(a.t).await?;
        }
        match code {
            Some(code) => {
                code.spend(a, &user, |membership: &Membership| own_scope(membership, &user, own, &from)).await
            }
            None => Ok(()),
        }
    })
    .await
}

/// Marks a session as confirmed after `settle` in the same transaction, and returns the time until which that counts.
pub(crate) async fn confirmed<F>(
    ctx: &Ctx,
    session: &Session,
    second_factor: Option<SecondFactor>,
    origin: Origin,
    settle: F,
) -> Result<Time, Error>
where
    F: AsyncFn(&AccountChange<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let (kept, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        let user = users::get(a.t, kept.user_id).await?.ok_or_else(bad_session)?;
        let scope = |membership: &Membership| own_scope(membership, &user, kept.id, &from);
        settle(a).await?;
        if !sessions::confirm(a.t, kept.id, second_factor, a.now).await? {
            return Err(bad_session());
        }
        if second_factor.is_some_and(SecondFactor::is_lasting) {
            users::proved(a.t, kept.user_id, a.now).await?;
        }
        a.invalidate(Invalidate::Session(kept.id));
        let second_factor = second_factor.or(kept.second_factor);
        let after = Session { confirmed_at: a.now, second_factor, ..kept.clone() };
        a.among(&known_to(a, &kept).await?)
            .record_everywhere(
                scope,
                "session.confirmed",
                "session",
                kept.id,
                Some(&SessionState::from(&after)),
            )
            .await?;
        Ok(after.confirmed_until())
    })
    .await
}

/// Changes the user's own name.
#[boxed]
pub async fn rename(ctx: &Ctx, session: &Session, name: Name, origin: Origin) -> Result<User, Error> {
    let (kept, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        users::set_name(a.t, kept.user_id, name.as_str(), a.now).await?;
        let user = users::get(a.t, kept.user_id).await?.ok_or(Error::NotFound("user"))?;
        let scope = |membership: &Membership| own_scope(membership, &user, kept.id, &from);
        a.record_everywhere(scope, "user.updated", "user", user.id, Some(&user)).await?;
        Ok(user)
    })
    .await
}

/// Returns the user of a session and the organizations in which they are active, each with the demand that the session
/// does not meet.
#[boxed]
pub async fn current(
    ctx: &Ctx,
    session: &Session,
) -> Result<(User, Vec<(Membership, Option<Unmet>)>), Error> {
    let (own, now) = (session.clone(), ctx.now());
    ctx.db
        .read(async move |t| {
            let found = users::get(t, own.user_id).await?.ok_or(Error::NotFound("user"))?;
            let standings = members::standings(t, &own).await?;
            let shown = members::of_user(t, own.user_id).await?.into_iter().filter_map(|membership| {
                let standing = standings.iter().find(|one| one.organization == membership.organization)?;
                let demands = standing.demands;
                demands.is_known_to(&own).then(|| (membership, demands.unmet(&own, now)))
            });
            Ok((found, shown.collect()))
        })
        .await
}
