//! The organization itself.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::organizations::{Organization, OrganizationPatch};
use attestry_domain::text::Name;
use attestry_storage::organizations::{self, Listed};

use crate::context::Ctx;
use crate::error::Error;
use crate::jobs::removal;
use crate::journal::{self, Record};
use crate::precondition::Precondition;

const MISSING: Error = Error::NotFound("organization");

pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<Organization, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| organizations::get(t, &scope).await).await?.ok_or(MISSING)
}

pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    patch: OrganizationPatch,
    precondition: Precondition,
) -> Result<Organization, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| {
        let before = organizations::lock(t, &scope).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let mut after = before.patched(patch.clone());
        if after == before {
            return Ok(before);
        }
        after.updated_at = own.now();
        after.version += 1;
        organizations::update(t, &scope, &after).await?;
        journal::append(
            &own,
            t,
            &scope,
            Record::of("organization.updated", "organization", after.id, &after)?,
        )
        .await?;
        Ok(after)
    })
    .await
}

/// How long a deleted organization can be brought back.
pub const GRACE: Duration = Duration::from_hours(30 * 24);

/// Deletes the organization: nobody reaches it any more. What it holds is removed when [`GRACE`] is over. `name` shows
/// that it is meant.
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    name: Name,
    precondition: Precondition,
) -> Result<Organization, Error> {
    let (own, kept) = (ctx.clone(), scope.clone());
    let deleted = ctx
        .write(scope.organization(), async move |t| {
            let before = organizations::lock(t, &kept).await?.ok_or(MISSING)?;
            precondition.check(&[before.version])?;
            if before.name != name.as_str() {
                return Err(Error::field("name", "must be the exact name of the organization"));
            }
            organizations::delete(t, &kept, own.now()).await?;
            journal::append(&own, t, &kept, Record::gone("organization.deleted", "organization", before.id))
                .await?;
            Ok(before)
        })
        .await?;
    ctx.principals.forget_organization(scope.organization());
    Ok(deleted)
}

/// Brings back an organization that was deleted, from the command line.
pub async fn restore(ctx: &Ctx, organization: OrganizationId) -> Result<Organization, Error> {
    let (own, scope) = (ctx.clone(), Scope::system(organization, "attestry admin restore-organization"));
    ctx.write(organization, async move |t| {
        let before = organizations::lock_deleted(t, &scope).await?;
        let before = before.ok_or(Error::NotFound("deleted organization that can be brought back"))?;
        organizations::restore(t, &scope, own.now()).await?;
        let after = organizations::get(t, &scope).await?.ok_or(MISSING)?;
        let record = Record::of("organization.restored", "organization", before.id, &after)?;
        journal::append(&own, t, &scope, record).await?;
        Ok(after)
    })
    .await
}

/// Removes the organizations whose grace is over, with their files.
pub(crate) async fn remove_deleted(ctx: &Ctx) -> Result<(), Error> {
    let before = ctx.now().minus(GRACE);
    for organization in ctx.db.read(async move |t| organizations::to_remove(t, before).await).await? {
        let (own, scope) = (ctx.clone(), Scope::system(organization, "housekeeping"));
        ctx.write(organization, async move |t| {
            // It may have been brought back in this very moment.
            if organizations::lock_deleted(t, &scope).await?.is_none() {
                return Ok::<_, Error>(());
            }
            organizations::remove(t, &scope, own.now()).await?;
            removal::enqueue_all(&own, t, organization).await?;
            let record = Record::gone("organization.removed", "organization", organization);
            journal::append(&own, t, &scope, record).await
        })
        .await?;
        ctx.job_bell.notify_one();
    }
    Ok(())
}

/// Every organization, for the operator.
pub async fn all(ctx: &Ctx) -> Result<Vec<Listed>, Error> {
    Ok(ctx.db.read(async |t| organizations::all(t).await).await?)
}
