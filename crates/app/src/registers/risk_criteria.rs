//! The risk criteria of an organization, and the acceptance of a risk by its owner.

use attestry_domain::access::{AuthType, Permission, Scope};
use attestry_domain::date::Date;
use attestry_domain::id::RiskId;
use attestry_domain::registers::Record;
use attestry_domain::registers::risk_criteria::{RiskCriteria, SetCriteria};
use attestry_domain::registers::risks::{Risk, RiskStatus};
use attestry_domain::text::LongText;
use attestry_storage::{registers as rows, risk_criteria};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::registers;

/// The entity type in the journal, and the name of its lock.
const CRITERIA: &str = "risk_criteria";

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<SetCriteria, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| risk_criteria::get(t, &scope).await).await?)
}

#[boxed]
pub async fn set(
    ctx: &Ctx,
    scope: &Scope,
    criteria: RiskCriteria,
    precondition: Precondition,
) -> Result<SetCriteria, Error> {
    ctx.change(scope, async move |c| {
        rows::hold(c.t, c.scope, CRITERIA).await?;
        let before = risk_criteria::get(c.t, c.scope).await?;
        precondition.check(&[before.version])?;
        if before.criteria == criteria && before.updated_at.is_some() {
            return Ok(before);
        }
        let after =
            SetCriteria { criteria: criteria.clone(), updated_at: Some(c.now), version: before.version + 1 };
        risk_criteria::put(c.t, c.scope, &after).await?;
        c.record("risk_criteria.updated", CRITERIA, c.organization(), &after.criteria)?;
        Ok(after)
    })
    .await
}

/// Accepts a risk as it is rated now, until a day. Only its owner can, with a session.
#[boxed]
pub async fn accept(
    ctx: &Ctx,
    scope: &Scope,
    id: RiskId,
    until: Date,
    reason: LongText,
    precondition: Precondition,
) -> Result<Record<Risk>, Error> {
    if scope.auth_type() != Some(AuthType::Session) {
        return Err(Error::Forbidden {
            code: "session_required",
            message: "A signature is a person's own: sign in and use the session; an API key cannot sign."
                .to_owned(),
        });
    }
    let today = scope.today(ctx.now());
    ctx.change(scope, async move |c| {
        let before = registers::lock::<Risk>(c, id).await?;
        precondition.check(&[before.version])?;
        let owner = before.assignee_id.filter(|owner| Some(*owner) == c.scope.member());
        let Some(owner) = owner else {
            return Err(Error::Forbidden {
                code: "not_owner",
                message: "Only the owner of a risk can accept it. Ask its owner, or become the owner first."
                    .to_owned(),
            });
        };
        if matches!(before.status, RiskStatus::Closed | RiskStatus::Archived) {
            return Err(Error::Conflict {
                code: "risk_closed",
                message: "A closed or archived risk cannot be accepted. Open it again first.".to_owned(),
            });
        }
        if !before.is_residual_assessed {
            return Err(Error::Conflict {
                code: "risk_not_assessed",
                message: "Rate the risk after treatment first, so that it is known what is accepted."
                    .to_owned(),
            });
        }
        let months = risk_criteria::get(c.t, c.scope).await?.criteria.acceptance_months;
        let last = today.plus_months(months);
        if until <= today || until > last {
            let message = format!("must be after today and not after {last}: {months} months at most");
            return Err(Error::field("until", message));
        }
        let mut after = before.clone();
        after.fields.accepted_by_id = Some(owner);
        after.fields.accepted_at = Some(c.now);
        after.fields.accepted_until = Some(until);
        after.fields.acceptance_reason = Some(reason.clone());
        registers::save_as(c, &before, after, "risk.accepted").await
    })
    .await
}

/// Withdraws the acceptance of a risk: its owner, with a session, or a caller who may change risks.
#[boxed]
pub async fn withdraw(
    ctx: &Ctx,
    scope: &Scope,
    id: RiskId,
    precondition: Precondition,
) -> Result<Record<Risk>, Error> {
    ctx.change(scope, async move |c| {
        let before = registers::lock::<Risk>(c, id).await?;
        precondition.check(&[before.version])?;
        let is_owner = before.assignee_id.is_some_and(|owner| Some(owner) == c.scope.member());
        if !is_owner || c.scope.auth_type() != Some(AuthType::Session) {
            c.scope.require(Permission::RiskUpdate)?;
        }
        let mut after = before.clone();
        after.fields.end_acceptance();
        registers::save_as(c, &before, after, "risk.acceptance_withdrawn").await
    })
    .await
}
