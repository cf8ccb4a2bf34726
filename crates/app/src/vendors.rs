//! The vendors.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, VendorId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::scales::Cell;
use attestry_domain::vendors::{NewVendor, Vendor, VendorFilter, VendorPatch, VendorSort};
use attestry_storage::vendors;

use crate::attachments;
use crate::change::Change;
use crate::comments;
use crate::context::Ctx;
use crate::error::Error;
use crate::history;
use crate::members::must_be_active;
use crate::precondition::Precondition;

const MISSING: Error = Error::NotFound("vendor");

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewVendor) -> Result<Vendor, Error> {
    ctx.change(scope, async move |c| add(c, new.clone()).await).await
}

/// Adds many in one transaction: all of them or none.
pub async fn create_many(ctx: &Ctx, scope: &Scope, items: Vec<NewVendor>) -> Result<Vec<Vendor>, Error> {
    ctx.change(scope, async move |c| {
        let mut created = Vec::with_capacity(items.len());
        for new in &items {
            created.push(add(c, new.clone()).await?);
        }
        Ok(created)
    })
    .await
}

async fn add(c: &Change<'_>, new: NewVendor) -> Result<Vendor, Error> {
    must_be_active(c.t, c.scope, new.assignee_id).await?;
    let vendor = Vendor::new(c.next_id(), c.organization(), new, c.now);
    vendors::insert(c.t, c.scope, &vendor).await?;
    c.record("vendor.created", "vendor", vendor.id, &vendor)?;
    Ok(vendor)
}

pub async fn get(ctx: &Ctx, scope: &Scope, vendor: VendorId) -> Result<Vendor, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| vendors::get(t, &scope, vendor).await).await?.ok_or(MISSING)
}

/// The vendor as it stood at a moment.
pub async fn get_at(ctx: &Ctx, scope: &Scope, vendor: VendorId, at: Time) -> Result<Vendor, Error> {
    history::one_at::<kind::Vendor, _>(ctx, scope, vendor, at).await
}

/// The register as it is, or as it stood at a moment.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: VendorFilter,
    page: PageRequest<VendorSort>,
    at: Option<Time>,
) -> Result<Page<Vendor>, Error> {
    if let Some(at) = at {
        let takes = |vendor: &Vendor| filter.takes(vendor);
        return history::page_at::<kind::Vendor, _, _>(ctx, scope, at, &page, takes, Vendor::place).await;
    }
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| vendors::list(t, &scope, &filter, &page).await).await?)
}

pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    vendor: VendorId,
    patch: VendorPatch,
    precondition: Precondition,
) -> Result<Vendor, Error> {
    ctx.change(scope, async move |c| {
        let before = vendors::lock(c.t, c.scope, vendor).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let after = before.patched(patch.clone());
        if after.assignee_id != before.assignee_id {
            must_be_active(c.t, c.scope, after.assignee_id).await?;
        }
        change(c, &before, after).await
    })
    .await
}

async fn change(c: &Change<'_>, before: &Vendor, mut after: Vendor) -> Result<Vendor, Error> {
    if after == *before {
        return Ok(after);
    }
    after.updated_at = c.now;
    after.version += 1;
    vendors::update(c.t, c.scope, &after).await?;
    c.record("vendor.updated", "vendor", after.id, &after)?;
    Ok(after)
}

/// Takes a member who leaves off what they were responsible for.
pub(crate) async fn release(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for before in vendors::lock_assigned(c.t, c.scope, member).await? {
        let after = Vendor { assignee_id: None, ..before.clone() };
        change(c, &before, after).await?;
    }
    Ok(())
}

pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    vendor: VendorId,
    precondition: Precondition,
) -> Result<Vendor, Error> {
    ctx.change(scope, async move |c| {
        let before = vendors::lock(c.t, c.scope, vendor).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        comments::remove_all(c, &vendor.to_string()).await?;
        attachments::remove_all(c, &vendor.to_string()).await?;
        vendors::delete(c.t, c.scope, vendor).await?;
        c.record_gone("vendor.deleted", "vendor", vendor);
        Ok(before)
    })
    .await
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(ctx: &Ctx, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| vendors::matrix(t, &scope).await).await?)
}
