//! The secrets of authenticator apps and the recovery codes of users. The caller encrypts the secrets and passes the
//! codes as MACs.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::hash::Hash;
use attestry_domain::id::UserId;
use attestry_domain::row::Row;

use crate::sql::{Columns, id, opt_time, time};
use crate::table::read_with;

statements! {
    ACTIVATE = "UPDATE totp_secrets SET activated_at = $2, last_step = $3 WHERE user_id = $1";
    SPEND_STEP = "UPDATE totp_secrets SET last_step = $2 WHERE user_id = $1 AND last_step < $2 AND activated_at IS NOT NULL";
    DELETE_SECRET = "DELETE FROM totp_secrets WHERE user_id = $1";
    DELETE_PENDING = "DELETE FROM totp_secrets WHERE activated_at IS NULL AND created_at < $1";
    ALL_SECRETS = "SELECT user_id, sealed FROM totp_secrets ORDER BY user_id FOR UPDATE";
    RESEAL = "UPDATE totp_secrets SET sealed = $2 WHERE user_id = $1";
    INSERT_CODE = "INSERT INTO recovery_codes (user_id, mac, created_at) VALUES ($1, $2, $3)";
    SPEND_CODE = "UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND mac = $2 AND used_at IS NULL";
    DELETE_CODES = "DELETE FROM recovery_codes WHERE user_id = $1";
    CODES = "SELECT COUNT(*), MAX(created_at) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL";
    HAS_CODE = "SELECT 1 FROM recovery_codes WHERE user_id = $1 AND mac = $2 AND used_at IS NULL";
    SINCE = "UPDATE users SET second_factor_since = $2, version = version + 1 WHERE id = $1";
    ;
    tables
    SECRETS: TotpSecret = "totp_secrets s" by "user_id" {
    }
    ;
    built
    GET = SECRETS.select_with("i.value", ", instance i WHERE s.user_id = $1 AND i.name = 'secrets_key'");
}

/// The secret of an authenticator app.
#[derive(Clone, Debug, Row)]
pub struct TotpSecret {
    pub user_id: UserId,
    pub sealed: Vec<u8>,
    pub created_at: Time,
    /// `None` until a first code proves that the app has the secret.
    pub activated_at: Option<Time>,
    pub last_step: i64,
}

/// The unused recovery codes of a user.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryCodes {
    pub left: i64,
    pub created_at: Option<Time>,
}

/// Returns the secret of a user's app, and the stored form of the key of all secrets.
pub async fn totp(t: &Tx<'_>, user: UserId) -> Result<Option<(TotpSecret, String)>, Error> {
    t.opt(*GET, &[id(user)], read_with).await
}

/// Stores a secret that no code has proved yet.
pub async fn put_pending(t: &Tx<'_>, secret: &TotpSecret) -> Result<(), Error> {
    t.execute(DELETE_SECRET, &[id(secret.user_id)]).await?;
    SECRETS.insert_with(t, secret.user_id, secret, Vec::new()).await
}

pub async fn activate(t: &Tx<'_>, user: UserId, step: i64, at: Time) -> Result<(), Error> {
    t.execute(ACTIVATE, &[id(user), time(at), Value::Int(step)]).await.map(|_| ())
}

/// Spends a time step; `false` if it or a later one was spent before.
pub async fn spend_step(t: &Tx<'_>, user: UserId, step: i64) -> Result<bool, Error> {
    Ok(t.execute(SPEND_STEP, &[id(user), Value::Int(step)]).await? > 0)
}

pub async fn delete_totp(t: &Tx<'_>, user: UserId) -> Result<bool, Error> {
    Ok(t.execute(DELETE_SECRET, &[id(user)]).await? > 0)
}

/// Deletes secrets that were created before `before` and never proved.
pub async fn delete_pending(t: &Tx<'_>, before: Time) -> Result<u64, Error> {
    t.execute(DELETE_PENDING, &[time(before)]).await
}

/// Returns every encrypted secret and locks them, for a key rotation.
pub async fn all(t: &Tx<'_>) -> Result<Vec<(UserId, Vec<u8>)>, Error> {
    t.all(ALL_SECRETS, &[], |row| Ok((row.parse(0)?, row.bytes(1)?))).await
}

pub async fn reseal(t: &Tx<'_>, user: UserId, sealed: &[u8]) -> Result<(), Error> {
    t.execute(RESEAL, &[id(user), Value::from(sealed)]).await.map(|_| ())
}

/// Replaces the recovery codes of a user.
pub async fn put_codes(t: &Tx<'_>, user: UserId, macs: &[Hash], at: Time) -> Result<(), Error> {
    delete_codes(t, user).await?;
    for mac in macs {
        t.execute(INSERT_CODE, &[id(user), Value::from(mac), time(at)]).await?;
    }
    Ok(())
}

pub async fn delete_codes(t: &Tx<'_>, user: UserId) -> Result<u64, Error> {
    t.execute(DELETE_CODES, &[id(user)]).await
}

pub async fn codes(t: &Tx<'_>, user: UserId) -> Result<RecoveryCodes, Error> {
    t.one(CODES, &[id(user)], |row| Ok(RecoveryCodes { left: row.int(0)?, created_at: row.opt_time(1)? }))
        .await
}

pub async fn has_code(t: &Tx<'_>, user: UserId, mac: &Hash) -> Result<bool, Error> {
    Ok(t.opt(HAS_CODE, &[id(user), Value::from(mac)], |_| Ok(())).await?.is_some())
}

/// Spends a recovery code; `false` if it was spent before.
pub async fn spend_code(t: &Tx<'_>, user: UserId, mac: &Hash, at: Time) -> Result<bool, Error> {
    Ok(t.execute(SPEND_CODE, &[id(user), Value::from(mac), time(at)]).await? > 0)
}

/// Stores when the account got its second factor; `None` when it has none any more.
pub async fn set_since(t: &Tx<'_>, user: UserId, since: Option<Time>) -> Result<(), Error> {
    t.execute(SINCE, &[id(user), opt_time(since)]).await.map(|_| ())
}
