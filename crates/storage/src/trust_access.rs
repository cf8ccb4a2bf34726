//! Access requests, agreements, grants and visits.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::any_of::AnyOf;
use attestry_domain::hash::Hash;
use attestry_domain::id::{AccessGrantId, AccessRequestId, NdaId, VisitId};
use attestry_domain::page::{After, Order, Page, PageRequest};
use attestry_domain::portals::PortalDocument;
use attestry_domain::portals::trust_access::{
    AccessGrant, AccessRequest, GrantSort, GrantStatus, Nda, RequestSort, RequestStatus, Visited,
};
use attestry_domain::row::Row;

use crate::sql::{Columns, by_id, from_json, id, opt_id, opt_time, page_params, read_page, time};
use crate::table::{any_of, read, read_sorted, select};

macro_rules! of_status {
    () => {
        " WHERE g.org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR $2 LIKE '%,' || CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked' WHEN g.expires_at <= $3 THEN 'expired' ELSE 'active' END || ',%')"
    };
}

/// The status is one of the requested ones. The only wildcard in it is an underscore, which matches itself.
macro_rules! of_request_status {
    () => {
        " WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR $2 LIKE '%,' || status || ',%')"
    };
}

const REQUEST_NAME: &str = "LOWER(name)";
const REQUEST_COMPANY: &str = "LOWER(COALESCE(company, ''))";
/// The beginning of a long text: its key is part of the cursor.
const REQUEST_PURPOSE: &str = "SUBSTR(LOWER(COALESCE(purpose, '')), 1, 100)";
const REQUEST_STATUS: &str =
    "CAST(CASE status WHEN 'under_review' THEN 1 WHEN 'approved' THEN 2 ELSE 3 END AS BIGINT)";
const GRANT_NAME: &str = "LOWER(g.name)";
const GRANT_STATUS: &str =
    "CAST(CASE WHEN g.revoked_at IS NOT NULL THEN 3 WHEN g.expires_at <= $3 THEN 2 ELSE 1 END AS BIGINT)";
const GRANT_END: &str = "COALESCE(g.revoked_at, g.expires_at)";
const GRANT_REASON: &str = "SUBSTR(LOWER(COALESCE(g.revocation_reason, '')), 1, 100)";

macro_rules! of_visits {
    () => {
        " WHERE v.org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR v.grant_id = $2)"
    };
}

statements! {
    COUNT = concat!("SELECT COUNT(*) FROM access_requests", of_request_status!());
    HAS_FILE = "SELECT id FROM ndas WHERE org_id = $1 AND file_id = $2";
    COUNT_GRANTS = concat!("SELECT COUNT(*) FROM access_grants g", of_status!());
    GRANTED_DOCUMENTS = "SELECT r.documents FROM access_grants g JOIN access_requests r ON r.org_id = $1 AND r.id = g.request_id WHERE g.org_id = $1 AND g.email_key = $2 AND g.revoked_at IS NULL AND g.expires_at > $3";
    REVOKE = "UPDATE access_grants SET revoked_at = $3, revoked_by = $4, revocation_reason = $5 WHERE org_id = $1 AND id = $2";
    INSERT_TOKEN = "INSERT INTO access_tokens (token_hash, org_id, grant_id, is_kept, created_at) VALUES ($2, $1, $3, $4, $5)";
    TRIM_TOKENS = "DELETE FROM access_tokens WHERE org_id = $1 AND grant_id = $2 AND is_kept = FALSE AND token_hash NOT IN (SELECT token_hash FROM access_tokens WHERE grant_id = $2 AND is_kept = FALSE ORDER BY created_at DESC, token_hash LIMIT $3)";
    KEEP_TOKEN = "UPDATE access_tokens SET is_kept = TRUE WHERE org_id = $1 AND token_hash = $2 AND is_kept = FALSE";
    DELETE_DEAD_TOKENS = "DELETE FROM access_tokens WHERE grant_id IN (SELECT id FROM access_grants WHERE expires_at < $1)";
    INSERT_VISIT = "INSERT INTO visits (org_id, id, grant_id, action, document, title, ip, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    COUNT_VISITS = concat!("SELECT COUNT(*) FROM visits v", of_visits!());
    LAST_OPENED = "SELECT at FROM visits WHERE org_id = $1 AND grant_id = $2 AND action = 'opened' ORDER BY id DESC LIMIT 1";
    ;
    tables
    REQUEST_ROWS: AccessRequest = "access_requests" {
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
    }
    NDAS: Nda = "ndas n" + "token_hash" {
        NDA_BY_TOKEN = " JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND n.token_hash = $1";
        NDA_BY_CODE = " JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND n.code = $1";
        NDA_BY_FILE = " JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND n.file_sha256 = $1 ORDER BY n.id LIMIT 1";
        LOCK_NDA = " JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND n.org_id = $1 AND n.id = $2 FOR UPDATE OF n";
        NDA_OF_REQUEST = " JOIN organizations o ON o.id = n.org_id WHERE o.deleted_at IS NULL AND n.org_id = $1 AND n.request_id = $2 ORDER BY n.id DESC LIMIT 1";
    }
    GRANT_ROWS: AccessGrant = "access_grants g" + "email_key" {
        GRANT = " WHERE g.org_id = $1 AND g.id = $2";
        LOCK_GRANT = " WHERE g.org_id = $1 AND g.id = $2 FOR UPDATE";
        GRANT_BY_TOKEN = " JOIN access_tokens a ON a.grant_id = g.id JOIN organizations o ON o.id = g.org_id WHERE a.token_hash = $1 AND o.deleted_at IS NULL";
        GRANT_BY_EMAIL = " WHERE g.org_id = $1 AND g.email_key = $2 AND g.revoked_at IS NULL AND g.expires_at > $3 ORDER BY g.expires_at DESC, g.id DESC LIMIT 1";
    }
    ;
    pages
    REQUESTS = (REQUEST_ROWS.select(of_request_status!()), "id", None);
    REQUESTS_BY_NAME = (REQUEST_ROWS.select_with(REQUEST_NAME, of_request_status!()), "id", Some(REQUEST_NAME));
    REQUESTS_BY_COMPANY = (REQUEST_ROWS.select_with(REQUEST_COMPANY, of_request_status!()), "id", Some(REQUEST_COMPANY));
    REQUESTS_BY_PURPOSE = (REQUEST_ROWS.select_with(REQUEST_PURPOSE, of_request_status!()), "id", Some(REQUEST_PURPOSE));
    REQUESTS_BY_STATUS = (REQUEST_ROWS.select_with(REQUEST_STATUS, of_request_status!()), "id", Some(REQUEST_STATUS));
    GRANTS = (GRANT_ROWS.select(of_status!()), "g.id", None);
    GRANTS_BY_NAME = (GRANT_ROWS.select_with(GRANT_NAME, of_status!()), "g.id", Some(GRANT_NAME));
    GRANTS_BY_STATUS = (GRANT_ROWS.select_with(GRANT_STATUS, of_status!()), "g.id", Some(GRANT_STATUS));
    GRANTS_BY_END = (GRANT_ROWS.select_with(GRANT_END, of_status!()), "g.id", Some(GRANT_END));
    GRANTS_BY_REASON = (GRANT_ROWS.select_with(GRANT_REASON, of_status!()), "g.id", Some(GRANT_REASON));
    VISITS = (select::<Visit>(concat!("visits v JOIN access_grants g ON g.id = v.grant_id", of_visits!())), "v.id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, request: &AccessRequest) -> Result<(), Error> {
    REQUEST_ROWS.insert(t, scope, request).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, request: &AccessRequest) -> Result<(), Error> {
    REQUEST_ROWS.update(t, scope, request).await
}

pub async fn get(
    t: &Tx<'_>,
    scope: &Scope,
    request: AccessRequestId,
) -> Result<Option<AccessRequest>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(request)], read).await
}

pub async fn lock(
    t: &Tx<'_>,
    scope: &Scope,
    request: AccessRequestId,
) -> Result<Option<AccessRequest>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(request)], read).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<&AnyOf<RequestStatus>>,
    page: &PageRequest<RequestSort>,
) -> Result<Page<AccessRequest>, Error> {
    let mut params = vec![id(scope.organization()), any_of(status)];
    page_params(&mut params, page.limit, page.after.as_ref());
    let pages = match page.sort {
        RequestSort::CreatedAt => &REQUESTS,
        RequestSort::Name => &REQUESTS_BY_NAME,
        RequestSort::Company => &REQUESTS_BY_COMPANY,
        RequestSort::Purpose => &REQUESTS_BY_PURPOSE,
        RequestSort::Status => &REQUESTS_BY_STATUS,
    };
    let sql = pages.pick(page.order, page.after.is_some());
    read_sorted(t, sql, &params, page, |one: &AccessRequest| one.id.to_string()).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, status: Option<&AnyOf<RequestStatus>>) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization()), any_of(status)], |row| row.int(0)).await
}

pub async fn insert_nda(t: &Tx<'_>, scope: &Scope, nda: &Nda, token_hash: &Hash) -> Result<(), Error> {
    NDAS.insert_with(t, scope.organization(), nda, vec![Value::from(token_hash)]).await
}

pub async fn update_nda(t: &Tx<'_>, scope: &Scope, nda: &Nda) -> Result<(), Error> {
    NDAS.update(t, scope, nda).await
}

/// Finds the agreement of a link. The token is the credential; the scope follows from it.
pub async fn nda_by_token(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<Nda>, Error> {
    t.opt(*NDA_BY_TOKEN, &[Value::from(token_hash)], read).await
}

/// Finds the signed agreement with this verification code.
pub async fn nda_by_code(t: &Tx<'_>, code: &str) -> Result<Option<Nda>, Error> {
    t.opt(*NDA_BY_CODE, &[Value::from(code)], read).await
}

/// Finds the signed agreement with this file hash.
pub async fn nda_by_file(t: &Tx<'_>, sha256: &str) -> Result<Option<Nda>, Error> {
    t.opt(*NDA_BY_FILE, &[Value::from(sha256)], read).await
}

pub async fn lock_nda(t: &Tx<'_>, scope: &Scope, nda: NdaId) -> Result<Option<Nda>, Error> {
    t.opt(*LOCK_NDA, &[id(scope.organization()), id(nda)], read).await
}

/// The latest agreement of a request.
pub async fn nda_of(t: &Tx<'_>, scope: &Scope, request: AccessRequestId) -> Result<Option<Nda>, Error> {
    t.opt(*NDA_OF_REQUEST, &[id(scope.organization()), id(request)], read).await
}

/// Returns true when a file is a signed agreement.
pub async fn has_file(t: &Tx<'_>, scope: &Scope, file: &str) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::from(file)];
    Ok(t.opt(HAS_FILE, &params, |_| Ok(())).await?.is_some())
}

pub async fn insert_grant(t: &Tx<'_>, scope: &Scope, grant: &AccessGrant) -> Result<(), Error> {
    let email_key = Value::from(grant.email.to_lowercase());
    GRANT_ROWS.insert_with(t, scope.organization(), grant, vec![email_key]).await
}

pub async fn grant(t: &Tx<'_>, scope: &Scope, grant: AccessGrantId) -> Result<Option<AccessGrant>, Error> {
    t.opt(*GRANT, &[id(scope.organization()), id(grant)], read).await
}

pub async fn lock_grant(
    t: &Tx<'_>,
    scope: &Scope,
    grant: AccessGrantId,
) -> Result<Option<AccessGrant>, Error> {
    t.opt(*LOCK_GRANT, &[id(scope.organization()), id(grant)], read).await
}

/// Finds the grant of a link. The token is the credential; the scope follows from it.
pub async fn grant_by_token(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<AccessGrant>, Error> {
    t.opt(*GRANT_BY_TOKEN, &[Value::from(token_hash)], read).await
}

/// Returns the active grant of an email address; of several, the one that expires last.
pub async fn live_grant(
    t: &Tx<'_>,
    scope: &Scope,
    email_key: &str,
    now: Time,
) -> Result<Option<AccessGrant>, Error> {
    let params = [id(scope.organization()), Value::from(email_key), time(now)];
    t.opt(*GRANT_BY_EMAIL, &params, read).await
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

pub async fn grants(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<&AnyOf<GrantStatus>>,
    now: Time,
    page: &PageRequest<GrantSort>,
) -> Result<Page<AccessGrant>, Error> {
    let mut params = vec![id(scope.organization()), any_of(status), time(now)];
    page_params(&mut params, page.limit, page.after.as_ref());
    let pages = match page.sort {
        GrantSort::CreatedAt => &GRANTS,
        GrantSort::Name => &GRANTS_BY_NAME,
        GrantSort::Status => &GRANTS_BY_STATUS,
        GrantSort::EndsAt => &GRANTS_BY_END,
        GrantSort::RevocationReason => &GRANTS_BY_REASON,
    };
    let sql = pages.pick(page.order, page.after.is_some());
    read_sorted(t, sql, &params, page, |one: &AccessGrant| one.id.to_string()).await
}

pub async fn count_grants(
    t: &Tx<'_>,
    scope: &Scope,
    status: Option<&AnyOf<GrantStatus>>,
    now: Time,
) -> Result<i64, Error> {
    t.one(COUNT_GRANTS, &[id(scope.organization()), any_of(status), time(now)], |row| row.int(0)).await
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
#[derive(Clone, Debug, Row)]
pub struct Visit {
    #[row(column = "v.id")]
    pub id: VisitId,
    pub grant_id: AccessGrantId,
    #[row(flatten)]
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
    let sql = VISITS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one: &Visit| by_id(one.id)).await
}

pub async fn count_visits(t: &Tx<'_>, scope: &Scope, grant: Option<AccessGrantId>) -> Result<i64, Error> {
    t.one(COUNT_VISITS, &visits_of(scope, grant), |row| row.int(0)).await
}
