//! A user: a person who can sign in, in any number of organizations.

use serde::Serialize;

use crate::id::{OrganizationId, ServiceAccountId, UserId};
use crate::row::Row;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
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
    /// Set while this is not an account but a placeholder for a person whom the organization invited: until they
    /// accept, the organization learns nothing about an account they may have.
    #[serde(skip)]
    pub invited_to: Option<OrganizationId>,
    /// The account that the placeholder represents, if the organization invited it by id. Nothing else about the
    /// account is stored here.
    #[serde(skip)]
    pub account_id: Option<UserId>,
    /// When the account got its second factor.
    #[serde(skip)]
    pub second_factor_since: Option<Time>,
    /// When the user last proved their identity by credentials of their own and a second factor.
    #[serde(skip)]
    pub own_factors_at: Option<Time>,
    #[serde(skip)]
    pub version: i64,
}

impl User {
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
            second_factor_since: None,
            own_factors_at: None,
            version: 1,
        }
    }

    /// A placeholder for a person whom an organization invites.
    pub fn invited(id: UserId, name: String, email: String, to: OrganizationId, now: Time) -> Self {
        Self { invited_to: Some(to), ..Self::new(id, name, email, false, now) }
    }

    /// A placeholder for an account that an organization invites by id. It reveals neither the name nor the address.
    pub fn standing_for(id: UserId, account: UserId, to: OrganizationId, now: Time) -> Self {
        let email = format!("{id}@invitation.invalid");
        Self { account_id: Some(account), ..Self::invited(id, "Invited user".to_owned(), email, to, now) }
    }

    /// The user of a service account. Like a placeholder it belongs to the organization, and it never signs in.
    pub fn of_service(
        id: UserId,
        name: String,
        account: ServiceAccountId,
        organization: OrganizationId,
        now: Time,
    ) -> Self {
        Self::invited(id, name, format!("{account}@service.invalid"), organization, now)
    }

    /// The id of this user in responses.
    pub fn shown_id(&self) -> UserId {
        self.account_id.unwrap_or(self.id)
    }

    /// The unique key of the address: across all accounts, or within the organization that sent the invitation.
    pub fn email_key(&self) -> String {
        match self.invited_to {
            None => self.email.to_lowercase(),
            Some(organization) => invited_key(&self.email, organization),
        }
    }
}

/// The unique key of an invited address. No account's address has a `#` after its `@`, so the two cannot collide.
pub fn invited_key(email: &str, organization: OrganizationId) -> String {
    format!("{}#{organization}", email.to_lowercase())
}
