//! A session: a user signed in, until it ends, expires or lies idle too long.

use std::time::Duration;

use crate::id::{SessionId, UserId};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    pub created_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
    /// Where it was started.
    pub ip: Option<String>,
    /// What the browser or the program called itself.
    pub user_agent: Option<String>,
    /// When the user last gave the password.
    pub confirmed_at: Time,
}

/// How long entering the password counts for what asks for it again.
const CONFIRMED_FOR: Duration = Duration::from_mins(10);

impl Session {
    pub fn is_confirmed(&self, now: Time) -> bool {
        now.since(self.confirmed_at) < CONFIRMED_FOR
    }
}
