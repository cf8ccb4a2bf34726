//! Automations: weekly checks and scripts that collect evidence, with their secrets and allowed hosts.

use anyhow::Result;
use attestry_app::automations::{self, AutomationRef, AutomationSource, runs, secrets};
use attestry_app::core::precondition::Precondition;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::automations::AutomationPatch;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::id::AutomationId;
use attestry_domain::tasks::TaskStatus;
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::people::APPROVER;
use crate::plan::Plan;
use crate::story::{Story, text};

const BACKUPS: &str = "// Asks the backup service how old the latest copy of the fleet database is.
export default async function (ctx) {
  const token = await ctx.secret(\"BACKUP_API_TOKEN\");
  const response = await ctx.fetch(\"https://backups.northwind.example/api/latest\", {
    headers: { authorization: `Bearer ${token}` },
  });
  const latest = await response.json();
  ctx.log(`${latest.system}: ${latest.ageHours} hours old, ${latest.sizeGiB} GiB`);
  const isRecent = latest.ageHours <= 26;
  const summary = `The latest backup of ${latest.system} is ${latest.ageHours} hours old.`;
  return { status: isRecent ? \"pass\" : \"fail\", summary, evidence: { ...latest, checkedAt: ctx.now } };
}
";

const RESTORED: &str = "// Looks whether a restore was proven in the last 100 days.
export default async function (ctx) {
  const last = ctx.task.lastEvidenceDate;
  if (last === null) return { status: \"fail\", summary: \"No restore has been proven yet.\" };
  const days = Math.floor((Date.parse(ctx.now) - Date.parse(last)) / 86_400_000);
  ctx.log(`the latest evidence is of ${last}`);
  return { status: days <= 100 ? \"pass\" : \"fail\", summary: `A restore was last proven ${days} days ago.` };
}
";

const NEW_VENDOR: &str = "// Looks at each vendor that is added: somebody must be responsible for it.
export default async function (ctx) {
  const vendor = ctx.event ? ctx.event.state : null;
  if (vendor === null) return { status: \"pass\", summary: \"Nothing was added.\" };
  const isComplete = vendor.assigneeId !== null && vendor.website !== null;
  ctx.log(`${vendor.reference} ${vendor.name}`);
  return {
    status: isComplete ? \"pass\" : \"fail\",
    summary: `${vendor.reference} ${vendor.name} ${isComplete ? \"has\" : \"lacks\"} a manager and a web site.`,
  };
}
";

/// The content of an automation: a check or a script.
enum Runs {
    Check(&'static str, fn() -> Value),
    Script(&'static str),
}

struct Row {
    key: &'static str,
    task: &'static str,
    name: &'static str,
    ago: i64,
    schedule: Option<&'static str>,
    event: Option<&'static str>,
    runs: Runs,
    /// True if a passing run completes the task and leaves evidence.
    proves: bool,
    /// True if it sends requests to external servers.
    outside: bool,
}

const MONDAYS: Option<&str> = Some("0 6 * * 1");

const ROWS: &[Row] = &[
    Row {
        key: "tls",
        task: "certificates",
        name: "Certificate of the fleet console",
        ago: 202,
        schedule: MONDAYS,
        event: None,
        runs: Runs::Check(
            "tls_certificate",
            || json!({"host": "fleet.northwind.example", "minDaysLeft": 14}),
        ),
        proves: true,
        outside: true,
    },
    Row {
        key: "headers",
        task: "certificates",
        name: "Security headers of the web site",
        ago: 171,
        schedule: Some("15 6 * * 1"),
        event: None,
        runs: Runs::Check("security_headers", || json!({"url": "https://www.northwind.example/"})),
        proves: false,
        outside: true,
    },
    Row {
        key: "dns",
        task: "domain",
        name: "SPF, DMARC, CAA and MX of northwind.example",
        ago: 240,
        schedule: Some("0 6 1 * *"),
        event: None,
        runs: Runs::Check("dns_records", || json!({"domain": "northwind.example"})),
        proves: true,
        outside: true,
    },
    Row {
        key: "branches",
        task: "branches",
        name: "Protection of the main branch of fleet-control",
        ago: 118,
        schedule: MONDAYS,
        event: None,
        runs: Runs::Check(
            "branch_protection",
            || json!({"repository": "northwind-robotics/fleet-control", "tokenSecret": "GITHUB_TOKEN", "minReviews": 2}),
        ),
        proves: true,
        outside: true,
    },
    Row {
        key: "status",
        task: "disaster",
        name: "Status of fleet control",
        ago: 101,
        schedule: Some("30 6 * * 1"),
        event: None,
        runs: Runs::Check(
            "http_endpoint",
            || json!({"url": "https://status.northwind.example/api", "jsonPointer": "/status", "expectedValue": "operational"}),
        ),
        proves: false,
        outside: true,
    },
    Row {
        key: "backups",
        task: "backups",
        name: "Age of the latest backup",
        ago: 95,
        schedule: MONDAYS,
        event: None,
        runs: Runs::Script(BACKUPS),
        proves: true,
        outside: true,
    },
    Row {
        key: "restored",
        task: "restore",
        name: "A restore was proven lately",
        ago: 160,
        schedule: Some("0 7 1 * *"),
        event: None,
        runs: Runs::Script(RESTORED),
        proves: false,
        outside: false,
    },
    Row {
        key: "new-vendor",
        task: "vendors",
        name: "New vendors are complete",
        ago: 125,
        schedule: None,
        event: Some("vendor.created"),
        runs: Runs::Script(NEW_VENDOR),
        proves: false,
        outside: false,
    },
];

/// Secrets used by the scripts. They grant access to nothing.
const SECRETS: &[(&str, i64)] =
    &[("GITHUB_TOKEN", 119), ("BACKUP_API_TOKEN", 96), ("DEVICE_MANAGER_KEY", 70)];

pub(crate) fn plan(plan: &mut Plan) {
    for (name, ago) in SECRETS {
        plan.on(*ago, move |story| keep_secret(story, name).boxed_local());
    }
    plan.on(119, |story| allow_hosts(story).boxed_local());
    for row in ROWS {
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
    let does = match row.runs {
        Runs::Check(name, parameters) => AutomationSource::Check {
            name: name.to_owned(),
            parameters: parameters().as_object().cloned().unwrap_or_default(),
        },
        Runs::Script(source) => AutomationSource::Script(text(source)?),
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
    if let Some(row) = ROWS.iter().find(|row| row.key == key) {
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
