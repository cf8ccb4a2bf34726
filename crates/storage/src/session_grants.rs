//! Grants: the organizations in which an identity provider authenticated the user of a session. The caller encrypts ID
//! tokens. A revoked grant remains, as one of long ago: the session knows the organization, and has to be renewed there.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, SessionId, SsoConnectionId, SsoIdentityId};
use attestry_domain::identity::sso::ProviderFacts;
use attestry_domain::row::Row;

use crate::sql::{Columns, id, opt_time, time};
use crate::table::{read, select};

macro_rules! revoke {
    ($of:literal) => {
        concat!(
            "UPDATE session_grants SET granted_at = 0, confirmed_at = NULL, sid = NULL, id_token = NULL",
            " WHERE org_id = $1 AND identity_id IN (SELECT id FROM sso_identities WHERE org_id = $1 AND connection_id = $2)",
            $of
        )
    };
}

statements! {
    PUT = "INSERT INTO session_grants (session_id, org_id, identity_id, granted_at, has_mfa, confirmed_at, sid, id_token) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (session_id, org_id) DO UPDATE SET identity_id = $3, granted_at = $4, has_mfa = $5, confirmed_at = $6, sid = $7, id_token = $8";
    CONFIRMED_AT = "SELECT confirmed_at FROM session_grants WHERE session_id = $1 AND org_id = $2";
    ORGANIZATIONS = "SELECT org_id FROM session_grants WHERE session_id = $1";
    LAST_CONFIRMED = "SELECT MAX(confirmed_at) FROM session_grants WHERE session_id = $1";
    REVOKE = revoke!("");
    REVOKE_SUBJECT = revoke!(" AND identity_id IN (SELECT id FROM sso_identities WHERE connection_id = $2 AND subject = $3) AND (CAST($4 AS TEXT) IS NULL OR sid = $4)");
    REVOKE_SID = revoke!(" AND sid = $3");
    ;
    built
    AT_PROVIDER = select::<ProviderSession>("session_grants g JOIN sso_identities i ON i.id = g.identity_id JOIN sso_connections k ON k.id = i.connection_id WHERE g.session_id = $1 AND k.signs_out_at_provider = TRUE ORDER BY g.granted_at DESC LIMIT 1");
}

/// What a connection granted.
#[derive(Clone, Debug)]
pub struct Grant {
    pub session: SessionId,
    pub identity: SsoIdentityId,
    pub granted_at: Time,
    pub has_mfa: bool,
    pub confirmed_at: Option<Time>,
    /// The session at the provider.
    pub sid: Option<String>,
    /// Encrypted.
    pub id_token: Option<Vec<u8>>,
}

/// Inserts or replaces the grant of a session in the organization.
pub async fn put(t: &Tx<'_>, scope: &Scope, grant: &Grant) -> Result<(), Error> {
    let params = [
        id(grant.session),
        id(scope.organization()),
        id(grant.identity),
        time(grant.granted_at),
        Value::Bool(grant.has_mfa),
        opt_time(grant.confirmed_at),
        Value::from(grant.sid.as_deref()),
        Value::from(grant.id_token.as_deref()),
    ];
    t.execute(PUT, &params).await.map(|_| ())
}

/// Returns when the provider last authenticated the user of a session anew.
pub async fn confirmed_at(t: &Tx<'_>, scope: &Scope, session: SessionId) -> Result<Option<Time>, Error> {
    let found = t.opt(CONFIRMED_AT, &[id(session), id(scope.organization())], |row| row.opt_time(0)).await?;
    Ok(found.flatten())
}

/// Returns the organizations that know a session by single sign-on.
pub async fn organizations(t: &Tx<'_>, session: SessionId) -> Result<Vec<OrganizationId>, Error> {
    t.all(ORGANIZATIONS, &[id(session)], |row| row.parse(0)).await
}

/// Returns when any provider last authenticated the user of a session anew.
pub async fn last_confirmed(t: &Tx<'_>, session: SessionId) -> Result<Option<Time>, Error> {
    t.one(LAST_CONFIRMED, &[id(session)], |row| row.opt_time(0)).await
}

/// Revokes all grants of a connection.
pub async fn revoke(t: &Tx<'_>, scope: &Scope, connection: SsoConnectionId) -> Result<u64, Error> {
    t.execute(REVOKE, &[id(scope.organization()), id(connection)]).await
}

/// Revokes the grants of a subject, or of one session at the provider.
pub async fn revoke_at_provider(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
    subject: Option<&str>,
    sid: Option<&str>,
) -> Result<u64, Error> {
    let (own, of) = (id(scope.organization()), id(connection));
    match (subject, sid) {
        (Some(subject), sid) => {
            t.execute(REVOKE_SUBJECT, &[own, of, Value::from(subject), Value::from(sid)]).await
        }
        (None, Some(sid)) => t.execute(REVOKE_SID, &[own, of, Value::from(sid)]).await,
        (None, None) => Ok(0),
    }
}

/// A session at a provider at which the user signs out, too.
#[derive(Clone, Debug, Row)]
pub struct ProviderSession {
    #[row(column = "k.client_id")]
    pub client_id: String,
    #[row(column = "k.provider", json)]
    pub provider: Option<ProviderFacts>,
    #[row(column = "g.id_token")]
    pub id_token: Option<Vec<u8>>,
}

pub async fn provider_session(t: &Tx<'_>, session: SessionId) -> Result<Option<ProviderSession>, Error> {
    t.opt(*AT_PROVIDER, &[id(session)], read).await
}
