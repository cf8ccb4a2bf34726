//! An organization: the tenant. Everything but users belongs to exactly one.

use serde::Serialize;

use crate::id::{FrameworkId, OrganizationId};
use crate::patch::Patch;
use crate::row::Row;
use crate::text::{Name, WebAddress};
use crate::time::Time;
use crate::zone::Zone;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
    pub website: Option<String>,
    pub time_zone: Zone,
    /// Lets members approve what they submitted themselves.
    pub is_self_approval_allowed: bool,
    /// The frameworks it has chosen to work on.
    #[row(json)]
    pub framework_ids: Vec<FrameworkId>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug, Default)]
pub struct OrganizationPatch {
    pub name: Option<Name>,
    pub website: Patch<WebAddress>,
    pub time_zone: Option<Zone>,
    pub is_self_approval_allowed: Option<bool>,
    pub framework_ids: Option<Vec<FrameworkId>>,
}

impl Organization {
    #[must_use]
    pub fn patched(&self, patch: OrganizationPatch) -> Self {
        let OrganizationPatch { name, website, time_zone, is_self_approval_allowed, framework_ids } = patch;
        let website = website.map(WebAddress::into_string).apply(self.website.clone());
        let time_zone = time_zone.unwrap_or_else(|| self.time_zone.clone());
        Self {
            name: name.map_or_else(|| self.name.clone(), String::from),
            website,
            time_zone,
            is_self_approval_allowed: is_self_approval_allowed.unwrap_or(self.is_self_approval_allowed),
            framework_ids: framework_ids.unwrap_or_else(|| self.framework_ids.clone()),
            ..self.clone()
        }
    }
}
