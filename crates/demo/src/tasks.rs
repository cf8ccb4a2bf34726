//! Tasks and their evidence: most are on time, some are late, some are pending.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::files::attachments::{self, Target};
use attestry_app::{registers, tasks};
use attestry_domain::Patch;
use attestry_domain::access::{ChangeTasks, SeeTasks, grant};
use attestry_domain::registers::subjects::Subject;
use attestry_domain::tasks::TaskStatus::{Blocked, Done, InProgress};
use attestry_domain::tasks::templates::TemplateId;
use attestry_domain::tasks::{Task, TaskPatch, TaskStatus, templates as task_templates};
use attestry_domain::words::Department;
use futures_util::{FutureExt, stream};

use crate::evidence::{self, Kind};
use crate::people::{self, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

pub(crate) struct Row {
    pub(crate) key: &'static str,
    /// The title of a template, or a custom one.
    title: &'static str,
    assignee: &'static str,
    ago: i64,
    /// The number of days since the first due date; negative if it is in the future.
    due: i64,
    evidence: Kind,
    /// The days on which it was completed.
    done: &'static [i64],
    /// The last status change.
    last: Option<(i64, TaskStatus)>,
    /// The codes of the controls it proves.
    pub(crate) controls: &'static [&'static str],
}

macro_rules! tasks {
    ($($key:literal $title:literal $assignee:ident $ago:literal due $due:literal $evidence:ident
        [$($done:literal)*] $(then $last:ident $when:literal)? [$($control:literal)*];)*) => {
        pub(crate) const ROWS: &[Row] = &[$(Row {
            key: $key,
            title: $title,
            assignee: stringify!($assignee),
            ago: $ago,
            due: $due,
            evidence: Kind::$evidence,
            done: &[$($done),*],
            last: tasks!(@last $($last $when)?),
            controls: &[$($control),*],
        }),*];
    };
    (@last) => { None };
    (@last $last:ident $when:literal) => { Some(($when, $last)) };
}

tasks! {
    "access-review" "Review user access to every in-scope system" mateo 345 due 325 Csv [331 239 147 55] ["5.15" "5.18"];
    "leavers" "Confirm leavers lost access on time" liam 345 due 324 Text [330 238 146 54] ["5.18" "6.5"];
    "mfa" "Prove multi-factor authentication is enforced" priya 344 due 320 Png [325 233 141 49] ["5.17" "8.5"];
    "privileged" "Review administrator and other privileged accounts" priya 344 due 316 Csv [320 228] ["8.2"];
    "production" "Review who has access to production" yuki 343 due 312 Json [317 225 133 41] ["8.3" "5.3"];
    "branches" "Show branch protection on production repositories" tomasz 343 due 110 Json [] ["8.4" "8.25"];
    "code-review" "Sample merged changes for independent code review" tomasz 342 due 296 Pdf [300 208 116 24] ["8.28" "8.29"];
    "scans" "Run vulnerability scans and follow up on the results" priya 342 due 305 Json [310 279 248 217 186 155 124 93 62 30 6] ["8.8"];
    "pentest" "Commission an independent penetration test" priya 340 due 290 Pdf [296] ["8.29" "5.35"];
    "patches" "Check that servers and laptops are patched on time" mateo 340 due 300 Csv [305 273 241 209 177 145 113 81] ["8.19" "8.9"];
    "libraries" "Review known flaws in third-party code libraries" tomasz 339 due 300 Json [304 272 240 208 176 144 112 80 48 12] ["8.8" "8.26"];
    "backups" "Check that backups ran and failures were fixed" yuki 338 due 90 Json [] ["8.13"];
    "restore" "Restore a backup and check the data" yuki 338 due 286 Pdf [290 198 106 14] ["8.13" "5.30"];
    "disaster" "Run a disaster recovery exercise" yuki 336 due -25 Pdf [] then InProgress 9 ["5.29" "8.14"];
    "tabletop" "Run a security incident tabletop exercise" ingrid 335 due 255 Pdf [260] ["5.24" "5.26"];
    "incidents" "Review the incident register" mateo 334 due 280 Text [285 193 101 9] ["5.25" "5.27"];
    "logs" "Check that security logs are collected and kept" yuki 333 due 236 Json [240 148 56] ["8.15" "8.16"];
    "certificates" "Check TLS settings and certificate expiry" yuki 332 due 195 Json [] ["8.24" "8.20"];
    "domain" "Review domain and e-mail authentication settings" mateo 331 due 210 Json [] ["5.14"];
    "firewall" "Review firewall and network rules" priya 330 due 275 Csv [280 187] ["8.20" "8.22"];
    "cloud" "Review cloud configuration against a baseline" noor 250 due 215 Json [220 188 156 124 92 60 28] then InProgress 3 ["5.23" "8.9"];
    "malware" "Check malware protection on company computers" mateo 328 due 240 Csv [244 212 180] then Blocked 20 ["8.7"];
    "laptops" "Confirm laptops are encrypted and lock by themselves" mateo 327 due 260 Png [265 173 81] ["8.1" "7.7"];
    "devices" "Reconcile the device inventory" samuel 140 due 125 Csv [130 38] ["5.9" "5.11"];
    "office" "Review office access and physical security" erik 300 due 215 Pdf [220] ["7.1" "7.2" "7.4"];
    "deletion" "Check that data is deleted when its time is up" claire 295 due 185 Text [190] ["8.10"];
    "vendors" "Review the security of important vendors" meiling 290 due 140 Pdf [150] ["5.19" "5.22"];
    "training" "Complete yearly security awareness training" liam 280 due 165 Csv [170] ["6.3" "C7.3"];
    "phishing" "Run a phishing exercise and follow up" liam 260 due 12 Pdf [] ["6.3" "6.8"];
    "management" "Hold the yearly management review" ingrid 250 due 115 Pdf [120] ["5.4" "5.35" "C9.3" "C5.1"];
    "audit" "Carry out the internal audit" sofia 200 due -18 Pdf [] then InProgress 30 ["5.36" "C9.2"];
    "assessment" "Carry out the yearly risk assessment" ingrid 352 due 330 Pdf [335] ["5.8" "C6.1" "C8.2"];
    "gateways" "Replace the gateways of version 3 at the last eleven sites" ana 84 due -60 Text [] then InProgress 40 ["8.21"];
    "portal-test" "Book a security test for the customer portal" priya 8 due 2 Text [] ["8.29"];
    "planner" "Write down the limits of the route planner for the works council" tomasz 22 due -4 Text [] ["5.34"];
    "transfer" "Write the transfer assessment for Tidewater Analytics" claire 60 due 15 Text [] then Blocked 14 ["5.34" "5.20"];
}

pub(crate) fn plan(plan: &mut Plan) {
    for row in ROWS {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        for ago in row.done {
            plan.on(*ago, move |story| finish(story, row).boxed_local());
        }
        if let Some((ago, status)) = row.last {
            plan.on(ago, move |story| set_status(story, row, status).boxed_local());
        }
    }
}

async fn add(story: &mut Story, row: &'static Row) -> Result<()> {
    let scope = story.by::<grant::TaskCreate>(OWNER)?;
    let assignee_id = Patch::Value(story.member(row.assignee)?);
    let due_date = Patch::Value(story.day(row.due));
    let template = task_templates::all().iter().find(|template| template.title == row.title);
    let id = match template {
        Some(template) => {
            let named = Some(vec![TemplateId::of(template)]);
            let made = tasks::from_templates(&story.ctx, &scope, named).await?;
            let made = made.first().context("the template was used already")?.id;
            let patch = TaskPatch { assignee_id, due_date, ..TaskPatch::default() };
            let scope = story.by::<ChangeTasks>(OWNER)?;
            registers::update::<Task>(&story.ctx, &scope, made, patch, Precondition::default()).await?;
            made
        }
        None => {
            let new = TaskPatch {
                title: Some(text(row.title)?),
                assignee_id,
                due_date,
                department: Patch::Value(Department::It),
                ..TaskPatch::default()
            };
            registers::create::<Task>(&story.ctx, &scope, new).await?.id
        }
    };
    story.tasks.insert(row.key, id);
    Ok(())
}

/// Attaches the evidence and completes the task, as its assignee.
async fn finish(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.task(row.key)?;
    let task = registers::get::<Task>(&story.ctx, &story.by::<SeeTasks>(row.assignee)?, id).await?;
    if task.status == Done {
        // Completed early: the current period is not over yet.
        set_status(story, row, InProgress).await?;
    }
    let (worker, day) = (people::named(row.assignee)?, story.local_day());
    let (file, content) = evidence::of(row.evidence, row.key, row.title, worker.name, day)?;
    let scope = story.by::<grant::AttachmentCreate>(row.assignee)?;
    let target = Target::new(Subject::Task, id);
    let content = stream::iter([Ok::<_, attestry_app::Error>(content)]);
    let stored = attachments::store(&story.ctx, &scope, target, file, content).await?;
    let stored = stored.with_effective_date(Some(day));
    attachments::create(&story.ctx, &scope, stored).await?;
    set_status(story, row, Done).await
}

async fn set_status(story: &mut Story, row: &'static Row, status: TaskStatus) -> Result<()> {
    let scope = story.by::<ChangeTasks>(row.assignee)?;
    let patch = tasks::with_status(status);
    registers::update::<Task>(&story.ctx, &scope, story.task(row.key)?, patch, Precondition::default())
        .await?;
    Ok(())
}
