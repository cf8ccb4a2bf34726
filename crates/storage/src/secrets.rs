//! The secrets of an organization. The caller encrypts their values.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::row::Row;

use crate::sql::{Columns, id, time};
use crate::table::{read, select};

statements! {
    GET = "SELECT s.sealed, i.value FROM secrets s, instance i WHERE s.org_id = $1 AND s.name = $2 AND i.name = 'secrets_key'";
    LOCK_KEY = "SELECT value FROM instance WHERE name = 'secrets_key' FOR UPDATE";
    KEY = "SELECT value FROM instance WHERE name = 'secrets_key'";
    NEW_KEY = "INSERT INTO instance (name, value) VALUES ('secrets_key', $1) ON CONFLICT (name) DO NOTHING";
    SET_KEY = "UPDATE instance SET value = $1 WHERE name = 'secrets_key'";
    SET = "INSERT INTO secrets (org_id, name, sealed, created_at, updated_at) VALUES ($1, $2, $3, $4, $4) ON CONFLICT (org_id, name) DO UPDATE SET sealed = $3, updated_at = $4 RETURNING created_at";
    DELETE = "DELETE FROM secrets WHERE org_id = $1 AND name = $2";
    ALL = "SELECT org_id, name, sealed FROM secrets ORDER BY org_id, name";
    RESEAL = "UPDATE secrets SET sealed = $3 WHERE org_id = $1 AND name = $2";
    ;
    built
    LIST = select::<SecretMetadata>("secrets WHERE org_id = $1 ORDER BY name");
}

/// The metadata of a secret.
#[derive(Clone, Debug, Row)]
pub struct SecretMetadata {
    pub name: String,
    pub created_at: Time,
    pub updated_at: Time,
}

pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<SecretMetadata>, Error> {
    t.all(*LIST, &[id(scope.organization())], read).await
}

/// Returns an encrypted secret and the stored form of its key.
pub async fn get(t: &Tx<'_>, scope: &Scope, name: &str) -> Result<Option<(Vec<u8>, String)>, Error> {
    t.opt(GET, &[id(scope.organization()), Value::from(name)], |row| Ok((row.bytes(0)?, row.text(1)?))).await
}

/// Locks and returns the stored form of the key of all secrets. Runs before a scope exists.
pub async fn lock_key(t: &Tx<'_>) -> Result<Option<String>, Error> {
    t.opt(LOCK_KEY, &[], |row| row.text(0)).await
}

/// Returns the stored form of the key of all secrets.
pub async fn key(t: &Tx<'_>) -> Result<Option<String>, Error> {
    t.opt(KEY, &[], |row| row.text(0)).await
}

/// Stores the first key, unless there is one.
pub async fn new_key(t: &Tx<'_>, kept: &str) -> Result<(), Error> {
    t.execute(NEW_KEY, &[Value::from(kept)]).await.map(|_| ())
}

pub async fn set_key(t: &Tx<'_>, kept: &str) -> Result<(), Error> {
    t.execute(SET_KEY, &[Value::from(kept)]).await.map(|_| ())
}

/// Sets a secret and returns the time at which a secret with this name was first created.
pub async fn set(t: &Tx<'_>, scope: &Scope, name: &str, sealed: &[u8], at: Time) -> Result<Time, Error> {
    let params = [id(scope.organization()), Value::from(name), Value::from(sealed), time(at)];
    let made = t.returning(SET, &params, |row| row.time(0)).await?.pop();
    made.ok_or_else(|| Error::Other(format!("no row: {SET}")))
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, name: &str) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[id(scope.organization()), Value::from(name)]).await? > 0)
}

/// Returns every secret of every organization, for a key rotation.
pub async fn all(t: &Tx<'_>) -> Result<Vec<(OrganizationId, String, Vec<u8>)>, Error> {
    t.all(ALL, &[], |row| Ok((row.parse(0)?, row.text(1)?, row.bytes(2)?))).await
}

/// Replaces the ciphertext of a secret after a key rotation.
pub async fn reseal(
    t: &Tx<'_>,
    organization: OrganizationId,
    name: &str,
    sealed: &[u8],
) -> Result<(), Error> {
    let params = [id(organization), Value::from(name), Value::from(sealed)];
    t.execute(RESEAL, &params).await.map(|_| ())
}
