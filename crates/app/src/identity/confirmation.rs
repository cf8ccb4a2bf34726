//! A recent proof of identity, and the scope of what users do to their own accounts.

use std::sync::Arc;

use attestry_domain::Zone;
use attestry_domain::access::{Actor, Credential, Origin, Principal, Scope};
use attestry_domain::id::SessionId;
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::users::User;
use attestry_storage::members::Membership;
use attestry_storage::sessions;

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
        message: "You proved your identity more than ten minutes ago. Confirm it with POST /v1/auth/confirm, then repeat \
                  this request."
            .to_owned(),
    }
}

/// Checks that a session was confirmed recently, and returns it as it is stored.
pub(crate) async fn must_be_fresh(ctx: &Ctx, session: &Session) -> Result<Session, Error> {
    let id = session.id;
    let found = ctx.db.read(async move |t| sessions::get(t, id).await).await?.ok_or_else(bad_session)?;
    if found.is_confirmed(ctx.now()) { Ok(found) } else { Err(confirmation_required()) }
}

/// Checks that the session of the scope was confirmed recently. An API key needs no confirmation.
#[boxed]
pub async fn must_be_confirmed(ctx: &Ctx, scope: &Scope) -> Result<(), Error> {
    let Some(Credential::Session(id)) = scope.principal().map(|principal| principal.credential) else {
        return Ok(());
    };
    let found = ctx.db.read(async move |t| sessions::get(t, id).await).await?;
    match found.is_some_and(|session| session.is_confirmed(ctx.now())) {
        true => Ok(()),
        false => Err(confirmation_required()),
    }
}
