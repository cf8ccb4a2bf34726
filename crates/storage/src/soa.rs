//! Statements of applicability, their answers and approvals.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{FrameworkId, MemberId, RequirementId, SoaAnswerId, SoaApprovalId, SoaDocumentId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::soa::{
    ImplementationStatus, SoaAnswer, SoaApproval, SoaDocument, SoaFormat, SoaSnapshot, SoaStatus,
};

use crate::sql::{Columns, by_id, id, number, opt_id, opt_time, page_params, read_page, time};

macro_rules! document {
    ($from:literal) => {
        concat!("SELECT id, framework_id, org_id, number, is_latest, status, total_questions, answered_questions, prepared_by, approver_id, submitted_at, approved_at, declined_at, decline_reason, completed_at, content_hash, created_at, updated_at, revision, submitted_by FROM soa_documents WHERE org_id = $1", $from)
    };
}

macro_rules! answer {
    ($from:literal) => {
        concat!("SELECT id, document_id, question_id, is_applicable, justification, implementation_status, owner_id, obligation, source, state, updated_at, updated_by FROM soa_answers WHERE org_id = $1", $from)
    };
}

macro_rules! approval {
    ($from:literal) => {
        concat!("SELECT id, document_id, framework_id, approver_id, approved_at, content_hash, content FROM soa_approvals WHERE org_id = $1", $from)
    };
}

statements! {
    INSERT = "INSERT INTO soa_documents (org_id, id, framework_id, number, is_latest, status, total_questions, answered_questions, prepared_by, approver_id, submitted_at, approved_at, declined_at, decline_reason, completed_at, content_hash, created_at, updated_at, revision, submitted_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
    UPDATE = "UPDATE soa_documents SET framework_id = $3, number = $4, is_latest = $5, status = $6, total_questions = $7, answered_questions = $8, prepared_by = $9, approver_id = $10, submitted_at = $11, approved_at = $12, declined_at = $13, decline_reason = $14, completed_at = $15, content_hash = $16, created_at = $17, updated_at = $18, revision = $19, submitted_by = $20 WHERE org_id = $1 AND id = $2";
    GET = document!(" AND id = $2");
    LOCK = document!(" AND id = $2 FOR UPDATE");
    LATEST = document!(" AND framework_id = $2 AND is_latest = TRUE");
    LOCK_LATEST = document!(" AND framework_id = $2 AND is_latest = TRUE FOR UPDATE");
    AWAITING = document!(" AND approver_id = $2 AND status = 'needs_review' ORDER BY id FOR UPDATE");
    COUNT = "SELECT COUNT(*) FROM soa_documents WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR framework_id = $2) AND (CAST($3 AS TEXT) IS NULL OR status = $3)";
    INSERT_ANSWER = "INSERT INTO soa_answers (org_id, id, document_id, question_id, is_applicable, justification, implementation_status, owner_id, obligation, source, state, updated_at, updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    UPDATE_ANSWER = "UPDATE soa_answers SET document_id = $3, question_id = $4, is_applicable = $5, justification = $6, implementation_status = $7, owner_id = $8, obligation = $9, source = $10, state = $11, updated_at = $12, updated_by = $13 WHERE org_id = $1 AND id = $2";
    DELETE_ANSWER = "DELETE FROM soa_answers WHERE org_id = $1 AND id = $2";
    ANSWER = answer!(" AND document_id = $2 AND question_id = $3");
    ANSWERS = answer!(" AND document_id = $2 ORDER BY question_id");
    OWNED = answer!(" AND owner_id = $2 AND document_id IN (SELECT id FROM soa_documents WHERE org_id = $1 AND is_latest = TRUE AND status <> 'approved') ORDER BY id FOR UPDATE");
    CONFIRMED = "SELECT COUNT(*) FROM soa_answers WHERE org_id = $1 AND document_id = $2 AND state = 'confirmed'";
    INSERT_APPROVAL = "INSERT INTO soa_approvals (org_id, id, document_id, framework_id, approver_id, approved_at, content_hash, content) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    APPROVALS = approval!(" AND document_id = $2 ORDER BY id DESC");
    APPROVED_AT = approval!(" AND framework_id = $2 AND approved_at <= $3 ORDER BY approved_at DESC, id DESC LIMIT 1");
    INSERT_FILE = "INSERT INTO soa_files (org_id, approval_id, format, sha256, content) VALUES ($1, $2, $3, $4, $5)";
    FILES = "SELECT approval_id, format, sha256 FROM soa_files WHERE org_id = $1 AND approval_id IN (SELECT id FROM soa_approvals WHERE org_id = $1 AND document_id = $2) ORDER BY approval_id, format";
    FILE = "SELECT content FROM soa_files WHERE org_id = $1 AND approval_id = $2 AND format = $3";
    USES_FRAMEWORK = "SELECT COUNT(*) FROM soa_documents WHERE org_id = $1 AND framework_id = $2";
    ;
    pages
    LIST = (document!(" AND (CAST($2 AS TEXT) IS NULL OR framework_id = $2) AND (CAST($3 AS TEXT) IS NULL OR status = $3)"), "id", None);
}

fn read(row: &Row<'_>) -> Result<SoaDocument, Error> {
    Ok(SoaDocument {
        id: row.parse(0)?,
        framework_id: row.parse(1)?,
        organization_id: row.parse(2)?,
        version: number(row, 3)?,
        is_latest: row.bool(4)?,
        status: row.parse(5)?,
        total_questions: row.int(6)?,
        answered_questions: row.int(7)?,
        prepared_by: row.opt_parse(8)?,
        approver_id: row.opt_parse(9)?,
        submitted_at: row.opt_time(10)?,
        approved_at: row.opt_time(11)?,
        declined_at: row.opt_time(12)?,
        decline_reason: row.opt_text(13)?,
        completed_at: row.opt_time(14)?,
        content_hash: row.opt_text(15)?,
        created_at: row.time(16)?,
        updated_at: row.time(17)?,
        revision: row.int(18)?,
        submitted_by: row.opt_parse(19)?,
    })
}

fn document_params<'a>(scope: &Scope, document: &'a SoaDocument) -> [Value<'a>; 20] {
    [
        id(scope.organization()),
        id(document.id),
        id(document.framework_id),
        Value::Int(document.version.get()),
        Value::Bool(document.is_latest),
        Value::from(document.status.as_str()),
        Value::Int(document.total_questions),
        Value::Int(document.answered_questions),
        opt_id(document.prepared_by),
        opt_id(document.approver_id),
        opt_time(document.submitted_at),
        opt_time(document.approved_at),
        opt_time(document.declined_at),
        Value::from(document.decline_reason.as_ref()),
        opt_time(document.completed_at),
        Value::from(document.content_hash.as_ref()),
        time(document.created_at),
        time(document.updated_at),
        Value::Int(document.revision),
        opt_id(document.submitted_by),
    ]
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, document: &SoaDocument) -> Result<(), Error> {
    t.execute(INSERT, &document_params(scope, document)).await.map(|_| ())
}

pub async fn update(t: &Tx<'_>, scope: &Scope, document: &SoaDocument) -> Result<(), Error> {
    t.execute(UPDATE, &document_params(scope, document)).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Option<SoaDocument>, Error> {
    t.opt(GET, &[id(scope.organization()), id(document)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Option<SoaDocument>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(document)], read).await
}

/// The latest version for a framework.
pub async fn latest(t: &Tx<'_>, scope: &Scope, framework: FrameworkId) -> Result<Option<SoaDocument>, Error> {
    t.opt(LATEST, &[id(scope.organization()), id(framework)], read).await
}

pub async fn lock_latest(
    t: &Tx<'_>,
    scope: &Scope,
    framework: FrameworkId,
) -> Result<Option<SoaDocument>, Error> {
    t.opt(LOCK_LATEST, &[id(scope.organization()), id(framework)], read).await
}

/// Locks and returns the documents that await a member's approval.
pub async fn lock_awaiting(t: &Tx<'_>, scope: &Scope, approver: MemberId) -> Result<Vec<SoaDocument>, Error> {
    t.all(AWAITING, &[id(scope.organization()), id(approver)], read).await
}

pub async fn uses_framework(t: &Tx<'_>, scope: &Scope, framework: FrameworkId) -> Result<bool, Error> {
    let own = [id(scope.organization()), id(framework)];
    Ok(t.one(USES_FRAMEWORK, &own, |row| row.int(0)).await? > 0)
}

/// A filter for documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoaFilter {
    pub framework: Option<FrameworkId>,
    pub status: Option<SoaStatus>,
}

impl SoaFilter {
    fn params(self, scope: &Scope) -> Vec<Value<'static>> {
        let status = Value::from(self.status.map(|status| status.as_str().to_owned()));
        vec![id(scope.organization()), opt_id(self.framework), status]
    }
}

/// The documents, newest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    wanted: SoaFilter,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<SoaDocument>, Error> {
    let mut params = wanted.params(scope);
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one| by_id(one.id)).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, wanted: SoaFilter) -> Result<i64, Error> {
    t.one(COUNT, &wanted.params(scope), |row| row.int(0)).await
}

fn read_answer(row: &Row<'_>) -> Result<SoaAnswer, Error> {
    Ok(SoaAnswer {
        id: row.parse(0)?,
        document_id: row.parse(1)?,
        question_id: row.parse(2)?,
        is_applicable: row.bool(3)?,
        justification: row.opt_text(4)?,
        implementation_status: row.opt_parse(5)?,
        owner_id: row.opt_parse(6)?,
        obligation: row.opt_text(7)?,
        source: row.parse(8)?,
        state: row.parse(9)?,
        updated_at: row.time(10)?,
        updated_by: row.opt_parse(11)?,
    })
}

fn answer_params<'a>(scope: &Scope, answer: &'a SoaAnswer) -> [Value<'a>; 13] {
    [
        id(scope.organization()),
        id(answer.id),
        id(answer.document_id),
        id(answer.question_id),
        Value::Bool(answer.is_applicable),
        Value::from(answer.justification.as_ref()),
        Value::from(answer.implementation_status.map(ImplementationStatus::as_str)),
        opt_id(answer.owner_id),
        Value::from(answer.obligation.as_ref()),
        Value::from(answer.source.as_str()),
        Value::from(answer.state.as_str()),
        time(answer.updated_at),
        opt_id(answer.updated_by),
    ]
}

pub async fn insert_answer(t: &Tx<'_>, scope: &Scope, answer: &SoaAnswer) -> Result<(), Error> {
    t.execute(INSERT_ANSWER, &answer_params(scope, answer)).await.map(|_| ())
}

pub async fn update_answer(t: &Tx<'_>, scope: &Scope, answer: &SoaAnswer) -> Result<(), Error> {
    t.execute(UPDATE_ANSWER, &answer_params(scope, answer)).await.map(|_| ())
}

pub async fn answer(
    t: &Tx<'_>,
    scope: &Scope,
    document: SoaDocumentId,
    question: RequirementId,
) -> Result<Option<SoaAnswer>, Error> {
    t.opt(ANSWER, &[id(scope.organization()), id(document), id(question)], read_answer).await
}

pub async fn answers(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Vec<SoaAnswer>, Error> {
    t.all(ANSWERS, &[id(scope.organization()), id(document)], read_answer).await
}

pub async fn delete_answer(t: &Tx<'_>, scope: &Scope, answer: SoaAnswerId) -> Result<(), Error> {
    t.execute(DELETE_ANSWER, &[id(scope.organization()), id(answer)]).await.map(|_| ())
}

/// Locks and returns the answers that a member owns in documents that can still change.
pub async fn lock_owned(t: &Tx<'_>, scope: &Scope, owner: MemberId) -> Result<Vec<SoaAnswer>, Error> {
    t.all(OWNED, &[id(scope.organization()), id(owner)], read_answer).await
}

/// Counts the confirmed answers of a document.
pub async fn count_confirmed(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<i64, Error> {
    t.one(CONFIRMED, &[id(scope.organization()), id(document)], |row| row.int(0)).await
}

fn read_approval(row: &Row<'_>) -> Result<SoaApproval, Error> {
    let wrong = |error: serde_json::Error| Error::Column { column: 6, message: error.to_string() };
    let content: SoaSnapshot = serde_json::from_str(row.str(6)?).map_err(wrong)?;
    Ok(SoaApproval {
        id: row.parse(0)?,
        document_id: row.parse(1)?,
        framework_id: row.parse(2)?,
        approver_id: row.parse(3)?,
        approved_at: row.time(4)?,
        content_hash: row.text(5)?,
        content,
    })
}

pub async fn insert_approval(
    t: &Tx<'_>,
    scope: &Scope,
    approval: &SoaApproval,
    content: &str,
) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(approval.id),
        id(approval.document_id),
        id(approval.framework_id),
        id(approval.approver_id),
        time(approval.approved_at),
        Value::from(&approval.content_hash),
        Value::from(content),
    ];
    t.execute(INSERT_APPROVAL, &params).await.map(|_| ())
}

/// Returns the approvals of a document, newest first.
pub async fn approvals(
    t: &Tx<'_>,
    scope: &Scope,
    document: SoaDocumentId,
) -> Result<Vec<SoaApproval>, Error> {
    t.all(APPROVALS, &[id(scope.organization()), id(document)], read_approval).await
}

/// Returns the last approval for a framework as of a time.
pub async fn approved_at(
    t: &Tx<'_>,
    scope: &Scope,
    framework: FrameworkId,
    at: Time,
) -> Result<Option<SoaApproval>, Error> {
    t.opt(APPROVED_AT, &[id(scope.organization()), id(framework), time(at)], read_approval).await
}

pub async fn insert_file(
    t: &Tx<'_>,
    scope: &Scope,
    approval: SoaApprovalId,
    format: SoaFormat,
    sha256: &str,
    content: &[u8],
) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(approval),
        Value::from(format.as_str()),
        Value::from(sha256),
        Value::from(content),
    ];
    t.execute(INSERT_FILE, &params).await.map(|_| ())
}

/// Lists the files of all approvals of a document: approval, format and SHA-256.
pub async fn files(
    t: &Tx<'_>,
    scope: &Scope,
    document: SoaDocumentId,
) -> Result<Vec<(SoaApprovalId, SoaFormat, String)>, Error> {
    let read = |row: &Row<'_>| Ok((row.parse(0)?, row.parse(1)?, row.text(2)?));
    t.all(FILES, &[id(scope.organization()), id(document)], read).await
}

pub async fn file(
    t: &Tx<'_>,
    scope: &Scope,
    approval: SoaApprovalId,
    format: SoaFormat,
) -> Result<Option<Vec<u8>>, Error> {
    let params = [id(scope.organization()), id(approval), Value::from(format.as_str())];
    t.opt(FILE, &params, |row| row.bytes(0)).await
}
