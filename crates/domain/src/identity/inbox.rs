//! The inbox of a member: what they were notified of, read or unread.

use crate::id::{InboxItemId, MemberId};
use crate::identity::notices::Notice;
use crate::row::Row;
use crate::time::Time;

/// A record that a notification is about.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct About {
    /// The entity type in the journal.
    pub entity_type: String,
    pub entity_id: String,
}

impl About {
    pub fn new(entity_type: &str, entity_id: impl std::fmt::Display) -> Self {
        Self { entity_type: entity_type.to_owned(), entity_id: entity_id.to_string() }
    }
}

/// A notification in the inbox of a member.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct InboxItem {
    pub id: InboxItemId,
    pub member_id: MemberId,
    pub kind: Notice,
    pub text: String,
    /// `None` if it is about several records.
    #[row(flatten)]
    pub about: Option<About>,
    /// The member who caused it; `None` if the product did.
    pub actor_id: Option<MemberId>,
    pub created_at: Time,
    pub read_at: Option<Time>,
}

/// The filter of an inbox.
#[derive(Clone, Copy, Debug, Default)]
pub struct InboxFilter {
    pub unread: bool,
    pub kind: Option<Notice>,
}

/// The items to mark as read or unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked {
    Some(Vec<InboxItemId>),
    /// This item and all older ones.
    UpTo(InboxItemId),
}
