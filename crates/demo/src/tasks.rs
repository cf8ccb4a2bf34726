//! Tasks and their evidence: most are on time, some are late, some are pending.

use anyhow::Result;
use attestry_app::core::precondition::Precondition;
use attestry_app::files::attachments::{self, Target};
use attestry_app::{registers, tasks};
use attestry_domain::Patch;
use attestry_domain::access::{ChangeTasks, SeeTasks, grant};
use attestry_domain::id::TaskId;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::tasks::TaskStatus::{Blocked, Done, InProgress};
use attestry_domain::tasks::{Task, TaskPatch, TaskStatus};
use attestry_domain::words::Department;
use futures_util::{FutureExt, stream};

use crate::evidence::{self, Kind};
use crate::people::{self, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

struct Row {
    key: &'static str,
    /// The title of a task of the programme, or a custom one.
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
}

macro_rules! tasks {
    ($($key:literal $title:literal $assignee:ident $ago:literal due $due:literal $evidence:ident
        [$($done:literal)*] $(then $last:ident $when:literal)?;)*) => {
        const ROWS: &[Row] = &[$(Row {
            key: $key,
            title: $title,
            assignee: stringify!($assignee),
            ago: $ago,
            due: $due,
            evidence: Kind::$evidence,
            done: &[$($done),*],
            last: tasks!(@last $($last $when)?),
        }),*];
    };
    (@last) => { None };
    (@last $last:ident $when:literal) => { Some(($when, $last)) };
}

tasks! {
    "access-review" "Review user access to every in-scope system" mateo 345 due 325 Csv [331 239 147 55];
    "leavers" "Confirm leavers lost access on time" liam 345 due 324 Text [330 238 146 54];
    "mfa" "Prove multi-factor authentication is enforced" priya 344 due 320 Png [325 233 141 49];
    "privileged" "Review administrator and other privileged accounts" priya 344 due 316 Csv [320 228];
    "production" "Review who has access to production" yuki 343 due 312 Json [317 225 133 41];
    "branches" "Show branch protection on production repositories" tomasz 343 due 110 Json [];
    "code-review" "Sample merged changes for independent code review" tomasz 342 due 296 Pdf [300 208 116 24];
    "scans" "Run vulnerability scans and follow up on the results" priya 342 due 305 Json [310 279 248 217 186 155 124 93 62 30 6];
    "pentest" "Commission an independent penetration test" priya 340 due 290 Pdf [296];
    "patches" "Check that servers and laptops are patched on time" mateo 340 due 300 Csv [305 273 241 209 177 145 113 81];
    "libraries" "Review known flaws in third-party code libraries" tomasz 339 due 300 Json [304 272 240 208 176 144 112 80 48 12];
    "backups" "Check that backups ran and failures were fixed" yuki 338 due 90 Json [];
    "restore" "Restore a backup and check the data" yuki 338 due 286 Pdf [290 198 106 14];
    "disaster" "Run a disaster recovery exercise" yuki 336 due -25 Pdf [] then InProgress 9;
    "tabletop" "Run a security incident tabletop exercise" ingrid 335 due 255 Pdf [260];
    "incidents" "Review the incident register" mateo 334 due 280 Text [285 193 101 9];
    "logs" "Check that security logs are collected and kept" yuki 333 due 236 Json [240 148 56];
    "certificates" "Check TLS settings and certificate expiry" yuki 332 due 195 Json [];
    "domain" "Review domain and e-mail authentication settings" mateo 331 due 210 Json [];
    "firewall" "Review firewall and network rules" priya 330 due 275 Csv [280 187];
    "cloud" "Review cloud configuration against a baseline" noor 250 due 215 Json [220 188 156 124 92 60 28] then InProgress 3;
    "malware" "Check malware protection on company computers" mateo 328 due 240 Csv [244 212 180] then Blocked 20;
    "laptops" "Confirm laptops are encrypted and lock by themselves" mateo 327 due 260 Png [265 173 81];
    "devices" "Reconcile the device inventory" samuel 140 due 125 Csv [130 38];
    "office" "Review office access and physical security" erik 300 due 215 Pdf [220];
    "deletion" "Check that data is deleted when its time is up" claire 295 due 185 Text [190];
    "vendors" "Review the security of important vendors" meiling 290 due 140 Pdf [150];
    "training" "Complete yearly security awareness training" liam 280 due 165 Csv [170];
    "phishing" "Run a phishing exercise and follow up" liam 260 due 12 Pdf [11];
    "management" "Hold the yearly management review" ingrid 250 due 115 Pdf [120];
    "audit" "Carry out the internal audit" sofia 200 due -18 Pdf [] then InProgress 30;
    "assessment" "Carry out the yearly risk assessment" ingrid 352 due 330 Pdf [335];
    "gateways" "Replace the gateways of version 3 at the last eleven sites" ana 84 due -60 Text [] then InProgress 40;
    "portal-test" "Book a security test for the customer portal" priya 8 due 2 Text [];
    "planner" "Write down the limits of the route planner for the works council" tomasz 22 due -4 Text [];
    "transfer" "Write the transfer assessment for Tidewater Analytics" claire 60 due 15 Text [] then Blocked 14;
}

/// The titles of all tasks of the table.
pub(crate) fn titles() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.title)
}

pub(crate) fn plan(plan: &mut Plan) {
    for row in ROWS {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        for ago in row.done {
            plan.on(*ago, move |story| finish(story, row).boxed_local());
        }
        if let Some((ago, status)) = row.last {
            plan.on(ago, move |story| change_status(story, row, status).boxed_local());
        }
    }
}

async fn add(story: &mut Story, row: &'static Row) -> Result<()> {
    let scope = story.by::<grant::TaskCreate>(OWNER)?;
    let assignee_id = Patch::Value(story.member(row.assignee)?);
    let due_date = Patch::Value(story.day(row.due));
    let id = match story.programme.tasks.get(row.title) {
        Some(id) => {
            let patch = TaskPatch { assignee_id, due_date, ..TaskPatch::default() };
            let scope = story.by::<ChangeTasks>(OWNER)?;
            registers::update::<Task>(&story.ctx, &scope, *id, patch, Precondition::default()).await?;
            *id
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

async fn change_status(story: &mut Story, row: &'static Row, status: TaskStatus) -> Result<()> {
    let id = story.task(row.key)?;
    set_status(story, id, row.assignee, status).await
}

async fn finish(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.task(row.key)?;
    complete(story, id, row.assignee, row.evidence, row.key).await
}

/// Attaches the evidence and completes the task, as its assignee.
pub(crate) async fn complete(
    story: &mut Story,
    id: TaskId,
    assignee: &'static str,
    evidence: Kind,
    stem: &str,
) -> Result<()> {
    let task = registers::get::<Task>(&story.ctx, &story.by::<SeeTasks>(assignee)?, id).await?;
    if task.status == Done {
        // Completed early: the current period is not over yet.
        set_status(story, id, assignee, InProgress).await?;
    }
    let (worker, day) = (people::named(assignee)?, story.local_day());
    let (file, content) = evidence::of(evidence, stem, task.title.as_str(), worker.name, day)?;
    let scope = story.by::<grant::AttachmentCreate>(assignee)?;
    let target = Target::new(Subject::Task, id);
    let content = stream::iter([Ok::<_, attestry_app::Error>(content)]);
    let stored = attachments::store(&story.ctx, &scope, target, file, content).await?;
    let stored = stored.with_effective_date(Some(day));
    attachments::create(&story.ctx, &scope, stored).await?;
    set_status(story, id, assignee, Done).await
}

async fn set_status(story: &mut Story, id: TaskId, assignee: &'static str, status: TaskStatus) -> Result<()> {
    let scope = story.by::<ChangeTasks>(assignee)?;
    let patch = tasks::with_status(status);
    registers::update::<Task>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}
