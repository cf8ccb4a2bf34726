//! Users. They belong to no organization: functions here take no scope (except for invited users), and only the
//! identity use cases call them.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::UserId;
use attestry_domain::identity::users::User;

use crate::sql::{id, time};
use crate::table::{read, read_with};

statements! {
    LOCK = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
    PASSWORD = "SELECT password_hash FROM users WHERE id = $1";
    SET_PASSWORD = "UPDATE users SET password_hash = $2, email_verified = $3, updated_at = $4, version = version + 1 WHERE id = $1";
    VERIFY = "UPDATE users SET password_hash = NULL, email_verified = TRUE, updated_at = $2, version = version + 1 WHERE id = $1";
    DROP_PASSWORD = "UPDATE users SET password_hash = NULL, updated_at = $2, version = version + 1 WHERE id = $1";
    SET_NAME = "UPDATE users SET name = $2, name_key = $3, updated_at = $4, version = version + 1 WHERE id = $1";
    SET_EMAIL = "UPDATE users SET email = $2, email_key = $3, email_verified = TRUE, updated_at = $4, version = version + 1 WHERE id = $1";
    BECOME_ACCOUNT = "UPDATE users SET email_key = $2, invited_to = NULL, updated_at = $3, version = version + 1 WHERE id = $1";
    PROVED = "UPDATE users SET own_factors_at = $2 WHERE id = $1";
    SIGNED_IN = "UPDATE users SET last_login = $2, version = version + 1 WHERE id = $1";
    ;
    tables
    USERS: User = "users" by "id" + "name_key" "email_key" "password_hash" {
        GET = " WHERE id = $1";
        INVITED = " WHERE invited_to = $1 AND account_id = $2";
    }
    ;
    built
    BY_EMAIL = USERS.select_with("password_hash", " WHERE email_key = $1");
}

pub async fn insert(t: &Tx<'_>, user: &User, password_hash: Option<&str>) -> Result<(), Error> {
    let (name_key, email_key) = (user.name.to_lowercase(), user.email_key());
    let others = vec![Value::from(name_key), Value::from(email_key), Value::from(password_hash)];
    USERS.insert_with(t, user.id, user, others).await
}

/// Locks a user, which serializes a sign-in with the removal of the last membership.
pub async fn lock(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    t.all(LOCK, &[id(user)], |_| Ok(())).await.map(drop)
}

pub async fn get(t: &Tx<'_>, user: UserId) -> Result<Option<User>, Error> {
    t.opt(*GET, &[id(user)], read).await
}

/// The user with this address and the hash of the password, if one was ever set.
pub async fn by_email(t: &Tx<'_>, email_key: &str) -> Result<Option<(User, Option<String>)>, Error> {
    t.opt(*BY_EMAIL, &[Value::from(email_key)], read_with).await
}

/// Returns the organization's placeholder user for an account that was invited by its id.
pub async fn invited(t: &Tx<'_>, scope: &Scope, account: UserId) -> Result<Option<User>, Error> {
    t.opt(*INVITED, &[id(scope.organization()), id(account)], read).await
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

pub async fn drop_password(t: &Tx<'_>, user: UserId, at: Time) -> Result<(), Error> {
    t.execute(DROP_PASSWORD, &[id(user), time(at)]).await.map(|_| ())
}

/// Marks the address of a user as verified, and removes a password that others may know.
pub async fn verify_and_drop_password(t: &Tx<'_>, user: UserId, at: Time) -> Result<(), Error> {
    t.execute(VERIFY, &[id(user), time(at)]).await.map(|_| ())
}

pub async fn set_name(t: &Tx<'_>, user: UserId, name: &str, at: Time) -> Result<(), Error> {
    let params = [id(user), Value::from(name), Value::from(name.to_lowercase()), time(at)];
    t.execute(SET_NAME, &params).await.map(|_| ())
}

/// Gives an account another address, which is verified.
pub async fn set_email(t: &Tx<'_>, user: UserId, email: &str, at: Time) -> Result<(), Error> {
    let params = [id(user), Value::from(email), Value::from(email.to_lowercase()), time(at)];
    t.execute(SET_EMAIL, &params).await.map(|_| ())
}

/// Turns an invited user into one with an account.
pub async fn become_account(t: &Tx<'_>, user: &User, at: Time) -> Result<(), Error> {
    let params = [id(user.id), Value::from(user.email.to_lowercase()), time(at)];
    t.execute(BECOME_ACCOUNT, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    USERS.delete(t, [id(user)]).await
}

/// Records a proof of identity by credentials of the user's own and a second factor. No journal entry: the session's is one.
pub async fn proved(t: &Tx<'_>, user: UserId, at: Time) -> Result<(), Error> {
    t.execute(PROVED, &[id(user), time(at)]).await.map(|_| ())
}

pub async fn signed_in(t: &Tx<'_>, user: UserId, at: Time) -> Result<(), Error> {
    t.execute(SIGNED_IN, &[id(user), time(at)]).await.map(|_| ())
}
