//! Published versions of a policy.

use attestry_domain::access::{Permission, Scope};
use attestry_domain::id::{PolicyId, PolicyVersionId};
use attestry_domain::page::{After, Page};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicyVersion};
use attestry_domain::registers::{Record, Register};
use attestry_storage::{Tx, policies, registers as rows};

use super::MISSING;
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

const NO_VERSION: Error = Error::NotFound("policy version");

/// Selects a text of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSelector {
    Draft,
    Number(VersionNumber),
    Version(PolicyVersionId),
}

/// The versions of a policy, newest first.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    limit: u16,
    after: Option<After>,
) -> Result<Page<PolicyVersion>, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        rows::get::<Policy>(t, &own, id).await?.ok_or(MISSING)?;
        Ok::<_, Error>(policies::versions(t, &own, id, limit, after.as_ref()).await?)
    });
    found.await
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<i64, Error> {
    let own = scope.clone();
    Ok(ctx.db.read(async move |t| policies::count_versions(t, &own, id).await).await?)
}

/// Finds a version of a policy that the caller may see.
pub(super) async fn find(
    t: &Tx<'_>,
    scope: &Scope,
    policy: &Record<Policy>,
    which: TextSelector,
) -> Result<PolicyVersion, Error> {
    let found = match which {
        TextSelector::Draft => None,
        TextSelector::Number(number) => policies::version_numbered(t, scope, policy.id, number).await?,
        TextSelector::Version(version) => {
            policies::version(t, scope, version).await?.filter(|found| found.policy_id == policy.id)
        }
    };
    let may_see = |version: &PolicyVersion| {
        scope.allows(Permission::PolicyRead) || policy.current_version_id == Some(version.id)
    };
    found.filter(may_see).ok_or(NO_VERSION)
}

/// A version of a policy that the caller may see.
#[boxed]
pub async fn get(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    which: TextSelector,
) -> Result<PolicyVersion, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?;
        let policy = policy.filter(|policy| policy.is_visible(&own)).ok_or(MISSING)?;
        find(t, &own, &policy, which).await
    });
    found.await
}
