//! API keys: creation, listing and revocation. `principals` resolves the member that a key acts as.

use std::collections::HashSet;
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Permissions, Scope};
use attestry_domain::id::{ApiKeyId, MemberId};
use attestry_domain::identity::api_keys::{ApiKey, KeyKind, NewApiKey, Scopes};
use attestry_domain::identity::members::Member;
use attestry_domain::identity::sign_in::days_of;
use attestry_domain::page::{After, Page};
use attestry_storage::{Tx, api_keys, members, service_accounts, sign_in_policies};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::keys::Token;

/// The prefix of every key's text.
pub const PREFIX: &str = "atk_";

/// A key under the policy of its organization.
#[derive(Clone, Debug)]
pub struct KeyInForce {
    pub key: ApiKey,
    pub kind: KeyKind,
    /// The policy allows no such key any more.
    pub is_beyond_policy: bool,
}

/// A key and its text, which is shown only once.
#[derive(Clone)]
pub struct MadeKey {
    pub key: ApiKey,
    pub kind: KeyKind,
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
    ctx.change(scope, async move |c| {
        let maker = members::get_any(c.t, c.scope, member).await?.ok_or(Error::NotFound("member"))?;
        create_for(c, &maker.member, &new).await
    })
    .await
}

/// Creates a key that acts as a member. It has no permissions that the caller lacks, and obeys the policy.
pub(crate) async fn create_for(c: &Change<'_>, member: &Member, new: &NewApiKey) -> Result<MadeKey, Error> {
    may_make(c.scope, member, &new.scopes)?;
    must_obey_policy(c, new).await?;
    make(c, member, new).await
}

/// Checks a new key against the policy of the organization.
async fn must_obey_policy(c: &Change<'_>, new: &NewApiKey) -> Result<(), Error> {
    must_be_future(new.expires_at, c.now)?;
    let policy = sign_in_policies::get(c.t, c.scope).await?;
    if policy.api_key_scopes_required && new.scopes == Scopes::All {
        return Err(Error::field(
            "scopes",
            "must be a list: the organization allows no keys with all permissions",
        ));
    }
    let Some(days) = policy.api_key_max_days else { return Ok(()) };
    match new.expires_at {
        Some(at) if at <= c.now.plus(days_of(days)) => Ok(()),
        Some(_) => Err(Error::field("expiresAt", format!("must lie within {days} days"))),
        None => Err(Error::field("expiresAt", format!("is required, and must lie within {days} days"))),
    }
}

/// Checks that a credential does not expire at once.
pub(crate) fn must_be_future(expires_at: Option<Time>, now: Time) -> Result<(), Error> {
    match expires_at {
        Some(at) if at <= now => Err(Error::field("expiresAt", "must lie in the future")),
        _ => Ok(()),
    }
}

/// Checks that a key has no permissions that the caller lacks.
fn may_make(scope: &Scope, member: &Member, scopes: &Scopes) -> Result<(), Error> {
    let wanted = match scopes {
        // All permissions of the member: a key with fewer scopes must not create one with more.
        Scopes::All => member.role.permissions(),
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
pub(crate) async fn make(c: &Change<'_>, member: &Member, new: &NewApiKey) -> Result<MadeKey, Error> {
    let (prefix, Token { text, hash }) = c.ctx.keys.bearer(PREFIX);
    let key = ApiKey {
        id: c.next_id(),
        organization_id: c.organization(),
        member_id: member.id,
        name: new.name.clone(),
        prefix,
        scopes: new.scopes.clone(),
        expires_at: new.expires_at,
        created_at: c.now,
        last_used_at: None,
        last_used_ip: None,
        revoked_at: None,
    };
    api_keys::insert(c.t, c.scope, &key, &hash).await?;
    c.record("api_key.created", "api_key", key.id, &key)?;
    Ok(MadeKey { key, kind: kind_of(member.is_service), text })
}

fn kind_of(is_service: bool) -> KeyKind {
    if is_service { KeyKind::Service } else { KeyKind::Personal }
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    limit: u16,
    after: Option<After>,
) -> Result<Page<KeyInForce>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let Page { items, next } = api_keys::list(t, &scope, limit, after.as_ref()).await?;
            let accounts = service_accounts::list(t, &scope).await?;
            let services: HashSet<MemberId> =
                accounts.into_iter().map(|named| named.account.member_id).collect();
            Ok(Page { items: in_force(t, &scope, items, |member| services.contains(&member)).await?, next })
        })
        .await
}

/// Lists the keys of a service account, newest first.
pub(crate) async fn of_service(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<Vec<KeyInForce>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let keys = api_keys::list_of_member(t, &scope, member).await?;
            in_force(t, &scope, keys, |_| true).await
        })
        .await
}

async fn in_force(
    t: &Tx<'_>,
    scope: &Scope,
    keys: Vec<ApiKey>,
    is_service: impl Fn(MemberId) -> bool,
) -> Result<Vec<KeyInForce>, Error> {
    let policy = sign_in_policies::get(t, scope).await?;
    let shown = |key: ApiKey| KeyInForce {
        kind: kind_of(is_service(key.member_id)),
        is_beyond_policy: key.is_beyond(&policy),
        key,
    };
    Ok(keys.into_iter().map(shown).collect())
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

/// Replaces a key by one with the same name and scopes. The old one works on for a while. Only the member as whom a key
/// acts rotates it; a key of a service account is rotated by anybody who may make one.
#[boxed]
pub async fn rotate(
    ctx: &Ctx,
    scope: &Scope,
    key: ApiKeyId,
    overlap: Duration,
    expires_at: Option<Time>,
) -> Result<MadeKey, Error> {
    ctx.change(scope, async move |c| {
        let old = api_keys::lock(c.t, c.scope, key).await?.ok_or(Error::NotFound("API key"))?;
        let own = members::get_any(c.t, c.scope, old.member_id).await?.ok_or(Error::NotFound("member"))?;
        if c.scope.member() != Some(old.member_id) && !own.member.is_service {
            return Err(Error::Forbidden {
                code: "not_the_author",
                message: "A key acts as its member, and only they can rotate it. Revoke it instead."
                    .to_owned(),
            });
        }
        let has = old.scopes.within(own.member.role.permissions());
        if let Some(missing) = has.without(c.scope.permissions()).iter().next() {
            return Err(exceeds(missing));
        }
        let new = NewApiKey { name: old.name.clone(), scopes: old.scopes.clone(), expires_at };
        must_obey_policy(c, &new).await?;
        let made = make(c, &own.member, &new).await?;
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

pub(crate) async fn end(c: &Change<'_>, key: ApiKey) -> Result<ApiKey, Error> {
    api_keys::revoke(c.t, c.scope, key.id, c.now).await?;
    let after = ApiKey { revoked_at: Some(c.now), ..key };
    c.record("api_key.revoked", "api_key", after.id, &after)?;
    c.invalidate(Invalidate::Key(after.id));
    Ok(after)
}
