//! Signing in and out, and managing one's own sessions.

use std::sync::Arc;

use attestry_domain::access::{Actor, Credential, Origin, Principal, Scope};
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::users::User;
use attestry_domain::text::{Email, Name};
use attestry_domain::{Time, Zone};
pub use attestry_storage::members::Membership;
use attestry_storage::{members, sessions, users};
use serde::Serialize;

use crate::boxed;
use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::keys::Token;
use crate::core::throttle::{VerifiedPassword, prove};
use crate::identity::passwords;
use crate::identity::principals::bad_session;
use crate::identity::sign_in_failure::SignInFailure;

/// The state of a session in the journal, without any data that would allow its use.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionState {
    id: SessionId,
    user_id: UserId,
    created_at: Time,
    expires_at: Time,
}

impl From<&Session> for SessionState {
    fn from(session: &Session) -> Self {
        let Session { id, user_id, created_at, expires_at, .. } = *session;
        Self { id, user_id, created_at, expires_at }
    }
}

/// A new session; its token is shown only once.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub token: Token,
    pub session: Session,
    pub user: User,
}

/// Signs in. `user_agent` is the name that the client reports, so that users can tell their sessions apart.
#[boxed]
pub async fn sign_in(
    ctx: &Ctx,
    email: &Email,
    password: &str,
    user_agent: Option<String>,
    origin: Origin,
) -> Result<SignedIn, Error> {
    let key = email.key();
    let account = key.clone();
    let found = ctx.db.read(async move |t| users::by_email(t, &account).await).await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), hash));
    let check = ctx.hashing.check(&origin, password, hash);
    // The same job is enqueued whether or not the account exists, so that the response time does not reveal it.
    let failed = SignInFailure { email: key.clone(), origin: origin.clone() };
    let note = async move |work: &Work<'_>| work.enqueue(&failed).await;
    let proof = prove(ctx, &key, origin.ip, check, note).await?;
    let (Some(user), Some(proof)) = (user, proof) else {
        return Err(Error::Unauthenticated {
            code: "invalid_credentials",
            message: "The e-mail address or the password is wrong.",
        });
    };
    open(ctx, user, user_agent, origin, proof).await
}

/// Starts a session for an authenticated user.
async fn open(
    ctx: &Ctx,
    user: User,
    user_agent: Option<String>,
    origin: Origin,
    proof: VerifiedPassword,
) -> Result<SignedIn, Error> {
    let now = ctx.now();
    let session = Session {
        id: ctx.ids.next(),
        user_id: user.id,
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(ctx.settings.session_lifetime),
        ip: origin.ip.map(|ip| ip.to_string()),
        user_agent,
        confirmed_at: now,
    };
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
        sessions::insert(a.t, &kept, &hash).await?;
        proof.clear(a.t).await?;
        let scope = |membership: &Membership| own_scope(membership, &account, kept.id, &from);
        let state = SessionState::from(&kept);
        users::signed_in(a.t, account.id, now).await?;
        a.record_everywhere(scope, "session.created", "session", kept.id, Some(&state)).await
    })
    .await?;
    Ok(SignedIn { token, session, user: User { last_login: Some(now), ..user } })
}

/// The scope of a user acting on their own account in one of their organizations.
pub(crate) fn own_scope(membership: &Membership, user: &User, session: SessionId, origin: &Origin) -> Scope {
    let principal = Principal {
        organization: membership.organization,
        member: membership.member,
        user: user.id,
        email: user.email.clone(),
        credential: Credential::Session(session),
        permissions: membership.role.permissions(),
        zone: Zone::default(),
    };
    Actor { principal: Arc::new(principal), origin: origin.clone() }.for_the_record()
}

#[boxed]
pub async fn sign_out(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    end(ctx, session, session.id, origin).await.map(drop)
}

/// Lists the active sessions of a user, the most recently used first.
#[boxed]
pub async fn list(ctx: &Ctx, user: UserId) -> Result<Vec<Session>, Error> {
    let (now, idle_since) = (ctx.now(), ctx.now().minus(ctx.settings.session_idle));
    Ok(ctx.db.read(async move |t| sessions::of_user(t, user, now, idle_since).await).await?)
}

/// Ends a session of the same user.
#[boxed]
pub async fn end_one(ctx: &Ctx, own: &Session, id: SessionId, origin: Origin) -> Result<(), Error> {
    match end(ctx, own, id, origin).await? {
        true => Ok(()),
        false => Err(Error::NotFound("session")),
    }
}

/// Ends a session, if it belongs to the user of `own`.
async fn end(ctx: &Ctx, own: &Session, id: SessionId, origin: Origin) -> Result<bool, Error> {
    let (by, whose, from) = (own.id, own.user_id, origin.clone());
    ctx.change_account(whose, &origin, async move |a| {
        // Another process may have ended the session while this one still caches it.
        a.invalidate(Invalidate::Session(id));
        if !sessions::delete(a.t, id, whose).await? {
            return Ok(false);
        }
        let Some(user) = users::get(a.t, whose).await? else { return Ok(true) };
        let scope = |membership: &Membership| own_scope(membership, &user, by, &from);
        a.record_everywhere(scope, "session.ended", "session", id, None::<&SessionState>).await?;
        Ok(true)
    })
    .await
}

/// Verifies the password of a signed-in user again, and marks the session as confirmed.
#[boxed]
pub async fn confirm(ctx: &Ctx, session: &Session, password: &str, origin: Origin) -> Result<(), Error> {
    let proof = passwords::prove_own(ctx, session.user_id, "password", password, &origin).await?;
    let (kept, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        proof.clear(a.t).await?;
        if !sessions::confirm(a.t, kept.id, a.now).await? {
            return Err(bad_session());
        }
        let Some(user) = users::get(a.t, kept.user_id).await? else { return Ok(()) };
        let scope = |membership: &Membership| own_scope(membership, &user, kept.id, &from);
        let state = SessionState::from(&kept);
        a.record_everywhere(scope, "session.confirmed", "session", kept.id, Some(&state)).await
    })
    .await
}

/// Checks that a session was confirmed by password recently. An API key needs no confirmation.
#[boxed]
pub async fn must_be_confirmed(ctx: &Ctx, scope: &Scope) -> Result<(), Error> {
    let Some(Credential::Session(id)) = scope.principal().map(|principal| principal.credential) else {
        return Ok(());
    };
    let found = ctx.db.read(async move |t| sessions::get(t, id).await).await?;
    match found.is_some_and(|session| session.is_confirmed(ctx.now())) {
        true => Ok(()),
        false => Err(Error::Forbidden {
            code: "confirmation_required",
            message: "You entered your password more than ten minutes ago. Confirm it with \
                      POST /v1/auth/confirm, then repeat this request."
                .to_owned(),
        }),
    }
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

/// Returns the user of a session and the organizations in which they are active.
#[boxed]
pub async fn current(ctx: &Ctx, user: UserId) -> Result<(User, Vec<Membership>), Error> {
    ctx.db
        .read(async move |t| {
            let found = users::get(t, user).await?.ok_or(Error::NotFound("user"))?;
            Ok((found, members::of_user(t, user).await?))
        })
        .await
}
