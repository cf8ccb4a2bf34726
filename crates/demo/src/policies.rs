//! Policies of the programme: approved, published, signed by most members, and changed since.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::policies::{self, signing};
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::{SeePolicies, grant};
use attestry_domain::content::{Block, Body, Inline};
use attestry_domain::id::PolicyId;
use attestry_domain::policies::{Policy, PolicyPatch};
use futures_util::FutureExt;

use crate::people::{self, APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

/// The last event of a policy.
#[derive(Clone, Copy, Debug)]
enum Last {
    Nothing,
    /// Submitted for approval this many days ago.
    Submitted(i64),
    /// Rejected, with the reason.
    Denied(i64, &'static str),
    /// Edited, and not submitted yet.
    Edited(i64, &'static str),
}

struct Row {
    key: &'static str,
    /// The name of its template.
    name: &'static str,
    keeper: &'static str,
    ago: i64,
    /// The days on which versions were published; each after the first adds a paragraph.
    published: &'static [(i64, &'static str)],
    /// The number of members out of ten who sign.
    share: usize,
    last: Last,
}

macro_rules! policies {
    ($($key:literal $name:literal $keeper:ident $ago:literal [$($when:literal $change:literal)*] $share:literal
        $last:expr;)*) => {
        const ROWS: &[Row] = &[$(Row {
            key: $key,
            name: $name,
            keeper: stringify!($keeper),
            ago: $ago,
            published: &[$(($when, $change)),*],
            share: $share,
            last: $last,
        }),*];
    };
}

policies! {
    "security" "Information Security Policy" ingrid 350
    [338 "" 104 "Robots at customers’ sites and the gateways beside them are part of the scope since the opening of the second plant."]
    9 Last::Nothing;
    "access" "Access Control Policy" rafael 346 [331 ""] 8 Last::Nothing;
    "use" "Acceptable Use Policy" claire 341 [322 ""] 7 Last::Nothing;
    "incidents" "Incident Response Policy" ingrid 333 [311 ""] 7 Last::Nothing;
    "backups" "Backup and Recovery Policy" yuki 315
    [289 "" 71 "A restore of the fleet database is proven each quarter, and takes no longer than eight hours."]
    6 Last::Nothing;
    "vendors" "Vendor Management Policy" meiling 301 [270 ""] 5 Last::Nothing;
    "development" "Secure Development Policy" rafael 288
    [251 "" 17 "Models that plan routes are tested on recorded days before they are released, like any other code."]
    4 Last::Nothing;
    "privacy" "Privacy and Data Protection Policy" claire 262 [225 ""] 6
    Last::Edited(12, "Pictures of the yard cameras are deleted after seven days.");
    "people" "Human Resources Security Policy" liam 244 [214 ""] 6 Last::Nothing;
    "premises" "Physical Security Policy" erik 176 [139 ""] 3 Last::Nothing;
    "vulnerabilities" "Vulnerability Management Policy" priya 190 [160 ""] 5 Last::Nothing;
    "cryptography" "Cryptography Policy" priya 130 [] 0 Last::Submitted(5);
    "continuity" "Business Continuity Policy" yuki 88 [] 0 Last::Submitted(19);
    "remote" "Remote Work Policy" liam 58 [] 0
    Last::Denied(26, "Say what applies to work from other countries; payroll needs to know within a week.");
    "ai" "AI Use Policy" claire 27 [9 ""] 3 Last::Nothing;
}

/// The names of all policies of the table.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        for (number, (ago, change)) in row.published.iter().enumerate() {
            if number > 0 {
                plan.at(ago + 6, 9 * 60, move |story| edit(story, row, change).boxed_local());
            }
            plan.at(ago + 4, 10 * 60, move |story| submit(story, row).boxed_local());
            plan.at(*ago, 9 * 60, move |story| approve(story, row).boxed_local());
            signed(plan, place, row, number, *ago);
        }
        match row.last {
            Last::Nothing => {}
            Last::Submitted(ago) => plan.on(ago, move |story| submit(story, row).boxed_local()),
            Last::Denied(ago, why) => {
                plan.at(ago + 3, 9 * 60, move |story| submit(story, row).boxed_local());
                plan.at(ago, 14 * 60, move |story| deny(story, row, why).boxed_local());
            }
            Last::Edited(ago, change) => plan.on(ago, move |story| edit(story, row, change).boxed_local()),
        }
    }
}

/// Schedules the signatures of some members; members who have not joined yet cannot sign.
fn signed(plan: &mut Plan, place: usize, row: &'static Row, number: usize, ago: i64) {
    for (other, worker) in people::active().enumerate() {
        let signs = (place * 7 + other * 3 + number) % 10 < row.share;
        let after = i64::try_from((other * 5 + place) % 24).unwrap_or(0) + 1;
        if signs && ago > after && worker != people::AUDITOR {
            plan.on(ago - after, move |story| sign(story, row, worker).boxed_local());
        }
    }
}

/// Gives a policy of the programme to its keeper.
async fn add(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.programme.policies.get(row.name).copied();
    let id = id.with_context(|| format!("the programme has no {}", row.name))?;
    let patch =
        PolicyPatch { assignee_id: Patch::Value(story.member(row.keeper)?), ..PolicyPatch::default() };
    let scope = story.by::<grant::PolicyUpdate>(OWNER)?;
    registers::update::<Policy>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    story.policies.insert(row.key, id);
    Ok(())
}

/// Appends a paragraph.
async fn edit(story: &mut Story, row: &'static Row, change: &'static str) -> Result<()> {
    let (id, scope) = (story.policy(row.key)?, story.by::<grant::PolicyUpdate>(OWNER)?);
    let policy = registers::get::<Policy>(&story.ctx, &scope, id).await?;
    let mut content = policy.content.content().map_err(anyhow::Error::msg)?;
    content.0.push(Block::Paragraph(vec![Inline::plain(change)]));
    let patch = PolicyPatch { content: Some(Body::of(&content)?), ..PolicyPatch::default() };
    registers::update::<Policy>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}

async fn submit(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.policy(row.key)?;
    submit_one(story, id).await
}

async fn submit_one(story: &mut Story, id: PolicyId) -> Result<()> {
    let (approver, scope) = (story.member(APPROVER)?, story.by::<grant::PolicyUpdate>(OWNER)?);
    policies::submit_for_approval(&story.ctx, &scope, id, approver, Precondition::default()).await?;
    Ok(())
}

async fn approve(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.policy(row.key)?;
    approve_one(story, id).await
}

async fn approve_one(story: &mut Story, id: PolicyId) -> Result<()> {
    let scope = story.by::<grant::PolicyApprove>(APPROVER)?;
    policies::approve(&story.ctx, &scope, id, Precondition::default()).await?;
    Ok(())
}

/// Publishes a policy and has everybody who is there sign it.
pub(crate) async fn publish(story: &mut Story, id: PolicyId) -> Result<()> {
    submit_one(story, id).await?;
    approve_one(story, id).await?;
    for worker in people::active().filter(|worker| *worker != people::AUDITOR) {
        if story.is_there(worker) {
            signing::sign(&story.ctx, &story.by::<SeePolicies>(worker)?, id, None).await?;
        }
    }
    Ok(())
}

async fn deny(story: &mut Story, row: &'static Row, why: &'static str) -> Result<()> {
    let (id, scope) = (story.policy(row.key)?, story.by::<grant::PolicyApprove>(APPROVER)?);
    policies::deny(&story.ctx, &scope, id, text(why)?, Precondition::default()).await?;
    Ok(())
}

async fn sign(story: &mut Story, row: &'static Row, worker: &'static str) -> Result<()> {
    if story.is_there(worker) {
        let scope = story.by::<SeePolicies>(worker)?;
        signing::sign(&story.ctx, &scope, story.policy(row.key)?, None).await?;
    }
    Ok(())
}
