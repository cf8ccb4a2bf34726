//! The rows of a statement: each question with its answer, the facts behind it, and its gaps; and the comparison of
//! two versions.

use std::collections::HashMap;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::frameworks::controls::{Missing, Readiness};
use attestry_domain::frameworks::{Framework, Requirement};
use attestry_domain::id::{ControlId, Kind, RequirementId, RiskId, SoaDocumentId, TaskId, kind};
use attestry_domain::registers::risks::Risk;
use attestry_domain::soa::{Gap, RowFacts, SoaAnswer, SoaDocument, gaps};

use super::{SoaWithAnswers, framework_of, load};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::history::{self, StateAsOf};
use crate::frameworks::readiness::Controls;
use crate::registers;

/// A control that meets a requirement.
#[derive(Clone, Debug)]
pub struct Meeting {
    pub id: ControlId,
    /// The label of the control; none if the caller has no access to controls.
    pub label: Option<String>,
    pub readiness: Readiness,
}

/// A risk that the controls treat.
#[derive(Clone, Debug)]
pub struct Treated {
    pub id: RiskId,
    /// The label of the risk; none if the caller has no access to risks.
    pub label: Option<String>,
}

/// A question, its answer, and the facts behind it.
#[derive(Clone, Debug)]
pub struct Row {
    pub requirement: Requirement,
    pub answer: Option<SoaAnswer>,
    pub controls: Vec<Meeting>,
    pub risks: Vec<Treated>,
    /// The number of tasks whose evidence proves it, and of those with fresh evidence.
    pub tasks: usize,
    pub fresh: usize,
    pub gaps: Vec<Gap>,
    /// The readiness of its controls together; none without a control.
    pub readiness: Option<Readiness>,
    /// The pieces that the controls lack, independent of the answer.
    pub missing: Vec<Missing>,
}

/// Data for rows, apart from the answers.
struct Around {
    controls: Controls,
    risks: HashMap<RiskId, String>,
    sees_controls: bool,
}

impl Around {
    async fn load(ctx: &Ctx, scope: &Scope, at: Option<Time>) -> Result<Self, Error> {
        let controls = Controls::load(ctx, scope, at).await?;
        let treats = controls.iter().any(|control| !control.risk_ids.is_empty());
        let mut risks = HashMap::new();
        if treats && scope.allows(Permission::RiskRead) {
            let all = match at {
                Some(at) => registers::all_at::<Risk>(ctx, scope, at).await?,
                None => {
                    let own = scope.clone();
                    ctx.db.read(async move |t| registers::all::<Risk>(t, &own).await).await?
                }
            };
            risks.extend(all.into_iter().map(|risk| (risk.id, risk.label())));
        }
        Ok(Self { controls, risks, sees_controls: scope.allows(Permission::ControlRead) })
    }

    fn row(&self, requirement: &Requirement, answer: Option<&SoaAnswer>) -> Row {
        let meeting = || self.controls.of(requirement.id).map(|(control, _)| control);
        let mut risks: Vec<RiskId> = meeting().flat_map(|control| control.risk_ids.iter()).collect();
        risks.sort_unstable();
        risks.dedup();
        let mut tasks: Vec<TaskId> = meeting().flat_map(|control| control.task_ids.iter()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let fresh = tasks.iter().filter(|task| self.controls.in_place.tasks.contains(task)).count();
        let controls: Vec<Meeting> = self
            .controls
            .of(requirement.id)
            .map(|(control, readiness)| Meeting {
                id: control.id,
                label: self.sees_controls.then(|| control.label()),
                readiness: readiness.status,
            })
            .collect();
        let missing = self.controls.missing(requirement.id);
        let behind = RowFacts { risks: risks.len(), controls: controls.len(), missing: &missing };
        Row {
            requirement: requirement.clone(),
            answer: answer.cloned(),
            gaps: gaps(answer, behind),
            readiness: self.controls.readiness(requirement.id),
            missing,
            controls,
            risks: risks.into_iter().map(|id| Treated { id, label: self.risks.get(&id).cloned() }).collect(),
            tasks: tasks.len(),
            fresh,
        }
    }

    fn rows(&self, framework: &Framework, answers: &[SoaAnswer]) -> Vec<Row> {
        let answers: HashMap<RequirementId, &SoaAnswer> =
            answers.iter().map(|answer| (answer.question_id, answer)).collect();
        framework.questions().map(|one| self.row(one, answers.get(&one.id).copied())).collect()
    }
}

/// A document and its answers as of a point in time.
async fn load_at(ctx: &Ctx, scope: &Scope, id: SoaDocumentId, at: Time) -> Result<SoaWithAnswers, Error> {
    let document = serde_json::from_str(&history::one_at(ctx, scope, id, at).await?)?;
    let answers = StateAsOf { kind: kind::SoaAnswer::PREFIX, at, read: |state| serde_json::from_str(state) };
    let mut answers: Vec<SoaAnswer> = answers.all(ctx, scope).await?;
    answers.retain(|answer| answer.document_id == id);
    Ok(SoaWithAnswers { document, answers })
}

/// All rows of a document, in the framework's order, as they are now or as of a point in time.
#[boxed]
pub async fn all(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    at: Option<Time>,
) -> Result<(SoaDocument, Vec<Row>), Error> {
    let past = match at {
        Some(at) => Some(load_at(ctx, scope, id, at).await?),
        None => None,
    };
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let statement = match past.clone() {
            Some(past) => past,
            None => load(t, &own, id).await?,
        };
        let framework = framework_of(t, &own, &statement.document).await?;
        Ok::<_, Error>((statement, framework))
    });
    let (SoaWithAnswers { document, answers }, framework) = found.await?;
    let rows = Around::load(ctx, scope, at).await?.rows(&framework, &answers);
    Ok((document, rows))
}

/// A question in two versions.
#[derive(Clone, Debug)]
pub struct Compared {
    pub requirement: Requirement,
    pub before: Option<SoaAnswer>,
    pub after: Option<SoaAnswer>,
}

/// Two documents for the same framework, question by question.
#[boxed]
pub async fn compare(
    ctx: &Ctx,
    scope: &Scope,
    before: SoaDocumentId,
    after: SoaDocumentId,
) -> Result<([SoaDocument; 2], Vec<Compared>), Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let (before, after) = (load(t, &own, before).await?, load(t, &own, after).await?);
        let framework = framework_of(t, &own, &after.document).await?;
        Ok::<_, Error>((before, after, framework))
    });
    let (before, after, framework) = found.await?;
    if before.document.framework_id != after.document.framework_id {
        return Err(Error::Conflict {
            code: "other_framework",
            message: "The statements are for different frameworks and cannot be compared.".to_owned(),
        });
    }
    let find = |statement: &SoaWithAnswers, question: RequirementId| {
        statement.answers.iter().find(|answer| answer.question_id == question).cloned()
    };
    let rows = framework.questions().map(|requirement| Compared {
        requirement: requirement.clone(),
        before: find(&before, requirement.id),
        after: find(&after, requirement.id),
    });
    let rows = rows.collect();
    Ok(([before.document, after.document], rows))
}
