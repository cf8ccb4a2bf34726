//! `/v1/soa`: statements of applicability.

use attestry_app::identity::confirmation;
use attestry_app::soa::answers::{self, AnswerInput};
use attestry_app::soa::{self, SoaFilter, approval, rows};
use attestry_domain::JsonSchema;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::frameworks::{FrameworkName, shipped};
use attestry_domain::id::{MemberId, OrganizationId, RequirementId, SoaConfigurationId, SoaDocumentId, kind};
use attestry_domain::soa::{Configuration, ImplementationStatus, Justification, SoaDocument, SoaStatus};
use attestry_domain::text::Text;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::{Granted, must_be_same_organization};
use attestry_http::request::json::FromJson;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::frameworks::RequirementIds;

pub(crate) mod exports;
pub(crate) mod filling;
pub(crate) mod statements;
mod views;

use statements::{RowGaps, gaps_of};
use views::{
    AnswerView, DOCUMENT, DocumentView, MEMBER, ORGANIZATION, StatementView, answer_example,
    document_example, question_example, statement_example,
};

/// The result of an operation on a statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaResult, example = json!({"success": true, "data": document_example()}))]
pub(crate) struct DocumentResult {
    success: bool,
    data: DocumentView,
}

fn done(document: SoaDocument) -> Json<DocumentResult> {
    Json(DocumentResult { success: true, data: document.into() })
}

body! {
    /// The framework that a statement is for.
    SoaFramework (Large) {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        framework_id "frameworkId": required FrameworkName = "The framework, by its id or alias.",
    }
    example json!({"organizationId": ORGANIZATION, "frameworkId": "iso_27001"})
}

/// The questions, and the latest statement.
#[derive(Debug, Serialize)]
pub(crate) struct SoaSetup {
    success: bool,
    configuration: Configuration,
    document: StatementView,
}

impl PartialSchema for SoaSetup {
    fn schema() -> RefOr<Schema> {
        let text = json!({"type": "string"});
        let nothing = json!({"type": "null", "description": "Answers belong to documents."});
        let question = json!({
            "type": "object", "required": ["id", "text", "columnMapping"],
            "properties": {
                "id": RequirementId::json_schema(), "text": text,
                "columnMapping": {
                    "type": "object",
                    "required": ["closure", "title", "control_objective", "isApplicable", "justification"],
                    "properties": {
                        "closure": {"type": "string", "description": "The control's number."}, "title": text,
                        "control_objective": text, "isApplicable": nothing, "justification": nothing
                    }
                }
            }
        });
        let mut example = shipped().first().map(|framework| Configuration::of(framework));
        if let Some(configuration) = &mut example {
            configuration.questions.truncate(1);
        }
        schema(json!({
            "type": "object", "required": ["success", "configuration", "document"],
            "properties": {
                "success": {"type": "boolean"},
                "configuration": {
                    "type": "object", "description": "The questions; the same for all organizations.",
                    "required": ["id", "frameworkId", "version", "isLatest", "columns", "questions"],
                    "properties": {
                        "id": SoaConfigurationId::json_schema(), "frameworkId": text,
                        "version": {"type": "integer"}, "isLatest": {"type": "boolean"},
                        "columns": {"type": "array", "items": {
                            "type": "object", "required": ["name", "type"],
                            "properties": {"name": text, "type": text}
                        }},
                        "questions": {"type": "array", "items": question}
                    }
                },
                "document": {"$ref": "#/components/schemas/SoaStatement"}
            },
            "example": {"success": true, "configuration": example, "document": statement_example()}
        }))
    }
}

impl ToSchema for SoaSetup {}

/// Prepares a statement of applicability for a framework
///
/// Returns the questions and the latest statement; creates the first one if there is none yet. Repeating the request
/// changes nothing.
#[utoipa::path(
    post, path = "/v1/soa/ensure-setup", tag = "Statement of applicability", request_body = SoaFramework,
    responses((status = 200, body = SoaSetup, description = "The questions, and the latest statement."))
)]
pub(crate) async fn ensure_soa_setup(
    api: State<Api>,
    scope: Granted<grant::SoaUpdate>,
    body: Valid<SoaFramework>,
) -> Result<Json<SoaSetup>, Problem> {
    let SoaFramework { organization_id, framework_id } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let (framework, statement) = soa::ensure(&api.ctx, &scope, framework_id).await?;
    let configuration = Configuration::of(&framework);
    Ok(Json(SoaSetup { success: true, configuration, document: statement.into() }))
}

/// A new statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaCreated, example = json!({"success": true, "data": statement_example()}))]
pub(crate) struct Created {
    success: bool,
    data: StatementView,
}

/// Creates the next version of a statement of applicability
///
/// It begins with the answers of the previous version, as proposals that a person has to confirm.
#[utoipa::path(
    post, path = "/v1/soa/create-document", tag = "Statement of applicability", request_body = SoaFramework,
    responses((status = 200, body = Created, description = "The new version."))
)]
pub(crate) async fn create_soa_document(
    api: State<Api>,
    scope: Granted<grant::SoaUpdate>,
    body: Valid<SoaFramework>,
) -> Result<Json<Created>, Problem> {
    let SoaFramework { organization_id, framework_id } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let statement = soa::create(&api.ctx, &scope, framework_id).await?;
    Ok(Json(Created { success: true, data: statement.into() }))
}

body! {
    /// An answer to a question.
    SaveSoaAnswer (Medium) {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
        question_id "questionId": required RequirementId = "The question.",
        is_applicable "isApplicable": required bool = "True if the control applies.",
        justification "justification": nullable Justification = "Why. Required when the control does not apply.",
        implementation_status "implementationStatus": nullable ImplementationStatus = "The state of the implementation.",
        owner_id "ownerId": nullable MemberId = "The active member who owns it.",
        obligation "obligation": nullable Justification = "A law or a contract that asks for it.",
    }
    example json!({
        "organizationId": ORGANIZATION, "documentId": DOCUMENT, "questionId": question_example(),
        "isApplicable": true, "justification": "Customers ask for it.", "implementationStatus": "implemented"
    })
}

/// A saved answer, and its statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaAnswerResult, example = json!({"success": true, "data": answer_example(), "document": document_example()}))]
pub(crate) struct AnswerResult {
    success: bool,
    data: AnswerView,
    document: DocumentView,
}

/// Answers a question of a statement of applicability
///
/// Fields that are left out stay as they are, unless `isApplicable` changes. Answering withdraws a submission, and
/// sets an approved or declined statement back to `in_progress`.
#[utoipa::path(
    post, path = "/v1/soa/save-answer", tag = "Statement of applicability", request_body = SaveSoaAnswer,
    responses(
        (status = 200, body = AnswerResult, description = "The answer, confirmed."),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "There is a later version."),
    )
)]
pub(crate) async fn save_soa_answer(
    api: State<Api>,
    scope: Granted<grant::SoaUpdate>,
    body: Valid<SaveSoaAnswer>,
) -> Result<Json<AnswerResult>, Problem> {
    let SaveSoaAnswer {
        organization_id,
        document_id,
        question_id,
        is_applicable,
        justification,
        implementation_status,
        owner_id,
        obligation,
    } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let text = |patch: Patch<Justification>| patch.map(|text| text.as_str().to_owned());
    let given = AnswerInput {
        question: question_id,
        is_applicable,
        justification: text(justification),
        implementation_status,
        owner: owner_id,
        obligation: text(obligation),
    };
    let (answer, document) = answers::save_one(&api.ctx, &scope, document_id, given).await?;
    Ok(Json(AnswerResult { success: true, data: answer.into(), document: document.into() }))
}

body! {
    /// The answers to confirm.
    ConfirmSoaAnswers (Medium) {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
        question_ids "questionIds": optional RequirementIds = "Only these; everything that is proposed, if it is left out.",
    }
    example json!({"organizationId": ORGANIZATION, "documentId": DOCUMENT})
}

/// The confirmed answers, and their statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaConfirmation, example = json!({"success": true, "data": [answer_example()], "document": document_example()}))]
pub(crate) struct Confirmation {
    success: bool,
    data: Vec<AnswerView>,
    document: DocumentView,
}

/// Confirms proposed answers
#[utoipa::path(
    post, path = "/v1/soa/confirm-answers", tag = "Statement of applicability", request_body = ConfirmSoaAnswers,
    responses(
        (status = 200, body = Confirmation, description = "The answers that were proposed until now."),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "There is a later version."),
    )
)]
pub(crate) async fn confirm_soa_answers(
    api: State<Api>,
    scope: Granted<grant::SoaUpdate>,
    body: Valid<ConfirmSoaAnswers>,
) -> Result<Json<Confirmation>, Problem> {
    let ConfirmSoaAnswers { organization_id, document_id, question_ids } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let named = question_ids.map(|ids| ids.0);
    let (confirmed, document) = answers::confirm(&api.ctx, &scope, document_id, named).await?;
    let data = confirmed.into_iter().map(Into::into).collect();
    Ok(Json(Confirmation { success: true, data, document: document.into() }))
}

body! {
    /// The member who is asked to approve a statement.
    SubmitSoa {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
        approver_id "approverId": required MemberId = "An active owner or admin.",
    }
    example json!({"organizationId": ORGANIZATION, "documentId": DOCUMENT, "approverId": MEMBER})
}

/// A submitted statement, and its rows with gaps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SoaSubmission, example = json!({"success": true, "data": document_example(), "warnings": []}))]
pub(crate) struct Submission {
    success: bool,
    data: DocumentView,
    /// The rows that lack an owner, a reason, a control or evidence. They do not prevent the approval.
    warnings: Vec<RowGaps>,
}

/// Submits a statement of applicability for approval
#[utoipa::path(
    post, path = "/v1/soa/submit-for-approval", tag = "Statement of applicability", request_body = SubmitSoa,
    responses(
        (status = 200, body = Submission, description = "The statement, awaiting approval."),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "Questions are unanswered, or the statement is awaiting approval or approved already."),
    )
)]
pub(crate) async fn submit_soa(
    api: State<Api>,
    scope: Granted<grant::SoaUpdate>,
    body: Valid<SubmitSoa>,
) -> Result<Json<Submission>, Problem> {
    let SubmitSoa { organization_id, document_id, approver_id } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let document = soa::submit(&api.ctx, &scope, document_id, approver_id).await?;
    let (_, rows) = rows::all(&api.ctx, &scope, document_id, None).await?;
    Ok(Json(Submission { success: true, data: document.into(), warnings: gaps_of(&rows) }))
}

body! {
    /// A statement to approve.
    ApproveSoa {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
    }
    example json!({"organizationId": ORGANIZATION, "documentId": DOCUMENT})
}

/// Approves a statement of applicability, which freezes it
///
/// Only the member who was asked can do this. The approved content is stored with its files and their hashes.
#[utoipa::path(
    post, path = "/v1/soa/approve", tag = "Statement of applicability", request_body = ApproveSoa,
    responses(
        (status = 200, body = DocumentResult, description = "The statement, approved."),
        (status = 403, description = "You are not the approver, or entered your password more than ten minutes ago."),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "The statement is not awaiting approval, or was changed in the meantime."),
    )
)]
pub(crate) async fn approve_soa(
    api: State<Api>,
    scope: Granted<grant::SoaApprove>,
    body: Valid<ApproveSoa>,
) -> Result<Json<DocumentResult>, Problem> {
    let ApproveSoa { organization_id, document_id } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    Ok(done(approval::approve(&api.ctx, &scope, document_id, exports::tables).await?))
}

body! {
    /// A statement to decline, and the reason.
    DeclineSoa {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
        reason "reason": optional Text<1, 4_000> = "The required changes.",
    }
    example json!({"organizationId": ORGANIZATION, "documentId": DOCUMENT, "reason": "8.30 needs an owner."})
}

/// Declines a statement of applicability
///
/// Only the member who was asked can do this.
#[utoipa::path(
    post, path = "/v1/soa/decline", tag = "Statement of applicability", request_body = DeclineSoa,
    responses(
        (status = 200, body = DocumentResult, description = "The statement, declined."),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "The statement is not awaiting approval."),
    )
)]
pub(crate) async fn decline_soa(
    api: State<Api>,
    scope: Granted<grant::SoaApprove>,
    body: Valid<DeclineSoa>,
) -> Result<Json<DocumentResult>, Problem> {
    let DeclineSoa { organization_id, document_id, reason } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let reason = reason.map(|reason| reason.as_str().to_owned());
    Ok(done(soa::decline(&api.ctx, &scope, document_id, reason).await?))
}

page_of! {
    pub(crate) DocumentList = DocumentView, "SoaDocumentList", document_example()
}

#[derive(Debug)]
pub(crate) struct ListDocuments {
    by_id: ById,
    framework: Option<FrameworkName>,
    status: Option<SoaStatus>,
}

impl FromQuery for ListDocuments {
    fn read(query: &mut Query) -> Self {
        Self { by_id: ById::read(query), framework: query.get("frameworkId"), status: query.get("status") }
    }
}

impl IntoParams for ListDocuments {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = ById::into_params(place);
        let framework = <FrameworkName as FromJson>::schema();
        all.push(lists::parameter(
            "frameworkId",
            framework,
            "Only statements for this framework, by its id or alias.",
        ));
        all.push(lists::parameter("status", schema_of::<SoaStatus>(), "Only statements with this status."));
        all
    }
}

/// Lists the statements of applicability
#[utoipa::path(
    get, path = "/v1/soa/documents", tag = "Statement of applicability", params(ListDocuments),
    responses((status = 200, body = DocumentList, description = "The statements, newest first, without their answers."))
)]
pub(crate) async fn list_soa_documents(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    query: ValidQuery<ListDocuments>,
) -> Result<Json<DocumentList>, Problem> {
    let ValidQuery(ListDocuments { by_id: ById { limit, after, total }, framework, status }) = query;
    let framework = match framework {
        None => None,
        Some(name) => match attestry_app::frameworks::get(&api.ctx, &scope, name).await {
            Ok(framework) => Some(framework.id),
            // An unknown framework has no statements.
            Err(attestry_app::Error::NotFound(_)) => {
                let none = DocumentList::new(Vec::<DocumentView>::new(), None, total.then_some(0));
                return Ok(Json(none));
            }
            Err(error) => return Err(error.into()),
        },
    };
    let wanted = SoaFilter { framework, status };
    let page = soa::list(&api.ctx, &scope, wanted, limit, after).await?;
    let total = if total { Some(soa::count(&api.ctx, &scope, wanted).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

/// Shows a statement of applicability with its answers
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}", tag = "Statement of applicability",
    responses((status = 200, body = StatementView, description = "The statement."))
)]
pub(crate) async fn get_soa_document(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    id: PathId<kind::SoaDocument>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let statement = soa::get(&api.ctx, &scope, id.found()?).await?;
    let revision = statement.document.revision;
    Ok(conditions.respond(&[revision], StatementView::from(statement)))
}
