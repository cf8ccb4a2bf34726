//! Automations: weekly checks and scripts that collect evidence, with their secrets and allowed hosts.

use anyhow::{Context, Result};
use attestry_app::automations::{self, AutomationRef, AutomationSource, runs, secrets};
use attestry_app::core::precondition::Precondition;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::automations::AutomationPatch;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::id::AutomationId;
use attestry_domain::tasks::TaskStatus;
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::people::APPROVER;
use crate::plan::Plan;
use crate::story::{Story, text};

/// The scripts, by their names.
const SCRIPTS: &[(&str, &str)] = &[
    ("backups", include_str!("../data/backups.js")),
    ("restored", include_str!("../data/restored.js")),
    ("new-vendor", include_str!("../data/new-vendor.js")),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    key: &'static str,
    task: &'static str,
    name: &'static str,
    ago: i64,
    schedule: Option<&'static str>,
    event: Option<&'static str>,
    /// The check with its parameters; a script without one.
    check: Option<&'static str>,
    #[serde(default)]
    parameters: Map<String, Value>,
    script: Option<&'static str>,
    /// True if a passing run completes the task and leaves evidence.
    proves: bool,
    /// True if it sends requests to external servers.
    outside: bool,
}

/// A secret of the scripts. It grants access to nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    name: &'static str,
    ago: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Automations {
    automations: Vec<Row>,
    secrets: Vec<Secret>,
}

table!(TABLES: Automations = "automations");

pub(crate) fn plan(plan: &mut Plan) {
    for secret in &TABLES.secrets {
        plan.on(secret.ago, move |story| keep_secret(story, secret.name).boxed_local());
    }
    plan.on(119, |story| allow_hosts(story).boxed_local());
    for row in &TABLES.automations {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        if row.outside {
            // At the end of the last day: its servers do not exist, so it must not run after the demo is filled.
            plan.at(1, 16 * 60 + 30, move |story| pause(story, row).boxed_local());
        }
    }
    plan.on(46, |story| run_now(story, "tls").boxed_local());
    plan.on(32, |story| run_now(story, "backups").boxed_local());
}

async fn keep_secret(story: &mut Story, name: &'static str) -> Result<()> {
    let scope = story.by::<grant::SecretUpdate>(APPROVER)?;
    secrets::set(&story.ctx, &scope, text(name)?, format!("sample-{}", name.to_lowercase())).await?;
    Ok(())
}

async fn allow_hosts(story: &mut Story) -> Result<()> {
    let scope = story.by::<grant::AutomationUpdate>(APPROVER)?;
    let hosts = ["api.github.com", "backups.northwind.example", "*.northwind.example"].map(str::to_owned);
    let hosts = AllowedHosts::parse(hosts).map_err(|wrong| anyhow::anyhow!("{wrong:?}"))?;
    automations::set_hosts(&story.ctx, &scope, hosts, Precondition::default()).await?;
    Ok(())
}

async fn add(story: &mut Story, row: &'static Row) -> Result<()> {
    let scope = story.by::<grant::AutomationCreate>(APPROVER)?;
    let does = match (row.check, row.script) {
        (Some(name), _) => {
            AutomationSource::Check { name: name.to_owned(), parameters: row.parameters.clone() }
        }
        (None, script) => {
            let source = SCRIPTS.iter().find(|(name, _)| Some(*name) == script);
            let (_, source) = source.with_context(|| format!("{} runs nothing", row.key))?;
            AutomationSource::Script(text(source)?)
        }
    };
    let status = |status| if row.proves { Patch::Value(status) } else { Patch::Absent };
    let patch = AutomationPatch {
        name: Some(text(row.name)?),
        schedule: row.schedule.map_or(Ok(Patch::Absent), |schedule| text(schedule).map(Patch::Value))?,
        events: row.event.map(|event| text(event).map(|event| vec![event])).transpose()?,
        status_on_pass: status(TaskStatus::Done),
        status_on_fail: status(TaskStatus::Todo),
        keep_evidence: Some(row.proves),
        ..AutomationPatch::default()
    };
    let made = automations::create(&story.ctx, &scope, story.task(row.task)?, does, patch).await?;
    story.automations.insert(row.key, made.id);
    Ok(())
}

fn place(story: &Story, row: &Row) -> Result<AutomationRef> {
    let automation: AutomationId = story.automation(row.key)?;
    Ok(AutomationRef { task: story.task(row.task)?, automation })
}

async fn run_now(story: &mut Story, key: &str) -> Result<()> {
    if let Some(row) = TABLES.automations.iter().find(|row| row.key == key) {
        let scope = story.by::<grant::AutomationRun>(APPROVER)?;
        runs::start(&story.ctx, &scope, place(story, row)?).await?;
        story.work().await?;
    }
    Ok(())
}

async fn pause(story: &mut Story, row: &'static Row) -> Result<()> {
    let scope = story.by::<grant::AutomationUpdate>(APPROVER)?;
    let patch = AutomationPatch {
        is_enabled: Some(false),
        description: Patch::Value(text("Paused: what it asks belongs to the sample and does not exist.")?),
        ..AutomationPatch::default()
    };
    automations::update(&story.ctx, &scope, place(story, row)?, patch, Precondition::default()).await?;
    Ok(())
}
