//! Changing a password, and choosing a new one by an e-mailed link.

use std::time::Duration;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::journal::sha256;
use attestry_domain::sessions::Session;
use attestry_domain::text::{Email, Password};
use attestry_domain::users::User;
use attestry_storage::{Tx, members, password_resets, sessions, users};

use crate::attempts::prove;
use crate::context::Ctx;
use crate::error::Error;
use crate::jobs::password_reset;
use crate::journal::{self, Record};
use crate::{jobs, letters};

/// How many links an account is sent …
const RESETS: i64 = 3;
/// … within this time.
const RESET_WINDOW: Duration = Duration::from_hours(1);

/// Changes the password of a signed-in user and ends their other sessions.
pub async fn change(
    ctx: &Ctx,
    session: &Session,
    current: &str,
    new: &Password,
    origin: Origin,
) -> Result<(), Error> {
    let user = session.user_id;
    let hash = ctx.db.read(async move |t| users::password(t, user).await).await?;
    let check = ctx.keys.check_password(current, hash);
    let nothing = async |_: &Tx<'_>| Ok(());
    let Some(proof) = prove(ctx, &user.to_string(), origin.ip, check, nothing).await? else {
        return Err(Error::field("currentPassword", "is not the password of this account"));
    };
    let hash = ctx.keys.hash_password(new.expose()).await?;
    let (own, keep) = (ctx.clone(), session.id);
    ctx.db
        .write(async move |t| {
            proof.clear(t).await?;
            set(&own, t, user, &hash, Some(keep), None, &origin).await
        })
        .await?;
    ctx.principals.forget_user(user);
    Ok(())
}

/// Sends a link for a new password, if there is such an account. That is a job's business: neither the answer nor the
/// time it takes tells whether there is.
pub async fn request_reset(ctx: &Ctx, email: &Email, origin: Origin) -> Result<(), Error> {
    let (own, wanted) = (ctx.clone(), password_reset::Payload { email: email.key(), origin });
    ctx.db.write(async move |t| password_reset::enqueue(&own, t, &wanted).await).await?;
    ctx.job_bell.notify_one();
    Ok(())
}

/// Makes the link and the mail that carries it.
pub(crate) async fn send_link(ctx: &Ctx, email: String, origin: Origin) -> Result<(), Error> {
    let now = ctx.now();
    let (own, token) = (ctx.clone(), ctx.keys.token());
    ctx.db
        .write(async move |t| {
            let Some((user, _)) = users::by_email(t, &email).await? else { return Ok(()) };
            let memberships = members::of_user(t, user.id).await?;
            if memberships.is_empty() {
                return Ok(());
            }
            if password_resets::count_since(t, user.id, now.minus(RESET_WINDOW)).await? >= RESETS {
                return Ok(());
            }
            let expires = now.plus(own.settings.reset_lifetime);
            password_resets::insert(t, &token.hash, user.id, now, expires).await?;
            let link = own.link(&format!("/reset-password?token={}", token.text));
            jobs::mail::enqueue(&own, t, None, letters::reset(&own, &user, &link)).await?;
            for membership in memberships {
                let scope = Scope::visitor(membership.organization, Some(user.id), origin.clone());
                let record = Record::of("user.password_reset_requested", "user", user.id, &user)?;
                journal::append(&own, t, &scope, record).await?;
            }
            Ok::<_, Error>(())
        })
        .await
}

/// Sets a new password by a link, once, and ends all sessions.
pub async fn reset(ctx: &Ctx, token: &str, new: &Password, origin: Origin) -> Result<(), Error> {
    let token_hash = sha256(token.as_bytes());
    let hash = ctx.keys.hash_password(new.expose()).await?;
    let own = ctx.clone();
    let user = ctx
        .db
        .write(async move |t| {
            let gone = Error::Gone {
                code: "link_expired",
                message: "This link was used already or is too old; ask for a new one.",
            };
            let (user, expires) = password_resets::take(t, &token_hash).await?.ok_or_else(|| gone.clone())?;
            if expires <= own.now() {
                return Err(gone);
            }
            password_resets::delete_of_user(t, user).await?;
            set(&own, t, user, &hash, None, Some(true), &origin).await?;
            Ok(user)
        })
        .await?;
    ctx.principals.forget_user(user);
    Ok(())
}

/// Sets a password from the command line.
pub async fn reset_by_operator(ctx: &Ctx, email: &Email, new: &Password) -> Result<UserId, Error> {
    let hash = ctx.keys.hash_password(new.expose()).await?;
    let (own, key) = (ctx.clone(), email.key());
    ctx.db
        .write(async move |t| {
            let (user, _) =
                users::by_email(t, &key).await?.ok_or(Error::NotFound("user with this e-mail address"))?;
            users::set_password(t, user.id, &hash, user.email_verified, own.now()).await?;
            sessions::delete_of_user(t, user.id, None).await?;
            for membership in members::of_user(t, user.id).await? {
                let scope = Scope::system(membership.organization, "attestry admin reset-password");
                changed(&own, t, &scope, user.id).await?;
            }
            Ok(user.id)
        })
        .await
}

/// Stores the hash, ends sessions and records it in each of the user's organizations.
async fn set(
    ctx: &Ctx,
    t: &Tx<'_>,
    user: UserId,
    hash: &str,
    keep: Option<SessionId>,
    verified: Option<bool>,
    origin: &Origin,
) -> Result<(), Error> {
    let before = users::get(t, user).await?.ok_or(Error::NotFound("user"))?;
    users::set_password(t, user, hash, verified.unwrap_or(before.email_verified), ctx.now()).await?;
    sessions::delete_of_user(t, user, keep).await?;
    for membership in members::of_user(t, user).await? {
        let scope = match keep {
            Some(session) => crate::sessions::own_scope(&membership, &before, session, origin)?,
            None => Scope::visitor(membership.organization, Some(user), origin.clone()),
        };
        changed(ctx, t, &scope, user).await?;
    }
    Ok(())
}

async fn changed(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, user: UserId) -> Result<(), Error> {
    let after: User = users::get(t, user).await?.ok_or(Error::NotFound("user"))?;
    journal::append(ctx, t, scope, Record::of("user.password_changed", "user", user, &after)?).await
}
