//! The rows of a statement, their gaps, and the comparison of two versions.

use attestry_app::soa::rows::{self, Compared, Row};
use attestry_domain::access::grant;
use attestry_domain::frameworks::controls::{Missing, Readiness};
use attestry_domain::frameworks::{Requirement, shipped};
use attestry_domain::id::{ControlId, MemberId, RequirementId, RiskId, SoaDocumentId, kind};
use attestry_domain::soa::{Gap, SoaAnswer};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::path::{IdAt, PathId};
use attestry_http::request::query::ValidQuery;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::views::{AnswerView, DocumentView, answer_example, document_example};
use crate::frameworks::readiness::MissingSchema;
use crate::registers::AsOfQuery;

type ReadinessSchema = SchemaOf<Readiness>;
type DocumentIdSchema = SchemaOf<SoaDocumentId>;

/// A question of the statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaQuestion, example = json!(question_example()))]
pub(crate) struct QuestionView {
    #[schema(value_type = String)]
    id: RequirementId,
    code: String,
    title: String,
    theme: String,
    objective: String,
}

impl From<&Requirement> for QuestionView {
    fn from(requirement: &Requirement) -> Self {
        let Requirement { id, code, title, theme, objective, .. } = requirement.clone();
        Self { id, code, title, theme, objective }
    }
}

fn question_example() -> Value {
    json!(shipped().first().and_then(|framework| framework.questions().next()).map(QuestionView::from))
}

/// A risk that the controls treat.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaRisk, example = json!({"id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "label": "R-3 Laptops are lost"}))]
pub(crate) struct RiskDriver {
    #[schema(value_type = String)]
    id: RiskId,
    /// Null if you may not see risks.
    #[schema(required)]
    label: Option<String>,
}

/// A control that meets the requirement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaControl, example = json!({"id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "label": "C-3 Disks are encrypted", "status": "ready"}))]
pub(crate) struct ControlDriver {
    #[schema(value_type = String)]
    id: ControlId,
    /// Null if you may not see controls.
    #[schema(required)]
    label: Option<String>,
    #[schema(schema_with = schema_of::<Readiness>)]
    status: Readiness,
}

/// The evidence of the tasks linked to the controls.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaEvidence, example = json!({"tasks": 2, "fresh": 1}))]
pub(crate) struct EvidenceDriver {
    /// The number of linked tasks.
    tasks: usize,
    /// The number of these tasks that are done and have fresh evidence.
    fresh: usize,
}

/// The drivers of a row.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaDrivers, example = json!(drivers_example()))]
pub(crate) struct Drivers {
    risks: Vec<RiskDriver>,
    /// A law or a contract that requires it.
    #[schema(required)]
    obligation: Option<String>,
    controls: Vec<ControlDriver>,
    evidence: EvidenceDriver,
    #[schema(required, value_type = Option<String>)]
    owner_id: Option<MemberId>,
}

fn drivers_example() -> Value {
    json!({
        "risks": [{"id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "label": "R-3 Laptops are lost"}], "obligation": null,
        "controls": [{"id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "label": "C-3 Disks are encrypted", "status": "ready"}],
        "evidence": {"tasks": 2, "fresh": 2}, "ownerId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"
    })
}

/// A question with its answer, drivers and gaps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaRow, example = json!(row_example()))]
pub(crate) struct RowView {
    question: QuestionView,
    #[schema(required)]
    answer: Option<AnswerView>,
    drivers: Drivers,
    #[schema(schema_with = schema_of::<Vec<Gap>>)]
    gaps: Vec<Gap>,
    /// The combined readiness of its controls, as shown for the controls and the framework; null if there are none.
    #[schema(required, value_type = Option<ReadinessSchema>, inline)]
    readiness: Option<Readiness>,
    /// The items that its controls lack before they are ready, regardless of the answer.
    #[schema(value_type = Vec<MissingSchema>, inline)]
    missing: Vec<Missing>,
}

fn row_example() -> Value {
    json!({"question": question_example(), "answer": answer_example(), "drivers": drivers_example(), "gaps": [], "readiness": "ready", "missing": []})
}

impl From<Row> for RowView {
    fn from(row: Row) -> Self {
        let answer = row.answer.as_ref();
        let drivers = Drivers {
            risks: row.risks.into_iter().map(|one| RiskDriver { id: one.id, label: one.label }).collect(),
            obligation: answer.and_then(|answer| answer.obligation.clone()),
            controls: row
                .controls
                .into_iter()
                .map(|one| ControlDriver { id: one.id, label: one.label, status: one.readiness })
                .collect(),
            evidence: EvidenceDriver { tasks: row.tasks, fresh: row.fresh },
            owner_id: answer.and_then(|answer| answer.owner_id),
        };
        Self {
            question: (&row.requirement).into(),
            answer: row.answer.map(Into::into),
            drivers,
            gaps: row.gaps,
            readiness: row.readiness,
            missing: row.missing,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaRows, example = json!({"document": document_example(), "rows": [row_example()]}))]
pub(crate) struct Rows {
    document: DocumentView,
    rows: Vec<RowView>,
}

/// Shows all rows of a statement of applicability
///
/// Each question in the order of the framework, with its answer, its drivers (risks, laws and contracts, controls,
/// evidence, owner) and its gaps. As of a point in time, the framework is the current one.
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}/rows", tag = "Statement of applicability", params(AsOfQuery),
    responses((status = 200, body = Rows, description = "The rows."))
)]
pub(crate) async fn list_soa_rows(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    id: PathId<kind::SoaDocument>,
    query: ValidQuery<AsOfQuery>,
) -> Result<Json<Rows>, Problem> {
    let (document, rows) = rows::all(&api.ctx, &scope, id.found()?, query.0.at).await?;
    Ok(Json(Rows { document: document.into(), rows: rows.into_iter().map(Into::into).collect() }))
}

/// The gaps of a row.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaGaps, example = json!({"questionId": question_example()["id"], "code": "5.1", "title": question_example()["title"], "gaps": ["owner"]}))]
pub(crate) struct RowGaps {
    #[schema(value_type = String)]
    question_id: RequirementId,
    code: String,
    title: String,
    #[schema(schema_with = schema_of::<Vec<Gap>>)]
    gaps: Vec<Gap>,
}

pub(super) fn gaps_of(rows: &[Row]) -> Vec<RowGaps> {
    let lacks = |row: &&Row| !row.gaps.is_empty();
    let gaps = |row: &Row| RowGaps {
        question_id: row.requirement.id,
        code: row.requirement.code.clone(),
        title: row.requirement.title.clone(),
        gaps: row.gaps.clone(),
    };
    rows.iter().filter(lacks).map(gaps).collect()
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaGapList, example = json!({"data": [{"questionId": question_example()["id"], "code": "5.1", "title": question_example()["title"], "gaps": ["owner"]}], "count": 1}))]
pub(crate) struct GapList {
    data: Vec<RowGaps>,
    count: usize,
}

/// Lists the rows of a statement of applicability that have gaps
///
/// A row has a gap if it lacks an answer that a person has confirmed; if it applies, also if it lacks a reason (a
/// risk, a law or a contract), a control, an owner or, when it is answered as implemented, fresh evidence.
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}/gaps", tag = "Statement of applicability",
    responses((status = 200, body = GapList, description = "The rows, in the order of the framework."))
)]
pub(crate) async fn list_soa_gaps(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    id: PathId<kind::SoaDocument>,
) -> Result<Json<GapList>, Problem> {
    let (_, rows) = rows::all(&api.ctx, &scope, id.found()?, None).await?;
    let data = gaps_of(&rows);
    Ok(Json(GapList { count: data.len(), data }))
}

attestry_domain::words! {
    /// The change of an answer between two versions.
    RowChange {
        Same = "same",
        Changed = "changed",
        Added = "added",
        Removed = "removed",
        /// It has no answer in either version.
        Unanswered = "unanswered",
    }
}

/// A question in two versions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaComparedRow, example = json!(compared_example()))]
pub(crate) struct ComparedRow {
    #[schema(value_type = String)]
    question_id: RequirementId,
    code: String,
    title: String,
    #[schema(schema_with = schema_of::<RowChange>)]
    change: RowChange,
    /// The fields in which the answers differ.
    fields: Vec<&'static str>,
    #[schema(required)]
    before: Option<AnswerView>,
    #[schema(required)]
    after: Option<AnswerView>,
}

fn compared_example() -> Value {
    let question = question_example();
    json!({
        "questionId": question["id"], "code": question["code"], "title": question["title"], "change": "added",
        "fields": [], "before": null, "after": answer_example()
    })
}

fn differing(before: &SoaAnswer, after: &SoaAnswer) -> Vec<&'static str> {
    let differs = [
        ("isApplicable", before.is_applicable != after.is_applicable),
        ("justification", before.justification != after.justification),
        ("implementationStatus", before.implementation_status != after.implementation_status),
        ("ownerId", before.owner_id != after.owner_id),
        ("obligation", before.obligation != after.obligation),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
}

impl From<Compared> for ComparedRow {
    fn from(row: Compared) -> Self {
        let fields = match (&row.before, &row.after) {
            (Some(before), Some(after)) => differing(before, after),
            _ => Vec::new(),
        };
        let change = match (&row.before, &row.after) {
            (None, None) => RowChange::Unanswered,
            (None, Some(_)) => RowChange::Added,
            (Some(_), None) => RowChange::Removed,
            (Some(_), Some(_)) if fields.is_empty() => RowChange::Same,
            (Some(_), Some(_)) => RowChange::Changed,
        };
        Self {
            question_id: row.requirement.id,
            code: row.requirement.code,
            title: row.requirement.title,
            change,
            fields,
            before: row.before.map(Into::into),
            after: row.after.map(Into::into),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaComparison, example = json!({"before": document_example(), "after": document_example(), "rows": [compared_example()]}))]
pub(crate) struct Comparison {
    before: DocumentView,
    after: DocumentView,
    rows: Vec<ComparedRow>,
}

/// Compares two statements of applicability row by row
///
/// Compares the content of the answers, not their authors or times.
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}/diff/{other}", tag = "Statement of applicability",
    params(
        ("id" = inline(DocumentIdSchema), Path, description = "The statement before."),
        ("other" = inline(DocumentIdSchema), Path, description = "The statement after."),
    ),
    responses(
        (status = 200, body = Comparison, description = "All rows, in the order of the framework."),
        (status = 409, description = "The statements are for different frameworks."),
    )
)]
pub(crate) async fn diff_soa_documents(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    before: IdAt<kind::SoaDocument, 0>,
    after: IdAt<kind::SoaDocument, 1>,
) -> Result<Json<Comparison>, Problem> {
    let ([before, after], rows) = rows::compare(&api.ctx, &scope, before.found()?, after.found()?).await?;
    let rows = rows.into_iter().map(Into::into).collect();
    Ok(Json(Comparison { before: before.into(), after: after.into(), rows }))
}
