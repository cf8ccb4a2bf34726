//! The statement of applicability: an approved first version, and a second one in progress.

use std::collections::HashMap;

use anyhow::{Context, Result};
use attestry_app::soa::answers::{self, AnswerInput};
use attestry_app::soa::{self, approval};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::id::{RequirementId, SoaDocumentId};
use attestry_domain::soa::ImplementationStatus;
use futures_util::FutureExt;
use serde::Deserialize;

use crate::controls::iso;
use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::Story;

/// The state of a control when the first version was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Then {
    Done,
    Begun,
    Open,
    /// Not applicable.
    Out,
}

use Then::{Begun, Done, Open, Out};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    code: &'static str,
    state: Then,
    words: &'static str,
}

/// A change in the second version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Improvement {
    ago: i64,
    code: &'static str,
    words: &'static str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Statement {
    answers: Vec<Row>,
    since: Vec<Improvement>,
    /// The controls not reviewed yet for the second version.
    unseen: Vec<&'static str>,
    /// The legal and contractual obligations, by the codes of the controls.
    obligations: HashMap<&'static str, &'static str>,
}

table!(STATEMENT: Statement = "statement");

pub(crate) fn plan(plan: &mut Plan) {
    for (place, row) in STATEMENT.answers.iter().enumerate() {
        let ago = 296 - i64::try_from(place / 8).unwrap_or(0);
        plan.on(ago, move |story| answer(story, row).boxed_local());
    }
    plan.at(282, 9 * 60, |story| submit(story).boxed_local());
    plan.at(279, 13 * 60, |story| approve(story).boxed_local());
    plan.at(52, 9 * 60, |story| begin_again(story).boxed_local());
    for one in &STATEMENT.since {
        plan.on(one.ago, move |story| change(story, one.code, one.words).boxed_local());
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

async fn answer(story: &mut Story, row: &'static Row) -> Result<()> {
    let Row { code, state: then, words } = *row;
    let id = statement(story).await?;
    let obligation = STATEMENT.obligations.get(code);
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
        obligation: obligation.map_or(Patch::Absent, |words| Patch::Value((*words).to_owned())),
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
    let is_seen = |code: &&str| code.starts_with(theme) && !STATEMENT.unseen.contains(code);
    let named: Result<Vec<_>> =
        STATEMENT.answers.iter().map(|row| row.code).filter(is_seen).map(question).collect();
    answers::confirm(&story.ctx, &story.by::<grant::SoaUpdate>(OWNER)?, id, Some(named?)).await?;
    Ok(())
}
