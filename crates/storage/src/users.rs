//! Users. They belong to no organization: functions here take no scope (except for invited users), and only the
//! identity use cases call them.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::UserId;
use attestry_domain::identity::users::User;

use crate::sql::{Columns, id, opt_id, opt_time, time};

/// The columns of a user, in every statement that selects one.
macro_rules! user_columns {
    () => {
        "u.id, u.name, u.email, u.email_verified, u.image, u.created_at, u.updated_at, u.last_login, u.version, u.invited_to, u.account_id"
    };
}
pub(crate) use user_columns;

statements! {
    LOCK = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
    INSERT = "INSERT INTO users (id, name, name_key, email, email_key, email_verified, image, password_hash, created_at, updated_at, last_login, version, invited_to, account_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    GET = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.id = $1");
    BY_EMAIL = concat!("SELECT ", user_columns!(), ", u.password_hash FROM users u WHERE u.email_key = $1");
    INVITED = concat!("SELECT ", user_columns!(), " FROM users u WHERE u.invited_to = $1 AND u.account_id = $2");
    PASSWORD = "SELECT password_hash FROM users WHERE id = $1";
    SET_PASSWORD = "UPDATE users SET password_hash = $2, email_verified = $3, updated_at = $4, version = version + 1 WHERE id = $1";
    SET_NAME = "UPDATE users SET name = $2, name_key = $3, updated_at = $4, version = version + 1 WHERE id = $1";
    BECOME_ACCOUNT = "UPDATE users SET email_key = $2, invited_to = NULL, updated_at = $3, version = version + 1 WHERE id = $1";
    DELETE = "DELETE FROM users WHERE id = $1";
    SIGNED_IN = "UPDATE users SET last_login = $2, version = version + 1 WHERE id = $1";
}

pub(crate) fn read(row: &Row<'_>, from: usize) -> Result<User, Error> {
    Ok(User {
        id: row.parse(from)?,
        name: row.text(from + 1)?,
        email: row.text(from + 2)?,
        email_verified: row.bool(from + 3)?,
        image: row.opt_text(from + 4)?,
        created_at: row.time(from + 5)?,
        updated_at: row.time(from + 6)?,
        last_login: row.opt_time(from + 7)?,
        version: row.int(from + 8)?,
        invited_to: row.opt_parse(from + 9)?,
        account_id: row.opt_parse(from + 10)?,
    })
}

pub async fn insert(t: &Tx<'_>, user: &User, password_hash: Option<&str>) -> Result<(), Error> {
    let User {
        id: own,
        name,
        email,
        email_verified,
        image,
        created_at,
        updated_at,
        last_login,
        invited_to,
        account_id,
        version,
    } = user;
    let params = [
        id(*own),
        Value::from(name),
        Value::from(name.to_lowercase()),
        Value::from(email),
        Value::from(user.email_key()),
        Value::Bool(*email_verified),
        Value::from(image.as_ref()),
        Value::from(password_hash),
        time(*created_at),
        time(*updated_at),
        opt_time(*last_login),
        Value::Int(*version),
        opt_id(*invited_to),
        opt_id(*account_id),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Locks a user, which serializes a sign-in with the removal of the last membership.
pub async fn lock(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    t.all(LOCK, &[id(user)], |_| Ok(())).await.map(drop)
}

pub async fn get(t: &Tx<'_>, user: UserId) -> Result<Option<User>, Error> {
    t.opt(GET, &[id(user)], |row| read(row, 0)).await
}

/// The user with this address and the hash of the password, if one was ever set.
pub async fn by_email(t: &Tx<'_>, email_key: &str) -> Result<Option<(User, Option<String>)>, Error> {
    t.opt(BY_EMAIL, &[Value::from(email_key)], |row| Ok((read(row, 0)?, row.opt_text(11)?))).await
}

/// Returns the organization's placeholder user for an account that was invited by its id.
pub async fn invited(t: &Tx<'_>, scope: &Scope, account: UserId) -> Result<Option<User>, Error> {
    t.opt(INVITED, &[id(scope.organization()), id(account)], |row| read(row, 0)).await
}

pub async fn password(t: &Tx<'_>, user: UserId) -> Result<Option<String>, Error> {
    Ok(t.opt(PASSWORD, &[id(user)], |row| row.opt_text(0)).await?.flatten())
}

pub async fn set_password(
    t: &Tx<'_>,
    user: UserId,
    hash: &str,
    email_verified: bool,
    at: Time,
) -> Result<(), Error> {
    let params = [id(user), Value::from(hash), Value::Bool(email_verified), time(at)];
    t.execute(SET_PASSWORD, &params).await.map(|_| ())
}

pub async fn set_name(t: &Tx<'_>, user: UserId, name: &str, at: Time) -> Result<(), Error> {
    let params = [id(user), Value::from(name), Value::from(name.to_lowercase()), time(at)];
    t.execute(SET_NAME, &params).await.map(|_| ())
}

/// Turns an invited user into one with an account.
pub async fn become_account(t: &Tx<'_>, user: &User, at: Time) -> Result<(), Error> {
    let params = [id(user.id), Value::from(user.email.to_lowercase()), time(at)];
    t.execute(BECOME_ACCOUNT, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    t.execute(DELETE, &[id(user)]).await.map(|_| ())
}

pub async fn signed_in(t: &Tx<'_>, user: UserId, at: Time) -> Result<(), Error> {
    t.execute(SIGNED_IN, &[id(user), time(at)]).await.map(|_| ())
}
