//! Signing out at the provider, and being signed out by it; and removing identities.

use std::time::Duration;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{MemberId, SsoConnectionId, SsoIdentityId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sso::SsoIdentity;
use attestry_storage::members::Membership;
use attestry_storage::{members, organizations, session_grants, sso_connections, sso_identities, users};

use super::accounts::{ID_TOKEN, IDENTITY};
use super::{MISSING, oidc};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::identity::confirmation::{must_be_fresh, own_scope};
use crate::identity::members::must_manage;
use crate::identity::second_factors::must_have_another;
use crate::identity::tickets;

/// The time for which a logout token is not accepted again.
const REPLAY_WINDOW: Duration = Duration::from_mins(10);

/// Returns the address at which the browser of a session signs out of its provider, if the connection wants that.
#[boxed]
pub async fn sign_out_url(ctx: &Ctx, session: &Session) -> Result<Option<String>, Error> {
    let id = session.id;
    let Some(found) = ctx.db.read(async move |t| session_grants::provider_session(t, id).await).await? else {
        return Ok(None);
    };
    let Some(endpoint) = found.provider.and_then(|facts| facts.end_session_endpoint) else { return Ok(None) };
    let id_token = match &found.id_token {
        Some(sealed) => String::from_utf8(ctx.keys.open(ID_TOKEN, sealed)?).ok(),
        None => None,
    };
    let return_to = ctx.link("/sign-in");
    let url = attestry_oidc::sign_out_url(&endpoint, &found.client_id, id_token.as_deref(), &return_to);
    Ok(url.map(Into::into))
}

/// Ends what a connection granted to a subject, or to one session at the provider, as the provider asks.
#[boxed]
pub async fn by_provider(
    ctx: &Ctx,
    connection: SsoConnectionId,
    token: &str,
    origin: Origin,
) -> Result<(), Error> {
    let found =
        ctx.db.read(async move |t| sso_connections::find(t, connection).await).await?.ok_or(MISSING)?;
    let own = found.connection;
    let invalid = |failure: attestry_oidc::Failure| Error::BadRequest {
        code: "logout_token_invalid",
        message: failure.to_string(),
    };
    let oidc = oidc(ctx).map_err(invalid)?;
    let provider = oidc.provider(&own.issuer, ctx.now()).await.map_err(invalid)?;
    let token =
        oidc.logout_token(&provider, own.client_id.as_str(), token, ctx.now()).await.map_err(invalid)?;
    let spent = hex(&sha256(format!("logout {connection} {}", token.id).as_bytes()));
    let scope = Scope::visitor(own.organization_id, None, origin);
    ctx.change(&scope, async move |c| {
        if tickets::redeem_for(c.t, &spent, c.now, REPLAY_WINDOW).await.is_err() {
            return Err(Error::BadRequest {
                code: "logout_token_invalid",
                message: "The token was used before.".to_owned(),
            });
        }
        let (subject, sid) = (token.subject.as_deref(), token.session.as_deref());
        let ended = sso_identities::signed_in(c.t, c.scope, connection, subject, sid).await?;
        session_grants::revoke_at_provider(c.t, c.scope, connection, subject, sid).await?;
        for identity in ended {
            c.invalidate(Invalidate::User(identity.user_id));
            c.record("sso_identity.signed_out", IDENTITY, identity.id, &identity)?;
        }
        Ok(())
    })
    .await
}

/// The identities of a member.
#[boxed]
pub async fn identities(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<Vec<SsoIdentity>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let person = members::get(t, &scope, member).await?.ok_or(Error::NotFound("member"))?;
            Ok(sso_identities::of_member(t, &scope, person.user.id).await?)
        })
        .await
}

/// Removes the identity of a member; what it granted ends.
#[boxed]
pub async fn unlink(ctx: &Ctx, scope: &Scope, member: MemberId, id: SsoIdentityId) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let person = members::lock(c.t, c.scope, member).await?.ok_or(Error::NotFound("member"))?;
        must_manage(c.scope, &person.member)?;
        let known = sso_identities::of_member(c.t, c.scope, person.user.id).await?;
        if !known.iter().any(|identity| identity.id == id) {
            return Err(Error::NotFound("identity"));
        }
        sso_identities::delete(c.t, c.scope, id).await?;
        c.invalidate(Invalidate::User(person.user.id));
        c.record_gone("sso_identity.unlinked", IDENTITY, id);
        Ok(())
    })
    .await
}

/// Removes an identity of the user's own account, unless it is the only way to sign in.
#[boxed]
pub async fn unlink_own(
    ctx: &Ctx,
    session: &Session,
    id: SsoIdentityId,
    origin: Origin,
) -> Result<(), Error> {
    let own = must_be_fresh(ctx, session).await?;
    let from = origin.clone();
    ctx.change_account(own.user_id, &origin, async move |a| {
        let known = sso_identities::of_account(a.t, own.user_id).await?;
        let Some(link) = known.iter().find(|link| link.identity.id == id) else {
            return Err(Error::NotFound("identity"));
        };
        sso_identities::delete_own(a.t, own.user_id, id).await?;
        must_have_another(a, own.user_id).await?;
        a.invalidate(Invalidate::User(own.user_id));
        let user = users::get(a.t, own.user_id).await?.ok_or(Error::NotFound("user"))?;
        // The organization of the identity is told, and no other.
        let organization = link.identity.organization_id;
        let of = a.memberships.iter().filter(|membership| membership.organization == organization);
        let of: Vec<Membership> = of.cloned().collect();
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        a.among(&of)
            .record_everywhere(scope, "sso_identity.unlinked", IDENTITY, id, None::<&SsoIdentity>)
            .await
    })
    .await
}
