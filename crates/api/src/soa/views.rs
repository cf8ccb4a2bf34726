//! The views of statements and answers.

use attestry_app::soa::SoaWithAnswers;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::frameworks::shipped;
use attestry_domain::id::{FrameworkId, MemberId, OrganizationId, RequirementId, SoaDocumentId};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::soa::{
    AnswerSource, AnswerState, ImplementationStatus, SoaAnswer, SoaDocument, SoaStatus,
};
use attestry_http::document::schemas::schema_of;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

pub(super) const ORGANIZATION: &str = "org_01jcqg3v5mefzr7d0a6w3k9x2b";
pub(super) const DOCUMENT: &str = "soa_doc_01jcqg3v5mefzr7d0a6w3k9x2b";
pub(super) const MEMBER: &str = "mem_01jcqg3v5mefzr7d0a6w3k9x2b";

/// A statement of applicability, without its answers.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(SoaDocument)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaDocument, example = json!(document_example()))]
pub(crate) struct DocumentView {
    #[schema(value_type = String)]
    id: SoaDocumentId,
    #[schema(value_type = String)]
    framework_id: FrameworkId,
    #[schema(value_type = String)]
    organization_id: OrganizationId,
    #[schema(value_type = i64)]
    version: VersionNumber,
    /// True if there is no later version for the framework. Only the latest version can be changed.
    is_latest: bool,
    #[schema(schema_with = schema_of::<SoaStatus>)]
    status: SoaStatus,
    total_questions: i64,
    /// The number of questions with an answer that a person has confirmed.
    answered_questions: i64,
    #[schema(required, value_type = Option<String>)]
    prepared_by: Option<MemberId>,
    #[schema(required, value_type = Option<String>)]
    approver_id: Option<MemberId>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    submitted_at: Option<Time>,
    #[schema(required, value_type = Option<String>)]
    submitted_by: Option<MemberId>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    approved_at: Option<Time>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    declined_at: Option<Time>,
    #[schema(required)]
    decline_reason: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    completed_at: Option<Time>,
    /// The SHA-256 of the approved content, as canonical JSON, in hexadecimal.
    #[schema(required)]
    content_hash: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

pub(super) fn document_example() -> Value {
    json!({
        "id": DOCUMENT, "frameworkId": shipped().first().map(|framework| framework.id),
        "organizationId": ORGANIZATION, "version": 1, "isLatest": true, "status": "in_progress",
        "totalQuestions": 93, "answeredQuestions": 1, "preparedBy": MEMBER, "approverId": null, "submittedAt": null, "submittedBy": null,
        "approvedAt": null, "declinedAt": null, "declineReason": null, "completedAt": null, "contentHash": null,
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

/// An answer.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(SoaAnswer)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaAnswer, example = json!(answer_example()))]
pub(crate) struct AnswerView {
    #[schema(value_type = String)]
    question_id: RequirementId,
    is_applicable: bool,
    #[schema(required)]
    justification: Option<String>,
    #[schema(required, schema_with = schema_of::<Option<ImplementationStatus>>)]
    implementation_status: Option<ImplementationStatus>,
    #[schema(required, value_type = Option<String>)]
    owner_id: Option<MemberId>,
    /// A law or a contract that requires the control.
    #[schema(required)]
    obligation: Option<String>,
    #[schema(schema_with = schema_of::<AnswerSource>)]
    source: AnswerSource,
    #[schema(schema_with = schema_of::<AnswerState>)]
    state: AnswerState,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
    #[schema(required, value_type = Option<String>)]
    updated_by: Option<MemberId>,
}

pub(super) fn question_example() -> Value {
    json!(shipped().first().and_then(|framework| framework.questions().next()).map(|question| question.id))
}

pub(super) fn answer_example() -> Value {
    json!({
        "questionId": question_example(), "isApplicable": true, "justification": "Customers ask for it.",
        "implementationStatus": "implemented", "ownerId": MEMBER, "obligation": null, "source": "person",
        "state": "confirmed", "updatedAt": "2026-11-15T09:30:00.000Z", "updatedBy": MEMBER
    })
}

/// A statement of applicability with its answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaStatement, example = json!(statement_example()))]
pub(crate) struct StatementView {
    #[serde(flatten)]
    document: DocumentView,
    answers: Vec<AnswerView>,
}

impl From<SoaWithAnswers> for StatementView {
    fn from(SoaWithAnswers { document, answers }: SoaWithAnswers) -> Self {
        Self { document: document.into(), answers: answers.into_iter().map(Into::into).collect() }
    }
}

pub(super) fn statement_example() -> Value {
    let mut example = document_example();
    example["answers"] = json!([answer_example()]);
    example
}
