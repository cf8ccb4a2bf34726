//! An invitation: a link sent to somebody, which makes their waiting member active.

use serde::Serialize;

use crate::id::{InvitationId, MemberId, OrganizationId, UserId};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    pub id: InvitationId,
    pub organization_id: OrganizationId,
    pub member_id: MemberId,
    pub user_id: UserId,
    pub email: String,
    pub created_at: Time,
    pub expires_at: Time,
    pub accepted_at: Option<Time>,
    /// The link went by mail and was shown to nobody else.
    pub by_mail: bool,
}
