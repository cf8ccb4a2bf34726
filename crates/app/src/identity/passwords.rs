//! Changing a password, and resetting it by an e-mailed link.

use std::time::Duration;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::hash::sha256;
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::users::User;
use attestry_domain::text::{Email, Password};
use attestry_storage::members::Membership;
use attestry_storage::password_resets::PasswordReset;
use attestry_storage::{passkeys, password_resets, sessions, users};

use crate::boxed;
use crate::core::change::{AccountChange, Work};
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::core::throttle::{PASSWORDS, Verified, prove};
use crate::identity::confirmation::{must_be_fresh, own_scope};
use crate::identity::password_reset;
use crate::notices::mail_templates::{self, Topic};

/// The maximum number of reset links sent to an account …
const RESETS: i64 = 3;
/// … within this time.
const RESET_WINDOW: Duration = Duration::from_hours(1);

/// Changes the password of a signed-in user and ends their other sessions.
#[boxed]
pub async fn change(
    ctx: &Ctx,
    session: &Session,
    current: &str,
    new: &Password,
    origin: Origin,
) -> Result<(), Error> {
    let user = session.user_id;
    let proof = prove_own(ctx, user, "currentPassword", current, &origin).await?;
    let hash = ctx.hashing.hash(&origin, new.expose()).await?;
    let (keep, from) = (session.id, origin.clone());
    ctx.change_account(user, &origin, async move |a| {
        proof.clear(a.t).await?;
        set(a, user, &hash, Some(keep), false, &from).await
    })
    .await
}

/// Verifies the password of a signed-in user; an incorrect one is reported as an error of `field`.
pub(crate) async fn prove_own(
    ctx: &Ctx,
    user: UserId,
    field: &'static str,
    password: &str,
    origin: &Origin,
) -> Result<Verified, Error> {
    let hash = ctx.db.read(async move |t| users::password(t, user).await).await?;
    let check = ctx.hashing.check(origin, password, hash);
    let nothing = async |_: &Work<'_>, _| Ok(());
    let proof = prove(ctx, &PASSWORDS, &user.to_string(), origin.ip, check, nothing).await?;
    proof.ok_or_else(|| Error::field(field, "is not the password of this account"))
}

/// Sends a reset link, if the account exists. A job does it, so that neither the response nor its time reveals
/// whether the account exists.
#[boxed]
pub async fn request_reset(ctx: &Ctx, email: &Email, origin: Origin) -> Result<(), Error> {
    let wanted = password_reset::PasswordReset { email: email.key(), origin };
    ctx.work(async move |work| work.enqueue(&wanted).await).await
}

/// Creates the reset link and sends it by mail.
pub(crate) async fn send_link(ctx: &Ctx, email: String, origin: Origin) -> Result<(), Error> {
    let found = ctx.db.read(async move |t| users::by_email(t, &email).await).await?;
    let Some((user, _)) = found else { return Ok(()) };
    let (token, from) = (ctx.keys.token(), origin.clone());
    ctx.change_account(user.id, &origin, async move |a| {
        if a.memberships.is_empty()
            || password_resets::count_since(a.t, user.id, a.now.minus(RESET_WINDOW)).await? >= RESETS
        {
            return Ok(());
        }
        let expires = a.now.plus(a.ctx.settings.reset_lifetime);
        let by_mail = !a.ctx.mailer.is_folder();
        let reset = PasswordReset { user: user.id, expires_at: expires, by_mail };
        password_resets::insert(a.t, &token.hash, &reset, a.now).await?;
        let link = a.ctx.link(&format!("/reset-password?token={}", token.text));
        a.enqueue(&Mail(mail_templates::reset(a.ctx, &user, &link))).await?;
        let scope = |membership: &Membership| visitor(membership, user.id, &from);
        a.record_everywhere(scope, "user.password_reset_requested", "user", user.id, Some(&user)).await
    })
    .await
}

fn visitor(membership: &Membership, user: UserId, origin: &Origin) -> Scope {
    Scope::visitor(membership.organization, Some(user), origin.clone())
}

/// Sets a new password by a single-use link, and ends all sessions.
#[boxed]
pub async fn reset(ctx: &Ctx, token: &str, new: &Password, origin: Origin) -> Result<(), Error> {
    let gone = || Error::Gone {
        code: "link_expired",
        message: "This link has been used or has expired; ask for a new one.",
    };
    let token = sha256(token.as_bytes());
    let found = ctx.db.read(async move |t| password_resets::find(t, &token).await).await?;
    let now = ctx.now();
    let link = found.filter(|link| link.expires_at > now).ok_or_else(gone)?;
    // Hashing is expensive, so it is done only for a valid link.
    let hash = ctx.hashing.hash(&origin, new.expose()).await?;
    let from = origin.clone();
    ctx.change_account(link.user, &origin, async move |a| {
        let link = password_resets::take(a.t, &token).await?.ok_or_else(gone)?;
        if link.expires_at <= a.now {
            return Err(gone());
        }
        password_resets::delete_of_user(a.t, link.user).await?;
        set(a, link.user, &hash, None, link.by_mail, &from).await
    })
    .await
}

/// Removes the password of an account that has a passkey, and ends its other sessions. A forgotten password's link sets
/// one again.
#[boxed]
pub async fn remove(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    let own = must_be_fresh(ctx, session).await?;
    let (keep, from) = (own.id, origin.clone());
    ctx.change_account(own.user_id, &origin, async move |a| {
        let user = users::get(a.t, own.user_id).await?.ok_or(Error::NotFound("user"))?;
        if users::password(a.t, user.id).await?.is_none() {
            return Err(Error::NotFound("password"));
        }
        if passkeys::of_user(a.t, user.id).await?.is_empty() {
            return Err(Error::Conflict {
                code: "last_method",
                message: "The password is the only way to sign in to your account. Add a passkey first."
                    .to_owned(),
            });
        }
        users::drop_password(a.t, user.id, a.now).await?;
        password_resets::delete_of_user(a.t, user.id).await?;
        sessions::delete_of_user(a.t, user.id, Some(keep)).await?;
        a.invalidate(Invalidate::User(user.id));
        let after: User = users::get(a.t, user.id).await?.ok_or(Error::NotFound("user"))?;
        let scope = |membership: &Membership| own_scope(membership, &user, keep, &from);
        a.record_everywhere(scope, "user.password_removed", "user", user.id, Some(&after)).await?;
        let message =
            "The password of your Attestry account was removed: you sign in with a passkey from now on.";
        a.enqueue(&Mail(mail_templates::tell(
            a.ctx,
            &user,
            Topic::Account,
            "Your password was removed",
            message,
        )))
        .await
    })
    .await
}

/// Sets a password from the command line.
#[boxed]
pub async fn reset_by_operator(ctx: &Ctx, email: &Email, new: &Password) -> Result<UserId, Error> {
    let origin = Origin::command("attestry admin reset-password");
    let hash = ctx.hashing.hash(&origin, new.expose()).await?;
    let key = email.key();
    let found = ctx.db.read(async move |t| users::by_email(t, &key).await).await?;
    let (user, _) = found.ok_or(Error::NotFound("user with this e-mail address"))?;
    ctx.change_account(user.id, &origin, async move |a| {
        users::set_password(a.t, user.id, &hash, user.email_verified, a.now).await?;
        sessions::delete_of_user(a.t, user.id, None).await?;
        let scope =
            |membership: &Membership| Scope::system(membership.organization, "attestry admin reset-password");
        changed(a, user.id, scope).await?;
        Ok(user.id)
    })
    .await
}

/// Stores the hash, ends sessions and records the change in each of the user's organizations. `verifies` marks the
/// address as verified, because the link went to it by mail.
async fn set(
    a: &AccountChange<'_>,
    user: UserId,
    hash: &str,
    keep: Option<SessionId>,
    verifies: bool,
    origin: &Origin,
) -> Result<(), Error> {
    let before = users::get(a.t, user).await?.ok_or(Error::NotFound("user"))?;
    users::set_password(a.t, user, hash, verifies || before.email_verified, a.now).await?;
    sessions::delete_of_user(a.t, user, keep).await?;
    a.invalidate(Invalidate::User(user));
    let scope = |membership: &Membership| match keep {
        Some(session) => own_scope(membership, &before, session, origin),
        None => visitor(membership, user, origin),
    };
    changed(a, user, scope).await
}

/// Records a password change in each of the user's organizations.
pub(crate) async fn changed(
    a: &AccountChange<'_>,
    user: UserId,
    scope: impl Fn(&Membership) -> Scope,
) -> Result<(), Error> {
    let after: User = users::get(a.t, user).await?.ok_or(Error::NotFound("user"))?;
    a.record_everywhere(scope, "user.password_changed", "user", user, Some(&after)).await
}
