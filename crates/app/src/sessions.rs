//! Signing in and out.

use std::sync::Arc;

use attestry_domain::access::{Actor, Credential, Origin, Principal, Scope};
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::sessions::Session;
use attestry_domain::text::Email;
use attestry_domain::users::User;
use attestry_domain::{Time, Zone};
pub use attestry_storage::members::Membership;
use attestry_storage::{members, sessions, users};
use serde::Serialize;

use crate::attempts::{Proof, prove};
use crate::change::Work;
use crate::context::Ctx;
use crate::error::Error;
use crate::jobs::SignInFailure;
use crate::keys::Token;
use crate::remembered::Forget;

/// What the journal keeps of a session: nothing that would let somebody use it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionState {
    id: SessionId,
    user_id: UserId,
    created_at: Time,
    expires_at: Time,
}

/// A fresh session; the token is shown this once.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub token: Token,
    pub session: Session,
    pub user: User,
}

pub async fn sign_in(ctx: &Ctx, email: &Email, password: &str, origin: Origin) -> Result<SignedIn, Error> {
    let key = email.key();
    let account = key.clone();
    let found = ctx.db.read(async move |t| users::by_email(t, &account).await).await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), hash));
    let check = ctx.keys.check_password(password, hash);
    // The same is written down whether or not there is such an account, so that the time tells nothing.
    let failed = SignInFailure { email: key.clone(), origin: origin.clone() };
    let note = async move |work: &Work<'_>| work.enqueue(&failed).await;
    let proof = prove(ctx, &key, origin.ip, check, note).await?;
    let (Some(user), Some(proof)) = (user, proof) else {
        return Err(Error::Unauthenticated {
            code: "invalid_credentials",
            message: "The e-mail address or the password is wrong.",
        });
    };
    open(ctx, user, origin, proof).await
}

/// Starts a session for a user who has proved who they are.
async fn open(ctx: &Ctx, user: User, origin: Origin, proof: Proof) -> Result<SignedIn, Error> {
    let now = ctx.now();
    let session = Session {
        id: ctx.ids.next(),
        user_id: user.id,
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(ctx.settings.session_lifetime),
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
        let state = SessionState {
            id: kept.id,
            user_id: kept.user_id,
            created_at: kept.created_at,
            expires_at: kept.expires_at,
        };
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

pub async fn sign_out(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    let (kept, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        a.forget(Forget::Session(kept.id));
        if !sessions::delete(a.t, kept.id).await? {
            return Ok(());
        }
        let Some(user) = users::get(a.t, kept.user_id).await? else { return Ok(()) };
        let scope = |membership: &Membership| own_scope(membership, &user, kept.id, &from);
        a.record_everywhere(scope, "session.ended", "session", kept.id, None::<&SessionState>).await
    })
    .await
}

/// The user behind a session and the organizations they are active in.
pub async fn current(ctx: &Ctx, user: UserId) -> Result<(User, Vec<Membership>), Error> {
    ctx.db
        .read(async move |t| {
            let found = users::get(t, user).await?.ok_or(Error::NotFound("user"))?;
            Ok((found, members::of_user(t, user).await?))
        })
        .await
}
