//! Access requests, agreements, grants and visits.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{AccessGrantId, AccessRequestId, NdaId, VisitId};
use attestry_domain::journal::Hash;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::portals::PortalDocument;
use attestry_domain::portals::trust_access::{
    AccessGrant, AccessRequest, GrantStatus, Nda, RequestStatus, Signature, VisitAction, Visited,
};

use crate::sql::{
    Columns, by_id, days, from_json, id, opt_id, opt_time, page_params, read_page, time, to_json,
};

macro_rules! request {
    ($where:literal) => {
        concat!("SELECT id, org_id, name, email, company, job_title, purpose, requested_days, status, reviewed_by, reviewed_at, denial_reason, grant_id, created_at, updated_at, version, documents FROM access_requests WHERE org_id = $1", $where)
    };
}

macro_rules! nda {
    ($where:literal) => {
        concat!("SELECT n.id, n.org_id, n.request_id, n.status, n.text, n.text_sha256, n.duration_days, n.created_at, n.expires_at, n.signer_name, n.signer_email, n.signed_at, n.signer_ip, n.code, n.file_id, n.file_sha256, n.grant_id FROM ndas n JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND ", $where)
    };
}

macro_rules! grant {
    ($from:literal) => {
        concat!("SELECT g.id, g.org_id, g.request_id, g.nda_id, g.name, g.email, g.created_at, g.expires_at, g.revoked_at, g.revoked_by, g.revocation_reason FROM access_grants g", $from)
    };
}

macro_rules! of_status {
    () => {
        " WHERE g.org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR ($2 = 'revoked' AND g.revoked_at IS NOT NULL) OR ($2 = 'expired' AND g.revoked_at IS NULL AND g.expires_at <= $3) OR ($2 = 'active' AND g.revoked_at IS NULL AND g.expires_at > $3))"
    };
}

macro_rules! of_visits {
    () => {
        " WHERE v.org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR v.grant_id = $2)"
    };
}

statements! {
    GET = request!(" AND id = $2");
    LOCK = request!(" AND id = $2 FOR UPDATE");
    COUNT = "SELECT COUNT(*) FROM access_requests WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR status = $2)";
    INSERT = "INSERT INTO access_requests (org_id, id, name, email, company, job_title, purpose, requested_days, status, reviewed_by, reviewed_at, denial_reason, grant_id, created_at, updated_at, version, documents) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    UPDATE = "UPDATE access_requests SET name = $3, email = $4, company = $5, job_title = $6, purpose = $7, requested_days = $8, status = $9, reviewed_by = $10, reviewed_at = $11, denial_reason = $12, grant_id = $13, created_at = $14, updated_at = $15, version = $16, documents = $17 WHERE org_id = $1 AND id = $2";
    NDA_BY_TOKEN = nda!("n.token_hash = $1");
    NDA_BY_CODE = nda!("n.code = $1");
    NDA_BY_FILE = nda!("n.file_sha256 = $1 ORDER BY n.id LIMIT 1");
    LOCK_NDA = nda!("n.org_id = $1 AND n.id = $2 FOR UPDATE OF n");
    NDA_OF_REQUEST = nda!("n.org_id = $1 AND n.request_id = $2 ORDER BY n.id DESC LIMIT 1");
    HAS_FILE = "SELECT id FROM ndas WHERE org_id = $1 AND file_id = $2";
    INSERT_NDA = "INSERT INTO ndas (org_id, id, request_id, status, text, text_sha256, duration_days, created_at, expires_at, signer_name, signer_email, signed_at, signer_ip, code, file_id, file_sha256, grant_id, token_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    UPDATE_NDA = "UPDATE ndas SET request_id = $3, status = $4, text = $5, text_sha256 = $6, duration_days = $7, created_at = $8, expires_at = $9, signer_name = $10, signer_email = $11, signed_at = $12, signer_ip = $13, code = $14, file_id = $15, file_sha256 = $16, grant_id = $17 WHERE org_id = $1 AND id = $2";
    GRANT = grant!(" WHERE g.org_id = $1 AND g.id = $2");
    LOCK_GRANT = grant!(" WHERE g.org_id = $1 AND g.id = $2 FOR UPDATE");
    GRANT_BY_TOKEN = grant!(" JOIN access_tokens a ON a.grant_id = g.id JOIN organizations o ON o.id = g.org_id WHERE a.token_hash = $1 AND o.deleted_at IS NULL");
    GRANT_BY_EMAIL = grant!(" WHERE g.org_id = $1 AND g.email_key = $2 AND g.revoked_at IS NULL AND g.expires_at > $3 ORDER BY g.expires_at DESC, g.id DESC LIMIT 1");
    COUNT_GRANTS = concat!("SELECT COUNT(*) FROM access_grants g", of_status!());
    GRANTED_DOCUMENTS = "SELECT r.documents FROM access_grants g JOIN access_requests r ON r.org_id = $1 AND r.id = g.request_id WHERE g.org_id = $1 AND g.email_key = $2 AND g.revoked_at IS NULL AND g.expires_at > $3";
    INSERT_GRANT = "INSERT INTO access_grants (org_id, id, request_id, nda_id, name, email, created_at, expires_at, revoked_at, revoked_by, revocation_reason, email_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    REVOKE = "UPDATE access_grants SET revoked_at = $3, revoked_by = $4, revocation_reason = $5 WHERE org_id = $1 AND id = $2";
    INSERT_TOKEN = "INSERT INTO access_tokens (token_hash, org_id, grant_id, is_kept, created_at) VALUES ($2, $1, $3, $4, $5)";
    TRIM_TOKENS = "DELETE FROM access_tokens WHERE org_id = $1 AND grant_id = $2 AND is_kept = FALSE AND token_hash NOT IN (SELECT token_hash FROM access_tokens WHERE grant_id = $2 AND is_kept = FALSE ORDER BY created_at DESC, token_hash LIMIT $3)";
    KEEP_TOKEN = "UPDATE access_tokens SET is_kept = TRUE WHERE org_id = $1 AND token_hash = $2 AND is_kept = FALSE";
    DELETE_DEAD_TOKENS = "DELETE FROM access_tokens WHERE grant_id IN (SELECT id FROM access_grants WHERE expires_at < $1)";
    INSERT_VISIT = "INSERT INTO visits (org_id, id, grant_id, action, document, title, ip, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    COUNT_VISITS = concat!("SELECT COUNT(*) FROM visits v", of_visits!());
    LAST_OPENED = "SELECT at FROM visits WHERE org_id = $1 AND grant_id = $2 AND action = 'opened' ORDER BY id DESC LIMIT 1";
    ;
    pages
    REQUESTS = (request!(" AND (CAST($2 AS TEXT) IS NULL OR status = $2)"), "id", None);
    GRANTS = (concat!(grant!(""), of_status!()), "g.id", None);
    VISITS = (concat!("SELECT v.id, v.grant_id, v.action, v.document, v.title, v.ip, v.at, g.name, g.email FROM visits v JOIN access_grants g ON g.id = v.grant_id", of_visits!()), "v.id", None);
}

fn read(row: &Row<'_>) -> Result<AccessRequest, Error> {
    Ok(AccessRequest {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        name: row.text(2)?,
        email: row.text(3)?,
        company: row.opt_text(4)?,
        job_title: row.opt_text(5)?,
        purpose: row.opt_text(6)?,
        requested_duration_days: row.opt_int(7)?.map(|_| days(row, 7)).transpose()?,
        status: row.parse(8)?,
        reviewed_by: row.opt_parse(9)?,
        reviewed_at: row.opt_time(10)?,
        denial_reason: row.opt_text(11)?,
        grant_id: row.opt_parse(12)?,
        created_at: row.time(13)?,
        updated_at: row.time(14)?,
        version: row.int(15)?,
        documents: from_json(row, 16)?,
    })
}

fn params<'a>(scope: &Scope, request: &'a AccessRequest) -> Result<[Value<'a>; 17], Error> {
    Ok([
        id(scope.organization()),
        id(request.id),
        Value::from(&request.name),
        Value::from(&request.email),
        Value::from(request.company.as_ref()),
        Value::from(request.job_title.as_ref()),
        Value::from(request.purpose.as_ref()),
        request.requested_duration_days.map_or(Value::Null, |days| Value::Int(days.get())),
        Value::from(request.status.as_str()),
        opt_id(request.reviewed_by),
        opt_time(request.reviewed_at),
        Value::from(request.denial_reason.as_ref()),
        opt_id(request.grant_id),
        time(request.created_at),
        time(request.updated_at),
        Value::Int(request.version),
        to_json(16, &request.documents)?,
    ])
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, request: &AccessRequest) -> Result<(), Error> {
    t.execute(INSERT, &params(scope, request)?).await.map(|_| ())
}

pub async fn update(t: &Tx<'_>, scope: &Scope, request: &AccessRequest) -> Result<(), Error> {
    t.execute(UPDATE, &params(scope, request)?).await.map(|_| ())
}

pub async fn get(
    t: &Tx<'_>,
    scope: &Scope,
    request: AccessRequestId,
) -> Result<Option<AccessRequest>, Error> {
    t.opt(GET, &[id(scope.organization()), id(request)], read).await
}

pub async fn lock(
    t: &Tx<'_>,
    scope: &Scope,
    request: AccessRequestId,
) -> Result<Option<AccessRequest>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(request)], read).await
}

fn of_status(scope: &Scope, status: Option<RequestStatus>) -> Vec<Value<'static>> {
    vec![id(scope.organization()), Value::from(status.map(|status| status.as_str().to_owned()))]
}

/// The requests, newest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<RequestStatus>,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<AccessRequest>, Error> {
    let mut params = of_status(scope, status);
    page_params(&mut params, limit, after);
    let sql = REQUESTS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one| by_id(one.id)).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, status: Option<RequestStatus>) -> Result<i64, Error> {
    t.one(COUNT, &of_status(scope, status), |row| row.int(0)).await
}

fn read_nda(row: &Row<'_>) -> Result<Nda, Error> {
    let signature = match row.opt_time(11)? {
        None => None,
        Some(at) => Some(Signature {
            name: row.text(9)?,
            email: row.text(10)?,
            at,
            ip: row.opt_text(12)?,
            code: row.text(13)?,
            file_id: row.parse(14)?,
            file_sha256: row.text(15)?,
        }),
    };
    Ok(Nda {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        request_id: row.parse(2)?,
        status: row.parse(3)?,
        text: row.text(4)?,
        text_sha256: row.text(5)?,
        duration_days: days(row, 6)?,
        created_at: row.time(7)?,
        expires_at: row.time(8)?,
        signature,
        grant_id: row.opt_parse(16)?,
    })
}

fn nda_params<'a>(scope: &Scope, nda: &'a Nda) -> Vec<Value<'a>> {
    let signature = nda.signature.as_ref();
    vec![
        id(scope.organization()),
        id(nda.id),
        id(nda.request_id),
        Value::from(nda.status.as_str()),
        Value::from(&nda.text),
        Value::from(&nda.text_sha256),
        Value::Int(nda.duration_days.get()),
        time(nda.created_at),
        time(nda.expires_at),
        Value::from(signature.map(|signature| &signature.name)),
        Value::from(signature.map(|signature| &signature.email)),
        opt_time(signature.map(|signature| signature.at)),
        Value::from(signature.and_then(|signature| signature.ip.as_ref())),
        Value::from(signature.map(|signature| &signature.code)),
        opt_id(signature.map(|signature| signature.file_id)),
        Value::from(signature.map(|signature| &signature.file_sha256)),
        opt_id(nda.grant_id),
    ]
}

pub async fn insert_nda(t: &Tx<'_>, scope: &Scope, nda: &Nda, token_hash: &Hash) -> Result<(), Error> {
    let mut params = nda_params(scope, nda);
    params.push(Value::from(token_hash));
    t.execute(INSERT_NDA, &params).await.map(|_| ())
}

pub async fn update_nda(t: &Tx<'_>, scope: &Scope, nda: &Nda) -> Result<(), Error> {
    t.execute(UPDATE_NDA, &nda_params(scope, nda)).await.map(|_| ())
}

/// Finds the agreement of a link. The token is the credential; the scope follows from it.
pub async fn nda_by_token(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<Nda>, Error> {
    t.opt(NDA_BY_TOKEN, &[Value::from(token_hash)], read_nda).await
}

/// Finds the signed agreement with this verification code.
pub async fn nda_by_code(t: &Tx<'_>, code: &str) -> Result<Option<Nda>, Error> {
    t.opt(NDA_BY_CODE, &[Value::from(code)], read_nda).await
}

/// Finds the signed agreement with this file hash.
pub async fn nda_by_file(t: &Tx<'_>, sha256: &str) -> Result<Option<Nda>, Error> {
    t.opt(NDA_BY_FILE, &[Value::from(sha256)], read_nda).await
}

pub async fn lock_nda(t: &Tx<'_>, scope: &Scope, nda: NdaId) -> Result<Option<Nda>, Error> {
    t.opt(LOCK_NDA, &[id(scope.organization()), id(nda)], read_nda).await
}

/// The latest agreement of a request.
pub async fn nda_of(t: &Tx<'_>, scope: &Scope, request: AccessRequestId) -> Result<Option<Nda>, Error> {
    t.opt(NDA_OF_REQUEST, &[id(scope.organization()), id(request)], read_nda).await
}

/// Returns true when a file is a signed agreement.
pub async fn has_file(t: &Tx<'_>, scope: &Scope, file: &str) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::from(file)];
    Ok(t.opt(HAS_FILE, &params, |_| Ok(())).await?.is_some())
}

fn read_grant(row: &Row<'_>) -> Result<AccessGrant, Error> {
    Ok(AccessGrant {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        request_id: row.parse(2)?,
        nda_id: row.parse(3)?,
        name: row.text(4)?,
        email: row.text(5)?,
        created_at: row.time(6)?,
        expires_at: row.time(7)?,
        revoked_at: row.opt_time(8)?,
        revoked_by: row.opt_parse(9)?,
        revocation_reason: row.opt_text(10)?,
    })
}

pub async fn insert_grant(t: &Tx<'_>, scope: &Scope, grant: &AccessGrant) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(grant.id),
        id(grant.request_id),
        id(grant.nda_id),
        Value::from(&grant.name),
        Value::from(&grant.email),
        time(grant.created_at),
        time(grant.expires_at),
        opt_time(grant.revoked_at),
        opt_id(grant.revoked_by),
        Value::from(grant.revocation_reason.as_ref()),
        Value::from(grant.email.to_lowercase()),
    ];
    t.execute(INSERT_GRANT, &params).await.map(|_| ())
}

pub async fn grant(t: &Tx<'_>, scope: &Scope, grant: AccessGrantId) -> Result<Option<AccessGrant>, Error> {
    t.opt(GRANT, &[id(scope.organization()), id(grant)], read_grant).await
}

pub async fn lock_grant(
    t: &Tx<'_>,
    scope: &Scope,
    grant: AccessGrantId,
) -> Result<Option<AccessGrant>, Error> {
    t.opt(LOCK_GRANT, &[id(scope.organization()), id(grant)], read_grant).await
}

/// Finds the grant of a link. The token is the credential; the scope follows from it.
pub async fn grant_by_token(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<AccessGrant>, Error> {
    t.opt(GRANT_BY_TOKEN, &[Value::from(token_hash)], read_grant).await
}

/// Returns the active grant of an email address; of several, the one that expires last.
pub async fn live_grant(
    t: &Tx<'_>,
    scope: &Scope,
    email_key: &str,
    now: Time,
) -> Result<Option<AccessGrant>, Error> {
    let params = [id(scope.organization()), Value::from(email_key), time(now)];
    t.opt(GRANT_BY_EMAIL, &params, read_grant).await
}

/// Returns the on-request documents of all active grants of an email address.
pub async fn granted_documents(
    t: &Tx<'_>,
    scope: &Scope,
    email_key: &str,
    now: Time,
) -> Result<Vec<PortalDocument>, Error> {
    let params = [id(scope.organization()), Value::from(email_key), time(now)];
    let all: Vec<Vec<PortalDocument>> = t.all(GRANTED_DOCUMENTS, &params, |row| from_json(row, 0)).await?;
    Ok(all.concat())
}

fn grants_of(scope: &Scope, status: Option<GrantStatus>, now: Time) -> Vec<Value<'static>> {
    vec![id(scope.organization()), Value::from(status.map(|status| status.as_str().to_owned())), time(now)]
}

/// Returns the grants, newest first.
pub async fn grants(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<GrantStatus>,
    now: Time,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<AccessGrant>, Error> {
    let mut params = grants_of(scope, status, now);
    page_params(&mut params, limit, after);
    let sql = GRANTS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read_grant, |one| by_id(one.id)).await
}

pub async fn count_grants(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<GrantStatus>,
    now: Time,
) -> Result<i64, Error> {
    t.one(COUNT_GRANTS, &grants_of(scope, status, now), |row| row.int(0)).await
}

/// Revokes a grant, which invalidates all its links.
pub async fn revoke(t: &Tx<'_>, scope: &Scope, grant: &AccessGrant) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(grant.id),
        opt_time(grant.revoked_at),
        opt_id(grant.revoked_by),
        Value::from(grant.revocation_reason.as_ref()),
    ];
    t.execute(REVOKE, &params).await.map(|_| ())
}

/// The maximum number of unused links per grant. Anyone can request links, so those that were used, or that were
/// returned for a signature, are not counted.
const MAX_UNUSED_LINKS_PER_GRANT: i64 = 10;

/// Adds a link to a grant and deletes the oldest unused ones above the limit.
pub async fn insert_token(
    t: &Tx<'_>,
    scope: &Scope,
    grant: AccessGrantId,
    token_hash: &Hash,
    is_kept: bool,
    now: Time,
) -> Result<(), Error> {
    let own = id(scope.organization());
    let params = [own, Value::from(token_hash), id(grant), Value::Bool(is_kept), time(now)];
    t.execute(INSERT_TOKEN, &params).await?;
    t.execute(TRIM_TOKENS, &[id(scope.organization()), id(grant), Value::Int(MAX_UNUSED_LINKS_PER_GRANT)])
        .await
        .map(|_| ())
}

/// Marks a link as used: from then on it is valid as long as its grant.
pub async fn keep_token(t: &Tx<'_>, scope: &Scope, token_hash: &Hash) -> Result<(), Error> {
    t.execute(KEEP_TOKEN, &[id(scope.organization()), Value::from(token_hash)]).await.map(|_| ())
}

/// Deletes the links of grants that expired before `before`.
pub async fn delete_dead_tokens(t: &Tx<'_>, before: Time) -> Result<(), Error> {
    t.execute(DELETE_DEAD_TOKENS, &[time(before)]).await.map(|_| ())
}

/// A visitor's action, with the visitor's name and address.
#[derive(Clone, Debug)]
pub struct Visit {
    pub id: VisitId,
    pub grant_id: AccessGrantId,
    pub visited: Visited,
    pub ip: Option<String>,
    pub at: Time,
    pub name: String,
    pub email: String,
}

pub async fn insert_visit(
    t: &Tx<'_>,
    scope: &Scope,
    visit: VisitId,
    grant: AccessGrantId,
    visited: &Visited,
    at: Time,
) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(visit),
        id(grant),
        Value::from(visited.action.as_str()),
        Value::from(visited.document.as_ref()),
        Value::from(visited.title.as_ref()),
        Value::from(scope.origin().ip.map(|ip| ip.to_string())),
        time(at),
    ];
    t.execute(INSERT_VISIT, &params).await.map(|_| ())
}

/// Returns the time at which a visitor last opened the portal.
pub async fn last_opened(t: &Tx<'_>, scope: &Scope, grant: AccessGrantId) -> Result<Option<Time>, Error> {
    t.opt(LAST_OPENED, &[id(scope.organization()), id(grant)], |row| row.time(0)).await
}

fn visits_of(scope: &Scope, grant: Option<AccessGrantId>) -> Vec<Value<'static>> {
    vec![id(scope.organization()), opt_id(grant)]
}

/// Returns the visits, newest first.
pub async fn visits(
    t: &Tx<'_>,
    scope: &Scope,
    grant: Option<AccessGrantId>,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Visit>, Error> {
    let mut params = visits_of(scope, grant);
    page_params(&mut params, limit, after);
    let read = |row: &Row<'_>| {
        Ok(Visit {
            id: row.parse(0)?,
            grant_id: row.parse(1)?,
            visited: Visited {
                action: row.parse::<VisitAction>(2)?,
                document: row.opt_text(3)?,
                title: row.opt_text(4)?,
            },
            ip: row.opt_text(5)?,
            at: row.time(6)?,
            name: row.text(7)?,
            email: row.text(8)?,
        })
    };
    let sql = VISITS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one| by_id(one.id)).await
}

pub async fn count_visits(t: &Tx<'_>, scope: &Scope, grant: Option<AccessGrantId>) -> Result<i64, Error> {
    t.one(COUNT_VISITS, &visits_of(scope, grant), |row| row.int(0)).await
}
