//! API keys: made, listed, revoked. Whom a key acts as is found in `principals`.

use attestry_domain::access::{Permissions, Scope};
use attestry_domain::id::{ApiKeyId, MemberId};
use attestry_domain::identity::api_keys::{ApiKey, NewApiKey, Scopes};
use attestry_domain::journal::sha256;
use attestry_domain::page::{After, Page};
use attestry_storage::api_keys;

use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;

/// What the text of every key begins with.
pub const PREFIX: &str = "atk_";

/// A key and its text, which is shown this once.
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

/// The scopes the caller could give to a key.
pub fn available(scope: &Scope) -> Permissions {
    scope.permissions()
}

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewApiKey) -> Result<MadeKey, Error> {
    let member = scope.member().ok_or_else(|| Error::internal("only a member makes a key"))?;
    may_make(ctx, scope, member, &new.scopes).await?;
    if new.expires_at.is_some_and(|at| at <= ctx.now()) {
        return Err(Error::field("expiresAt", "must lie in the future"));
    }
    ctx.change(scope, async move |c| make(c, member, &new).await).await
}

/// Nobody makes a key that may do more than they may.
async fn may_make(ctx: &Ctx, scope: &Scope, member: MemberId, scopes: &Scopes) -> Result<(), Error> {
    let kept = scope.clone();
    let maker = ctx.db.read(async move |t| attestry_storage::members::get(t, &kept, member).await).await?;
    let all = maker.map_or(Permissions::NONE, |person| person.member.role.permissions());
    let wanted = match scopes {
        // All that the maker may do: a key with fewer scopes must not make one with more.
        Scopes::All => all,
        Scopes::Only(set) => *set,
    };
    match wanted.without(scope.permissions()).iter().next() {
        None => Ok(()),
        Some(missing) => Err(Error::Forbidden {
            code: "scope_exceeds_own",
            message: format!(
                "You cannot make a key with the scope {}: you do not have it yourself.",
                missing.as_str()
            ),
        }),
    }
}

/// Makes the key in the caller's transaction.
pub(crate) async fn make(c: &Change<'_>, member: MemberId, new: &NewApiKey) -> Result<MadeKey, Error> {
    let prefix = c.ctx.keys.key_prefix();
    let text = format!("{PREFIX}{prefix}_{}", c.ctx.keys.token().text);
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
    api_keys::insert(c.t, c.scope, &key, &sha256(text.as_bytes())).await?;
    c.record("api_key.created", "api_key", key.id, &key)?;
    Ok(MadeKey { key, text })
}

pub async fn list(ctx: &Ctx, scope: &Scope, limit: u16, after: Option<After>) -> Result<Page<ApiKey>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| api_keys::list(t, &scope, limit, after.as_ref()).await).await?)
}

pub async fn count(ctx: &Ctx, scope: &Scope) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| api_keys::count(t, &scope).await).await?)
}

/// Revokes all keys of a member whose place another person takes.
pub(crate) async fn revoke_all(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for key in api_keys::of_member(c.t, c.scope, member).await? {
        end(c, key).await?;
    }
    Ok(())
}

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
