//! The vendors: added over the year, assessed and reviewed.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::registers::vendors::{Vendor, VendorCategory, VendorPatch, VendorStatus};
use futures_util::FutureExt;
use serde::Deserialize;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::risks::rating;
use crate::story::{Story, text};

/// The progress of the assessment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    New,
    Begun,
    Assessed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    name: &'static str,
    description: &'static str,
    category: VendorCategory,
    manager: &'static str,
    ago: i64,
    inherent: [usize; 2],
    residual: [usize; 2],
    stage: Stage,
    is_sub_processor: bool,
}

table!(ROWS: Vec<Row> = "vendors");

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        let by = if place.is_multiple_of(3) { OWNER } else { "claire" };
        plan.on(row.ago, move |story| add(story, row, by).boxed_local());
        if row.stage != Stage::New {
            plan.on(row.ago * 9 / 10, move |story| begin(story, row).boxed_local());
        }
        if row.stage == Stage::Assessed {
            plan.on(row.ago * 8 / 10, move |story| assess(story, row).boxed_local());
        }
    }
}

fn website(name: &str) -> String {
    let host: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    format!("https://{host}.example")
}

async fn add(story: &mut Story, row: &'static Row, by: &str) -> Result<()> {
    let new = VendorPatch {
        name: Some(text(row.name)?),
        description: Some(text(row.description)?),
        category: Some(row.category),
        website: Patch::Value(text(&website(row.name))?),
        assignee_id: Patch::Value(story.member(row.manager)?),
        is_sub_processor: Some(row.is_sub_processor),
        ..VendorPatch::default()
    };
    let made = registers::create::<Vendor>(&story.ctx, &story.by::<grant::VendorCreate>(by)?, new).await?;
    story.vendors.insert(row.name, made.id);
    Ok(())
}

async fn update(story: &Story, row: &Row, by: &str, patch: VendorPatch) -> Result<()> {
    let id = *story.vendors.get(row.name).context("the vendor is not there yet")?;
    let scope = story.by::<grant::VendorUpdate>(by)?;
    registers::update::<Vendor>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

async fn begin(story: &mut Story, row: &'static Row) -> Result<()> {
    let (inherent_probability, inherent_impact) = rating(row.inherent);
    let patch = VendorPatch {
        status: Some(VendorStatus::InProgress),
        inherent_probability: inherent_probability.clone(),
        inherent_impact: inherent_impact.clone(),
        residual_probability: inherent_probability,
        residual_impact: inherent_impact,
        ..VendorPatch::default()
    };
    update(story, row, OWNER, patch).await
}

async fn assess(story: &mut Story, row: &'static Row) -> Result<()> {
    let (residual_probability, residual_impact) = rating(row.residual);
    // Once a year; the first reviews are due.
    let patch = VendorPatch {
        status: Some(VendorStatus::Assessed),
        residual_probability,
        residual_impact,
        review_date: Patch::Value(story.day(row.ago * 8 / 10 - 280)),
        ..VendorPatch::default()
    };
    update(story, row, APPROVER, patch).await
}
