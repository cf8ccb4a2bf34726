//! Invitations: links that activate a pending member.

use serde::Serialize;

use crate::id::{InvitationId, MemberId, OrganizationId, UserId};
use crate::row::Row;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    pub id: InvitationId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub member_id: MemberId,
    pub user_id: UserId,
    pub email: String,
    pub created_at: Time,
    pub expires_at: Time,
    pub accepted_at: Option<Time>,
    /// True when the link was sent by mail and shown to no one else.
    pub by_mail: bool,
}
