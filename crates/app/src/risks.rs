//! The risk register.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, RiskId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::risks::{NewRisk, Risk, RiskFilter, RiskPatch, RiskSort};
use attestry_domain::scales::Cell;
use attestry_storage::risks;

use crate::attachments;
use crate::change::Change;
use crate::comments;
use crate::context::Ctx;
use crate::error::Error;
use crate::history;
use crate::members::must_be_active;
use crate::precondition::Precondition;

const MISSING: Error = Error::NotFound("risk");

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewRisk) -> Result<Risk, Error> {
    ctx.change(scope, async move |c| add(c, new.clone()).await).await
}

/// Adds many in one transaction: all of them or none.
pub async fn create_many(ctx: &Ctx, scope: &Scope, items: Vec<NewRisk>) -> Result<Vec<Risk>, Error> {
    ctx.change(scope, async move |c| {
        let mut created = Vec::with_capacity(items.len());
        for new in &items {
            created.push(add(c, new.clone()).await?);
        }
        Ok(created)
    })
    .await
}

async fn add(c: &Change<'_>, new: NewRisk) -> Result<Risk, Error> {
    must_be_active(c.t, c.scope, new.assignee_id).await?;
    let risk = Risk::new(c.next_id(), c.organization(), new, c.now);
    risks::insert(c.t, c.scope, &risk).await?;
    c.record("risk.created", "risk", risk.id, &risk)?;
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
    ctx.change(scope, async move |c| {
        let before = risks::lock(c.t, c.scope, risk).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let after = before.patched(patch.clone());
        if after.assignee_id != before.assignee_id {
            must_be_active(c.t, c.scope, after.assignee_id).await?;
        }
        change(c, &before, after).await
    })
    .await
}

async fn change(c: &Change<'_>, before: &Risk, mut after: Risk) -> Result<Risk, Error> {
    if after == *before {
        return Ok(after);
    }
    after.updated_at = c.now;
    after.version += 1;
    risks::update(c.t, c.scope, &after).await?;
    c.record("risk.updated", "risk", after.id, &after)?;
    Ok(after)
}

/// Takes a member who leaves off what they were responsible for.
pub(crate) async fn release(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for before in risks::lock_assigned(c.t, c.scope, member).await? {
        let after = Risk { assignee_id: None, ..before.clone() };
        change(c, &before, after).await?;
    }
    Ok(())
}

pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    risk: RiskId,
    precondition: Precondition,
) -> Result<Risk, Error> {
    ctx.change(scope, async move |c| {
        let before = risks::lock(c.t, c.scope, risk).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        comments::remove_all(c, &risk.to_string()).await?;
        attachments::remove_all(c, &risk.to_string()).await?;
        risks::delete(c.t, c.scope, risk).await?;
        c.record_gone("risk.deleted", "risk", risk);
        Ok(before)
    })
    .await
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(ctx: &Ctx, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| risks::matrix(t, &scope).await).await?)
}
