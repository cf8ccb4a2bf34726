//! The organization itself.

use attestry_domain::access::Scope;
use attestry_domain::organizations::{Organization, OrganizationPatch};
use attestry_storage::organizations;

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

/// Deletes the organization and all it holds but the chain of its journal.
pub async fn delete(ctx: &Ctx, scope: &Scope, precondition: Precondition) -> Result<Organization, Error> {
    let (own, kept) = (ctx.clone(), scope.clone());
    let deleted = ctx
        .write(scope.organization(), async move |t| {
            let before = organizations::lock(t, &kept).await?.ok_or(MISSING)?;
            precondition.check(&[before.version])?;
            organizations::delete(t, &kept, own.now()).await?;
            removal::enqueue_all(&own, t, kept.organization()).await?;
            journal::append(&own, t, &kept, Record::gone("organization.deleted", "organization", before.id))
                .await?;
            Ok::<_, Error>(before)
        })
        .await?;
    ctx.job_bell.notify_one();
    ctx.principals.forget_organization(scope.organization());
    Ok(deleted)
}
