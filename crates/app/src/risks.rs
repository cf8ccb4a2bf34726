//! The risk register.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, RiskId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::risks::{NewRisk, Risk, RiskFilter, RiskPatch, RiskSort};
use attestry_domain::scales::Cell;
use attestry_storage::{Tx, risks};
use futures_util::future::try_join;

use crate::attachments;
use crate::comments;
use crate::context::Ctx;
use crate::error::Error;
use crate::history;
use crate::journal::{self, Record};
use crate::members::must_be_active;
use crate::precondition::Precondition;

const MISSING: Error = Error::NotFound("risk");

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewRisk) -> Result<Risk, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| add(&own, t, &scope, new.clone()).await).await
}

/// Adds many in one transaction: all of them or none.
pub async fn create_many(ctx: &Ctx, scope: &Scope, items: Vec<NewRisk>) -> Result<Vec<Risk>, Error> {
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

async fn add(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, new: NewRisk) -> Result<Risk, Error> {
    let assignee = must_be_active(t, scope, new.assignee_id);
    let (turn, ()) = try_join(journal::turn(t, scope), assignee).await?;
    let risk = Risk::new(ctx.ids.next(), scope.organization(), new, ctx.now());
    let record = Record::of("risk.created", "risk", risk.id, &risk)?;
    let inserted = async { Ok(risks::insert(t, scope, &risk).await?) };
    try_join(inserted, journal::append_at(ctx, t, scope, turn, record)).await?;
    Ok(risk)
}

pub async fn get(ctx: &Ctx, scope: &Scope, risk: RiskId) -> Result<Risk, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| risks::get(t, &scope, risk).await).await?.ok_or(MISSING)
}

/// The risk as it stood at a moment.
pub async fn get_at(ctx: &Ctx, scope: &Scope, risk: RiskId, at: Time) -> Result<Risk, Error> {
    history::one_at::<kind::Risk, _>(ctx, scope, risk, at).await
}

/// The register as it is, or as it stood at a moment.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: RiskFilter,
    page: PageRequest<RiskSort>,
    at: Option<Time>,
) -> Result<Page<Risk>, Error> {
    if let Some(at) = at {
        let takes = |risk: &Risk| filter.takes(risk);
        return history::page_at::<kind::Risk, _, _>(ctx, scope, at, &page, takes, Risk::place).await;
    }
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| risks::list(t, &scope, &filter, &page).await).await?)
}

pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    risk: RiskId,
    patch: RiskPatch,
    precondition: Precondition,
) -> Result<Risk, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.write(scope.organization(), async move |t| {
        let before = risks::lock(t, &scope, risk).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let after = before.patched(patch.clone());
        if after.assignee_id != before.assignee_id {
            must_be_active(t, &scope, after.assignee_id).await?;
        }
        change(&own, t, &scope, &before, after).await
    })
    .await
}

async fn change(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, before: &Risk, mut after: Risk) -> Result<Risk, Error> {
    if after == *before {
        return Ok(after);
    }
    after.updated_at = ctx.now();
    after.version += 1;
    risks::update(t, scope, &after).await?;
    journal::append(ctx, t, scope, Record::of("risk.updated", "risk", after.id, &after)?).await?;
    Ok(after)
}

/// Takes a member who leaves off what they were responsible for.
pub(crate) async fn release(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<(), Error> {
    for before in risks::lock_assigned(t, scope, member).await? {
        let after = Risk { assignee_id: None, ..before.clone() };
        change(ctx, t, scope, &before, after).await?;
    }
    Ok(())
}

pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    risk: RiskId,
    precondition: Precondition,
) -> Result<Risk, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    let deleted = ctx
        .write(scope.organization(), async move |t| {
            let before = risks::lock(t, &scope, risk).await?.ok_or(MISSING)?;
            precondition.check(&[before.version])?;
            comments::remove_all(&own, t, &scope, &risk.to_string()).await?;
            attachments::remove_all(&own, t, &scope, &risk.to_string()).await?;
            risks::delete(t, &scope, risk).await?;
            journal::append(&own, t, &scope, Record::gone("risk.deleted", "risk", risk)).await?;
            Ok::<_, Error>(before)
        })
        .await?;
    ctx.job_bell.notify_one();
    Ok(deleted)
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(ctx: &Ctx, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| risks::matrix(t, &scope).await).await?)
}
