//! A session: a signed-in user, until sign-out, expiry or the idle timeout.

use std::time::Duration;

use crate::id::{SessionId, UserId};
use crate::row::Row;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    pub created_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
    /// The IP address from which it was started.
    pub ip: Option<String>,
    /// The user agent of the browser or program.
    pub user_agent: Option<String>,
    /// The time at which the user last entered the password.
    pub confirmed_at: Time,
}

/// The period for which an entered password counts for actions that require it again.
const CONFIRMED_FOR: Duration = Duration::from_mins(10);

impl Session {
    pub fn is_confirmed(&self, now: Time) -> bool {
        now.since(self.confirmed_at) < CONFIRMED_FOR
    }
}
