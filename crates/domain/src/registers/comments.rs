//! Comments of members. Only the author can change or delete a comment.

use serde::Serialize;

use crate::id::{CommentId, MemberId, OrganizationId, UserId};
use crate::registers::attachments::Attachment;
use crate::registers::subjects::Commentable;
use crate::row::Row;
use crate::text::Text;
use crate::time::Time;

/// The text of a comment: 1 to 2000 characters.
pub type CommentText = Text<1, 2000>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    pub id: CommentId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub content: String,
    /// The member who wrote it.
    pub author_id: MemberId,
    pub entity_type: Commentable,
    pub entity_id: String,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// The author of a comment, as in responses.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Author {
    pub user_id: UserId,
    pub name: String,
    pub email: String,
    pub image: Option<String>,
    #[row(column = "NOT is_active")]
    pub deactivated: bool,
}

/// A comment together with its author and its attachments.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct CommentWithAuthor {
    #[row(flatten, prefix = "c.")]
    pub comment: Comment,
    #[row(flatten)]
    pub author: Author,
    #[row(skip)]
    pub attachments: Vec<Attachment>,
}
