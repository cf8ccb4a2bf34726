//! The statement of applicability: an approved first version, and a second one in progress.

use anyhow::{Context, Result};
use attestry_app::soa::answers::{self, AnswerInput};
use attestry_app::soa::{self, approval};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::id::{RequirementId, SoaDocumentId};
use attestry_domain::soa::ImplementationStatus;
use futures_util::FutureExt;

use crate::controls::iso;
use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::Story;

/// The state of a control when the first version was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Done,
    Begun,
    Open,
    /// Not applicable.
    Out,
}

use Then::{Begun, Done, Open, Out};

const ANSWERS: &[(&str, Then, &str)] = &[
    ("5.1", Done, "Policies are approved by management, published and signed by everybody."),
    ("5.2", Done, "Roles are described, and each has a deputy."),
    ("5.3", Begun, "Nobody releases firmware or pays invoices alone."),
    ("5.4", Done, "Leads answer for their teams; the management review looks at it once a year."),
    ("5.5", Done, "The on-call list names the authority, the police and the insurer."),
    ("5.6", Begun, "Membership in the national robotics group; exchange with two other makers."),
    ("5.7", Open, "Feeds about industrial control systems are to be read weekly."),
    ("5.8", Done, "Each project begins with a risk assessment."),
    ("5.9", Begun, "Devices are known to the manager, information to the register."),
    ("5.10", Done, "The policy is signed by everybody."),
    ("5.11", Done, "Equipment is handed back on the last day, against a list."),
    ("5.12", Begun, "Three classes; site plans of customers are in the highest."),
    ("5.13", Open, "Documents get their class in the footer."),
    ("5.14", Begun, "Plans of sites are shared through the document store alone."),
    ("5.15", Done, "Access follows from the role, and is reviewed each quarter."),
    ("5.16", Done, "One identity for each person, from the first day to the last."),
    ("5.17", Done, "Password manager and second factor for all."),
    ("5.18", Begun, "Rights are given by request, reviewed, and taken when somebody leaves."),
    ("5.19", Begun, "Vendors are assessed before they are used."),
    ("5.20", Begun, "Contracts have clauses about security, data and audits."),
    ("5.21", Open, "Parts that matter for safety have a second source."),
    ("5.22", Begun, "Important vendors are looked at once a year."),
    ("5.23", Done, "Cloud services are chosen, set up and left by a checklist."),
    ("5.24", Done, "The plan names who decides, and was tried at the table."),
    ("5.25", Begun, "Events are sorted within an hour by whoever is on duty."),
    ("5.26", Begun, "Each incident has a lead and a log."),
    ("5.27", Begun, "What was learned becomes a task."),
    ("5.28", Open, "Logs are copied and sealed when an incident may become a case."),
    ("5.29", Begun, "Robots go on for two hours without fleet control."),
    ("5.30", Begun, "Restores are tried; the warm standby is tested twice a year."),
    ("5.31", Begun, "The register of duties is kept by legal."),
    ("5.32", Done, "Licences are checked in the build."),
    ("5.33", Done, "Records are kept for ten years, protected from change."),
    ("5.34", Begun, "Cameras blur people on the robot; deletion is checked once a year."),
    ("5.35", Begun, "Internal audit and an independent test once a year."),
    ("5.36", Done, "Leads check twice a year whether rules are kept."),
    ("5.37", Done, "Runbooks stand beside the systems they are about."),
    ("6.1", Done, "References and, where the law allows it, records are checked before the first day."),
    ("6.2", Done, "Contracts name the duties, also those after the end."),
    ("6.3", Begun, "Course in the first week and once a year; a phishing exercise each autumn."),
    ("6.4", Done, "Described in the code of conduct and agreed with the works council."),
    ("6.5", Done, "Leavers sign what goes on to bind them."),
    ("6.6", Done, "Part of all contracts; visitors to the hall sign at the door."),
    ("6.7", Begun, "Managed devices, no work in public on plans of sites."),
    ("6.8", Done, "One address and one button for everything that looks odd."),
    ("7.1", Done, "Fence, doors and walls of both halls."),
    ("7.2", Begun, "Badges; visitors are accompanied."),
    ("7.3", Done, "Server room and lab have locks of their own."),
    ("7.4", Begun, "Cameras at gates, alarm at night."),
    ("7.5", Begun, "Fire detection, battery store outside the hall, flood doors."),
    ("7.6", Out, "No work is done in areas whose purpose must stay secret."),
    ("7.7", Begun, "Screens lock by themselves; plans are not left on desks."),
    ("7.8", Done, "Line controllers stand in cabinets, away from the doors."),
    ("7.9", Done, "Laptops and test robots outside are encrypted and listed."),
    ("7.10", Begun, "Portable disks are encrypted and few."),
    ("7.11", Begun, "Batteries for the server room; the hall may stand still."),
    ("7.12", Out, "The cables in both buildings belong to the landlords, and nothing on them is readable."),
    ("7.13", Done, "Maintained by the makers’ plans."),
    ("7.14", Begun, "Disks are erased or shredded, with a record for each."),
    ("8.1", Done, "All devices are managed and encrypted."),
    ("8.2", Begun, "Few, named, with a second factor, reviewed."),
    ("8.3", Begun, "Customers’ data by customer and by ticket."),
    ("8.4", Done, "Repositories by team; writing needs a review."),
    ("8.5", Done, "Single sign-on with a second factor."),
    ("8.6", Done, "Measured per site; more is added before it is needed."),
    ("8.7", Begun, "Agent on all computers; line controllers are set apart."),
    ("8.8", Begun, "Scans monthly; critical flaws are mended within 14 days."),
    ("8.9", Begun, "Servers are built from code; drift is seen."),
    ("8.10", Begun, "Recordings are deleted after 90 days."),
    ("8.11", Begun, "Recordings are masked before engineers see them."),
    ("8.12", Open, "Rules in the browser and the mail gateway."),
    ("8.13", Done, "Nightly, in two places, restored into a test cluster."),
    ("8.14", Begun, "Warm standby in a second region."),
    ("8.15", Done, "All systems, kept for a year."),
    ("8.16", Begun, "Alarms reach whoever is on duty."),
    ("8.17", Done, "Two time servers for robots and servers alike."),
    ("8.18", Begun, "Tools that pass by controls are listed and logged."),
    ("8.19", Begun, "Only what is signed and released is installed."),
    ("8.20", Begun, "Rules are reviewed each quarter."),
    ("8.21", Begun, "Lines to sites are encrypted; old gateways are being replaced."),
    ("8.22", Done, "Office, guests, plant and test hall are separate."),
    ("8.23", Begun, "Known bad addresses are blocked."),
    ("8.24", Begun, "TLS everywhere; the keys of firmware are in a hardware module."),
    ("8.25", Done, "From design to release, with a review at each step."),
    ("8.26", Begun, "Requirements are written before code is."),
    ("8.27", Begun, "Principles for robots: fail safe, least privilege, two channels."),
    ("8.28", Done, "Rules for each language, checked by tools."),
    ("8.29", Begun, "Tests in the build, a penetration test once a year."),
    ("8.30", Out, "No development is outsourced."),
    ("8.31", Done, "Own accounts for test and production."),
    ("8.32", Done, "Each change has a request, a review and a way back."),
    ("8.33", Begun, "No real recordings in tests unless they are masked."),
    ("8.34", Done, "Audits read; tests that write are agreed on before."),
];

/// Changes in the second version.
const SINCE: &[(i64, &str, &str)] = &[
    (47, "5.3", "Firmware is released by two people since the key moved into the hardware module."),
    (46, "5.9", "The inventory is reconciled each quarter."),
    (45, "5.18", "Access reviews were on time in all four quarters."),
    (44, "5.26", "Two incidents were handled by the plan; both logs are kept."),
    (40, "5.30", "The last restore took six and a half hours."),
    (39, "5.34", "The policy was published, and deletion was checked in spring."),
    (33, "7.4", "Cameras are looked at weekly since the doors were changed."),
    (31, "8.8", "Scans were on time eleven months in a row."),
    (26, "8.29", "The penetration test found two flaws of medium weight; both are mended."),
    (18, "8.24", "The check of certificates runs every Monday."),
];

/// Controls not reviewed yet for the second version.
const UNSEEN: &[&str] = &[
    "5.6", "5.7", "5.12", "5.13", "5.21", "5.28", "5.31", "5.33", "6.4", "7.6", "7.8", "7.10", "7.12",
    "7.13", "8.6", "8.11", "8.12", "8.17", "8.18", "8.23", "8.30", "8.33", "8.34",
];

/// Legal and contractual obligations.
const OBLIGATIONS: &[(&str, &str)] = &[
    ("5.5", "GDPR, article 33"),
    ("5.20", "GDPR, article 28"),
    ("5.31", "Machinery regulation (EU) 2023/1230"),
    ("5.34", "GDPR"),
    ("8.8", "Cyber Resilience Act (EU) 2024/2847"),
    ("8.13", "Contracts with customers, clause 9"),
];

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ANSWERS.iter().enumerate() {
        let ago = 296 - i64::try_from(place / 8).unwrap_or(0);
        plan.on(ago, move |story| answer(story, row).boxed_local());
    }
    plan.at(282, 9 * 60, |story| submit(story).boxed_local());
    plan.at(279, 13 * 60, |story| approve(story).boxed_local());
    plan.at(52, 9 * 60, |story| begin_again(story).boxed_local());
    for (ago, code, words) in SINCE {
        plan.on(*ago, move |story| change(story, code, words).boxed_local());
    }
    for (ago, theme) in [(49, "5."), (41, "6."), (34, "7."), (15, "8.")] {
        plan.at(ago, 15 * 60, move |story| confirm(story, theme).boxed_local());
    }
}

fn question(code: &str) -> Result<RequirementId> {
    let found = iso()?.requirements.iter().find(|one| one.code == code);
    Ok(found.with_context(|| format!("there is no {code}"))?.id)
}

/// The current document; created on first use.
async fn statement(story: &mut Story) -> Result<SoaDocumentId> {
    if let Some(id) = story.statement {
        return Ok(id);
    }
    let scope = story.by::<grant::SoaUpdate>(OWNER)?;
    let (_, made) = soa::ensure(&story.ctx, &scope, FrameworkName::Id(iso()?.id)).await?;
    story.statement = Some(made.document.id);
    Ok(made.document.id)
}

fn owner(code: &str) -> Option<&'static str> {
    match code.split_once('.')? {
        // These have no owner yet.
        ("5", "7" | "13" | "28") | ("8", "12" | "18") => None,
        ("5", _) => Some(OWNER),
        ("6", _) => Some("liam"),
        ("7", _) => Some("jonas"),
        _ => Some(APPROVER),
    }
}

async fn answer(story: &mut Story, row: &'static (&'static str, Then, &'static str)) -> Result<()> {
    let (code, then, words) = *row;
    let id = statement(story).await?;
    let obligation = OBLIGATIONS.iter().find(|(known, _)| *known == code);
    let given = AnswerInput {
        question: question(code)?,
        is_applicable: then != Out,
        justification: Patch::Value(words.to_owned()),
        implementation_status: match then {
            Done => Patch::Value(ImplementationStatus::Implemented),
            Begun => Patch::Value(ImplementationStatus::InProgress),
            Open => Patch::Value(ImplementationStatus::NotStarted),
            Out => Patch::Absent,
        },
        owner: match owner(code).filter(|_| then != Out) {
            Some(owner) => Patch::Value(story.member(owner)?),
            None => Patch::Absent,
        },
        obligation: obligation.map_or(Patch::Absent, |(_, words)| Patch::Value((*words).to_owned())),
    };
    answers::save_one(&story.ctx, &story.by::<grant::SoaUpdate>(OWNER)?, id, given).await?;
    Ok(())
}

async fn submit(story: &mut Story) -> Result<()> {
    let (id, approver) = (statement(story).await?, story.member(APPROVER)?);
    soa::submit(&story.ctx, &story.by::<grant::SoaUpdate>(OWNER)?, id, approver).await?;
    Ok(())
}

async fn approve(story: &mut Story) -> Result<()> {
    let (id, scope) = (statement(story).await?, story.by::<grant::SoaApprove>(APPROVER)?);
    approval::approve(&story.ctx, &scope, id, story.tables).await?;
    Ok(())
}

async fn begin_again(story: &mut Story) -> Result<()> {
    let scope = story.by::<grant::SoaUpdate>(OWNER)?;
    let made = soa::create(&story.ctx, &scope, FrameworkName::Id(iso()?.id)).await?;
    story.statement = Some(made.document.id);
    Ok(())
}

/// Records an improvement since the first version.
async fn change(story: &mut Story, code: &'static str, words: &'static str) -> Result<()> {
    let id = statement(story).await?;
    let given = AnswerInput {
        question: question(code)?,
        is_applicable: true,
        justification: Patch::Value(words.to_owned()),
        implementation_status: Patch::Value(ImplementationStatus::Implemented),
        owner: Patch::Absent,
        obligation: Patch::Absent,
    };
    answers::save_one(&story.ctx, &story.by::<grant::SoaUpdate>(OWNER)?, id, given).await?;
    Ok(())
}

/// Confirms the unchanged answers of a theme.
async fn confirm(story: &mut Story, theme: &'static str) -> Result<()> {
    let id = statement(story).await?;
    let is_seen = |code: &&str| code.starts_with(theme) && !UNSEEN.contains(code);
    let named: Result<Vec<_>> =
        ANSWERS.iter().map(|(code, ..)| *code).filter(is_seen).map(question).collect();
    answers::confirm(&story.ctx, &story.by::<grant::SoaUpdate>(OWNER)?, id, Some(named?)).await?;
    Ok(())
}
