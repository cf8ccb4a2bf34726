//! Service accounts: programs act with their API keys, which live on when people leave. Each has an owner, who answers
//! for it.

use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{ApiKeyId, MemberId, ServiceAccountId};
use attestry_domain::identity::api_keys::{ApiKey, NewApiKey};
use attestry_domain::identity::members::{Member, NewMember};
use attestry_domain::identity::service_accounts::{
    MAX_SERVICE_ACCOUNTS, NamedAccount, NewServiceAccount, ServiceAccount, ServiceAccountPatch,
    ServiceAccountState,
};
use attestry_domain::identity::users::User;
use attestry_domain::words::Department;
use attestry_storage::{Tx, api_keys as keys, members, organizations, service_accounts, users};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::api_keys::{self, KeyInForce, MadeKey};
use crate::identity::members::may_grant;
use crate::identity::owners::tell_owners;
use crate::notices::mail_templates::Topic;
use crate::registers::assignees;

const ACCOUNT: &str = "service_account";
const MISSING: Error = Error::NotFound("service account");

/// The versions that the `ETag` of an account is made of.
pub fn versions(named: &NamedAccount) -> [i64; 3] {
    [named.account.version, named.person.member.version, named.person.user.version]
}

fn record(c: &Change<'_>, action: &'static str, named: &NamedAccount) -> Result<(), Error> {
    c.record(action, ACCOUNT, named.account.id, &ServiceAccountState::from(named))
}

/// Checks a role: none beyond the caller's own, and never `owner`.
fn may_have(scope: &Scope, role: &Roles) -> Result<(), Error> {
    if role.is_owner() {
        return Err(Error::field("role", "must not be owner: a service account cannot own an organization"));
    }
    may_grant(scope, role)
}

async fn find(t: &Tx<'_>, scope: &Scope, id: ServiceAccountId) -> Result<NamedAccount, Error> {
    service_accounts::get(t, scope, id).await?.ok_or(MISSING)
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: ServiceAccountId) -> Result<NamedAccount, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| find(t, &scope, id).await).await
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<NamedAccount>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| service_accounts::list(t, &scope).await).await?)
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewServiceAccount) -> Result<NamedAccount, Error> {
    may_have(scope, &new.role)?;
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        if service_accounts::count(c.t, c.scope).await? >= MAX_SERVICE_ACCOUNTS {
            return Err(Error::Conflict {
                code: "too_many_service_accounts",
                message: format!("An organization has at most {MAX_SERVICE_ACCOUNTS} service accounts."),
            });
        }
        assignees::must_be_active(c.t, c.scope, "ownerId", Some(new.owner)).await?;
        let id: ServiceAccountId = c.next_id();
        let user = User::of_service(c.next_id(), new.name.to_string(), id, c.organization(), c.now);
        users::insert(c.t, &user, None).await?;
        let of_service = NewMember {
            user_id: user.id,
            role: new.role.clone(),
            department: Department::None,
            is_active: true,
            device_label_id: None,
        };
        let member = Member::new(c.next_id(), c.organization(), of_service, c.now);
        let member = Member { is_service: true, ..member };
        members::insert(c.t, c.scope, &member).await?;
        let account = ServiceAccount {
            id,
            organization_id: c.organization(),
            member_id: member.id,
            description: new.description.as_ref().map(ToString::to_string),
            owner_id: new.owner,
            orphaned_since: None,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        service_accounts::insert(c.t, c.scope, &account).await?;
        record(c, "service_account.created", &find(c.t, c.scope, id).await?)?;
        find(c.t, c.scope, id).await
    })
    .await
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: ServiceAccountId,
    patch: ServiceAccountPatch,
    precondition: Precondition,
) -> Result<NamedAccount, Error> {
    if let Some(role) = &patch.role {
        may_have(scope, role)?;
    }
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = service_accounts::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&versions(&before))?;
        let NamedAccount { account: old, person } = before.clone();
        let ServiceAccountPatch { name, description, role, owner } = patch.clone();
        if owner.is_some() {
            assignees::must_be_active(c.t, c.scope, "ownerId", owner).await?;
        }
        let name = name.map_or_else(|| person.user.name.clone(), |name| name.to_string());
        let role = role.unwrap_or_else(|| person.member.role.clone());
        let description = description.map(|text| text.to_string()).apply(old.description.clone());
        let orphaned_since = if owner.is_some() { None } else { old.orphaned_since };
        let account = ServiceAccount {
            description,
            owner_id: owner.unwrap_or(old.owner_id),
            orphaned_since,
            ..old.clone()
        };
        let (is_renamed, has_other_role) = (name != person.user.name, role != person.member.role);
        if account == old && !is_renamed && !has_other_role {
            return Ok(before);
        }
        if is_renamed {
            users::set_name(c.t, person.user.id, &name, c.now).await?;
        }
        if has_other_role {
            // Taking a role away needs the permissions that it has, too.
            may_grant(c.scope, &person.member.role)?;
            let version = person.member.version + 1;
            let member = Member { role, updated_at: c.now, version, ..person.member.clone() };
            members::update(c.t, c.scope, &member).await?;
            c.invalidate(Invalidate::Member(member.id));
        }
        let account = ServiceAccount { updated_at: c.now, version: old.version + 1, ..account };
        service_accounts::update(c.t, c.scope, &account).await?;
        let after = find(c.t, c.scope, id).await?;
        record(c, "service_account.updated", &after)?;
        Ok(after)
    })
    .await
}

/// Deletes a service account. Its keys end at once; its history stays.
#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: ServiceAccountId,
    precondition: Precondition,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let before = service_accounts::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&versions(&before))?;
        may_grant(c.scope, &before.person.member.role)?;
        let member = before.person.member;
        api_keys::revoke_all(c, member.id).await?;
        let version = member.version + 1;
        let gone = Member { is_active: false, updated_at: c.now, version, ..member };
        members::update(c.t, c.scope, &gone).await?;
        c.invalidate(Invalidate::Member(gone.id));
        service_accounts::delete(c.t, c.scope, id).await?;
        c.record_gone("service_account.deleted", ACCOUNT, id);
        Ok(())
    })
    .await
}

#[boxed]
pub async fn list_keys(ctx: &Ctx, scope: &Scope, id: ServiceAccountId) -> Result<Vec<KeyInForce>, Error> {
    let member = get(ctx, scope, id).await?.account.member_id;
    api_keys::of_service(ctx, scope, member).await
}

/// Creates a key that acts as the service account, with no permissions that the caller lacks.
#[boxed]
pub async fn create_key(
    ctx: &Ctx,
    scope: &Scope,
    id: ServiceAccountId,
    new: NewApiKey,
) -> Result<MadeKey, Error> {
    ctx.change(scope, async move |c| {
        let named = service_accounts::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        api_keys::create_for(c, &named.person.member, &new).await
    })
    .await
}

#[boxed]
pub async fn revoke_key(
    ctx: &Ctx,
    scope: &Scope,
    id: ServiceAccountId,
    key: ApiKeyId,
) -> Result<ApiKey, Error> {
    ctx.change(scope, async move |c| {
        let named = service_accounts::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        let found = keys::lock(c.t, c.scope, key).await?;
        let own = found.filter(|key| key.member_id == named.account.member_id);
        api_keys::end(c, own.ok_or(Error::NotFound("API key"))?).await
    })
    .await
}

/// Marks the accounts of an owner who leaves as orphaned, and tells the owners of the organization.
pub(crate) async fn owner_left(c: &Change<'_>, owner: MemberId) -> Result<(), Error> {
    let left = set_orphaned(c, owner, true).await?;
    if !left.is_empty() {
        tell_owners(c, Topic::ServiceAccounts, "Service accounts have lost their owner", &lost(&left))
            .await?;
    }
    Ok(())
}

/// Gives an owner who comes back the accounts that were not given to somebody else.
pub(crate) async fn owner_returned(c: &Change<'_>, owner: MemberId) -> Result<(), Error> {
    set_orphaned(c, owner, false).await.map(drop)
}

async fn set_orphaned(
    c: &Change<'_>,
    owner: MemberId,
    is_orphaned: bool,
) -> Result<Vec<NamedAccount>, Error> {
    let mut changed = Vec::new();
    for before in service_accounts::of_owner(c.t, c.scope, owner).await? {
        let old = &before.account;
        if old.orphaned_since.is_some() == is_orphaned {
            continue;
        }
        let account = ServiceAccount {
            orphaned_since: is_orphaned.then_some(c.now),
            updated_at: c.now,
            version: old.version + 1,
            ..old.clone()
        };
        service_accounts::update(c.t, c.scope, &account).await?;
        let after = NamedAccount { account, ..before };
        let action = if is_orphaned { "service_account.orphaned" } else { "service_account.updated" };
        record(c, action, &after)?;
        changed.push(after);
    }
    Ok(changed)
}

/// Reminds the owners of an organization of the accounts that have lost their owner.
pub(crate) async fn remind(c: &Change<'_>) -> Result<(), Error> {
    let all = service_accounts::list(c.t, c.scope).await?;
    let orphaned: Vec<NamedAccount> =
        all.into_iter().filter(|named| named.account.orphaned_since.is_some()).collect();
    if orphaned.is_empty() {
        return Ok(());
    }
    tell_owners(c, Topic::ServiceAccounts, "Service accounts have no owner", &lost(&orphaned)).await
}

fn lost(accounts: &[NamedAccount]) -> String {
    let names: Vec<String> = accounts.iter().map(|named| format!("“{}”", named.person.user.name)).collect();
    format!(
        "Their owner has left, and their keys still work: {}. Give each of them an owner, or delete it.",
        names.join(", ")
    )
}
