//! A passkey: a key pair in an authenticator that signs its user in.

use serde::Serialize;

use crate::id::{PasskeyId, UserId};
use crate::row::Row;
use crate::text::Line;
use crate::time::Time;

pub type PasskeyName = Line<1, 60>;

/// The maximum number of passkeys of an account.
pub const MAX_PASSKEYS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Passkey {
    pub id: PasskeyId,
    pub user_id: UserId,
    pub name: String,
    /// The key is copied to other devices of its user.
    pub is_synced: bool,
    pub created_at: Time,
    #[serde(skip)]
    pub last_used_at: Option<Time>,
}
