//! A vendor: somebody the organization relies on, and how much could go wrong with them.

use serde::{Deserialize, Serialize};

use crate::id::{MemberId, OrganizationId, VendorId};
use crate::page::{After, Key, Sort};
use crate::patch::Patch;
use crate::scales::{Impact, Likelihood, score};
use crate::text::{LongText, Name, WebAddress};
use crate::time::Time;

crate::words! {
    /// What a vendor provides.
    #[derive(Default)]
    VendorCategory {
        Cloud = "cloud",
        Infrastructure = "infrastructure",
        SoftwareAsAService = "software_as_a_service",
        Finance = "finance",
        Marketing = "marketing",
        Sales = "sales",
        Hr = "hr",
        #[default]
        Other = "other",
    }
}

crate::words! {
    /// How far the assessment of a vendor is. Any status may follow any.
    #[derive(Default)]
    VendorStatus {
        #[default]
        NotAssessed = "not_assessed",
        InProgress = "in_progress",
        Assessed = "assessed",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vendor {
    pub id: VendorId,
    pub name: String,
    pub description: String,
    pub category: VendorCategory,
    pub status: VendorStatus,
    pub inherent_probability: Likelihood,
    pub inherent_impact: Impact,
    pub residual_probability: Likelihood,
    pub residual_impact: Impact,
    pub website: Option<String>,
    pub organization_id: OrganizationId,
    pub assignee_id: Option<MemberId>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug)]
pub struct NewVendor {
    pub name: Name,
    pub description: LongText,
    pub category: VendorCategory,
    pub status: VendorStatus,
    pub inherent_probability: Likelihood,
    pub inherent_impact: Impact,
    pub residual_probability: Likelihood,
    pub residual_impact: Impact,
    pub website: Option<WebAddress>,
    pub assignee_id: Option<MemberId>,
}

#[derive(Clone, Debug, Default)]
pub struct VendorPatch {
    pub name: Option<Name>,
    pub description: Option<LongText>,
    pub category: Option<VendorCategory>,
    pub status: Option<VendorStatus>,
    pub inherent_probability: Option<Likelihood>,
    pub inherent_impact: Option<Impact>,
    pub residual_probability: Option<Likelihood>,
    pub residual_impact: Option<Impact>,
    pub website: Patch<WebAddress>,
    pub assignee_id: Patch<MemberId>,
}

impl Vendor {
    pub fn new(id: VendorId, organization_id: OrganizationId, new: NewVendor, now: Time) -> Self {
        let NewVendor {
            name,
            description,
            category,
            status,
            inherent_probability,
            inherent_impact,
            residual_probability,
            residual_impact,
            website,
            assignee_id,
        } = new;
        Self {
            id,
            name: name.into_string(),
            description: description.into_string(),
            category,
            status,
            inherent_probability,
            inherent_impact,
            residual_probability,
            residual_impact,
            website: website.map(WebAddress::into_string),
            organization_id,
            assignee_id,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The vendor as the patch leaves it.
    #[must_use]
    pub fn patched(&self, patch: VendorPatch) -> Self {
        let VendorPatch {
            name,
            description,
            category,
            status,
            inherent_probability,
            inherent_impact,
            residual_probability,
            residual_impact,
            website,
            assignee_id,
        } = patch;
        Self {
            name: name.map_or_else(|| self.name.clone(), Name::into_string),
            description: description.map_or_else(|| self.description.clone(), LongText::into_string),
            category: category.unwrap_or(self.category),
            status: status.unwrap_or(self.status),
            inherent_probability: inherent_probability.unwrap_or(self.inherent_probability),
            inherent_impact: inherent_impact.unwrap_or(self.inherent_impact),
            residual_probability: residual_probability.unwrap_or(self.residual_probability),
            residual_impact: residual_impact.unwrap_or(self.residual_impact),
            website: website.map(WebAddress::into_string).apply(self.website.clone()),
            assignee_id: assignee_id.apply(self.assignee_id),
            ..self.clone()
        }
    }

    pub fn inherent_score(&self) -> i64 {
        score(self.inherent_probability, self.inherent_impact)
    }

    pub fn residual_score(&self) -> i64 {
        score(self.residual_probability, self.residual_impact)
    }

    /// What a search looks at.
    pub fn search_text(&self) -> String {
        format!("{}\n{}", self.name, self.description).to_lowercase()
    }

    /// The vendor's place in a list sorted by `sort`.
    pub fn place(&self, sort: VendorSort) -> After {
        let key = match sort {
            VendorSort::CreatedAt => Key::Id,
            VendorSort::UpdatedAt => Key::Number(self.updated_at.as_millis()),
            VendorSort::Name => Key::Text(self.name.to_lowercase()),
            VendorSort::InherentScore => Key::Number(self.inherent_score()),
            VendorSort::ResidualScore => Key::Number(self.residual_score()),
        };
        After { key, id: self.id.to_string() }
    }
}

crate::words! {
    /// What vendors can be sorted by.
    #[derive(Default)]
    VendorSort {
        #[default]
        CreatedAt = "createdAt",
        UpdatedAt = "updatedAt",
        Name = "name",
        InherentScore = "inherentScore",
        ResidualScore = "residualScore",
    }
}

impl Sort for VendorSort {
    fn takes(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt => matches!(key, Key::Id),
            Self::Name => matches!(key, Key::Text(_)),
            Self::UpdatedAt | Self::InherentScore | Self::ResidualScore => matches!(key, Key::Number(_)),
        }
    }
}

/// Which vendors are wanted.
#[derive(Clone, Debug, Default)]
pub struct VendorFilter {
    pub status: Option<VendorStatus>,
    pub category: Option<VendorCategory>,
    pub assignee_id: Option<MemberId>,
    pub min_score: Option<i64>,
    pub q: Option<String>,
}

impl VendorFilter {
    /// Whether nothing narrows the list down.
    pub fn is_empty(&self) -> bool {
        let Self { status, category, assignee_id, min_score, q } = self;
        status.is_none() && category.is_none() && assignee_id.is_none() && min_score.is_none() && q.is_none()
    }

    /// The same rule as the statement's, for vendors as they once were.
    pub fn takes(&self, vendor: &Vendor) -> bool {
        self.status.is_none_or(|wanted| vendor.status == wanted)
            && self.category.is_none_or(|wanted| vendor.category == wanted)
            && self.assignee_id.is_none_or(|wanted| vendor.assignee_id == Some(wanted))
            && self.min_score.is_none_or(|least| vendor.inherent_score() >= least)
            && self.q.as_ref().is_none_or(|q| vendor.search_text().contains(&q.to_lowercase()))
    }
}
