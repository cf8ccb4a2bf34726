//! A release: a record that was taken from a member who left.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::id::{MemberId, OrganizationId, ReleaseId};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::row::Row;
use crate::time::Time;

/// The time within which a member who comes back gets back what nobody else has taken.
pub const RESTORED_WITHIN: Duration = Duration::from_hours(30 * 24);

crate::words! {
    /// The kind of a record that members are responsible for.
    ReleasedKind {
        Risk = "risk",
        Vendor = "vendor",
        Task = "task",
        Policy = "policy",
        Control = "control",
        ContextEntry = "context_entry",
    }
}

impl ReleasedKind {
    /// A number of such records, as mails say it.
    pub fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Risk => ("risk", "risks"),
            Self::Vendor => ("vendor", "vendors"),
            Self::Task => ("task", "tasks"),
            Self::Policy => ("policy", "policies"),
            Self::Control => ("control", "controls"),
            Self::ContextEntry => ("context entry", "context entries"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    pub id: ReleaseId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    /// The member who had it.
    pub member_id: MemberId,
    pub entity_type: ReleasedKind,
    pub entity_id: String,
    /// The member to whom it was handed over.
    pub handed_to: Option<MemberId>,
    pub released_at: Time,
}

/// The maximum number of kinds in a request.
const MAX_KINDS: usize = 10;

impl Given for Vec<ReleasedKind> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        json.each(MAX_KINDS, ReleasedKind::given)
    }

    fn accepted() -> Value {
        json!({"type": "array", "items": ReleasedKind::json_schema(), "maxItems": MAX_KINDS})
    }
}
