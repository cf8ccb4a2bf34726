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
use serde::Deserialize;

use crate::people::{self, APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

/// The last event of a policy: submitted for approval, denied with the reason, or edited and not submitted yet.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Last {
    Submitted(i64),
    Denied { ago: i64, words: &'static str },
    Edited { ago: i64, words: &'static str },
}

/// The publication of a version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    ago: i64,
    /// The paragraph that it adds.
    change: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    key: &'static str,
    /// The name of its template.
    name: &'static str,
    keeper: &'static str,
    ago: i64,
    published: Vec<Published>,
    /// The number of members out of ten who sign.
    share: usize,
    last: Option<Last>,
}

table!(ROWS: Vec<Row> = "policies");

/// The names of all policies of the table.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in ROWS.iter().enumerate() {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        for (number, Published { ago, change }) in row.published.iter().enumerate() {
            if let Some(change) = *change {
                plan.at(ago + 6, 9 * 60, move |story| edit(story, row, change).boxed_local());
            }
            plan.at(ago + 4, 10 * 60, move |story| submit(story, row).boxed_local());
            plan.at(*ago, 9 * 60, move |story| approve(story, row).boxed_local());
            signed(plan, place, row, number, *ago);
        }
        match row.last {
            None => {}
            Some(Last::Submitted(ago)) => plan.on(ago, move |story| submit(story, row).boxed_local()),
            Some(Last::Denied { ago, words }) => {
                plan.at(ago + 3, 9 * 60, move |story| submit(story, row).boxed_local());
                plan.at(ago, 14 * 60, move |story| deny(story, row, words).boxed_local());
            }
            Some(Last::Edited { ago, words }) => {
                plan.on(ago, move |story| edit(story, row, words).boxed_local());
            }
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
