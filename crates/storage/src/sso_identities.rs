//! Identities: persons at an identity provider, linked to accounts.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{SsoConnectionId, SsoIdentityId, UserId};
use attestry_domain::identity::sso::{ConnectionName, SsoIdentity};
use attestry_domain::row::Row;

use crate::sql::{id, time};
use crate::table::{read, select};

statements! {
    USED = "UPDATE sso_identities SET last_used_at = $3, email = $4 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM sso_identities WHERE org_id = $1 AND id = $2";
    DELETE_OWN = "DELETE FROM sso_identities WHERE user_id = $1 AND id = $2";
    DELETE_OF_DOMAIN = "DELETE FROM sso_identities WHERE org_id = $1 AND (LOWER(email) LIKE $2 ESCAPE '\\' OR user_id IN (SELECT u.id FROM users u JOIN members m ON m.user_id = u.id WHERE m.org_id = $1 AND LOWER(u.email) LIKE $2 ESCAPE '\\'))";
    ;
    tables
    IDENTITIES: SsoIdentity = "sso_identities" {
        BY_SUBJECT = " WHERE org_id = $1 AND connection_id = $2 AND subject = $3";
        OF_MEMBER = " WHERE org_id = $1 AND user_id = $2 ORDER BY id";
        OF_CONNECTION_AND_USER = " WHERE org_id = $1 AND connection_id = $2 AND user_id = $3";
        SIGNED_IN = " WHERE org_id = $1 AND connection_id = $2 AND (CAST($3 AS TEXT) IS NULL OR subject = $3) AND EXISTS (SELECT 1 FROM session_grants g WHERE g.identity_id = sso_identities.id AND g.granted_at > 0 AND (CAST($4 AS TEXT) IS NULL OR g.sid = $4))";
    }
    ;
    built
    OF_ACCOUNT = select::<Link>("sso_identities i JOIN sso_connections k ON k.id = i.connection_id WHERE i.user_id = $1 ORDER BY i.id");
}

/// An identity with its connection.
#[derive(Clone, Debug, Row)]
pub struct Link {
    #[row(flatten, prefix = "i.")]
    pub identity: SsoIdentity,
    #[row(column = "k.name")]
    pub connection_name: ConnectionName,
    #[row(column = "k.is_enabled")]
    pub is_enabled: bool,
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, identity: &SsoIdentity) -> Result<(), Error> {
    IDENTITIES.insert(t, scope, identity).await
}

pub async fn by_subject(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
    subject: &str,
) -> Result<Option<SsoIdentity>, Error> {
    t.opt(*BY_SUBJECT, &[id(scope.organization()), id(connection), Value::from(subject)], read).await
}

/// Returns the identities of a user in the organization, oldest first.
pub async fn of_member(t: &Tx<'_>, scope: &Scope, user: UserId) -> Result<Vec<SsoIdentity>, Error> {
    t.all(*OF_MEMBER, &[id(scope.organization()), id(user)], read).await
}

pub async fn of_connection_and_user(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
    user: UserId,
) -> Result<Option<SsoIdentity>, Error> {
    t.opt(*OF_CONNECTION_AND_USER, &[id(scope.organization()), id(connection), id(user)], read).await
}

/// Returns the identities of an account in all organizations. They are the user's own, so it takes no scope.
pub async fn of_account(t: &Tx<'_>, user: UserId) -> Result<Vec<Link>, Error> {
    t.all(*OF_ACCOUNT, &[id(user)], read).await
}

/// Records a use of an identity, with the address that the provider gave.
pub async fn used(
    t: &Tx<'_>,
    scope: &Scope,
    identity: SsoIdentityId,
    at: Time,
    email: Option<&str>,
) -> Result<(), Error> {
    let params = [id(scope.organization()), id(identity), time(at), Value::from(email)];
    t.execute(USED, &params).await.map(|_| ())
}

/// Returns false if the organization has no such identity.
pub async fn delete(t: &Tx<'_>, scope: &Scope, identity: SsoIdentityId) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[id(scope.organization()), id(identity)]).await? > 0)
}

/// Deletes an identity of the user's own account.
pub async fn delete_own(t: &Tx<'_>, user: UserId, identity: SsoIdentityId) -> Result<bool, Error> {
    Ok(t.execute(DELETE_OWN, &[id(user), id(identity)]).await? > 0)
}

/// Deletes the identities of people with an address of a domain, here or at the provider.
pub async fn delete_of_domain(t: &Tx<'_>, scope: &Scope, domain: &str) -> Result<u64, Error> {
    let pattern = format!("%@{}", domain.replace('_', "\\_"));
    t.execute(DELETE_OF_DOMAIN, &[id(scope.organization()), Value::from(pattern)]).await
}

/// Returns the identities that are signed in: those of a subject, or of one session at the provider.
pub async fn signed_in(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
    subject: Option<&str>,
    sid: Option<&str>,
) -> Result<Vec<SsoIdentity>, Error> {
    let params = [id(scope.organization()), id(connection), Value::from(subject), Value::from(sid)];
    t.all(*SIGNED_IN, &params, read).await
}
