//! The organization itself.

use std::time::Duration;

use attestry_domain::Zone;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::date::Date;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::id::{FrameworkId, MemberId, OrganizationId};
use attestry_domain::identity::organizations::{Organization, OrganizationPatch};
use attestry_domain::text::Name;
use attestry_storage::organizations::{self, OrganizationSummary};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::files::removal::Removal;
use crate::frameworks;

const MISSING: Error = Error::NotFound("organization");

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<Organization, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| organizations::get(t, &scope).await).await?.ok_or(MISSING)
}

/// Returns the time zone of the organization.
pub(crate) async fn zone(c: &Change<'_>) -> Result<Zone, Error> {
    Ok(organizations::get(c.t, c.scope).await?.map_or_else(Zone::default, |found| found.time_zone))
}

/// Returns the current date in the organization's time zone.
pub(crate) async fn today(c: &Change<'_>) -> Result<Date, Error> {
    Ok(zone(c).await?.date_of(c.now))
}

/// Rejects an approver who is the submitter, where the organization forbids it.
pub(crate) async fn reject_self_approval(
    c: &Change<'_>,
    submitter: Option<MemberId>,
    approver: MemberId,
) -> Result<(), Error> {
    let own = organizations::get(c.t, c.scope).await?.ok_or(MISSING)?;
    if submitter == Some(approver) && !own.is_self_approval_allowed {
        return Err(Error::Forbidden {
            code: "self_approval_forbidden",
            message: "This organization requires that another member approves than the one who submitted."
                .to_owned(),
        });
    }
    Ok(())
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    patch: OrganizationPatch,
    precondition: Precondition,
) -> Result<Organization, Error> {
    ctx.change(scope, async move |c| {
        let before = organizations::lock(c.t, c.scope).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        // A framework that was deleted since it was chosen may stay.
        let chosen = patch.framework_ids.iter().flatten();
        for id in chosen.filter(|id| !before.framework_ids.contains(id)) {
            frameworks::find(c.t, c.scope, &FrameworkName::Id(*id)).await.map_err(|error| match error {
                Error::NotFound(_) => Error::field("frameworkIds", format!("{id} is not a framework")),
                other => other,
            })?;
        }
        let mut after = before.patched(patch.clone());
        if after == before {
            return Ok(before);
        }
        after.updated_at = c.now;
        after.version += 1;
        organizations::update(c.t, c.scope, &after).await?;
        if after.time_zone != before.time_zone {
            c.invalidate(Invalidate::Organization(after.id));
            (c.ctx.hooks().zone_changed)(c, &after.time_zone).await?;
        }
        c.record("organization.updated", "organization", after.id, &after)?;
        Ok(after)
    })
    .await
}

/// Adds frameworks to those that the organization works on and returns the new ones. A caller who may not change its
/// settings is refused if there are any.
pub(crate) async fn choose_frameworks(
    c: &Change<'_>,
    chosen: &[FrameworkId],
) -> Result<Vec<FrameworkId>, Error> {
    let before = organizations::lock(c.t, c.scope).await?.ok_or(MISSING)?;
    let is_new = |id: &FrameworkId| !before.framework_ids.contains(id);
    let added: Vec<FrameworkId> = chosen.iter().copied().filter(is_new).collect();
    let all = before.framework_ids.iter().chain(&added).copied().collect();
    save_frameworks(c, before, all).await?;
    Ok(added)
}

/// Removes frameworks from those that the organization works on. A caller who may not change its settings is refused if
/// it works on any of them.
pub(crate) async fn drop_frameworks(c: &Change<'_>, dropped: &[FrameworkId]) -> Result<(), Error> {
    let before = organizations::lock(c.t, c.scope).await?.ok_or(MISSING)?;
    let left = before.framework_ids.iter().copied().filter(|id| !dropped.contains(id)).collect();
    save_frameworks(c, before, left).await
}

/// Drops a framework that was deleted; other deleted records are ignored.
pub(crate) async fn framework_deleted(c: &Change<'_>, deleted: &str) -> Result<(), Error> {
    let Some(id) = FrameworkId::read(deleted) else { return Ok(()) };
    let before = organizations::lock(c.t, c.scope).await?.ok_or(MISSING)?;
    let left = before.framework_ids.iter().copied().filter(|own| *own != id).collect();
    put_frameworks(c, before, left).await
}

async fn save_frameworks(
    c: &Change<'_>,
    before: Organization,
    framework_ids: Vec<FrameworkId>,
) -> Result<(), Error> {
    if framework_ids != before.framework_ids {
        c.scope.require(Permission::OrganizationUpdate)?;
    }
    put_frameworks(c, before, framework_ids).await
}

async fn put_frameworks(
    c: &Change<'_>,
    before: Organization,
    framework_ids: Vec<FrameworkId>,
) -> Result<(), Error> {
    if framework_ids == before.framework_ids {
        return Ok(());
    }
    let after = Organization { framework_ids, updated_at: c.now, version: before.version + 1, ..before };
    organizations::update(c.t, c.scope, &after).await?;
    c.record("organization.updated", "organization", after.id, &after)
}

/// The time for which a deleted organization can be restored.
pub const GRACE: Duration = Duration::from_hours(30 * 24);

/// Deletes the organization, which makes it inaccessible. Its data is removed after [`GRACE`]. `name` confirms the
/// deletion.
#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    name: Name,
    precondition: Precondition,
) -> Result<Organization, Error> {
    ctx.change(scope, async move |c| {
        let before = organizations::lock(c.t, c.scope).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        if before.name != name.as_str() {
            return Err(Error::field("name", "must be the exact name of the organization"));
        }
        organizations::delete(c.t, c.scope, c.now).await?;
        c.record_gone("organization.deleted", "organization", before.id);
        c.invalidate(Invalidate::Organization(before.id));
        Ok(before)
    })
    .await
}

/// Restores a deleted organization, from the command line.
#[boxed]
pub async fn restore(ctx: &Ctx, organization: OrganizationId) -> Result<Organization, Error> {
    let scope = Scope::system(organization, "attestry admin restore-organization");
    ctx.change(&scope, async move |c| {
        if organizations::lock_deleted(c.t, c.scope).await?.is_none() {
            return Err(Error::NotFound("deleted organization that can be brought back"));
        }
        organizations::restore(c.t, c.scope, c.now).await?;
        let after = organizations::get(c.t, c.scope).await?.ok_or(MISSING)?;
        (c.ctx.hooks().zone_changed)(c, &after.time_zone).await?;
        c.record("organization.restored", "organization", after.id, &after)?;
        Ok(after)
    })
    .await
}

/// Removes the organizations whose grace period is over, with their files.
pub(crate) async fn remove_deleted(ctx: &Ctx) -> Result<(), Error> {
    let before = ctx.now().minus(GRACE);
    for organization in ctx.db.read(async move |t| organizations::to_remove(t, before).await).await? {
        let scope = Scope::system(organization, "housekeeping");
        ctx.change(&scope, async move |c| {
            // It may have been restored in the meantime.
            if organizations::lock_deleted(c.t, c.scope).await?.is_none() {
                return Ok(());
            }
            organizations::remove(c.t, c.scope, c.now).await?;
            c.enqueue(&Removal::Organization(c.organization())).await?;
            c.record_gone("organization.removed", "organization", organization);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Lists all organizations, for the operator.
#[boxed]
pub async fn all(ctx: &Ctx) -> Result<Vec<OrganizationSummary>, Error> {
    Ok(ctx.db.read(async |t| organizations::all(t).await).await?)
}
