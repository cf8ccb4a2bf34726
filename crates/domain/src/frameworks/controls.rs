//! Controls: the measures of an organization that meet requirements, with the policies that define them, the tasks
//! that prove them, and the risks and vendors they concern. One control serves many frameworks.

use std::collections::HashSet;

use serde::Serialize;

use crate::any_of::AnyOf;
use crate::date::Date;
use crate::id::{MemberId, PolicyId, RequirementId, RiskId, TaskId, VendorId, kind};
use crate::plain::Plain;
use crate::programme::catalogue::ControlKey;
use crate::registers::id_set::IdSet;
use crate::registers::links::{Linking, Links, TooManyLinks};
use crate::registers::{Actions, Computed, Fields, Filter, Register, SEARCH_TEXT};
use crate::row::Row;
use crate::text::{AnyText, Name};
use crate::words::Department;

/// The fields of a control.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct Control {
    /// The measure, in a few words.
    pub name: Name,
    /// A description of how it is done.
    #[field(default)]
    pub description: AnyText,
    /// The department that runs it.
    pub department: Option<Department>,
    /// The active member who owns it.
    pub assignee_id: Option<MemberId>,
    /// When it is to be reviewed.
    pub review_date: Option<Date>,
    /// The requirements it meets, of any frameworks.
    #[field(default)]
    pub requirement_ids: IdSet<kind::Requirement>,
    /// The policies that prescribe it.
    #[field(default)]
    pub policy_ids: IdSet<kind::Policy>,
    /// The tasks whose evidence proves it.
    #[field(default)]
    pub task_ids: IdSet<kind::Task>,
    /// The risks it treats.
    #[field(default)]
    pub risk_ids: IdSet<kind::Risk>,
    /// The control of the catalogue it was created from.
    #[field(own)]
    pub catalogue_key: Option<ControlKey>,
    /// The vendors it is about.
    #[field(default)]
    pub vendor_ids: IdSet<kind::Vendor>,
}

/// The filter values of a list of controls.
#[derive(Clone, Debug, Default, Filter)]
pub struct ControlFilter {
    /// Only controls of this department.
    pub department: Option<AnyOf<Department>>,
    /// Only controls this member owns.
    pub assignee_id: Option<AnyOf<MemberId>>,
    /// Only controls that meet this requirement.
    #[filter(has = "requirement_ids")]
    pub requirement_id: Option<RequirementId>,
    /// Only controls this policy prescribes.
    #[filter(has = "policy_ids")]
    pub policy_id: Option<PolicyId>,
    /// Only controls this task proves.
    #[filter(has = "task_ids")]
    pub task_id: Option<TaskId>,
    /// Only controls that treat this risk.
    #[filter(has = "risk_ids")]
    pub risk_id: Option<RiskId>,
    /// Only controls about this vendor.
    #[filter(has = "vendor_ids")]
    pub vendor_id: Option<VendorId>,
}

crate::register_sort! {
    /// The sort keys of the list of controls.
    ControlSort {
        Name = "name", name_key Text;
        Department = "department", department Words(crate::words::Department);
        Assignee = "assignee", assignee_id Member;
        ReviewDate = "reviewDate", review_date Date;
        Requirements = "requirements", requirement_ids Count;
        Policies = "policies", policy_ids Derived;
        Tasks = "tasks", task_ids Derived;
        Readiness = "readiness", readiness Derived;
    }
}

impl ControlSort {
    /// The number by which a control is sorted in an order that depends on what is in place. Of policies and tasks
    /// those in place count first, then those that are linked.
    pub fn rank(self, control: &Control, in_place: &InPlace) -> i64 {
        let readiness = || control.readiness(in_place);
        // A set of links has at most 200 ids.
        let tally = |tally: Tally| i64::try_from(tally.in_place * 1000 + tally.linked).unwrap_or(i64::MAX);
        match self {
            Self::Policies => tally(readiness().policies),
            Self::Tasks => tally(readiness().tasks),
            Self::Readiness => readiness().status as i64,
            _ => 0,
        }
    }
}

impl Register for Control {
    type Kind = kind::Control;
    type Filter = ControlFilter;
    type Sort = ControlSort;

    const REFERENCE: &'static str = "C";
    const ENTITY: &'static str = "control";
    const ACTIONS: Actions = crate::actions!("control");
    const TELLS: bool = true;
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("name_key", |control| Plain::Text(control.name.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |control| {
            Plain::Text(format!("{}\n{}", control.name, control.description).to_lowercase().into())
        }),
    ];

    crate::register_basics!(name, reviewed);

    fn links(patch: &ControlPatch) -> Links {
        let mut links = Links::default();
        links.add(patch.requirement_ids.as_ref(), "requirementIds");
        links.add(patch.policy_ids.as_ref(), "policyIds");
        links.add(patch.task_ids.as_ref(), "taskIds");
        links.add(patch.risk_ids.as_ref(), "riskIds");
        links.add(patch.vendor_ids.as_ref(), "vendorIds");
        links
    }

    fn links_of(&self) -> Links {
        let mut links = Links::default();
        links.add(Some(&self.requirement_ids), "requirementIds");
        links.add(Some(&self.policy_ids), "policyIds");
        links.add(Some(&self.task_ids), "taskIds");
        links.add(Some(&self.risk_ids), "riskIds");
        links.add(Some(&self.vendor_ids), "vendorIds");
        links
    }

    fn linked(&self, given: &ControlPatch, linking: Linking) -> Result<Self, TooManyLinks> {
        let mut after = self.clone();
        linking.apply(&mut after.requirement_ids, given.requirement_ids.as_ref(), "requirementIds")?;
        linking.apply(&mut after.policy_ids, given.policy_ids.as_ref(), "policyIds")?;
        linking.apply(&mut after.task_ids, given.task_ids.as_ref(), "taskIds")?;
        linking.apply(&mut after.risk_ids, given.risk_ids.as_ref(), "riskIds")?;
        linking.apply(&mut after.vendor_ids, given.vendor_ids.as_ref(), "vendorIds")?;
        Ok(after)
    }
}

crate::words! {
    /// The readiness of a control, as defined in `docs/readiness.md`.
    Readiness {
        /// Nothing is missing.
        Ready = "ready",
        /// Some of its linked policies and tasks are in place.
        InProgress = "in_progress",
        /// None of its linked policies and tasks is in place.
        NotStarted = "not_started",
    }
}

crate::words! {
    /// A missing part that keeps a control from being ready.
    Missing {
        /// It has no owner.
        Owner = "owner",
        /// A policy linked to it is not published.
        Policy = "policy",
        /// Neither a policy nor a task is linked to it.
        Task = "task",
        /// A task linked to it is not done, or has no fresh evidence.
        Evidence = "evidence",
    }
}

impl Missing {
    /// The missing parts of several controls, without duplicates, in the order of the enum.
    pub fn together<'a>(lists: impl Iterator<Item = &'a [Self]>) -> Vec<Self> {
        let all: Vec<Self> = lists.flatten().copied().collect();
        Self::ALL.iter().filter(|one| all.contains(one)).copied().collect()
    }
}

/// The number of linked policies or tasks, and of those that are in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    pub linked: usize,
    pub in_place: usize,
}

/// The policies and tasks of an organization that are in place at a moment.
#[derive(Clone, Debug, Default)]
pub struct InPlace {
    /// The policies that are published.
    pub policies: HashSet<PolicyId>,
    /// The tasks that are done, with fresh evidence.
    pub tasks: HashSet<TaskId>,
}

/// The readiness of a control, with the reasons for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlReadiness {
    pub status: Readiness,
    /// Policies that are published.
    pub policies: Tally,
    /// Tasks that are done and have fresh evidence.
    pub tasks: Tally,
    /// The missing parts that keep it from being ready.
    pub missing: Vec<Missing>,
}

impl Control {
    pub fn readiness(&self, in_place: &InPlace) -> ControlReadiness {
        let policies = Tally {
            linked: self.policy_ids.len(),
            in_place: self.policy_ids.iter().filter(|id| in_place.policies.contains(id)).count(),
        };
        let tasks = Tally {
            linked: self.task_ids.len(),
            in_place: self.task_ids.iter().filter(|id| in_place.tasks.contains(id)).count(),
        };
        let lacks = |piece: &Missing| match piece {
            Missing::Owner => self.assignee_id.is_none(),
            Missing::Policy => policies.in_place < policies.linked,
            Missing::Task => policies.linked + tasks.linked == 0,
            Missing::Evidence => tasks.in_place < tasks.linked,
        };
        let missing: Vec<Missing> = Missing::ALL.iter().copied().filter(lacks).collect();
        let status = match policies.in_place + tasks.in_place {
            0 => Readiness::NotStarted,
            _ if missing.is_empty() => Readiness::Ready,
            _ => Readiness::InProgress,
        };
        ControlReadiness { status, policies, tasks, missing }
    }
}
