//! The trace of a framework: from each requirement to its controls, to their policies and tasks, to the latest
//! evidence.

use std::collections::{BTreeSet, HashMap};

use attestry_domain::access::Scope;
use attestry_domain::frameworks::controls::{Control, ControlReadiness, Missing};
use attestry_domain::frameworks::{Framework, Requirement};
use attestry_domain::id::{PolicyId, TaskId};
use attestry_domain::policies::Policy;
use attestry_domain::registers::Record;
use attestry_domain::tasks::Task;
use attestry_storage::attachments;
pub use attestry_storage::attachments::LatestEvidence;
use attestry_storage::{members, registers as rows};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::frameworks::readiness::{self, Met};

/// A requirement with the controls that meet it.
#[derive(Clone, Debug)]
pub struct TracedRequirement {
    pub requirement: Requirement,
    pub met: Met,
    pub missing: Vec<Missing>,
    pub controls: Vec<(Record<Control>, ControlReadiness)>,
}

/// The trace of a framework.
#[derive(Clone, Debug)]
pub struct Trace {
    pub requirements: Vec<TracedRequirement>,
    pub policies: HashMap<PolicyId, Record<Policy>>,
    pub tasks: HashMap<TaskId, Record<Task>>,
    /// The latest evidence of each task, by the id of the task.
    pub evidence: HashMap<String, LatestEvidence>,
    /// The names of members, by their ids as text.
    pub names: HashMap<String, String>,
}

#[boxed]
pub async fn of(ctx: &Ctx, scope: &Scope, framework: &Framework) -> Result<Trace, Error> {
    let found = readiness::of(ctx, scope, framework, None).await?;
    let requirements: Vec<TracedRequirement> = found
        .requirements
        .iter()
        .map(|(requirement, met)| TracedRequirement {
            requirement: requirement.clone(),
            met: *met,
            missing: if *met == Met::NotApplicable {
                Vec::new()
            } else {
                found.controls.missing(requirement.id)
            },
            controls: found.controls.of(requirement.id).cloned().collect(),
        })
        .collect();
    let controls = || requirements.iter().flat_map(|one| &one.controls);
    let linked: BTreeSet<TaskId> = controls().flat_map(|(control, _)| control.task_ids.iter()).collect();
    let stated: BTreeSet<PolicyId> = controls().flat_map(|(control, _)| control.policy_ids.iter()).collect();
    let (linked, stated): (Vec<TaskId>, Vec<PolicyId>) =
        (linked.into_iter().collect(), stated.into_iter().collect());
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let tasks = rows::some_of::<Task>(t, &own, &linked).await?;
        let policies = rows::some_of::<Policy>(t, &own, &stated).await?;
        let evidence = attachments::latest_of_tasks(t, &own).await?;
        Ok::<_, Error>((tasks, policies, evidence, members::names(t, &own).await?))
    });
    let (tasks, policies, evidence, names) = found.await?;
    Ok(Trace {
        requirements,
        policies: policies.into_iter().map(|one| (one.id, one)).collect(),
        tasks: tasks.into_iter().map(|one| (one.id, one)).collect(),
        evidence: evidence.into_iter().map(|one| (one.task.clone(), one)).collect(),
        names: names.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
    })
}
