//! A user: a person who can sign in, in any number of organizations.

use serde::Serialize;

use crate::id::{OrganizationId, UserId};
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
    /// Set while this is not yet anybody's account but stands for whoever an organization invited: until they accept,
    /// the organization learns nothing of the account they may have.
    #[serde(skip)]
    pub invited_to: Option<OrganizationId>,
    /// The account this stands for, if the organization invited it by its id: nothing else of it is known here.
    #[serde(skip)]
    pub account_id: Option<UserId>,
    #[serde(skip)]
    pub version: i64,
}

impl User {
    /// A new user.
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
            invited_to: None,
            account_id: None,
            version: 1,
        }
    }

    /// Somebody an organization invites.
    pub fn invited(id: UserId, name: String, email: String, to: OrganizationId, now: Time) -> Self {
        Self { invited_to: Some(to), ..Self::new(id, name, email, false, now) }
    }

    /// Stands for an account that an organization invites by its id, and shows neither its name nor its address.
    pub fn standing_for(id: UserId, account: UserId, to: OrganizationId, now: Time) -> Self {
        let email = format!("{id}@invitation.invalid");
        Self { account_id: Some(account), ..Self::invited(id, "Invited user".to_owned(), email, to, now) }
    }

    /// The id under which this user is shown.
    pub fn shown_id(&self) -> UserId {
        self.account_id.unwrap_or(self.id)
    }

    /// What is unique: an account's address, or an address within the organization that invited it.
    pub fn email_key(&self) -> String {
        match self.invited_to {
            None => self.email.to_lowercase(),
            Some(organization) => invited_key(&self.email, organization),
        }
    }
}

/// The key of somebody invited. No account's address has a `#` behind its `@`.
pub fn invited_key(email: &str, organization: OrganizationId) -> String {
    format!("{}#{organization}", email.to_lowercase())
}
