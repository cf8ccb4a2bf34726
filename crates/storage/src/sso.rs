//! Connections to identity providers, identities, and what was granted by them. The caller encrypts client secrets and
//! ID tokens.

use attestry_db::{Error, Row as DbRow, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId, SessionId, SsoConnectionId, SsoIdentityId, UserId};
use attestry_domain::identity::sso::{ProviderFacts, SsoConnection, SsoIdentity, SsoSignIn};
use attestry_domain::row::{Cells as _, Row};

use crate::sql::{Columns, id, opt_time, time};
use crate::table::{RowCells, read, select};

statements! {
    DELETE = "DELETE FROM sso_connections WHERE org_id = $1 AND id = $2";
    TESTED = "UPDATE sso_connections SET tested_at = $3, version = version + 1 WHERE org_id = $1 AND id = $2";
    ALL_SECRETS = "SELECT id, client_secret FROM sso_connections WHERE client_secret IS NOT NULL ORDER BY id FOR UPDATE";
    RESEAL = "UPDATE sso_connections SET client_secret = $2 WHERE id = $1";
    USED = "UPDATE sso_identities SET last_used_at = $3, email = $4 WHERE org_id = $1 AND id = $2";
    DELETE_IDENTITY = "DELETE FROM sso_identities WHERE org_id = $1 AND id = $2";
    DELETE_OWN = "DELETE FROM sso_identities WHERE user_id = $1 AND id = $2";
    DELETE_OF_DOMAIN = "DELETE FROM sso_identities WHERE org_id = $1 AND LOWER(email) LIKE $2 ESCAPE '\\'";
    PUT_GRANT = "INSERT INTO session_grants (session_id, org_id, identity_id, granted_at, has_mfa, confirmed_at, sid, id_token) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (session_id, org_id) DO UPDATE SET identity_id = $3, granted_at = $4, has_mfa = $5, confirmed_at = $6, sid = $7, id_token = $8";
    CONFIRMED_AT = "SELECT confirmed_at FROM session_grants WHERE session_id = $1 AND org_id = $2";
    LAST_CONFIRMED = "SELECT MAX(confirmed_at) FROM session_grants WHERE session_id = $1";
    REVOKE = "DELETE FROM session_grants WHERE org_id = $1 AND identity_id IN (SELECT id FROM sso_identities WHERE org_id = $1 AND connection_id = $2)";
    REVOKE_SUBJECT = "DELETE FROM session_grants WHERE org_id = $1 AND identity_id IN (SELECT id FROM sso_identities WHERE org_id = $1 AND connection_id = $2 AND subject = $3) AND (CAST($4 AS TEXT) IS NULL OR sid = $4)";
    REVOKE_SID = "DELETE FROM session_grants WHERE org_id = $1 AND sid = $3 AND identity_id IN (SELECT id FROM sso_identities WHERE org_id = $1 AND connection_id = $2)";
    DELETE_OLD_SIGN_INS = "DELETE FROM sso_sign_ins WHERE connection_id = $1 AND id NOT IN (SELECT id FROM sso_sign_ins WHERE connection_id = $1 ORDER BY id DESC LIMIT 200)";
    EXEMPT_OWNERS = "SELECT m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.id <> $2 AND m.is_active = TRUE AND m.is_exempt = TRUE AND u.second_factor_since IS NOT NULL";
    ;
    tables
    CONNECTIONS: SsoConnection = "sso_connections" + "client_secret" {
        LIST = " WHERE org_id = $1 ORDER BY id";
    }
    IDENTITIES: SsoIdentity = "sso_identities" {
        BY_SUBJECT = " WHERE org_id = $1 AND connection_id = $2 AND subject = $3";
        OF_MEMBER = " WHERE org_id = $1 AND user_id = $2 ORDER BY id";
        OF_CONNECTION_AND_USER = " WHERE org_id = $1 AND connection_id = $2 AND user_id = $3";
        OF_ACCOUNT = " WHERE user_id = $1 ORDER BY id";
        GRANTED = " WHERE org_id = $1 AND connection_id = $2 AND (CAST($3 AS TEXT) IS NULL OR subject = $3) AND EXISTS (SELECT 1 FROM session_grants g WHERE g.identity_id = sso_identities.id AND (CAST($4 AS TEXT) IS NULL OR g.sid = $4))";
    }
    SIGN_INS: SsoSignIn = "sso_sign_ins" {
        LIST_SIGN_INS = " WHERE org_id = $1 AND connection_id = $2 ORDER BY id DESC LIMIT 200";
    }
    ;
    built
    LIST_SEALED = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 ORDER BY id");
    GET = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 AND id = $2");
    LOCK = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 AND id = $2 FOR UPDATE");
    OF_ALL = CONNECTIONS.select_with("client_secret", " WHERE id = $1");
    EXPIRING = CONNECTIONS.select(" WHERE client_secret_expires_at IS NOT NULL AND client_secret_expires_at > $1 AND client_secret_expires_at <= $2 ORDER BY id");
    SIGN_OUT = select::<ProviderSession>("session_grants g JOIN sso_identities i ON i.id = g.identity_id JOIN sso_connections k ON k.id = i.connection_id WHERE g.session_id = $1 AND k.signs_out_at_provider = TRUE ORDER BY g.granted_at DESC LIMIT 1");
    ENABLED = CONNECTIONS.select(" WHERE org_id = $1 AND is_enabled = TRUE ORDER BY id");
}

/// A connection with its encrypted client secret.
#[derive(Clone, Debug)]
pub struct SealedConnection {
    pub connection: SsoConnection,
    pub client_secret: Option<Vec<u8>>,
}

fn read_sealed(row: &DbRow<'_>) -> Result<SealedConnection, Error> {
    let mut cells = RowCells::new(row);
    Ok(SealedConnection { connection: SsoConnection::read(&mut cells)?, client_secret: cells.take()? })
}

/// Returns the connections of the organization, oldest first.
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SsoConnection>, Error> {
    t.all(*LIST, &[id(scope.organization())], read).await
}

/// Returns the connections with their client secrets, oldest first.
pub async fn list_sealed(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SealedConnection>, Error> {
    t.all(*LIST_SEALED, &[id(scope.organization())], read_sealed).await
}

/// Returns the connections of the organization that can be used.
pub async fn enabled(t: &Tx<'_>, organization: OrganizationId) -> Result<Vec<SsoConnection>, Error> {
    t.all(*ENABLED, &[id(organization)], read).await
}

pub async fn get(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
) -> Result<Option<SealedConnection>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(connection)], read_sealed).await
}

pub async fn lock(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
) -> Result<Option<SealedConnection>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(connection)], read_sealed).await
}

/// Returns a connection of any organization: a sign-in begins before anybody knows who signs in.
pub async fn find(t: &Tx<'_>, connection: SsoConnectionId) -> Result<Option<SealedConnection>, Error> {
    t.opt(*OF_ALL, &[id(connection)], read_sealed).await
}

/// Inserts or updates a connection.
pub async fn put(t: &Tx<'_>, scope: &Scope, sealed: &SealedConnection) -> Result<(), Error> {
    let SealedConnection { connection, client_secret } = sealed;
    CONNECTIONS.upsert(t, scope, connection, vec![Value::from(client_secret.as_deref())]).await
}

/// Deletes a connection with its identities, and with what was granted by them.
pub async fn delete(t: &Tx<'_>, scope: &Scope, connection: SsoConnectionId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(connection)]).await.map(|_| ())
}

pub async fn tested(t: &Tx<'_>, scope: &Scope, connection: SsoConnectionId, at: Time) -> Result<(), Error> {
    t.execute(TESTED, &[id(scope.organization()), id(connection), time(at)]).await.map(|_| ())
}

/// All connections whose secrets expire in a period.
pub async fn expiring(t: &Tx<'_>, after: Time, until: Time) -> Result<Vec<SsoConnection>, Error> {
    t.all(*EXPIRING, &[time(after), time(until)], read).await
}

/// Locks all client secrets, to encrypt them anew.
pub async fn all_secrets(t: &Tx<'_>) -> Result<Vec<(SsoConnectionId, Vec<u8>)>, Error> {
    t.all(ALL_SECRETS, &[], |row| Ok((row.parse(0)?, row.bytes(1)?))).await
}

pub async fn reseal(t: &Tx<'_>, connection: SsoConnectionId, sealed: &[u8]) -> Result<(), Error> {
    t.execute(RESEAL, &[id(connection), Value::from(sealed)]).await.map(|_| ())
}

pub async fn insert_identity(t: &Tx<'_>, scope: &Scope, identity: &SsoIdentity) -> Result<(), Error> {
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
pub async fn of_account(t: &Tx<'_>, user: UserId) -> Result<Vec<SsoIdentity>, Error> {
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
pub async fn delete_identity(t: &Tx<'_>, scope: &Scope, identity: SsoIdentityId) -> Result<bool, Error> {
    Ok(t.execute(DELETE_IDENTITY, &[id(scope.organization()), id(identity)]).await? > 0)
}

/// Deletes an identity of the user's own account.
pub async fn delete_own(t: &Tx<'_>, user: UserId, identity: SsoIdentityId) -> Result<bool, Error> {
    Ok(t.execute(DELETE_OWN, &[id(user), id(identity)]).await? > 0)
}

/// Deletes the identities with an address of a domain.
pub async fn delete_of_domain(t: &Tx<'_>, scope: &Scope, domain: &str) -> Result<u64, Error> {
    let pattern = format!("%@{}", domain.replace('_', "\\_"));
    t.execute(DELETE_OF_DOMAIN, &[id(scope.organization()), Value::from(pattern)]).await
}

/// What a connection vouched for.
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
pub async fn grant(t: &Tx<'_>, scope: &Scope, grant: &Grant) -> Result<(), Error> {
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
    t.execute(PUT_GRANT, &params).await.map(|_| ())
}

/// Returns when the provider last authenticated the user of a session anew.
pub async fn confirmed_at(t: &Tx<'_>, scope: &Scope, session: SessionId) -> Result<Option<Time>, Error> {
    let found = t.opt(CONFIRMED_AT, &[id(session), id(scope.organization())], |row| row.opt_time(0)).await?;
    Ok(found.flatten())
}

/// Returns when any provider last authenticated the user of a session anew.
pub async fn last_confirmed(t: &Tx<'_>, session: SessionId) -> Result<Option<Time>, Error> {
    t.one(LAST_CONFIRMED, &[id(session)], |row| row.opt_time(0)).await
}

/// Deletes all grants of a connection.
pub async fn revoke(t: &Tx<'_>, scope: &Scope, connection: SsoConnectionId) -> Result<u64, Error> {
    t.execute(REVOKE, &[id(scope.organization()), id(connection)]).await
}

/// Returns the identities whose grants a provider's logout ends.
pub async fn granted(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
    subject: Option<&str>,
    sid: Option<&str>,
) -> Result<Vec<SsoIdentity>, Error> {
    let params = [id(scope.organization()), id(connection), Value::from(subject), Value::from(sid)];
    t.all(*GRANTED, &params, read).await
}

/// Deletes the grants of a subject, or of one session at the provider.
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
    #[row(column = "k.id")]
    pub connection: SsoConnectionId,
    #[row(column = "k.provider", json)]
    pub provider: Option<ProviderFacts>,
    #[row(column = "g.id_token")]
    pub id_token: Option<Vec<u8>>,
}

pub async fn provider_session(t: &Tx<'_>, session: SessionId) -> Result<Option<ProviderSession>, Error> {
    t.opt(*SIGN_OUT, &[id(session)], read).await
}

/// Records an attempt to sign in; only the last ones are kept.
pub async fn record_sign_in(t: &Tx<'_>, scope: &Scope, sign_in: &SsoSignIn) -> Result<(), Error> {
    SIGN_INS.insert(t, scope, sign_in).await?;
    t.execute(DELETE_OLD_SIGN_INS, &[id(sign_in.connection_id)]).await.map(|_| ())
}

/// Returns the last attempts to sign in by a connection, newest first.
pub async fn recent_sign_ins(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
) -> Result<Vec<SsoSignIn>, Error> {
    t.all(*LIST_SIGN_INS, &[id(scope.organization()), id(connection)], read).await
}

/// Returns the roles of the exempt members with a second factor, other than this one.
pub async fn other_exempt(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<Roles>, Error> {
    let roles = t.all(EXEMPT_OWNERS, &[id(scope.organization()), id(member)], |row| row.text(0)).await?;
    Ok(roles.into_iter().map(Roles::stored).collect())
}
