//! Statements of applicability, their answers and approvals.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{FrameworkId, MemberId, RequirementId, SoaAnswerId, SoaApprovalId, SoaDocumentId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::soa::{SoaAnswer, SoaApproval, SoaDocument, SoaFormat, SoaStatus};

use crate::sql::{Columns, by_id, id, opt_id, page_params, read_page, time};
use crate::table::read;

statements! {
    COUNT = "SELECT COUNT(*) FROM soa_documents WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR framework_id = $2) AND (CAST($3 AS TEXT) IS NULL OR status = $3)";
    CONFIRMED = "SELECT COUNT(*) FROM soa_answers WHERE org_id = $1 AND document_id = $2 AND state = 'confirmed'";
    INSERT_APPROVAL = "INSERT INTO soa_approvals (org_id, id, document_id, framework_id, approver_id, approved_at, content_hash, content) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    INSERT_FILE = "INSERT INTO soa_files (org_id, approval_id, format, sha256, content) VALUES ($1, $2, $3, $4, $5)";
    FILES = "SELECT approval_id, format, sha256 FROM soa_files WHERE org_id = $1 AND approval_id IN (SELECT id FROM soa_approvals WHERE org_id = $1 AND document_id = $2) ORDER BY approval_id, format";
    FILE = "SELECT content FROM soa_files WHERE org_id = $1 AND approval_id = $2 AND format = $3";
    USES_FRAMEWORK = "SELECT COUNT(*) FROM soa_documents WHERE org_id = $1 AND framework_id = $2";
    ;
    tables
    DOCUMENTS: SoaDocument = "soa_documents" {
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        LATEST = " WHERE org_id = $1 AND framework_id = $2 AND is_latest = TRUE";
        LOCK_LATEST = " WHERE org_id = $1 AND framework_id = $2 AND is_latest = TRUE FOR UPDATE";
        AWAITING = " WHERE org_id = $1 AND approver_id = $2 AND status = 'needs_review' ORDER BY id FOR UPDATE";
    }
    ANSWER_ROWS: SoaAnswer = "soa_answers" {
        ANSWER = " WHERE org_id = $1 AND document_id = $2 AND question_id = $3";
        ANSWERS = " WHERE org_id = $1 AND document_id = $2 ORDER BY question_id";
        OWNED = " WHERE org_id = $1 AND owner_id = $2 AND document_id IN (SELECT id FROM soa_documents WHERE org_id = $1 AND is_latest = TRUE AND status <> 'approved') ORDER BY id FOR UPDATE";
    }
    APPROVAL_ROWS: SoaApproval = "soa_approvals" {
        APPROVALS = " WHERE org_id = $1 AND document_id = $2 ORDER BY id DESC";
        APPROVED_AT = " WHERE org_id = $1 AND framework_id = $2 AND approved_at <= $3 ORDER BY approved_at DESC, id DESC LIMIT 1";
    }
    ;
    pages
    LIST = (DOCUMENTS.select(" WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR framework_id = $2) AND (CAST($3 AS TEXT) IS NULL OR status = $3)"), "id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, document: &SoaDocument) -> Result<(), Error> {
    DOCUMENTS.insert(t, scope, document).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, document: &SoaDocument) -> Result<(), Error> {
    DOCUMENTS.update(t, scope, document).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Option<SoaDocument>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(document)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Option<SoaDocument>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(document)], read).await
}

/// The latest version for a framework.
pub async fn latest(t: &Tx<'_>, scope: &Scope, framework: FrameworkId) -> Result<Option<SoaDocument>, Error> {
    t.opt(*LATEST, &[id(scope.organization()), id(framework)], read).await
}

pub async fn lock_latest(
    t: &Tx<'_>,
    scope: &Scope,
    framework: FrameworkId,
) -> Result<Option<SoaDocument>, Error> {
    t.opt(*LOCK_LATEST, &[id(scope.organization()), id(framework)], read).await
}

/// Locks and returns the documents that await a member's approval.
pub async fn lock_awaiting(t: &Tx<'_>, scope: &Scope, approver: MemberId) -> Result<Vec<SoaDocument>, Error> {
    t.all(*AWAITING, &[id(scope.organization()), id(approver)], read).await
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
    read_page(t, sql, &params, limit, read, |one: &SoaDocument| by_id(one.id)).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, wanted: SoaFilter) -> Result<i64, Error> {
    t.one(COUNT, &wanted.params(scope), |row| row.int(0)).await
}

pub async fn insert_answer(t: &Tx<'_>, scope: &Scope, answer: &SoaAnswer) -> Result<(), Error> {
    ANSWER_ROWS.insert(t, scope, answer).await
}

pub async fn update_answer(t: &Tx<'_>, scope: &Scope, answer: &SoaAnswer) -> Result<(), Error> {
    ANSWER_ROWS.update(t, scope, answer).await
}

pub async fn answer(
    t: &Tx<'_>,
    scope: &Scope,
    document: SoaDocumentId,
    question: RequirementId,
) -> Result<Option<SoaAnswer>, Error> {
    t.opt(*ANSWER, &[id(scope.organization()), id(document), id(question)], read).await
}

pub async fn answers(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<Vec<SoaAnswer>, Error> {
    t.all(*ANSWERS, &[id(scope.organization()), id(document)], read).await
}

pub async fn delete_answer(t: &Tx<'_>, scope: &Scope, answer: SoaAnswerId) -> Result<(), Error> {
    ANSWER_ROWS.delete(t, [id(scope.organization()), id(answer)]).await
}

/// Locks and returns the answers that a member owns in documents that can still change.
pub async fn lock_owned(t: &Tx<'_>, scope: &Scope, owner: MemberId) -> Result<Vec<SoaAnswer>, Error> {
    t.all(*OWNED, &[id(scope.organization()), id(owner)], read).await
}

/// Counts the confirmed answers of a document.
pub async fn count_confirmed(t: &Tx<'_>, scope: &Scope, document: SoaDocumentId) -> Result<i64, Error> {
    t.one(CONFIRMED, &[id(scope.organization()), id(document)], |row| row.int(0)).await
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
    t.all(*APPROVALS, &[id(scope.organization()), id(document)], read).await
}

/// Returns the last approval for a framework as of a time.
pub async fn approved_at(
    t: &Tx<'_>,
    scope: &Scope,
    framework: FrameworkId,
    at: Time,
) -> Result<Option<SoaApproval>, Error> {
    t.opt(*APPROVED_AT, &[id(scope.organization()), id(framework), time(at)], read).await
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
