//! The controls for ISO/IEC 27001, and a custom framework. Their links are defined on the other side: a policy lists
//! the controls it prescribes, a task those it proves, a risk those that treat it.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::frameworks::controls;
use attestry_app::{frameworks, registers};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::frameworks::controls::{Control, ControlPatch};
use attestry_domain::frameworks::{Framework, FrameworkDraft, FrameworkName, RequirementDraft, shipped};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::links::Linking;
use futures_util::FutureExt;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::Story;
use crate::{policies, risks, tasks};

/// Controls by the day they were set up, with their owner.
const WAVES: &[(i64, &str, &[&str])] = &[
    (
        348,
        "ingrid",
        &[
            "5.1", "5.2", "5.3", "5.4", "5.5", "5.8", "5.9", "5.10", "5.11", "5.14", "5.15", "5.16", "5.17",
            "5.18", "5.19", "5.20", "5.21", "5.22", "5.23", "5.24", "5.25", "5.26", "5.27", "5.28", "5.29",
            "5.30", "5.31", "5.34", "5.35", "5.36", "5.37",
        ],
    ),
    (232, "ingrid", &["C4.3", "C5.1", "C5.2", "C5.3", "C6.1", "C7.2", "C7.3", "C8.2", "C9.2", "C9.3"]),
    (
        324,
        "liam",
        &[
            "6.1", "6.2", "6.3", "6.5", "6.6", "6.7", "6.8", "7.1", "7.2", "7.3", "7.4", "7.5", "7.7", "7.9",
            "7.11", "7.14",
        ],
    ),
    (
        306,
        "rafael",
        &[
            "8.1", "8.2", "8.3", "8.4", "8.5", "8.7", "8.8", "8.9", "8.10", "8.12", "8.13", "8.14", "8.15",
            "8.16", "8.19", "8.20", "8.21", "8.22", "8.24", "8.25", "8.26", "8.27", "8.28", "8.29", "8.31",
            "8.32",
        ],
    ),
];

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
    for (ago, owner, codes) in WAVES {
        plan.at(*ago, 8 * 60, move |story| add(story, codes).boxed_local());
        for (place, code) in codes.iter().enumerate() {
            let place = i64::try_from(place).unwrap_or(0);
            plan.on(ago - 3 - place, move |story| own(story, code, owner).boxed_local());
            // Links are updated several times, because more records exist each time.
            for ago in [ago - 20 - 2 * place, 190 - place, 58 - place] {
                plan.on(ago, move |story| link(story, code).boxed_local());
            }
        }
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

async fn add(story: &mut Story, codes: &'static [&'static str]) -> Result<()> {
    let iso = iso()?;
    let named = iso.requirements.iter().filter(|one| codes.contains(&one.code.as_str()));
    let named: Vec<_> = named.map(|one| one.id).collect();
    let scope = story.by::<grant::ControlCreate>(OWNER)?;
    let made = controls::from_framework(&story.ctx, &scope, FrameworkName::Id(iso.id), Some(named)).await?;
    for control in made {
        let meets = |code: &&&str| {
            let requirement = iso.requirements.iter().find(|one| one.code == **code);
            requirement.is_some_and(|one| control.requirement_ids.contains(one.id))
        };
        if let Some(code) = codes.iter().find(meets) {
            story.controls.insert(code, control.id);
        }
    }
    Ok(())
}

async fn own(story: &mut Story, code: &'static str, owner: &'static str) -> Result<()> {
    let Some(id) = story.controls.get(code).copied() else { return Ok(()) };
    let patch = ControlPatch { assignee_id: Patch::Value(story.member(owner)?), ..ControlPatch::default() };
    let scope = story.by::<grant::ControlUpdate>(APPROVER)?;
    registers::update::<Control>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

/// Links a control to the existing records that list it.
async fn link(story: &mut Story, code: &'static str) -> Result<()> {
    let Some(id) = story.controls.get(code).copied() else { return Ok(()) };
    let names = |codes: &[&str]| codes.contains(&code);
    let policies = policies::ROWS.iter().filter(|row| names(row.controls));
    let tasks = tasks::ROWS.iter().filter(|row| names(row.controls));
    let risks = risks::ROWS.iter().filter(|row| names(row.controls));
    let given = ControlPatch {
        policy_ids: Some(IdSet::new(
            policies.filter_map(|row| story.policies.get(row.key).copied()).collect(),
        )),
        task_ids: Some(IdSet::new(tasks.filter_map(|row| story.tasks.get(row.key).copied()).collect())),
        risk_ids: Some(IdSet::new(risks.filter_map(|row| story.risks.get(row.title).copied()).collect())),
        ..ControlPatch::default()
    };
    let scope = story.by::<grant::ControlUpdate>(OWNER)?;
    controls::link(&story.ctx, &scope, id, given, Linking::Add, Precondition::default()).await?;
    Ok(())
}
