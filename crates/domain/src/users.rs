//! A user: a person who can sign in, in any number of organizations.

use serde::Serialize;

use crate::id::UserId;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    pub id: UserId,
    pub name: String,
    pub email: String,
    pub email_verified: bool,
    pub image: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
    pub last_login: Option<Time>,
    #[serde(skip)]
    pub version: i64,
}

impl User {
    /// Somebody nobody knew before.
    pub fn new(id: UserId, name: String, email: String, email_verified: bool, now: Time) -> Self {
        Self {
            id,
            name,
            email,
            email_verified,
            image: None,
            created_at: now,
            updated_at: now,
            last_login: None,
            version: 1,
        }
    }
}
