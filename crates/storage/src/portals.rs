//! Portals, their certificates, posts and subscribers.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, PortalPostId, SubscriberId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::portals::{
    Certificate, CertificateFramework, DomainName, DomainState, FriendlyUrl, Portal, PortalPost, PostKind,
    Subscriber,
};

use crate::sql::{
    Columns, by_id, days, from_json, id, opt_id, opt_time, page_params, read_page, time, to_json,
};

macro_rules! portal {
    ($where:literal) => {
        concat!("SELECT p.org_id, p.friendly_url, p.status, p.domain, p.domain_verified_at, p.domain_broken_at, p.contact_email, p.overview, p.frameworks, p.nda_text, p.duration_days, p.created_at, p.updated_at, p.version, p.documents FROM portals p JOIN organizations o ON o.id = p.org_id WHERE o.deleted_at IS NULL AND ", $where)
    };
}

macro_rules! certificate {
    ($where:literal) => {
        concat!("SELECT id, org_id, framework, file_name, file_size, sha256, pages, uploaded_by, updated_at FROM certificates WHERE org_id = $1", $where)
    };
}

macro_rules! post {
    ($where:literal) => {
        concat!("SELECT id, org_id, kind, title, text, is_published, published_at, created_at, updated_at, version FROM portal_posts WHERE org_id = $1", $where)
    };
}

macro_rules! subscriber {
    ($where:literal) => {
        concat!(
            "SELECT id, org_id, email, created_at, confirmed_at FROM subscribers WHERE org_id = $1",
            $where
        )
    };
}

statements! {
    GET = portal!("p.org_id = $1");
    BY_FRIENDLY_URL = portal!("p.friendly_url = $1");
    BY_DOMAIN = portal!("p.domain = $1 AND p.domain_verified_at IS NOT NULL");
    DOMAINS = "SELECT p.domain, p.org_id FROM portals p JOIN organizations o ON o.id = p.org_id WHERE o.deleted_at IS NULL AND p.domain_verified_at IS NOT NULL ORDER BY p.domain";
    VERIFIED = portal!("p.domain_verified_at IS NOT NULL ORDER BY p.org_id");
    INSERT = "INSERT INTO portals (org_id, friendly_url, status, domain, domain_verified_at, domain_broken_at, contact_email, overview, frameworks, nda_text, duration_days, created_at, updated_at, version, documents) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    UPDATE = "UPDATE portals SET friendly_url = $2, status = $3, domain = $4, domain_verified_at = $5, domain_broken_at = $6, contact_email = $7, overview = $8, frameworks = $9, nda_text = $10, duration_days = $11, created_at = $12, updated_at = $13, version = $14, documents = $15 WHERE org_id = $1";
    CERTIFICATES = certificate!(" ORDER BY framework");
    CERTIFICATE = certificate!(" AND framework = $2");
    CERTIFICATE_BY_ID = certificate!(" AND id = $2");
    INSERT_CERTIFICATE = "INSERT INTO certificates (org_id, id, framework, file_name, file_size, sha256, pages, uploaded_by, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    DELETE_CERTIFICATE = "DELETE FROM certificates WHERE org_id = $1 AND id = $2";
    POST = post!(" AND id = $2");
    LOCK_POST = post!(" AND id = $2 FOR UPDATE");
    PUBLISHED_POSTS = post!(" AND kind = $2 AND is_published = TRUE ORDER BY published_at DESC, id DESC LIMIT $3");
    INSERT_POST = "INSERT INTO portal_posts (org_id, id, kind, title, text, is_published, published_at, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    UPDATE_POST = "UPDATE portal_posts SET kind = $3, title = $4, text = $5, is_published = $6, published_at = $7, created_at = $8, updated_at = $9, version = $10 WHERE org_id = $1 AND id = $2";
    DELETE_POST = "DELETE FROM portal_posts WHERE org_id = $1 AND id = $2";
    COUNT_POSTS = "SELECT COUNT(*) FROM portal_posts WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR kind = $2)";
    SUB_PROCESSORS = "SELECT name, description, category, website FROM vendors WHERE org_id = $1 AND is_sub_processor = TRUE ORDER BY name_key, id LIMIT 1000";
    CHANGED_SINCE = "SELECT 1 FROM journal WHERE org_id = $1 AND sequence > $2 AND entity_type IN ('certificate', 'organization', 'policy', 'portal', 'portal_post', 'vendor') LIMIT 1";
    SUBSCRIBER = subscriber!(" AND id = $2 FOR UPDATE");
    SUBSCRIBER_BY_EMAIL = subscriber!(" AND email_key = $2 FOR UPDATE");
    SUBSCRIBERS = subscriber!(" AND confirmed_at IS NOT NULL AND id > $2 ORDER BY id LIMIT $3");
    COUNT_SUBSCRIBERS = "SELECT COUNT(*) FROM subscribers WHERE org_id = $1 AND confirmed_at IS NOT NULL";
    INSERT_SUBSCRIBER = "INSERT INTO subscribers (org_id, id, email, email_key, created_at, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6)";
    CONFIRM_SUBSCRIBER = "UPDATE subscribers SET confirmed_at = $3 WHERE org_id = $1 AND id = $2";
    DELETE_SUBSCRIBER = "DELETE FROM subscribers WHERE org_id = $1 AND id = $2";
    DELETE_UNCONFIRMED = "DELETE FROM subscribers WHERE confirmed_at IS NULL AND created_at < $1";
    ;
    pages
    POSTS = (post!(" AND (CAST($2 AS TEXT) IS NULL OR kind = $2)"), "id", None);
}

fn read(row: &Row<'_>) -> Result<Portal, Error> {
    Ok(Portal {
        organization_id: row.parse(0)?,
        friendly_url: row.opt_text(1)?.map(FriendlyUrl::stored),
        status: row.parse(2)?,
        domain: row.opt_text(3)?.map(DomainName::stored),
        domain_state: DomainState { verified_at: row.opt_time(4)?, broken_at: row.opt_time(5)? },
        contact_email: row.opt_text(6)?,
        overview: row.opt_text(7)?,
        frameworks: from_json(row, 8)?,
        nda_text: row.opt_text(9)?,
        default_duration_days: days(row, 10)?,
        created_at: row.time(11)?,
        updated_at: row.time(12)?,
        version: row.int(13)?,
        documents: from_json(row, 14)?,
    })
}

/// Returns the portal, if it was ever configured.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Portal>, Error> {
    t.opt(GET, &[id(scope.organization())], read).await
}

/// Finds a portal by its friendly URL. Public data needs no scope.
pub async fn by_friendly_url(t: &Tx<'_>, friendly_url: &str) -> Result<Option<Portal>, Error> {
    t.opt(BY_FRIENDLY_URL, &[Value::from(friendly_url)], read).await
}

/// Finds the portal with this verified domain.
pub async fn by_domain(t: &Tx<'_>, domain: &DomainName) -> Result<Option<Portal>, Error> {
    t.opt(BY_DOMAIN, &[Value::from(domain.as_str())], read).await
}

/// Returns every verified domain with its organization.
pub async fn domains(t: &Tx<'_>) -> Result<Vec<(String, OrganizationId)>, Error> {
    t.all(DOMAINS, &[], |row| Ok((row.text(0)?, row.parse(1)?))).await
}

/// Returns every portal with a verified domain, for the job that checks them.
pub async fn verified(t: &Tx<'_>) -> Result<Vec<Portal>, Error> {
    t.all(VERIFIED, &[], read).await
}

/// Inserts the portal if `is_new`, or updates it. The caller has locked its organization.
pub async fn save(t: &Tx<'_>, scope: &Scope, portal: &Portal, is_new: bool) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        Value::from(portal.friendly_url.as_ref().map(FriendlyUrl::as_str)),
        Value::from(portal.status.as_str()),
        Value::from(portal.domain.as_ref().map(DomainName::as_str)),
        opt_time(portal.domain_state.verified_at),
        opt_time(portal.domain_state.broken_at),
        Value::from(portal.contact_email.as_ref()),
        Value::from(portal.overview.as_ref()),
        to_json(8, &portal.frameworks)?,
        Value::from(portal.nda_text.as_ref()),
        Value::Int(portal.default_duration_days.get()),
        time(portal.created_at),
        time(portal.updated_at),
        Value::Int(portal.version),
        to_json(14, &portal.documents)?,
    ];
    t.execute(if is_new { INSERT } else { UPDATE }, &params).await.map(|_| ())
}

fn read_certificate(row: &Row<'_>) -> Result<Certificate, Error> {
    Ok(Certificate {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        framework: row.parse(2)?,
        file_name: row.text(3)?,
        file_size: row.int(4)?,
        sha256: row.text(5)?,
        pages: row.int(6)?,
        uploaded_by: row.opt_parse(7)?,
        updated_at: row.time(8)?,
    })
}

pub async fn certificates(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Certificate>, Error> {
    t.all(CERTIFICATES, &[id(scope.organization())], read_certificate).await
}

pub async fn certificate(
    t: &Tx<'_>,
    scope: &Scope,
    framework: CertificateFramework,
) -> Result<Option<Certificate>, Error> {
    let params = [id(scope.organization()), Value::from(framework.as_str())];
    t.opt(CERTIFICATE, &params, read_certificate).await
}

pub async fn has_certificate(t: &Tx<'_>, scope: &Scope, certificate: &str) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::from(certificate)];
    Ok(t.opt(CERTIFICATE_BY_ID, &params, |_| Ok(())).await?.is_some())
}

pub async fn insert_certificate(t: &Tx<'_>, scope: &Scope, certificate: &Certificate) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(certificate.id),
        Value::from(certificate.framework.as_str()),
        Value::from(&certificate.file_name),
        Value::Int(certificate.file_size),
        Value::from(&certificate.sha256),
        Value::Int(certificate.pages),
        opt_id(certificate.uploaded_by),
        time(certificate.updated_at),
    ];
    t.execute(INSERT_CERTIFICATE, &params).await.map(|_| ())
}

pub async fn delete_certificate(t: &Tx<'_>, scope: &Scope, certificate: &Certificate) -> Result<(), Error> {
    t.execute(DELETE_CERTIFICATE, &[id(scope.organization()), id(certificate.id)]).await.map(|_| ())
}

fn read_post(row: &Row<'_>) -> Result<PortalPost, Error> {
    Ok(PortalPost {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        kind: row.parse(2)?,
        title: row.text(3)?,
        text: row.text(4)?,
        is_published: row.bool(5)?,
        published_at: row.opt_time(6)?,
        created_at: row.time(7)?,
        updated_at: row.time(8)?,
        version: row.int(9)?,
    })
}

fn post_params<'a>(scope: &Scope, post: &'a PortalPost) -> [Value<'a>; 10] {
    [
        id(scope.organization()),
        id(post.id),
        Value::from(post.kind.as_str()),
        Value::from(&post.title),
        Value::from(&post.text),
        Value::Bool(post.is_published),
        opt_time(post.published_at),
        time(post.created_at),
        time(post.updated_at),
        Value::Int(post.version),
    ]
}

pub async fn post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<Option<PortalPost>, Error> {
    t.opt(POST, &[id(scope.organization()), id(post)], read_post).await
}

pub async fn lock_post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<Option<PortalPost>, Error> {
    t.opt(LOCK_POST, &[id(scope.organization()), id(post)], read_post).await
}

fn of_kind(scope: &Scope, kind: Option<PostKind>) -> Vec<Value<'static>> {
    vec![id(scope.organization()), Value::from(kind.map(|kind| kind.as_str().to_owned()))]
}

/// The posts, newest first.
pub async fn posts(
    t: &Tx<'_>,
    scope: &Scope,
    kind: Option<PostKind>,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<PortalPost>, Error> {
    let mut params = of_kind(scope, kind);
    page_params(&mut params, limit, after);
    let sql = POSTS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read_post, |one| by_id(one.id)).await
}

pub async fn count_posts(t: &Tx<'_>, scope: &Scope, kind: Option<PostKind>) -> Result<i64, Error> {
    t.one(COUNT_POSTS, &of_kind(scope, kind), |row| row.int(0)).await
}

/// Returns the published posts, newest first.
pub async fn published_posts(
    t: &Tx<'_>,
    scope: &Scope,
    kind: PostKind,
    limit: i64,
) -> Result<Vec<PortalPost>, Error> {
    let params = [id(scope.organization()), Value::from(kind.as_str()), Value::Int(limit)];
    t.all(PUBLISHED_POSTS, &params, read_post).await
}

pub async fn insert_post(t: &Tx<'_>, scope: &Scope, post: &PortalPost) -> Result<(), Error> {
    t.execute(INSERT_POST, &post_params(scope, post)).await.map(|_| ())
}

pub async fn update_post(t: &Tx<'_>, scope: &Scope, post: &PortalPost) -> Result<(), Error> {
    t.execute(UPDATE_POST, &post_params(scope, post)).await.map(|_| ())
}

pub async fn delete_post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<(), Error> {
    t.execute(DELETE_POST, &[id(scope.organization()), id(post)]).await.map(|_| ())
}

/// A vendor in its public form.
#[derive(Clone, Debug)]
pub struct SubProcessor {
    pub name: String,
    pub description: String,
    pub category: String,
    pub website: Option<String>,
}

/// Returns the vendors that are sub-processors.
pub async fn sub_processors(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SubProcessor>, Error> {
    t.all(SUB_PROCESSORS, &[id(scope.organization())], |row| {
        Ok(SubProcessor {
            name: row.text(0)?,
            description: row.text(1)?,
            category: row.text(2)?,
            website: row.opt_text(3)?,
        })
    })
    .await
}

/// Returns true when the public page may have changed after a journal entry.
pub async fn is_changed_since(t: &Tx<'_>, scope: &Scope, sequence: i64) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::Int(sequence)];
    Ok(t.opt(CHANGED_SINCE, &params, |_| Ok(())).await?.is_some())
}

fn read_subscriber(row: &Row<'_>) -> Result<Subscriber, Error> {
    Ok(Subscriber {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        email: row.text(2)?,
        created_at: row.time(3)?,
        confirmed_at: row.opt_time(4)?,
    })
}

pub async fn lock_subscriber(
    t: &Tx<'_>,
    scope: &Scope,
    subscriber: SubscriberId,
) -> Result<Option<Subscriber>, Error> {
    t.opt(SUBSCRIBER, &[id(scope.organization()), id(subscriber)], read_subscriber).await
}

/// Locks a subscriber by email address.
pub async fn lock_subscriber_by_email(
    t: &Tx<'_>,
    scope: &Scope,
    email_key: &str,
) -> Result<Option<Subscriber>, Error> {
    let params = [id(scope.organization()), Value::from(email_key)];
    t.opt(SUBSCRIBER_BY_EMAIL, &params, read_subscriber).await
}

/// Returns confirmed subscribers, ordered by id.
pub async fn subscribers(
    t: &Tx<'_>,
    scope: &Scope,
    after: &str,
    limit: i64,
) -> Result<Vec<Subscriber>, Error> {
    let params = [id(scope.organization()), Value::from(after), Value::Int(limit)];
    t.all(SUBSCRIBERS, &params, read_subscriber).await
}

pub async fn count_subscribers(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT_SUBSCRIBERS, &[id(scope.organization())], |row| row.int(0)).await
}

pub async fn insert_subscriber(t: &Tx<'_>, scope: &Scope, subscriber: &Subscriber) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(subscriber.id),
        Value::from(&subscriber.email),
        Value::from(subscriber.email.to_lowercase()),
        time(subscriber.created_at),
        opt_time(subscriber.confirmed_at),
    ];
    t.execute(INSERT_SUBSCRIBER, &params).await.map(|_| ())
}

pub async fn confirm_subscriber(
    t: &Tx<'_>,
    scope: &Scope,
    subscriber: SubscriberId,
    at: Time,
) -> Result<(), Error> {
    t.execute(CONFIRM_SUBSCRIBER, &[id(scope.organization()), id(subscriber), time(at)]).await.map(|_| ())
}

pub async fn delete_subscriber(t: &Tx<'_>, scope: &Scope, subscriber: SubscriberId) -> Result<(), Error> {
    t.execute(DELETE_SUBSCRIBER, &[id(scope.organization()), id(subscriber)]).await.map(|_| ())
}

/// Deletes subscribers who did not confirm their address.
pub async fn delete_unconfirmed(t: &Tx<'_>, before: Time) -> Result<(), Error> {
    t.execute(DELETE_UNCONFIRMED, &[time(before)]).await.map(|_| ())
}
