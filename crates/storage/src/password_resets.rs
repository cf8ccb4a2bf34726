//! Single-use links to set a new password.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::hash::Hash;
use attestry_domain::id::UserId;

use crate::sql::{Columns, id, time};

statements! {
    INSERT = "INSERT INTO password_resets (token_hash, user_id, created_at, expires_at, by_mail) VALUES ($1, $2, $3, $4, $5)";
    COUNT_SINCE = "SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND created_at > $2";
    FIND = "SELECT user_id, expires_at, by_mail FROM password_resets WHERE token_hash = $1";
    TAKE = "DELETE FROM password_resets WHERE token_hash = $1 RETURNING user_id, expires_at, by_mail";
    DELETE_OF_USER = "DELETE FROM password_resets WHERE user_id = $1";
    DELETE_EXPIRED = "DELETE FROM password_resets WHERE expires_at < $1";
}

/// A password reset link of a user.
#[derive(Clone, Copy, Debug)]
pub struct PasswordReset {
    pub user: UserId,
    pub expires_at: Time,
    /// True when the link was sent by mail.
    pub by_mail: bool,
}

fn read(row: &Row<'_>) -> Result<PasswordReset, Error> {
    Ok(PasswordReset { user: row.parse(0)?, expires_at: row.time(1)?, by_mail: row.bool(2)? })
}

pub async fn insert(t: &Tx<'_>, token_hash: &Hash, link: &PasswordReset, at: Time) -> Result<(), Error> {
    let PasswordReset { user, expires_at, by_mail } = *link;
    let params = [Value::from(token_hash), id(user), time(at), time(expires_at), Value::Bool(by_mail)];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Counts a user's unused links that were created after `since`.
pub async fn count_since(t: &Tx<'_>, user: UserId, since: Time) -> Result<i64, Error> {
    t.one(COUNT_SINCE, &[id(user), time(since)], |row| row.int(0)).await
}

pub async fn find(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<PasswordReset>, Error> {
    t.opt(FIND, &[Value::from(token_hash)], read).await
}

/// Consumes a link.
pub async fn take(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<PasswordReset>, Error> {
    Ok(t.returning(TAKE, &[Value::from(token_hash)], read).await?.pop())
}

pub async fn delete_of_user(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    t.execute(DELETE_OF_USER, &[id(user)]).await.map(|_| ())
}

pub async fn delete_expired(t: &Tx<'_>, now: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(now)]).await
}
