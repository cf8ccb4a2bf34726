//! Signing in and out.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Actor, Credential, Origin, Permission, Principal, Scope};
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::journal::Hash;
use attestry_domain::sessions::Session;
use attestry_domain::text::Email;
use attestry_domain::users::User;
use attestry_storage::members::Membership;
use attestry_storage::{Tx, members, sessions, sign_ins, users};
use serde::Serialize;

use crate::context::Ctx;
use crate::error::Error;
use crate::journal::{self, Record};
use crate::keys::Token;

/// How many failures an account and address may have …
const FAILURES: i64 = 5;
/// … within this time.
const WINDOW: Duration = Duration::from_mins(15);

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

/// Counts an attempt to prove a password before it is looked at, so that many at once are no way around
/// the limit. What it answers is cleared when the password was right.
pub(crate) async fn attempt(ctx: &Ctx, account: &str, ip: Option<IpAddr>) -> Result<Hash, Error> {
    let address = ip.map(|ip| ip.to_string()).unwrap_or_default();
    let subject = ctx.keys.mac(&[b"sign-in", account.as_bytes(), address.as_bytes()]);
    let now = ctx.now();
    let (count, since) =
        ctx.db.write(async move |t| sign_ins::count(t, &subject, now, now.minus(WINDOW)).await).await?;
    if count > FAILURES {
        let left = WINDOW.saturating_sub(now.since(since));
        return Err(Error::TooMany {
            message: "Too many wrong passwords for this account from this address; wait and try again, or reset the password.",
            retry_after: left.as_secs().max(1),
        });
    }
    Ok(subject)
}

pub async fn sign_in(ctx: &Ctx, email: &Email, password: &str, origin: Origin) -> Result<SignedIn, Error> {
    let key = email.key();
    let subject = attempt(ctx, &key, origin.ip).await?;
    let found = ctx.db.read(async move |t| users::by_email(t, &key).await).await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), hash));
    let right = ctx.keys.check_password(password, hash).await?;
    let Some(user) = user.filter(|_| right) else {
        return Err(Error::Unauthenticated {
            code: "invalid_credentials",
            message: "The e-mail address or the password is wrong.",
        });
    };
    open(ctx, user, origin, subject).await
}

/// Starts a session for a user who has proved who they are.
async fn open(ctx: &Ctx, user: User, origin: Origin, subject: Hash) -> Result<SignedIn, Error> {
    let now = ctx.now();
    let session = Session {
        id: ctx.ids.next(),
        user_id: user.id,
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(ctx.settings.session_lifetime),
    };
    let token = ctx.keys.token();
    let (own, kept, hash, account) = (ctx.clone(), session.clone(), token.hash, user.clone());
    ctx.db
        .write(async move |t| {
            let memberships = members::of_user(t, account.id).await?;
            if memberships.is_empty() {
                return Err(Error::Forbidden {
                    code: "no_active_membership",
                    message: "This account is not active in any organization; ask an administrator to bring it back."
                        .to_owned(),
                });
            }
            sessions::insert(t, &kept, &hash).await?;
            users::signed_in(t, account.id, now).await?;
            sign_ins::clear(t, &subject).await?;
            for membership in &memberships {
                let scope = own_scope(membership, &account, kept.id, &origin)?;
                record(&own, t, &scope, "session.created", &kept).await?;
            }
            Ok(())
        })
        .await?;
    Ok(SignedIn { token, session, user: User { last_login: Some(now), ..user } })
}

/// The scope of a user acting on their own account in one of their organizations.
pub(crate) fn own_scope(
    membership: &Membership,
    user: &User,
    session: SessionId,
    origin: &Origin,
) -> Result<Scope, Error> {
    let principal = Principal {
        organization: membership.organization,
        member: membership.member,
        user: user.id,
        email: user.email.clone(),
        credential: Credential::Session(session),
        permissions: membership.role.permissions(),
    };
    Ok(Actor { principal: Arc::new(principal), origin: origin.clone() }.authorize(Permission::ProfileRead)?)
}

async fn record(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    action: &'static str,
    session: &Session,
) -> Result<(), Error> {
    let state = SessionState {
        id: session.id,
        user_id: session.user_id,
        created_at: session.created_at,
        expires_at: session.expires_at,
    };
    journal::append(ctx, t, scope, Record::of(action, "session", session.id, &state)?).await
}

pub async fn sign_out(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    let (own, kept) = (ctx.clone(), session.clone());
    ctx.db
        .write(async move |t| {
            if !sessions::delete(t, kept.id).await? {
                return Ok(());
            }
            let Some(user) = users::get(t, kept.user_id).await? else { return Ok(()) };
            for membership in members::of_user(t, kept.user_id).await? {
                let scope = own_scope(&membership, &user, kept.id, &origin)?;
                journal::append(&own, t, &scope, Record::gone("session.ended", "session", kept.id)).await?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    ctx.principals.forget_session(session.id);
    Ok(())
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
