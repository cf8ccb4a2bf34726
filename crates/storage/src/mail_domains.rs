//! The mail domains of organizations.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MailDomainId, OrganizationId};
use attestry_domain::identity::mail_domains::MailDomain;
use attestry_domain::portals::DomainName;

use crate::sql::id;
use crate::table::read;

statements! {
    DELETE = "DELETE FROM mail_domains WHERE org_id = $1 AND id = $2";
    ;
    tables
    DOMAINS: MailDomain = "mail_domains" {
        LIST = " WHERE org_id = $1 ORDER BY id";
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        // The expression is the one of the index, so that it is used.
        VERIFIED = " WHERE name = $1 AND state IN ('verified', 'failing')";
        TO_CHECK = " WHERE state IN ('verified', 'failing', 'lapsed') AND is_by_operator = FALSE ORDER BY id";
    }
}

/// Returns the domains of the organization, oldest first.
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<MailDomain>, Error> {
    t.all(*LIST, &[id(scope.organization())], read).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, domain: MailDomainId) -> Result<Option<MailDomain>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(domain)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, domain: MailDomainId) -> Result<Option<MailDomain>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(domain)], read).await
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, domain: &MailDomain) -> Result<(), Error> {
    DOMAINS.insert(t, scope, domain).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, domain: &MailDomain) -> Result<(), Error> {
    DOMAINS.update(t, scope, domain).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, domain: MailDomainId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(domain)]).await.map(|_| ())
}

/// Returns the domain with this name that an organization has verified, whichever it is: the name decides where a person
/// signs in before anybody knows who they are.
pub async fn verified(t: &Tx<'_>, name: &DomainName) -> Result<Option<MailDomain>, Error> {
    t.opt(*VERIFIED, &[Value::from(name.as_str())], read).await
}

/// Returns the domains that the daily check looks up: those that were verified by a record.
pub async fn to_check(t: &Tx<'_>) -> Result<Vec<(OrganizationId, MailDomainId)>, Error> {
    let all: Vec<MailDomain> = t.all(*TO_CHECK, &[], read).await?;
    Ok(all.into_iter().map(|domain| (domain.organization_id, domain.id)).collect())
}
