//! The programme of an organization: the frameworks it works towards, its scope, the owners of each role, and the plan
//! that leads to the audit. The plan is computed from the catalogue; what it creates are ordinary controls, policies
//! and tasks.

pub mod catalogue;
pub mod planner;
pub mod progress;
pub mod risk_library;
pub mod roles;
pub mod scope;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::date::Date;
use crate::id::{FrameworkId, MemberId, OrganizationId, ProgrammeId};
use crate::programme::scope::Answers;
use crate::row::Row;
use crate::time::Time;

pub use roles::OwnerRole;

/// The member who has each role.
pub type Owners = BTreeMap<OwnerRole, MemberId>;

/// The input of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// In the order of the frameworks' ids.
    pub framework_ids: Vec<FrameworkId>,
    pub starts_on: Date,
    pub audit_date: Option<Date>,
    pub scope: Answers,
    pub owners: Owners,
}

/// A started programme. An organization has at most one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Programme {
    pub id: ProgrammeId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    #[serde(flatten)]
    #[row(json, column = "content")]
    pub settings: Settings,
    pub created_at: Time,
    pub updated_at: Time,
    pub version: i64,
}
