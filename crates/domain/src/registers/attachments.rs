//! Attachments: files that are evidence of a risk, a vendor or a task, or that belong to a comment. The bytes are in
//! object storage; their metadata is here.

use serde::Serialize;

use crate::date::Date;
use crate::id::{AttachmentId, MemberId, OrganizationId, RunId};
use crate::registers::subjects::Subject;
use crate::row::Row;
use crate::time::Time;

/// The largest file, in bytes.
pub const FILE_LIMIT: u64 = 10 << 20;
/// The maximum number of files attached to a comment.
pub const MAX_ATTACHMENTS_PER_COMMENT: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    pub id: AttachmentId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub entity_type: Subject,
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub media_type: String,
    pub size: i64,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    pub description: Option<String>,
    /// The date that the evidence is for.
    pub effective_date: Option<Date>,
    /// The automation run that made it, and the version of its script.
    #[row(flatten)]
    pub run: Option<MadeBy>,
    /// `None` if the product itself created the file.
    pub uploaded_by: Option<MemberId>,
    pub created_at: Time,
}

/// The automation run that created a file, and the version of its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct MadeBy {
    #[row(column = "run_id")]
    pub id: RunId,
    #[row(column = "automation_version")]
    pub version: i64,
}

impl Attachment {
    /// The version of every attachment, since attachments never change.
    pub const VERSION: i64 = 1;
}
