//! Portals, their certificates, posts and subscribers.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, PortalPostId, SubscriberId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::portals::{
    Certificate, CertificateFramework, DomainName, Portal, PortalPost, PostKind, Subscriber,
};
use attestry_domain::row::Row;

use crate::sql::{Columns, by_id, id, page_params, read_page, time};
use crate::table::{read, select};

/// The condition for portals of organizations that exist.
macro_rules! portal {
    ($where:literal) => {
        concat!(" JOIN organizations o ON o.id = p.org_id WHERE o.deleted_at IS NULL AND ", $where)
    };
}

macro_rules! of_kind {
    () => {
        " WHERE org_id = $1 AND (CAST($2 AS TEXT) IS NULL OR kind = $2)"
    };
}

statements! {
    DOMAINS = "SELECT p.domain, p.org_id FROM portals p JOIN organizations o ON o.id = p.org_id WHERE o.deleted_at IS NULL AND p.domain_verified_at IS NOT NULL ORDER BY p.domain";
    COUNT_POSTS = concat!("SELECT COUNT(*) FROM portal_posts", of_kind!());
    CHANGED_SINCE = "SELECT 1 FROM journal WHERE org_id = $1 AND sequence > $2 AND entity_type IN ('certificate', 'organization', 'policy', 'portal', 'portal_post', 'vendor') LIMIT 1";
    COUNT_SUBSCRIBERS = "SELECT COUNT(*) FROM subscribers WHERE org_id = $1 AND confirmed_at IS NOT NULL";
    CONFIRM_SUBSCRIBER = "UPDATE subscribers SET confirmed_at = $3 WHERE org_id = $1 AND id = $2";
    DELETE_UNCONFIRMED = "DELETE FROM subscribers WHERE confirmed_at IS NULL AND created_at < $1";
    ;
    tables
    PORTALS: Portal = "portals p" by "org_id" {
        GET = portal!("p.org_id = $1");
        BY_FRIENDLY_URL = portal!("p.friendly_url = $1");
        BY_DOMAIN = portal!("p.domain = $1 AND p.domain_verified_at IS NOT NULL");
        VERIFIED = portal!("p.domain_verified_at IS NOT NULL ORDER BY p.org_id");
    }
    CERTIFICATE_ROWS: Certificate = "certificates" {
        CERTIFICATES = " WHERE org_id = $1 ORDER BY framework";
        CERTIFICATE = " WHERE org_id = $1 AND framework = $2";
        CERTIFICATE_BY_ID = " WHERE org_id = $1 AND id = $2";
    }
    POST_ROWS: PortalPost = "portal_posts" {
        POST = " WHERE org_id = $1 AND id = $2";
        LOCK_POST = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        PUBLISHED_POSTS = " WHERE org_id = $1 AND kind = $2 AND is_published = TRUE ORDER BY published_at DESC, id DESC LIMIT $3";
    }
    SUBSCRIBER_ROWS: Subscriber = "subscribers" + "email_key" {
        SUBSCRIBER = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        SUBSCRIBER_BY_EMAIL = " WHERE org_id = $1 AND email_key = $2 FOR UPDATE";
        SUBSCRIBERS = " WHERE org_id = $1 AND confirmed_at IS NOT NULL AND id > $2 ORDER BY id LIMIT $3";
    }
    ;
    built
    SUB_PROCESSORS = select::<SubProcessor>("vendors WHERE org_id = $1 AND is_sub_processor = TRUE ORDER BY name_key, id LIMIT 1000");
    ;
    pages
    POSTS = (POST_ROWS.select(of_kind!()), "id", None);
}

/// Returns the portal, if it was ever configured.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Portal>, Error> {
    t.opt(*GET, &[id(scope.organization())], read).await
}

/// Finds a portal by its friendly URL. Public data needs no scope.
pub async fn by_friendly_url(t: &Tx<'_>, friendly_url: &str) -> Result<Option<Portal>, Error> {
    t.opt(*BY_FRIENDLY_URL, &[Value::from(friendly_url)], read).await
}

/// Finds the portal with this verified domain.
pub async fn by_domain(t: &Tx<'_>, domain: &DomainName) -> Result<Option<Portal>, Error> {
    t.opt(*BY_DOMAIN, &[Value::from(domain.as_str())], read).await
}

/// Returns every verified domain with its organization.
pub async fn domains(t: &Tx<'_>) -> Result<Vec<(String, OrganizationId)>, Error> {
    t.all(DOMAINS, &[], |row| Ok((row.text(0)?, row.parse(1)?))).await
}

/// Returns every portal with a verified domain, for the job that checks them.
pub async fn verified(t: &Tx<'_>) -> Result<Vec<Portal>, Error> {
    t.all(*VERIFIED, &[], read).await
}

/// Inserts or updates the portal. The caller has locked its organization.
pub async fn save(t: &Tx<'_>, scope: &Scope, portal: &Portal) -> Result<(), Error> {
    PORTALS.upsert(t, scope, portal, Vec::new()).await
}

pub async fn certificates(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Certificate>, Error> {
    t.all(*CERTIFICATES, &[id(scope.organization())], read).await
}

pub async fn certificate(
    t: &Tx<'_>,
    scope: &Scope,
    framework: CertificateFramework,
) -> Result<Option<Certificate>, Error> {
    let params = [id(scope.organization()), Value::from(framework.as_str())];
    t.opt(*CERTIFICATE, &params, read).await
}

pub async fn has_certificate(t: &Tx<'_>, scope: &Scope, certificate: &str) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::from(certificate)];
    Ok(t.opt(*CERTIFICATE_BY_ID, &params, |_| Ok(())).await?.is_some())
}

pub async fn insert_certificate(t: &Tx<'_>, scope: &Scope, certificate: &Certificate) -> Result<(), Error> {
    CERTIFICATE_ROWS.insert(t, scope, certificate).await
}

pub async fn delete_certificate(t: &Tx<'_>, scope: &Scope, certificate: &Certificate) -> Result<(), Error> {
    CERTIFICATE_ROWS.delete(t, [id(scope.organization()), id(certificate.id)]).await
}

pub async fn post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<Option<PortalPost>, Error> {
    t.opt(*POST, &[id(scope.organization()), id(post)], read).await
}

pub async fn lock_post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<Option<PortalPost>, Error> {
    t.opt(*LOCK_POST, &[id(scope.organization()), id(post)], read).await
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
    read_page(t, sql, &params, limit, read, |one: &PortalPost| by_id(one.id)).await
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
    t.all(*PUBLISHED_POSTS, &params, read).await
}

pub async fn insert_post(t: &Tx<'_>, scope: &Scope, post: &PortalPost) -> Result<(), Error> {
    POST_ROWS.insert(t, scope, post).await
}

pub async fn update_post(t: &Tx<'_>, scope: &Scope, post: &PortalPost) -> Result<(), Error> {
    POST_ROWS.update(t, scope, post).await
}

pub async fn delete_post(t: &Tx<'_>, scope: &Scope, post: PortalPostId) -> Result<(), Error> {
    POST_ROWS.delete(t, [id(scope.organization()), id(post)]).await
}

/// A vendor in its public form.
#[derive(Clone, Debug, Row)]
pub struct SubProcessor {
    pub name: String,
    pub description: String,
    pub category: String,
    pub website: Option<String>,
}

/// Returns the vendors that are sub-processors.
pub async fn sub_processors(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SubProcessor>, Error> {
    t.all(*SUB_PROCESSORS, &[id(scope.organization())], read).await
}

/// Returns true when the public page may have changed after a journal entry.
pub async fn is_changed_since(t: &Tx<'_>, scope: &Scope, sequence: i64) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::Int(sequence)];
    Ok(t.opt(CHANGED_SINCE, &params, |_| Ok(())).await?.is_some())
}

pub async fn lock_subscriber(
    t: &Tx<'_>,
    scope: &Scope,
    subscriber: SubscriberId,
) -> Result<Option<Subscriber>, Error> {
    t.opt(*SUBSCRIBER, &[id(scope.organization()), id(subscriber)], read).await
}

/// Locks a subscriber by email address.
pub async fn lock_subscriber_by_email(
    t: &Tx<'_>,
    scope: &Scope,
    email_key: &str,
) -> Result<Option<Subscriber>, Error> {
    let params = [id(scope.organization()), Value::from(email_key)];
    t.opt(*SUBSCRIBER_BY_EMAIL, &params, read).await
}

/// Returns confirmed subscribers, ordered by id.
pub async fn subscribers(
    t: &Tx<'_>,
    scope: &Scope,
    after: &str,
    limit: i64,
) -> Result<Vec<Subscriber>, Error> {
    let params = [id(scope.organization()), Value::from(after), Value::Int(limit)];
    t.all(*SUBSCRIBERS, &params, read).await
}

pub async fn count_subscribers(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT_SUBSCRIBERS, &[id(scope.organization())], |row| row.int(0)).await
}

pub async fn insert_subscriber(t: &Tx<'_>, scope: &Scope, subscriber: &Subscriber) -> Result<(), Error> {
    let email_key = Value::from(subscriber.email.to_lowercase());
    SUBSCRIBER_ROWS.insert_with(t, scope.organization(), subscriber, vec![email_key]).await
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
    SUBSCRIBER_ROWS.delete(t, [id(scope.organization()), id(subscriber)]).await
}

/// Deletes subscribers who did not confirm their address.
pub async fn delete_unconfirmed(t: &Tx<'_>, before: Time) -> Result<(), Error> {
    t.execute(DELETE_UNCONFIRMED, &[time(before)]).await.map(|_| ())
}
