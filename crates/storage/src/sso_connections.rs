//! Connections to identity providers, and the last attempts to sign in with them. The caller encrypts client secrets.

use attestry_db::{Error, Row as DbRow, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, SsoConnectionId, UserId};
use attestry_domain::identity::sso::{SsoConnection, SsoSignIn};
use attestry_domain::row::{Cells as _, Row as _};

use crate::sql::{Columns, id, time};
use crate::table::{RowCells, read};

statements! {
    DELETE = "DELETE FROM sso_connections WHERE org_id = $1 AND id = $2";
    ALL_SECRETS = "SELECT id, client_secret FROM sso_connections WHERE client_secret IS NOT NULL ORDER BY id FOR UPDATE";
    RESEAL = "UPDATE sso_connections SET client_secret = $2 WHERE id = $1";
    OF_USER = "SELECT k.id FROM sso_connections k LEFT JOIN sso_identities i ON i.connection_id = k.id AND i.user_id = $2 WHERE k.org_id = $1 AND k.is_enabled = TRUE ORDER BY CASE WHEN i.id IS NULL THEN 1 ELSE 0 END, k.id LIMIT 1";
    DELETE_OLD_SIGN_INS = "DELETE FROM sso_sign_ins WHERE connection_id = $1 AND id NOT IN (SELECT id FROM sso_sign_ins WHERE connection_id = $1 ORDER BY id DESC LIMIT 200)";
    ;
    tables
    CONNECTIONS: SsoConnection = "sso_connections" + "client_secret" {
        ENABLED = " WHERE org_id = $1 AND is_enabled = TRUE ORDER BY id";
        EXPIRING = " WHERE client_secret_expires_at > $1 AND client_secret_expires_at <= $2 ORDER BY id";
    }
    SIGN_INS: SsoSignIn = "sso_sign_ins" {
        LIST_SIGN_INS = " WHERE org_id = $1 AND connection_id = $2 ORDER BY id DESC LIMIT 200";
    }
    ;
    built
    LIST = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 ORDER BY id");
    GET = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 AND id = $2");
    LOCK = CONNECTIONS.select_with("client_secret", " WHERE org_id = $1 AND id = $2 FOR UPDATE");
    FIND = CONNECTIONS.select_with("client_secret", " WHERE id = $1");
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
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SealedConnection>, Error> {
    t.all(*LIST, &[id(scope.organization())], read_sealed).await
}

/// Returns the connections of the organization that can be used.
pub async fn enabled(t: &Tx<'_>, organization: OrganizationId) -> Result<Vec<SsoConnection>, Error> {
    t.all(*ENABLED, &[id(organization)], read).await
}

/// Returns the connection by which a user signs in to the organization: one that is linked to the account, or else the
/// first.
pub async fn of_user(
    t: &Tx<'_>,
    organization: OrganizationId,
    user: UserId,
) -> Result<Option<SsoConnectionId>, Error> {
    t.opt(OF_USER, &[id(organization), id(user)], |row| row.parse(0)).await
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
    t.opt(*FIND, &[id(connection)], read_sealed).await
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

/// Records an attempt to sign in; only the last ones are kept.
pub async fn record_sign_in(t: &Tx<'_>, scope: &Scope, sign_in: &SsoSignIn) -> Result<(), Error> {
    SIGN_INS.insert(t, scope, sign_in).await?;
    t.execute(DELETE_OLD_SIGN_INS, &[id(sign_in.connection_id)]).await.map(|_| ())
}

/// Returns the last attempts to sign in with a connection, newest first.
pub async fn recent_sign_ins(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
) -> Result<Vec<SsoSignIn>, Error> {
    t.all(*LIST_SIGN_INS, &[id(scope.organization()), id(connection)], read).await
}
