//! Files that belong to something: evidence of a risk, a vendor or a task, or what a comment brings along. The
//! bytes are in object storage; what is known of them is here.

use serde::Serialize;

use crate::date::Date;
use crate::id::{AttachmentId, MemberId, OrganizationId, RunId};
use crate::registers::subjects::Subject;
use crate::time::Time;

/// The largest file, in bytes.
pub const FILE_LIMIT: u64 = 10 << 20;
/// How many files a comment brings along at most.
pub const MOST_OF_A_COMMENT: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    pub id: AttachmentId,
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
    /// The day it is evidence of.
    pub effective_date: Option<Date>,
    /// The automation run that made it, and the version of its script.
    pub run: Option<MadeBy>,
    /// Nobody, if the product itself made the file.
    pub uploaded_by: Option<MemberId>,
    pub created_at: Time,
}

/// What made a file that nobody attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeBy {
    pub id: RunId,
    pub version: i64,
}

impl Attachment {
    /// It never changes.
    pub const VERSION: i64 = 1;
}
