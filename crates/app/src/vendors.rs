//! The vendors.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, VendorId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::scales::Cell;
use attestry_domain::vendors::{NewVendor, Vendor, VendorFilter, VendorPatch, VendorSort};
use attestry_storage::{Tx, vendors};
use futures_util::future::try_join;

use crate::attachments;
use crate::comments;
use crate::context::Ctx;
use crate::error::Error;
use crate::history;
use crate::journal::{self, Record};
use crate::members::must_be_active;
use crate::precondition::Precondition;

const MISSING: Error = Error::NotFound("vendor");

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewVendor) -> Result<Vendor, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| add(&own, t, &scope, new.clone()).await).await
}

/// Adds many in one transaction: all of them or none.
pub async fn create_many(ctx: &Ctx, scope: &Scope, items: Vec<NewVendor>) -> Result<Vec<Vendor>, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| {
        let mut created = Vec::with_capacity(items.len());
        for new in &items {
            created.push(add(&own, t, &scope, new.clone()).await?);
        }
        Ok(created)
    })
    .await
}

async fn add(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, new: NewVendor) -> Result<Vendor, Error> {
    let assignee = must_be_active(t, scope, new.assignee_id);
    let (turn, ()) = try_join(journal::turn(t, scope), assignee).await?;
    let vendor = Vendor::new(ctx.ids.next(), scope.organization(), new, ctx.now());
    let record = Record::of("vendor.created", "vendor", vendor.id, &vendor)?;
    let inserted = async { Ok(vendors::insert(t, scope, &vendor).await?) };
    try_join(inserted, journal::append_at(ctx, t, scope, turn, record)).await?;
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
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| {
        let before = vendors::lock(t, &scope, vendor).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let after = before.patched(patch.clone());
        if after.assignee_id != before.assignee_id {
            must_be_active(t, &scope, after.assignee_id).await?;
        }
        change(&own, t, &scope, &before, after).await
    })
    .await
}

async fn change(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    before: &Vendor,
    mut after: Vendor,
) -> Result<Vendor, Error> {
    if after == *before {
        return Ok(after);
    }
    after.updated_at = ctx.now();
    after.version += 1;
    vendors::update(t, scope, &after).await?;
    journal::append(ctx, t, scope, Record::of("vendor.updated", "vendor", after.id, &after)?).await?;
    Ok(after)
}

/// Takes a member who leaves off what they were responsible for.
pub(crate) async fn release(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<(), Error> {
    for before in vendors::lock_assigned(t, scope, member).await? {
        let after = Vendor { assignee_id: None, ..before.clone() };
        change(ctx, t, scope, &before, after).await?;
    }
    Ok(())
}

pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    vendor: VendorId,
    precondition: Precondition,
) -> Result<Vendor, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    let deleted = ctx
        .write(scope.organization(), async move |t| {
            let before = vendors::lock(t, &scope, vendor).await?.ok_or(MISSING)?;
            precondition.check(&[before.version])?;
            comments::remove_all(&own, t, &scope, &vendor.to_string()).await?;
            attachments::remove_all(&own, t, &scope, &vendor.to_string()).await?;
            vendors::delete(t, &scope, vendor).await?;
            journal::append(&own, t, &scope, Record::gone("vendor.deleted", "vendor", vendor)).await?;
            Ok::<_, Error>(before)
        })
        .await?;
    ctx.job_bell.notify_one();
    Ok(deleted)
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(ctx: &Ctx, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| vendors::matrix(t, &scope).await).await?)
}
