//! The programme: planned for ISO/IEC 27001, extended by SOC 2 and the GDPR in the last quarter, and worked on week by week. The
//! tables of tasks and policies change what they name; everything else goes as planned.

use std::collections::HashSet;

use anyhow::{Context, Result};
use attestry_app::programme::{self, NewProgramme};
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::frameworks::controls::Control;
use attestry_domain::page::{Order, PageRequest};
use attestry_domain::programme::OwnerRole::{
    EngineeringLead, ItLead, Management, OfficeManager, PeopleLead, PrivacyLead, SecurityLead,
};
use attestry_domain::programme::progress::{Item, ItemKind};
use attestry_domain::programme::scope::Answers;
use attestry_domain::programme::{OwnerRole, Owners};
use attestry_domain::registers::{Register, Wanted};
use futures_util::FutureExt;
use serde_json::json;

use crate::controls::iso;
use crate::evidence::Kind;
use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};
use crate::{policies, tasks};

/// The start, in days before today.
pub(crate) const START: i64 = 354;
/// The days of the audits: the certificate is shown since, the report is due.
const CERTIFIED: i64 = 135;
const EXTENDED: i64 = 76;
const REPORT: i64 = -84;
/// From this day on, some work is left lying.
const BUSY: i64 = 20;

const OWNERS: &[(OwnerRole, &str)] = &[
    (Management, "amara"),
    (SecurityLead, OWNER),
    (EngineeringLead, APPROVER),
    (ItLead, "mateo"),
    (PeopleLead, "liam"),
    (PrivacyLead, "claire"),
    (OfficeManager, "meiling"),
];

pub(crate) fn plan(plan: &mut Plan) {
    plan.at(START, 6 * 60, |story| start(story, &["iso_27001"], CERTIFIED).boxed_local());
    plan.at(EXTENDED, 6 * 60, |story| start(story, &["iso_27001", "soc_2", "gdpr"], REPORT).boxed_local());
    for ago in (1..START - 7).rev().filter(|ago| ago % 7 == 1) {
        plan.at(ago, 14 * 60 + 20, |story| work(story).boxed_local());
    }
}

async fn start(story: &mut Story, aliases: &'static [&'static str], audit: i64) -> Result<()> {
    let scope = json!({
        "people": 140, "offices": 2, "remote_work": true, "own_servers": false, "cloud": true, "software": true,
        "outside_developers": false, "online_service": true, "ai": true, "personal_data": true,
        "customer_personal_data": true, "transfers": true, "special_cases": [], "us_health_data": "none",
        "soc2_categories": ["availability", "confidentiality"],
    });
    let scope = Answers::read(scope.as_object().context("an object")?)
        .map_err(|wrong| anyhow::anyhow!("the answers: {wrong:?}"))?;
    let mut owners = Owners::new();
    for (role, name) in OWNERS {
        owners.insert(*role, story.member(name)?);
    }
    let frameworks: Result<Vec<FrameworkName>> = aliases.iter().map(|alias| text(alias)).collect();
    let new = NewProgramme {
        frameworks: frameworks?,
        audit_date: Patch::Value(story.day(audit)),
        scope: Some(scope),
        owners: Some(owners),
        start: None,
    };
    let by = story.by::<grant::ProgrammeUpdate>(OWNER)?;
    let plan = programme::start(&story.ctx, &by, new).await?.plan;
    for task in plan.tasks {
        story.programme.tasks.extend(task.existing.map(|id| (task.template.title.as_str(), id)));
    }
    for policy in plan.policies {
        story.programme.policies.extend(policy.existing.map(|id| (policy.template.name, id)));
    }
    know_controls(story).await
}

/// Notes which control meets a requirement of ISO/IEC 27001.
async fn know_controls(story: &mut Story) -> Result<()> {
    let all = PageRequest {
        sort: <Control as Register>::Sort::default(),
        order: Order::Ascending,
        limit: u16::MAX,
        after: None,
    };
    let by = story.by::<grant::ControlRead>(OWNER)?;
    let found = registers::list::<Control>(&story.ctx, &by, &Wanted::default(), all, None).await?;
    for requirement in &iso()?.requirements {
        let control = found.items.iter().find(|control| control.requirement_ids.contains(requirement.id));
        if let Some(control) = control {
            story.controls.entry(requirement.code.as_str()).or_insert(control.id);
        }
    }
    Ok(())
}

/// Does what is due this week and not told elsewhere: publishes policies, completes tasks with their evidence.
async fn work(story: &mut Story) -> Result<()> {
    let told: HashSet<&str> = tasks::titles().chain(policies::names()).collect();
    let (day, is_busy) = (story.local_day(), story.local_day() > story.day(BUSY));
    let status = programme::status(&story.ctx, &story.by::<grant::ProgrammeRead>(OWNER)?).await?;
    let items = status.progress.weeks.into_iter().flat_map(|week| week.items);
    let is_due = |item: &Item| {
        // What recurs is done early in its period, so that its evidence stays fresh.
        let ahead = if item.recurs { 45 } else { 6 };
        let is_due = item.due.is_some_and(|due| due <= day.plus_days(ahead));
        let is_left = is_busy && item.title.len().is_multiple_of(5);
        is_due && !item.is_done && !item.is_blocked && !is_left && !told.contains(item.title.as_str())
    };
    let due: Vec<Item> = items.filter(is_due).collect();
    for item in due {
        match item.kind {
            ItemKind::Policy => policies::publish(story, text(&item.id)?).await?,
            ItemKind::Task => {
                let owner = item.assignee.and_then(|member| story.name_of(member));
                let owner = owner.with_context(|| format!("{} has no owner", item.title))?;
                let kinds = [Kind::Pdf, Kind::Csv, Kind::Json, Kind::Text, Kind::Png];
                let kind = kinds.get(item.title.len() % kinds.len()).copied().unwrap_or(Kind::Pdf);
                tasks::complete(story, text(&item.id)?, owner, kind, &stem(&item.title)).await?;
            }
        }
    }
    Ok(())
}

/// Derives the name of a file from the first words of a title.
fn stem(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.take(4).map(str::to_lowercase).collect::<Vec<_>>().join("-")
}
