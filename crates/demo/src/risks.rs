//! The risk register: risks identified over the year, rated, treated and rated again.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::registers::{self, risk_criteria};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::date::Date;
use attestry_domain::registers::risks::RiskStatus::Open;
use attestry_domain::registers::risks::TreatmentStrategy::Accept;
use attestry_domain::registers::risks::{Risk, RiskCategory, RiskPatch, RiskStatus, TreatmentStrategy};
use attestry_domain::registers::scales::{Impact, Likelihood};
use attestry_domain::words::Department;
use futures_util::FutureExt;
use serde::Deserialize;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) title: &'static str,
    description: &'static str,
    category: RiskCategory,
    department: Department,
    owner: &'static str,
    pub(crate) ago: i64,
    /// Likelihood and impact, 1 to 5.
    inherent: [usize; 2],
    residual: [usize; 2],
    strategy: TreatmentStrategy,
    status: RiskStatus,
    treatment: &'static str,
    /// The codes of the controls that treat it.
    pub(crate) controls: Vec<&'static str>,
}

table!(pub(crate) ROWS: Vec<Row> = "risks");

const LIKELIHOODS: [Likelihood; 5] = [
    Likelihood::VeryUnlikely,
    Likelihood::Unlikely,
    Likelihood::Possible,
    Likelihood::Likely,
    Likelihood::VeryLikely,
];
const IMPACTS: [Impact; 5] =
    [Impact::Insignificant, Impact::Minor, Impact::Moderate, Impact::Major, Impact::Severe];

/// Converts a likelihood and an impact from 1 to 5.
pub(crate) fn rating([likelihood, impact]: [usize; 2]) -> (Patch<Likelihood>, Patch<Impact>) {
    let likelihood = LIKELIHOODS.get(likelihood - 1).copied().map_or(Patch::Absent, Patch::Value);
    let impact = IMPACTS.get(impact - 1).copied().map_or(Patch::Absent, Patch::Value);
    (likelihood, impact)
}

/// Those who may see the risks they own.
const MAY_ACCEPT: [&str; 3] = [OWNER, APPROVER, "claire"];

/// The rating midway between inherent and residual.
fn halfway(from: [usize; 2], to: [usize; 2]) -> [usize; 2] {
    [(from[0] + to[0]).div_ceil(2), (from[1] + to[1]).div_ceil(2)]
}

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        let by = [OWNER, APPROVER, "claire", OWNER][place % 4];
        plan.on(row.ago, move |story| found(story, row, by).boxed_local());
        if row.treatment.is_empty() {
            continue;
        }
        plan.on(row.ago * 9 / 10, move |story| treat(story, row).boxed_local());
        let between = halfway(row.inherent, row.residual);
        if between != row.inherent && between != row.residual {
            plan.on(row.ago * 6 / 10, move |story| rate_again(story, row, between, Open).boxed_local());
        }
        plan.on(row.ago * 3 / 10, move |story| {
            rate_again(story, row, row.residual, row.status).boxed_local()
        });
        if row.strategy == Accept && MAY_ACCEPT.contains(&row.owner) {
            plan.on(row.ago * 2 / 10, move |story| accept(story, row).boxed_local());
        }
    }
}

async fn found(story: &mut Story, row: &'static Row, by: &str) -> Result<()> {
    let (likelihood, impact) = rating(row.inherent);
    let new = RiskPatch {
        title: Some(text(row.title)?),
        description: Some(text(row.description)?),
        category: Some(row.category),
        department: Patch::Value(row.department),
        assignee_id: Patch::Value(story.member(row.owner)?),
        likelihood: likelihood.clone(),
        impact: impact.clone(),
        residual_likelihood: likelihood,
        residual_impact: impact,
        ..RiskPatch::default()
    };
    let made = registers::create::<Risk>(&story.ctx, &story.by::<grant::RiskCreate>(by)?, new).await?;
    story.risks.insert(row.title, made.id);
    Ok(())
}

async fn update(story: &Story, row: &Row, by: &str, patch: RiskPatch) -> Result<()> {
    let id = *story.risks.get(row.title).context("the risk is not there yet")?;
    let scope = story.by::<grant::RiskUpdate>(by)?;
    registers::update::<Risk>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

/// The date of the next review: ahead for most risks, overdue for a few.
fn review(story: &Story, row: &Row) -> Date {
    let late = row.title.len().is_multiple_of(7);
    if late { story.day(row.ago % 20 + 1) } else { story.day(-((row.ago * 7) % 150 + 12)) }
}

async fn treat(story: &mut Story, row: &'static Row) -> Result<()> {
    let patch = RiskPatch {
        treatment_strategy: Patch::Value(row.strategy),
        treatment_strategy_description: Patch::Value(text(row.treatment)?),
        review_date: Patch::Value(review(story, row)),
        ..RiskPatch::default()
    };
    update(story, row, OWNER, patch).await
}

async fn rate_again(
    story: &mut Story,
    row: &'static Row,
    rated: [usize; 2],
    status: RiskStatus,
) -> Result<()> {
    let (residual_likelihood, residual_impact) = rating(rated);
    let patch =
        RiskPatch { residual_likelihood, residual_impact, status: Some(status), ..RiskPatch::default() };
    update(story, row, APPROVER, patch).await
}

async fn accept(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = *story.risks.get(row.title).context("the risk is not there yet")?;
    let (scope, until) = (story.by::<grant::RiskRead>(row.owner)?, story.day(-(row.ago % 100 + 30)));
    risk_criteria::accept(&story.ctx, &scope, id, until, text(row.treatment)?, Precondition::default())
        .await?;
    Ok(())
}
