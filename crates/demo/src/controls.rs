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

use crate::people::OWNER;
use crate::plan::Plan;
use crate::story::Story;
use crate::{programme, risks};

/// The custom framework: requirements of customers for their suppliers.
const CUSTOMERS: &[(&str, &str, &str, &str)] = &[
    (
        "NW-1",
        "Safety functions are tested at every site",
        "Safety",
        "A stop test is recorded for each robot before a site is handed over.",
    ),
    (
        "NW-2",
        "Updates are announced five working days ahead",
        "Operations",
        "Customers know which robots are updated when, and can object.",
    ),
    (
        "NW-3",
        "Remote sessions need the customer’s consent",
        "Access",
        "Nobody connects to a site before the customer has agreed to it in the console.",
    ),
    (
        "NW-4",
        "Site plans are deleted when a contract ends",
        "Information",
        "Plans and recordings are deleted within thirty days, and the customer gets a record.",
    ),
    (
        "NW-5",
        "Incidents are told within 24 hours",
        "Incidents",
        "Affected customers hear from us within a day, with what is known.",
    ),
    (
        "NW-6",
        "Spare parts come from listed sources",
        "Supply",
        "Parts that keep people safe are bought from the list of sources alone.",
    ),
];

pub(crate) fn plan(plan: &mut Plan) {
    plan.on(314, |story| add_framework(story).boxed_local());
    for row in risks::ROWS {
        // Risks found before the programme began are linked once it has.
        let ago = (row.ago - 2).min(programme::START - 2);
        plan.on(ago, move |story| treat(story, row.title, row.controls).boxed_local());
    }
}

pub(crate) fn iso() -> Result<&'static Framework> {
    let found = shipped().iter().find(|framework| framework.alias == "iso_27001");
    found.map(AsRef::as_ref).context("ISO/IEC 27001 does not ship")
}

async fn add_framework(story: &mut Story) -> Result<()> {
    let requirement = |(code, title, theme, objective): &(&str, &str, &str, &str)| RequirementDraft {
        code: (*code).to_owned(),
        title: (*title).to_owned(),
        theme: (*theme).to_owned(),
        kind: "requirement".to_owned(),
        objective: (*objective).to_owned(),
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
