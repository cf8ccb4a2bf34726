//! Readiness of an organization: the state of its controls, now or as of a point in time.

use std::collections::{HashMap, HashSet};

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::frameworks::controls::{Control, ControlReadiness, InPlace, Missing, Readiness};
use attestry_domain::frameworks::{Framework, Requirement};
use attestry_domain::id::RequirementId;
use attestry_domain::policies::Policy;
use attestry_domain::registers::Record;
use attestry_domain::tasks::{Task, is_fresh};
use attestry_storage::{policies, soa, tasks};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::{programme, registers};

/// The policies and tasks that are in place.
#[boxed]
pub async fn in_place(ctx: &Ctx, scope: &Scope, at: Option<Time>) -> Result<InPlace, Error> {
    let today = scope.day(at, ctx.now());
    let Some(at) = at else {
        let own = scope.clone();
        let found = ctx.db.read(async move |t| {
            Ok::<_, Error>((policies::published(t, &own).await?, tasks::proven(t, &own).await?))
        });
        let (published, proven) = found.await?;
        let proven = proven.into_iter().filter(|(_, frequency, last)| is_fresh(*last, *frequency, today));
        return Ok(InPlace {
            policies: published.into_iter().collect(),
            tasks: proven.map(|(id, ..)| id).collect(),
        });
    };
    let all = registers::all_at::<Policy>(ctx, scope, at).await?;
    let published = all.into_iter().filter(|policy| policy.is_published && !policy.is_archived);
    let tasks = registers::all_at::<Task>(ctx, scope, at).await?;
    let proven = tasks.into_iter().filter(|task| task.is_proven(today));
    Ok(InPlace {
        policies: published.map(|policy| policy.id).collect(),
        tasks: proven.map(|task| task.id).collect(),
    })
}

/// All controls of an organization, oldest first, with the readiness of each and an index by requirement.
#[derive(Clone, Debug)]
pub struct Controls {
    pub in_place: InPlace,
    all: Vec<(Record<Control>, ControlReadiness)>,
    /// Indexes into `all`.
    by_requirement: HashMap<RequirementId, Vec<usize>>,
}

impl Controls {
    pub(crate) async fn load(ctx: &Ctx, scope: &Scope, at: Option<Time>) -> Result<Self, Error> {
        let in_place = in_place(ctx, scope, at).await?;
        let controls = match at {
            Some(at) => registers::all_at::<Control>(ctx, scope, at).await?,
            None => {
                let own = scope.clone();
                ctx.db.read(async move |t| registers::all::<Control>(t, &own).await).await?
            }
        };
        let mut by_requirement: HashMap<RequirementId, Vec<usize>> = HashMap::new();
        let mut all = Vec::with_capacity(controls.len());
        for control in controls {
            for requirement in control.requirement_ids.iter() {
                by_requirement.entry(requirement).or_default().push(all.len());
            }
            let readiness = control.readiness(&in_place);
            all.push((control, readiness));
        }
        Ok(Self { in_place, all, by_requirement })
    }

    /// The controls that meet a requirement.
    pub fn of(
        &self,
        requirement: RequirementId,
    ) -> impl Iterator<Item = &(Record<Control>, ControlReadiness)> {
        let places = self.by_requirement.get(&requirement).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.all.get(*place))
    }

    /// The readiness of a requirement: that of its controls if they agree, otherwise in progress; none without a
    /// control.
    pub fn readiness(&self, requirement: RequirementId) -> Option<Readiness> {
        let all = self.of(requirement).map(|(_, readiness)| readiness.status);
        all.reduce(|one, other| if one == other { one } else { Readiness::InProgress })
    }

    /// The pieces that the controls of a requirement lack.
    pub fn missing(&self, requirement: RequirementId) -> Vec<Missing> {
        Missing::together(self.of(requirement).map(|(_, readiness)| readiness.missing.as_slice()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record<Control>> {
        self.all.iter().map(|(control, _)| control)
    }
}

/// The status of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// No control is linked to it.
    Uncovered,
    /// The approved statement of applicability or the scope of the programme excludes it.
    NotApplicable,
    As(Readiness),
}

/// The readiness of an organization for a framework.
#[derive(Clone, Debug)]
pub struct FrameworkReadiness {
    pub controls: Controls,
    pub requirements: Vec<(Requirement, Met)>,
}

impl FrameworkReadiness {
    pub fn count(&self, met: Met) -> usize {
        self.requirements.iter().filter(|(_, one)| *one == met).count()
    }

    /// The percentage of the applicable requirements that are ready, rounded down.
    pub fn score(&self) -> usize {
        let apply = self.requirements.len() - self.count(Met::NotApplicable);
        (self.count(Met::As(Readiness::Ready)) * 100).checked_div(apply).unwrap_or(0)
    }
}

/// The requirements excluded by the statement of applicability that was approved last, or by the scope of the
/// programme where the statement says nothing about them.
async fn left_out(
    ctx: &Ctx,
    scope: &Scope,
    framework: &Framework,
    at: Option<Time>,
) -> Result<HashSet<RequirementId>, Error> {
    let (own, id, moment) = (scope.clone(), framework.id, at.unwrap_or(ctx.now()));
    let approved = ctx.db.read(async move |t| soa::approved_at(t, &own, id, moment).await).await?;
    let rows: Vec<_> = approved.into_iter().flat_map(|approval| approval.content.rows).collect();
    let stated: HashSet<RequirementId> = rows.iter().map(|row| row.question_id).collect();
    let excluded = rows.iter().filter(|row| row.is_applicable == Some(false)).map(|row| row.question_id);
    let by_scope = programme::left_out(ctx, scope, framework, at).await?;
    Ok(excluded.chain(by_scope.into_keys().filter(|id| !stated.contains(id))).collect())
}

#[boxed]
pub async fn of(
    ctx: &Ctx,
    scope: &Scope,
    framework: &Framework,
    at: Option<Time>,
) -> Result<FrameworkReadiness, Error> {
    let controls = Controls::load(ctx, scope, at).await?;
    let left_out = left_out(ctx, scope, framework, at).await?;
    let requirements = framework.requirements.iter().map(|requirement| {
        let met = match left_out.contains(&requirement.id) {
            true => Met::NotApplicable,
            false => controls.readiness(requirement.id).map_or(Met::Uncovered, Met::As),
        };
        (requirement.clone(), met)
    });
    let requirements = requirements.collect();
    Ok(FrameworkReadiness { controls, requirements })
}
