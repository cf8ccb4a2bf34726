//! API keys: creation, listing and revocation. `principals` resolves the member that a key acts as.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Permissions, Scope};
use attestry_domain::id::{ApiKeyId, MemberId};
use attestry_domain::identity::api_keys::{ApiKey, NewApiKey, Scopes};
use attestry_domain::page::{After, Page};
use attestry_storage::{api_keys, members};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::keys::Token;

/// The prefix of every key's text.
pub const PREFIX: &str = "atk_";

/// A key and its text, which is shown only once.
#[derive(Clone)]
pub struct MadeKey {
    pub key: ApiKey,
    pub text: String,
}

impl std::fmt::Debug for MadeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MadeKey({})", self.key.id)
    }
}

/// Returns the scopes that the caller can grant to a key.
pub fn available(scope: &Scope) -> Permissions {
    scope.permissions()
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewApiKey) -> Result<MadeKey, Error> {
    let member = scope.member().ok_or_else(|| Error::internal("only a member makes a key"))?;
    may_make(ctx, scope, member, &new.scopes).await?;
    must_be_future(new.expires_at, ctx.now())?;
    ctx.change(scope, async move |c| make(c, member, &new).await).await
}

/// Checks that a credential does not expire at once.
pub(crate) fn must_be_future(expires_at: Option<Time>, now: Time) -> Result<(), Error> {
    match expires_at {
        Some(at) if at <= now => Err(Error::field("expiresAt", "must lie in the future")),
        _ => Ok(()),
    }
}

/// Checks that the key has no permissions that the caller lacks.
async fn may_make(ctx: &Ctx, scope: &Scope, member: MemberId, scopes: &Scopes) -> Result<(), Error> {
    let kept = scope.clone();
    let maker = ctx.db.read(async move |t| attestry_storage::members::get(t, &kept, member).await).await?;
    let all = maker.map_or(Permissions::NONE, |person| person.member.role.permissions());
    let wanted = match scopes {
        // All permissions of the creator: a key with fewer scopes must not create one with more.
        Scopes::All => all,
        Scopes::Only(set) => *set,
    };
    match wanted.without(scope.permissions()).iter().next() {
        None => Ok(()),
        Some(missing) => Err(exceeds(missing)),
    }
}

fn exceeds(missing: Permission) -> Error {
    Error::Forbidden {
        code: "scope_exceeds_own",
        message: format!(
            "You cannot make a key with the scope {}: you do not have it yourself.",
            missing.as_str()
        ),
    }
}

/// Creates the key in the caller's transaction.
pub(crate) async fn make(c: &Change<'_>, member: MemberId, new: &NewApiKey) -> Result<MadeKey, Error> {
    let (prefix, Token { text, hash }) = c.ctx.keys.bearer(PREFIX);
    let key = ApiKey {
        id: c.next_id(),
        organization_id: c.organization(),
        member_id: member,
        name: new.name.clone(),
        prefix,
        scopes: new.scopes.clone(),
        expires_at: new.expires_at,
        created_at: c.now,
        last_used_at: None,
        revoked_at: None,
    };
    api_keys::insert(c.t, c.scope, &key, &hash).await?;
    c.record("api_key.created", "api_key", key.id, &key)?;
    Ok(MadeKey { key, text })
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope, limit: u16, after: Option<After>) -> Result<Page<ApiKey>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| api_keys::list(t, &scope, limit, after.as_ref()).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| api_keys::count(t, &scope).await).await?)
}

/// Revokes all keys of a member whose user is replaced.
pub(crate) async fn revoke_all(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for key in api_keys::of_member(c.t, c.scope, member).await? {
        end(c, key).await?;
    }
    Ok(())
}

/// Replaces a key of the caller's own by one with the same name and scopes. The old one works on for a while.
#[boxed]
pub async fn rotate(
    ctx: &Ctx,
    scope: &Scope,
    key: ApiKeyId,
    overlap: Duration,
    expires_at: Option<Time>,
) -> Result<MadeKey, Error> {
    must_be_future(expires_at, ctx.now())?;
    ctx.change(scope, async move |c| {
        let old = api_keys::lock(c.t, c.scope, key).await?.ok_or(Error::NotFound("API key"))?;
        if c.scope.member() != Some(old.member_id) {
            return Err(Error::Forbidden {
                code: "not_the_author",
                message: "A key acts as its member, and only they can rotate it. Revoke it instead."
                    .to_owned(),
            });
        }
        let own = members::get(c.t, c.scope, old.member_id).await?.ok_or(Error::NotFound("member"))?;
        let has = old.scopes.within(own.member.role.permissions());
        if let Some(missing) = has.without(c.scope.permissions()).iter().next() {
            return Err(exceeds(missing));
        }
        let new = NewApiKey { name: old.name.clone(), scopes: old.scopes.clone(), expires_at };
        let made = make(c, old.member_id, &new).await?;
        if overlap.is_zero() {
            end(c, old).await?;
            return Ok(made);
        }
        let ends_at = c.now.plus(overlap);
        let ends_at = old.expires_at.map_or(ends_at, |at| at.min(ends_at));
        api_keys::end_at(c.t, c.scope, old.id, ends_at).await?;
        let after = ApiKey { expires_at: Some(ends_at), ..old };
        c.record("api_key.rotated", "api_key", after.id, &after)?;
        c.invalidate(Invalidate::Key(after.id));
        Ok(made)
    })
    .await
}

#[boxed]
pub async fn revoke(ctx: &Ctx, scope: &Scope, key: ApiKeyId) -> Result<ApiKey, Error> {
    ctx.change(scope, async move |c| {
        let key = api_keys::lock(c.t, c.scope, key).await?.ok_or(Error::NotFound("API key"))?;
        end(c, key).await
    })
    .await
}

async fn end(c: &Change<'_>, key: ApiKey) -> Result<ApiKey, Error> {
    api_keys::revoke(c.t, c.scope, key.id, c.now).await?;
    let after = ApiKey { revoked_at: Some(c.now), ..key };
    c.record("api_key.revoked", "api_key", after.id, &after)?;
    c.invalidate(Invalidate::Key(after.id));
    Ok(after)
}
