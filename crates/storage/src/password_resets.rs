//! Links that let a user choose a new password, once.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::UserId;
use attestry_domain::journal::Hash;

use crate::sql::{Columns, id, time};

statements! {
    INSERT = "INSERT INTO password_resets (token_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)";
    COUNT_SINCE = "SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND created_at > $2";
    USER = "SELECT user_id FROM password_resets WHERE token_hash = $1";
    TAKE = "DELETE FROM password_resets WHERE token_hash = $1 RETURNING user_id, expires_at";
    DELETE_OF_USER = "DELETE FROM password_resets WHERE user_id = $1";
    DELETE_EXPIRED = "DELETE FROM password_resets WHERE expires_at < $1";
}

pub async fn insert(
    t: &Tx<'_>,
    token_hash: &Hash,
    user: UserId,
    at: Time,
    expires: Time,
) -> Result<(), Error> {
    t.execute(INSERT, &[Value::from(token_hash), id(user), time(at), time(expires)]).await.map(|_| ())
}

/// How many links a user was sent lately and has not used.
pub async fn count_since(t: &Tx<'_>, user: UserId, since: Time) -> Result<i64, Error> {
    t.one(COUNT_SINCE, &[id(user), time(since)], |row| row.int(0)).await
}

/// Whose link it is.
pub async fn user(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<UserId>, Error> {
    t.opt(USER, &[Value::from(token_hash)], |row| row.parse(0)).await
}

/// Uses up a link: whose it is and until when it held.
pub async fn take(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<(UserId, Time)>, Error> {
    t.opt(TAKE, &[Value::from(token_hash)], |row| Ok((row.parse(0)?, row.time(1)?))).await
}

pub async fn delete_of_user(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    t.execute(DELETE_OF_USER, &[id(user)]).await.map(|_| ())
}

pub async fn delete_expired(t: &Tx<'_>, now: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(now)]).await
}
