//! A custom framework, and the links of controls to the risks they treat.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::frameworks;
use attestry_app::frameworks::controls;
use attestry_domain::access::grant;
use attestry_domain::frameworks::controls::ControlPatch;
use attestry_domain::frameworks::{Framework, FrameworkDraft, RequirementDraft, shipped};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::links::Linking;
use futures_util::FutureExt;
use serde::Deserialize;

use crate::people::OWNER;
use crate::plan::Plan;
use crate::story::Story;
use crate::{programme, risks};

/// A requirement of the custom framework: one of customers for their suppliers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    code: String,
    title: String,
    theme: String,
    objective: String,
}

table!(CUSTOMERS: Vec<Requirement> = "requirements");

pub(crate) fn plan(plan: &mut Plan) {
    plan.on(314, |story| add_framework(story).boxed_local());
    for row in risks::ROWS.iter() {
        // Risks found before the programme began are linked once it has.
        let ago = (row.ago - 2).min(programme::START - 2);
        plan.on(ago, move |story| treat(story, row.title, &row.controls).boxed_local());
    }
}

pub(crate) fn iso() -> Result<&'static Framework> {
    let found = shipped().iter().find(|framework| framework.alias == "iso_27001");
    found.map(AsRef::as_ref).context("ISO/IEC 27001 does not ship")
}

async fn add_framework(story: &mut Story) -> Result<()> {
    let requirement = |one: &Requirement| RequirementDraft {
        code: one.code.clone(),
        title: one.title.clone(),
        theme: one.theme.clone(),
        kind: "requirement".to_owned(),
        objective: one.objective.clone(),
        ..RequirementDraft::default()
    };
    let draft = FrameworkDraft {
        alias: Some("northwind_customers".to_owned()),
        name: "What our customers ask for".to_owned(),
        description: "What most contracts with customers have in common.".to_owned(),
        version: "2".to_owned(),
        requirements: CUSTOMERS.iter().map(requirement).collect(),
        ..FrameworkDraft::default()
    };
    frameworks::create(&story.ctx, &story.by::<grant::FrameworkCreate>(OWNER)?, draft).await?;
    Ok(())
}

/// Links the controls that meet these requirements to a risk.
async fn treat(story: &mut Story, title: &'static str, codes: &'static [&'static str]) -> Result<()> {
    let risk = *story.risks.get(title).context("the risk is not there yet")?;
    let patch = ControlPatch { risk_ids: Some(IdSet::new(vec![risk])), ..ControlPatch::default() };
    for code in codes {
        let id = *story.controls.get(code).with_context(|| format!("no control meets {code}"))?;
        let (scope, patch) = (story.by::<grant::ControlUpdate>(OWNER)?, patch.clone());
        controls::link(&story.ctx, &scope, id, patch, Linking::Add, Precondition::default()).await?;
    }
    Ok(())
}
