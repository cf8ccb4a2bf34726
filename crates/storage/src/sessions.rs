//! Sessions. They belong to a user, not to an organization.

use std::time::Duration;

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::hash::Hash;
use attestry_domain::id::{SessionId, UserId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::SecondFactor;

use crate::sql::{id, time};
use crate::table::{read, read_with};

statements! {
    CONFIRM = "UPDATE sessions SET confirmed_at = $2, second_factor = COALESCE($3, second_factor), last_seen_at = $2, longest_gap = 0 WHERE id = $1";
    RENEWED = "UPDATE sessions SET last_seen_at = $2, longest_gap = 0 WHERE id = $1";
    TOUCH = "UPDATE sessions SET longest_gap = CASE WHEN $2 - last_seen_at > longest_gap THEN $2 - last_seen_at ELSE longest_gap END, last_seen_at = $2, expires_at = CASE WHEN $3 < created_at + $4 THEN $3 ELSE created_at + $4 END WHERE id = $1 AND last_seen_at < $2";
    DELETE = "DELETE FROM sessions WHERE id = $1 AND user_id = $2";
    DELETE_OF_USER = "DELETE FROM sessions WHERE user_id = $1 AND id <> $2";
    DELETE_EXPIRED = "DELETE FROM sessions WHERE expires_at < $1 OR last_seen_at < $2";
    ;
    tables
    SESSIONS: Session = "sessions s" by "id" + "token_hash" {
        GET = " WHERE s.id = $1";
        OF_USER = " WHERE s.user_id = $1 AND s.expires_at > $2 AND s.last_seen_at >= $3 ORDER BY s.last_seen_at DESC, s.id DESC LIMIT 100";
    }
    ;
    built
    FIND = SESSIONS.select_with("u.email", " JOIN users u ON u.id = s.user_id WHERE s.token_hash = $1");
}

pub async fn insert(t: &Tx<'_>, session: &Session, token_hash: &Hash) -> Result<(), Error> {
    SESSIONS.insert_with(t, session.id, session, vec![Value::from(token_hash)]).await
}

/// Finds a session by its token, with its user's email address.
pub async fn find(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<(Session, String)>, Error> {
    t.opt(*FIND, &[Value::from(token_hash)], read_with).await
}

pub async fn get(t: &Tx<'_>, session: SessionId) -> Result<Option<Session>, Error> {
    t.opt(*GET, &[id(session)], read).await
}

/// Returns a user's valid sessions, the last used first.
pub async fn of_user(t: &Tx<'_>, user: UserId, now: Time, idle_since: Time) -> Result<Vec<Session>, Error> {
    t.all(*OF_USER, &[id(user), time(now), time(idle_since)], read).await
}

/// Records that the user proved their identity again, perhaps with a second factor; `false` when the session has ended.
pub async fn confirm(
    t: &Tx<'_>,
    session: SessionId,
    second_factor: Option<SecondFactor>,
    at: Time,
) -> Result<bool, Error> {
    let factor = Value::from(second_factor.map(SecondFactor::as_str));
    Ok(t.execute(CONFIRM, &[id(session), time(at), factor]).await? > 0)
}

/// Records that an identity provider authenticated the user of a session again.
pub async fn renewed(t: &Tx<'_>, session: SessionId, at: Time) -> Result<(), Error> {
    t.execute(RENEWED, &[id(session), time(at)]).await.map(|_| ())
}

/// Records a use of a session, which extends it up to its maximum age.
pub async fn touch(
    t: &Tx<'_>,
    session: SessionId,
    seen: Time,
    lifetime: Duration,
    max_age: Duration,
) -> Result<(), Error> {
    let max_age = Value::Int(i64::try_from(max_age.as_millis()).unwrap_or(i64::MAX / 2));
    t.execute(TOUCH, &[id(session), time(seen), time(seen.plus(lifetime)), max_age]).await.map(|_| ())
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
