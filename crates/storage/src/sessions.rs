//! Sessions. They belong to a user, not to an organization.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::journal::Hash;

use crate::sql::{Columns, id, time};

macro_rules! columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.expires_at, s.ip, s.user_agent, s.confirmed_at"
    };
}

statements! {
    INSERT = "INSERT INTO sessions (id, user_id, token_hash, created_at, last_seen_at, expires_at, ip, user_agent, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    FIND = concat!("SELECT ", columns!(), ", u.email FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = $1");
    GET = concat!("SELECT ", columns!(), " FROM sessions s WHERE s.id = $1");
    OF_USER = concat!("SELECT ", columns!(), " FROM sessions s WHERE s.user_id = $1 AND s.expires_at > $2 AND s.last_seen_at >= $3 ORDER BY s.last_seen_at DESC, s.id DESC LIMIT 100");
    CONFIRM = "UPDATE sessions SET confirmed_at = $2 WHERE id = $1";
    TOUCH = "UPDATE sessions SET last_seen_at = $2, expires_at = $3 WHERE id = $1 AND last_seen_at < $2";
    DELETE = "DELETE FROM sessions WHERE id = $1 AND user_id = $2";
    DELETE_OF_USER = "DELETE FROM sessions WHERE user_id = $1 AND id <> $2";
    DELETE_EXPIRED = "DELETE FROM sessions WHERE expires_at < $1 OR last_seen_at < $2";
}

fn read(row: &Row<'_>) -> Result<Session, Error> {
    Ok(Session {
        id: row.parse(0)?,
        user_id: row.parse(1)?,
        created_at: row.time(2)?,
        last_seen_at: row.time(3)?,
        expires_at: row.time(4)?,
        ip: row.opt_text(5)?,
        user_agent: row.opt_text(6)?,
        confirmed_at: row.time(7)?,
    })
}

pub async fn insert(t: &Tx<'_>, session: &Session, token_hash: &Hash) -> Result<(), Error> {
    let params = [
        id(session.id),
        id(session.user_id),
        Value::from(token_hash),
        time(session.created_at),
        time(session.last_seen_at),
        time(session.expires_at),
        Value::from(session.ip.as_ref()),
        Value::from(session.user_agent.as_ref()),
        time(session.confirmed_at),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Finds a session by its token, with its user's email address.
pub async fn find(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<(Session, String)>, Error> {
    t.opt(FIND, &[Value::from(token_hash)], |row| Ok((read(row)?, row.text(8)?))).await
}

pub async fn get(t: &Tx<'_>, session: SessionId) -> Result<Option<Session>, Error> {
    t.opt(GET, &[id(session)], read).await
}

/// Returns a user's valid sessions, the last used first.
pub async fn of_user(t: &Tx<'_>, user: UserId, now: Time, idle_since: Time) -> Result<Vec<Session>, Error> {
    t.all(OF_USER, &[id(user), time(now), time(idle_since)], read).await
}

/// Records that the user confirmed the password; `false` when the session has ended.
pub async fn confirm(t: &Tx<'_>, session: SessionId, at: Time) -> Result<bool, Error> {
    Ok(t.execute(CONFIRM, &[id(session), time(at)]).await? > 0)
}

pub async fn touch(t: &Tx<'_>, session: SessionId, seen: Time, expires: Time) -> Result<(), Error> {
    t.execute(TOUCH, &[id(session), time(seen), time(expires)]).await.map(|_| ())
}

/// Ends a session of this user.
pub async fn delete(t: &Tx<'_>, session: SessionId, user: UserId) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[id(session), id(user)]).await? > 0)
}

/// Ends all sessions of a user except `but`.
pub async fn delete_of_user(t: &Tx<'_>, user: UserId, but: Option<SessionId>) -> Result<u64, Error> {
    t.execute(DELETE_OF_USER, &[id(user), Value::from(but.map_or_else(String::new, |own| own.to_string()))])
        .await
}

pub async fn delete_expired(t: &Tx<'_>, now: Time, idle_since: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(now), time(idle_since)]).await
}
