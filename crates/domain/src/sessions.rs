//! A session: a user signed in, until it ends, expires or lies idle too long.

use crate::id::{SessionId, UserId};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    pub created_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
}
