//! An organization: the tenant. Everything but users belongs to exactly one.

use serde::Serialize;

use crate::id::OrganizationId;
use crate::patch::Patch;
use crate::text::{Name, WebAddress};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
    pub website: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug, Default)]
pub struct OrganizationPatch {
    pub name: Option<Name>,
    pub website: Patch<WebAddress>,
}

impl Organization {
    #[must_use]
    pub fn patched(&self, patch: OrganizationPatch) -> Self {
        let OrganizationPatch { name, website } = patch;
        let website = website.map(WebAddress::into_string).apply(self.website.clone());
        Self { name: name.map_or_else(|| self.name.clone(), String::from), website, ..self.clone() }
    }
}
