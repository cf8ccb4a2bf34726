//! A recent proof of identity, and the scope of what users do to their own accounts.

use std::sync::Arc;

use attestry_domain::access::{Actor, Credential, Origin, Principal, Scope};
use attestry_domain::id::SessionId;
use attestry_domain::identity::sessions::{Session, is_recent};
use attestry_domain::identity::users::User;
use attestry_domain::{Time, Zone};
use attestry_storage::members::Membership;
use attestry_storage::{Tx, passkeys, session_grants, sessions, users};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::principals::bad_session;

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

fn confirmation_required() -> Error {
    Error::Forbidden {
        code: "confirmation_required",
        message: "This request needs a confirmation from the last ten minutes: POST /v1/auth/confirm, then repeat it."
            .to_owned(),
    }
}

/// Checks that a session was confirmed recently by credentials of its user's own, and returns it as it is stored. An
/// account without any may use single sign-on: a provider must not add credentials to an account that has some.
pub(crate) async fn must_be_fresh(ctx: &Ctx, session: &Session) -> Result<Session, Error> {
    let (id, now) = (session.id, ctx.now());
    let found = ctx.db.read(async move |t| {
        let found = sessions::get(t, id).await?.ok_or_else(bad_session)?;
        match is_fresh(t, &found, now).await? {
            true => Ok(found),
            false => Err(confirmation_required()),
        }
    });
    found.await
}

/// True if a session may change how its account signs in.
pub(crate) async fn is_fresh(t: &Tx<'_>, session: &Session, now: Time) -> Result<bool, Error> {
    if session.is_fresh(now) {
        return Ok(true);
    }
    let user = session.user_id;
    let has_own = users::password(t, user).await?.is_some() || !passkeys::of_user(t, user).await?.is_empty();
    let granted = session_grants::last_confirmed(t, session.id).await?;
    Ok(!has_own && granted.is_some_and(|at| is_recent(at, now)))
}

/// Checks that the session of the scope was confirmed recently. An API key needs no confirmation.
#[boxed]
pub async fn must_be_confirmed(ctx: &Ctx, scope: &Scope) -> Result<(), Error> {
    let Some(Credential::Session(id)) = scope.principal().map(|principal| principal.credential) else {
        return Ok(());
    };
    let (own, now) = (scope.clone(), ctx.now());
    let is_confirmed = ctx.db.read(async move |t| {
        if sessions::get(t, id).await?.is_some_and(|session| session.is_confirmed(now)) {
            return Ok(true);
        }
        // A fresh single sign-on counts in its organization only.
        Ok::<_, Error>(session_grants::confirmed_at(t, &own, id).await?.is_some_and(|at| is_recent(at, now)))
    });
    if is_confirmed.await? { Ok(()) } else { Err(confirmation_required()) }
}
