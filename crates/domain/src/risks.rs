//! A risk: what could go wrong, how likely and how bad, before and after treatment.

use serde::{Deserialize, Serialize};

use crate::id::{MemberId, OrganizationId, RiskId};
use crate::page::{After, Key, Sort};
use crate::patch::Patch;
use crate::scales::{Impact, Likelihood, score};
use crate::text::{LongText, Name};
use crate::time::Time;
use crate::words::Department;

crate::words! {
    /// What a risk is about.
    RiskCategory {
        Customer = "customer",
        Fraud = "fraud",
        Governance = "governance",
        Operations = "operations",
        Other = "other",
        People = "people",
        Regulatory = "regulatory",
        Reporting = "reporting",
        Resilience = "resilience",
        Technology = "technology",
        VendorManagement = "vendor_management",
    }
}

crate::words! {
    /// Where a risk stands. Any status may follow any.
    #[derive(Default)]
    RiskStatus {
        #[default]
        Open = "open",
        Pending = "pending",
        Closed = "closed",
        Archived = "archived",
    }
}

crate::words! {
    /// What is done about a risk.
    #[derive(Default)]
    TreatmentStrategy {
        #[default]
        Accept = "accept",
        Avoid = "avoid",
        Mitigate = "mitigate",
        Transfer = "transfer",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Risk {
    pub id: RiskId,
    pub title: String,
    pub description: String,
    pub category: RiskCategory,
    pub department: Option<Department>,
    pub status: RiskStatus,
    pub likelihood: Likelihood,
    pub impact: Impact,
    pub residual_likelihood: Likelihood,
    pub residual_impact: Impact,
    pub treatment_strategy: TreatmentStrategy,
    pub treatment_strategy_description: Option<String>,
    pub organization_id: OrganizationId,
    pub assignee_id: Option<MemberId>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug)]
pub struct NewRisk {
    pub title: Name,
    pub description: LongText,
    pub category: RiskCategory,
    pub department: Option<Department>,
    pub status: RiskStatus,
    pub likelihood: Likelihood,
    pub impact: Impact,
    pub residual_likelihood: Likelihood,
    pub residual_impact: Impact,
    pub treatment_strategy: TreatmentStrategy,
    pub treatment_strategy_description: Option<LongText>,
    pub assignee_id: Option<MemberId>,
}

#[derive(Clone, Debug, Default)]
pub struct RiskPatch {
    pub title: Option<Name>,
    pub description: Option<LongText>,
    pub category: Option<RiskCategory>,
    pub department: Patch<Department>,
    pub status: Option<RiskStatus>,
    pub likelihood: Option<Likelihood>,
    pub impact: Option<Impact>,
    pub residual_likelihood: Option<Likelihood>,
    pub residual_impact: Option<Impact>,
    pub treatment_strategy: Option<TreatmentStrategy>,
    pub treatment_strategy_description: Patch<LongText>,
    pub assignee_id: Patch<MemberId>,
}

impl Risk {
    pub fn new(id: RiskId, organization_id: OrganizationId, new: NewRisk, now: Time) -> Self {
        let NewRisk {
            title,
            description,
            category,
            department,
            status,
            likelihood,
            impact,
            residual_likelihood,
            residual_impact,
            treatment_strategy,
            treatment_strategy_description,
            assignee_id,
        } = new;
        Self {
            id,
            title: title.into_string(),
            description: description.into_string(),
            category,
            department,
            status,
            likelihood,
            impact,
            residual_likelihood,
            residual_impact,
            treatment_strategy,
            treatment_strategy_description: treatment_strategy_description.map(LongText::into_string),
            organization_id,
            assignee_id,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The risk as the patch leaves it.
    #[must_use]
    pub fn patched(&self, patch: RiskPatch) -> Self {
        let RiskPatch {
            title,
            description,
            category,
            department,
            status,
            likelihood,
            impact,
            residual_likelihood,
            residual_impact,
            treatment_strategy,
            treatment_strategy_description,
            assignee_id,
        } = patch;
        Self {
            title: title.map_or_else(|| self.title.clone(), Name::into_string),
            description: description.map_or_else(|| self.description.clone(), LongText::into_string),
            category: category.unwrap_or(self.category),
            department: department.apply(self.department),
            status: status.unwrap_or(self.status),
            likelihood: likelihood.unwrap_or(self.likelihood),
            impact: impact.unwrap_or(self.impact),
            residual_likelihood: residual_likelihood.unwrap_or(self.residual_likelihood),
            residual_impact: residual_impact.unwrap_or(self.residual_impact),
            treatment_strategy: treatment_strategy.unwrap_or(self.treatment_strategy),
            treatment_strategy_description: treatment_strategy_description
                .map(LongText::into_string)
                .apply(self.treatment_strategy_description.clone()),
            assignee_id: assignee_id.apply(self.assignee_id),
            ..self.clone()
        }
    }

    pub fn inherent_score(&self) -> i64 {
        score(self.likelihood, self.impact)
    }

    pub fn residual_score(&self) -> i64 {
        score(self.residual_likelihood, self.residual_impact)
    }

    /// What a search looks at.
    pub fn search_text(&self) -> String {
        format!("{}\n{}", self.title, self.description).to_lowercase()
    }

    pub fn is_archived(&self) -> bool {
        self.status == RiskStatus::Archived
    }

    /// The risk's place in a list sorted by `sort`.
    pub fn place(&self, sort: RiskSort) -> After {
        let key = match sort {
            RiskSort::CreatedAt => Key::Id,
            RiskSort::UpdatedAt => Key::Number(self.updated_at.as_millis()),
            RiskSort::Title => Key::Text(self.title.to_lowercase()),
            RiskSort::InherentScore => Key::Number(self.inherent_score()),
            RiskSort::ResidualScore => Key::Number(self.residual_score()),
        };
        After { key, id: self.id.to_string() }
    }
}

crate::words! {
    /// What risks can be sorted by.
    #[derive(Default)]
    RiskSort {
        #[default]
        CreatedAt = "createdAt",
        UpdatedAt = "updatedAt",
        Title = "title",
        InherentScore = "inherentScore",
        ResidualScore = "residualScore",
    }
}

impl Sort for RiskSort {
    fn takes(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt => matches!(key, Key::Id),
            Self::Title => matches!(key, Key::Text(_)),
            Self::UpdatedAt | Self::InherentScore | Self::ResidualScore => matches!(key, Key::Number(_)),
        }
    }
}

/// Which risks are wanted. Archived ones are left out unless asked for.
#[derive(Clone, Debug, Default)]
pub struct RiskFilter {
    pub status: Option<RiskStatus>,
    pub category: Option<RiskCategory>,
    pub department: Option<Department>,
    pub assignee_id: Option<MemberId>,
    pub treatment_strategy: Option<TreatmentStrategy>,
    pub min_score: Option<i64>,
    pub q: Option<String>,
}

impl RiskFilter {
    /// Whether nothing narrows the list down.
    pub fn is_empty(&self) -> bool {
        let Self { status, category, department, assignee_id, treatment_strategy, min_score, q } = self;
        status.is_none()
            && category.is_none()
            && department.is_none()
            && assignee_id.is_none()
            && treatment_strategy.is_none()
            && min_score.is_none()
            && q.is_none()
    }

    /// The same rule as the statement's, for risks as they once were.
    pub fn takes(&self, risk: &Risk) -> bool {
        let archived = self.status == Some(RiskStatus::Archived);
        risk.is_archived() == archived
            && self.status.is_none_or(|wanted| risk.status == wanted)
            && self.category.is_none_or(|wanted| risk.category == wanted)
            && self.department.is_none_or(|wanted| risk.department == Some(wanted))
            && self.assignee_id.is_none_or(|wanted| risk.assignee_id == Some(wanted))
            && self.treatment_strategy.is_none_or(|wanted| risk.treatment_strategy == wanted)
            && self.min_score.is_none_or(|least| risk.inherent_score() >= least)
            && self.q.as_ref().is_none_or(|q| risk.search_text().contains(&q.to_lowercase()))
    }
}
