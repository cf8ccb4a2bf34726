//! The planner: what a programme creates, who owns it, and when it is due. It is a pure function of the catalogue, the
//! settings of the programme, and what the organization already has.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::date::Date;
use crate::frameworks::Framework;
use crate::id::{
    ControlId, FrameworkId, MemberId, PolicyId, PolicyTemplateId, RequirementId, TaskId, TaskTemplateId,
};
use crate::policies::templates::{self as policy_templates, PolicyTemplate};
use crate::programme::Settings;
use crate::programme::catalogue::{self, ControlTemplate};
use crate::programme::roles::OwnerRole;
use crate::programme::scope::{Consequences, LeftOut};
use crate::tasks::templates::{self as task_templates, TaskTemplate};

/// The time between the last due date and the audit, for what turns out to be late.
const BUFFER_DAYS: i64 = 14;
/// The length of a plan without an audit date.
const DEFAULT_WEEKS: i64 = 26;
/// The hours of a working day.
pub const HOURS_PER_DAY: u64 = 8;
/// The average load above which an audit date is too close.
const MAX_HOURS_PER_WEEK: u64 = 10 * HOURS_PER_DAY;

/// The records of the organization that come from the catalogue.
#[derive(Clone, Debug, Default)]
pub struct Existing {
    /// By the key of the catalogue's control.
    pub controls: HashMap<String, ControlId>,
    pub tasks: HashMap<TaskTemplateId, TaskId>,
    pub policies: HashMap<PolicyTemplateId, PolicyId>,
    /// Policies that are out of use. They are neither created again nor linked.
    pub archived: HashSet<PolicyId>,
    /// The requirements that controls of the organization meet.
    pub met: HashSet<RequirementId>,
    /// The labels of other controls that have neither a policy nor a task, and the requirements they meet.
    pub unlinked: Vec<(String, Vec<RequirementId>)>,
}

/// A part of a plan: a control, a policy or a task.
#[derive(Clone, Debug)]
pub struct Planned<T: 'static, I> {
    pub template: &'static T,
    /// The one that is reused as it is.
    pub existing: Option<I>,
    pub role: OwnerRole,
    pub owner: Option<MemberId>,
    pub due: Date,
}

crate::words! {
    /// A decision that a plan leaves to a person.
    DecisionKind {
        /// A question about the scope has no answer.
        Unanswered = "unanswered",
        /// A role has no member.
        NoOwner = "no_owner",
        /// No control of the catalogue meets a requirement.
        Uncovered = "uncovered",
        /// An existing control meets a requirement of the plan, but has neither a policy nor a task.
        Unlinked = "unlinked",
        /// The load until the audit is too high.
        TooClose = "too_close",
    }
}

/// A decision that a plan leaves to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub kind: DecisionKind,
    /// The key of the question, the role, the code of the requirement, or the label of the control.
    pub subject: String,
    pub message: String,
}

/// The load of a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Week {
    pub starts_on: Date,
    pub ends_on: Date,
    pub controls: usize,
    pub policies: usize,
    pub tasks: usize,
    pub effort_hours: u64,
}

/// The coverage of a chosen framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub framework: FrameworkId,
    pub requirements: usize,
    pub left_out: usize,
    /// The requirements that existing controls meet before the plan is started.
    pub met_before: usize,
    /// The requirements that controls meet once the plan is started.
    pub met: usize,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub ends_on: Date,
    pub controls: Vec<Planned<ControlTemplate, ControlId>>,
    pub policies: Vec<Planned<PolicyTemplate, PolicyId>>,
    pub tasks: Vec<Planned<TaskTemplate, TaskId>>,
    /// The requirements of the chosen frameworks that do not concern the company.
    pub left_out: Vec<LeftOut>,
    pub coverage: Vec<Coverage>,
    pub decisions: Vec<Decision>,
    pub weeks: Vec<Week>,
}

/// The tasks of a control that apply.
pub fn tasks_of(control: &ControlTemplate, scope: &Consequences) -> Vec<&'static TaskTemplate> {
    let all = control.task_templates.iter().filter_map(|id| task_templates::get(*id));
    all.filter(|template| scope.applies(template.applies_when.as_deref())).collect()
}

/// The policies that state a control.
pub fn policies_of(control: &ControlTemplate) -> Vec<&'static PolicyTemplate> {
    control.policy_templates.iter().filter_map(|id| policy_templates::get(*id)).collect()
}

fn requirements_of(frameworks: &[&Framework]) -> HashSet<RequirementId> {
    frameworks.iter().flat_map(|framework| &framework.requirements).map(|one| one.id).collect()
}

/// Returns the requirements of the chosen frameworks that do not concern the organization.
pub fn left_out(scope: &Consequences, frameworks: &[&Framework]) -> Vec<LeftOut> {
    let chosen = requirements_of(frameworks);
    let exempt = catalogue::exempt().iter().map(|one| LeftOut {
        requirement: one.requirement,
        question: None,
        justification: one.reason.clone(),
    });
    scope.left_out.iter().cloned().chain(exempt).filter(|one| chosen.contains(&one.requirement)).collect()
}

/// Computes the plan of a programme. Nothing is due before today.
pub fn plan(settings: &Settings, frameworks: &[&Framework], existing: &Existing, today: Date) -> Plan {
    let scope = consequences(settings, frameworks);
    let chosen = requirements_of(frameworks);
    let left_out = left_out(&scope, frameworks);
    let out: HashSet<RequirementId> = left_out.iter().map(|one| one.requirement).collect();
    let is_needed = |control: &&ControlTemplate| {
        scope.applies(control.applies_when.as_deref())
            && control.requirements().iter().any(|one| chosen.contains(one) && !out.contains(one))
    };
    let controls = in_order(catalogue::all().iter().filter(is_needed).collect());
    let from = settings.starts_on.max(today);
    let ends_on = last_day(settings, from).max(from);
    let due = spread(from, ends_on, &controls, &scope, existing);
    let owner = |role: OwnerRole| settings.owners.get(&role).copied();

    let mut policies: Vec<Planned<PolicyTemplate, PolicyId>> = Vec::new();
    let mut tasks: Vec<Planned<TaskTemplate, TaskId>> = Vec::new();
    let mut planned = Vec::with_capacity(controls.len());
    // Controls come in the order of their due dates, so the first one that names a policy or a task sets its date.
    for (template, due) in controls.into_iter().zip(due) {
        let role = template.owner_role;
        for policy in policies_of(template) {
            if !policies.iter().any(|one| one.template.id == policy.id) {
                let existing = existing.policies.get(&policy.id).copied();
                policies.push(Planned { template: policy, existing, role, owner: owner(role), due });
            }
        }
        for task in tasks_of(template, &scope) {
            if !tasks.iter().any(|one| one.template.id == task.id) {
                let (existing, role) = (existing.tasks.get(&task.id).copied(), task.role);
                tasks.push(Planned { template: task, existing, role, owner: owner(role), due });
            }
        }
        let existing = existing.controls.get(&template.key).copied();
        planned.push(Planned { template, existing, role, owner: owner(role), due });
    }

    let coverage = frameworks.iter().map(|framework| cover(framework, &out, &planned, existing)).collect();
    let weeks = weeks(from, ends_on, &planned, &policies, &tasks);
    let mut plan = Plan {
        ends_on,
        controls: planned,
        policies,
        tasks,
        left_out,
        coverage,
        decisions: Vec::new(),
        weeks,
    };
    plan.decisions = decisions(&plan, settings, frameworks, existing, &scope);
    plan
}

/// The consequences of the answers of a programme.
pub fn consequences(settings: &Settings, frameworks: &[&Framework]) -> Consequences {
    let aliases: Vec<&str> = frameworks.iter().map(|framework| framework.alias.as_str()).collect();
    Consequences::of(&settings.scope, &aliases)
}

/// Orders controls so that each follows those that should be in place first, and otherwise as they are.
fn in_order(mut open: Vec<&'static ControlTemplate>) -> Vec<&'static ControlTemplate> {
    let planned: HashSet<&str> = open.iter().map(|one| one.key.as_str()).collect();
    let (mut done, mut ordered) = (HashSet::new(), Vec::with_capacity(open.len()));
    while !open.is_empty() {
        let is_next = |one: &&ControlTemplate| {
            one.after.iter().all(|after| done.contains(after.as_str()) || !planned.contains(after.as_str()))
        };
        // A test verifies that the catalogue has no cycle; the first control breaks one.
        let next = open.remove(open.iter().position(is_next).unwrap_or_default());
        done.insert(next.key.as_str());
        ordered.push(next);
    }
    ordered
}

/// The last day on which something is due, if planning begins on this day.
pub fn last_day(settings: &Settings, start: Date) -> Date {
    match settings.audit_date {
        Some(audit) if start.days_until(audit) > 3 * BUFFER_DAYS => audit.plus_days(-BUFFER_DAYS),
        Some(audit) => audit.plus_days(-1).max(start),
        None => start.plus_days(DEFAULT_WEEKS * 7),
    }
}

/// The hours that a control still takes: none once it exists with all its policies and tasks.
fn open_hours(control: &ControlTemplate, scope: &Consequences, existing: &Existing) -> u64 {
    let is_there = existing.controls.contains_key(&control.key)
        && tasks_of(control, scope).iter().all(|task| existing.tasks.contains_key(&task.id))
        && policies_of(control).iter().all(|policy| existing.policies.contains_key(&policy.id));
    if is_there { 0 } else { control.effort_hours }
}

/// Returns the due date of each control. The effort is the same in each week, as far as its pieces allow.
fn spread(
    start: Date,
    end: Date,
    controls: &[&'static ControlTemplate],
    scope: &Consequences,
    existing: &Existing,
) -> Vec<Date> {
    let weeks = u64::try_from(start.days_until(end) / 7).unwrap_or_default().max(1);
    let hours: Vec<u64> = controls.iter().map(|one| open_hours(one, scope, existing)).collect();
    let total = hours.iter().sum::<u64>().max(1);
    let mut before = 0;
    let mut due = Vec::with_capacity(controls.len());
    for hours in hours {
        // The week in which half of it is done.
        let week = ((2 * before + hours) * weeks / (2 * total)).min(weeks - 1);
        before += hours;
        let days = i64::try_from(week * 7).unwrap_or_default();
        due.push(start.plus_days(days).friday().min(end));
    }
    due
}

fn cover(
    framework: &Framework,
    out: &HashSet<RequirementId>,
    planned: &[Planned<ControlTemplate, ControlId>],
    existing: &Existing,
) -> Coverage {
    let created =
        planned.iter().filter(|one| one.existing.is_none()).flat_map(|one| one.template.requirements());
    let met: HashSet<RequirementId> = created.chain(&existing.met).copied().collect();
    let count = |met: &HashSet<RequirementId>| {
        framework.requirements.iter().filter(|one| met.contains(&one.id) && !out.contains(&one.id)).count()
    };
    Coverage {
        framework: framework.id,
        requirements: framework.requirements.len(),
        left_out: framework.requirements.iter().filter(|one| out.contains(&one.id)).count(),
        met_before: count(&existing.met),
        met: count(&met),
    }
}

fn weeks(
    start: Date,
    end: Date,
    controls: &[Planned<ControlTemplate, ControlId>],
    policies: &[Planned<PolicyTemplate, PolicyId>],
    tasks: &[Planned<TaskTemplate, TaskId>],
) -> Vec<Week> {
    let mut weeks: BTreeMap<Date, Week> = BTreeMap::new();
    let mut monday = start.monday();
    while monday <= end {
        let ends_on = monday.plus_days(6);
        let empty = Week { starts_on: monday, ends_on, controls: 0, policies: 0, tasks: 0, effort_hours: 0 };
        weeks.insert(monday, empty);
        monday = monday.plus_days(7);
    }
    let mut at = |due: Date, add: &dyn Fn(&mut Week)| {
        if let Some(week) = weeks.get_mut(&due.monday()) {
            add(week);
        }
    };
    for one in controls.iter().filter(|one| one.existing.is_none()) {
        at(one.due, &|week| {
            week.controls += 1;
            week.effort_hours += one.template.effort_hours;
        });
    }
    for one in policies.iter().filter(|one| one.existing.is_none()) {
        at(one.due, &|week| week.policies += 1);
    }
    for one in tasks.iter().filter(|one| one.existing.is_none()) {
        at(one.due, &|week| week.tasks += 1);
    }
    weeks.into_values().collect()
}

/// A number with its noun: `1 policy`, `2 policies`.
fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

fn decisions(
    plan: &Plan,
    settings: &Settings,
    frameworks: &[&Framework],
    existing: &Existing,
    scope: &Consequences,
) -> Vec<Decision> {
    let mut all = Vec::new();
    let mut leave = |kind, subject: &str, message: String| {
        all.push(Decision { kind, subject: subject.to_owned(), message });
    };
    for question in scope.unanswered.iter().filter(|question| question.leaves_something_out()) {
        let message = format!(
            "“{}” has no answer yet. Until then, everything it could leave out is part of the plan.",
            question.question
        );
        leave(DecisionKind::Unanswered, &question.key, message);
    }
    for role in OwnerRole::ALL {
        let counts = [
            (
                plan.controls.iter().filter(|one| one.role == *role && one.existing.is_none()).count(),
                "control",
            ),
            (
                plan.policies.iter().filter(|one| one.role == *role && one.existing.is_none()).count(),
                "policy",
            ),
            (plan.tasks.iter().filter(|one| one.role == *role && one.existing.is_none()).count(), "task"),
        ];
        let listed: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, noun)| counted(*count, noun))
            .collect();
        if !listed.is_empty() && !settings.owners.contains_key(role) {
            let message = format!("Nobody has this role yet: {} without an owner.", listed.join(", "));
            leave(DecisionKind::NoOwner, role.as_str(), message);
        }
    }
    let met: HashSet<RequirementId> = plan
        .controls
        .iter()
        .filter(|one| one.existing.is_none())
        .flat_map(|one| one.template.requirements())
        .chain(&existing.met)
        .copied()
        .chain(plan.left_out.iter().map(|one| one.requirement))
        .collect();
    for framework in frameworks {
        for one in framework.requirements.iter().filter(|one| !met.contains(&one.id)) {
            let message =
                format!("No control meets {} of {}. Add one of your own.", one.title, framework.name);
            leave(DecisionKind::Uncovered, &one.code, message);
        }
    }
    let chosen = requirements_of(frameworks);
    for (label, _) in existing.unlinked.iter().filter(|(_, met)| met.iter().any(|one| chosen.contains(one))) {
        let message = "It meets a requirement of the plan, but has neither a policy nor a task. Link them, or delete the \
                       control: the plan has controls of its own."
            .to_owned();
        leave(DecisionKind::Unlinked, label, message);
    }
    let hours: u64 = plan.weeks.iter().map(|week| week.effort_hours).sum();
    let per_week = hours / u64::try_from(plan.weeks.len()).unwrap_or(1).max(1);
    if per_week > MAX_HOURS_PER_WEEK {
        let days = per_week / HOURS_PER_DAY;
        let message = format!(
            "The plan takes about {days} person-days a week. Choose a later audit date or fewer frameworks."
        );
        leave(DecisionKind::TooClose, "auditDate", message);
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frameworks;
    use crate::programme::scope::Answers;
    use crate::text::Parse;

    fn date(text: &str) -> Date {
        Date::parse(text).expect("a date")
    }

    fn all() -> Vec<&'static Framework> {
        frameworks::shipped().iter().map(|one| &**one).collect()
    }

    fn named(alias: &str) -> &'static Framework {
        all().into_iter().find(|one| one.alias == alias).expect("a framework")
    }

    fn settings(audit: Option<&str>, answers: &serde_json::Value) -> Settings {
        Settings {
            framework_ids: Vec::new(),
            starts_on: date("2026-11-18"),
            audit_date: audit.map(date),
            scope: Answers::read(answers.as_object().expect("an object")).expect("answers"),
            owners: OwnerRole::ALL.iter().map(|role| (*role, MemberId::from_u128(*role as u128))).collect(),
        }
    }

    #[test]
    fn all_frameworks_are_covered() {
        let plan =
            plan(&settings(Some("2027-06-01"), &json!({})), &all(), &Existing::default(), date("2026-11-18"));
        assert_eq!(plan.controls.len(), catalogue::all().len());
        for one in &plan.coverage {
            assert_eq!(one.met + one.left_out, one.requirements, "{one:?}");
            assert_eq!(one.met_before, 0);
        }
        assert!(
            plan.decisions.iter().all(|one| one.kind == DecisionKind::Unanswered),
            "{:?}",
            plan.decisions
        );
        assert!(plan.controls.iter().all(|one| one.owner.is_some()));
        assert!(plan.tasks.iter().all(|one| one.due <= date("2027-05-18") && one.due >= date("2026-11-18")));
    }

    #[test]
    fn prerequisites_come_first_and_the_load_is_even() {
        let plan =
            plan(&settings(Some("2027-06-01"), &json!({})), &all(), &Existing::default(), date("2026-11-18"));
        let due: HashMap<&str, Date> =
            plan.controls.iter().map(|one| (one.template.key.as_str(), one.due)).collect();
        for one in &plan.controls {
            for after in &one.template.after {
                assert!(due[after.as_str()] <= one.due, "{after} before {}", one.template.key);
            }
        }
        assert!(plan.controls.is_sorted_by_key(|one| one.due));
        let total: u64 = plan.controls.iter().map(|one| one.template.effort_hours).sum();
        let largest = plan.controls.iter().map(|one| one.template.effort_hours).max().expect("a control");
        let average = total / 25;
        for week in &plan.weeks {
            assert!(week.effort_hours <= average + 2 * largest, "{week:?}, average {average}");
        }
    }

    #[test]
    fn a_second_framework_adds_only_what_is_missing() {
        let settings = settings(None, &json!({"personal_data": true}));
        let first = plan(&settings, &[named("iso_27001")], &Existing::default(), date("2026-11-18"));
        let existing = Existing {
            controls: first
                .controls
                .iter()
                .map(|one| (one.template.key.clone(), ControlId::from_u128(1)))
                .collect(),
            tasks: first.tasks.iter().map(|one| (one.template.id, TaskId::from_u128(1))).collect(),
            policies: first.policies.iter().map(|one| (one.template.id, PolicyId::from_u128(1))).collect(),
            met: first.controls.iter().flat_map(|one| one.template.requirements()).copied().collect(),
            ..Existing::default()
        };
        let both = plan(&settings, &[named("iso_27001"), named("soc_2")], &existing, date("2026-11-18"));
        let added = both.controls.iter().filter(|one| one.existing.is_none()).count();
        assert!(added > 0 && added < 30, "{added} controls are new");
        let soc = &both.coverage[1];
        assert!(soc.met_before * 2 > soc.requirements && soc.met_before <= soc.met, "{soc:?}");
        let again = plan(&settings, &[named("iso_27001")], &existing, date("2026-11-18"));
        assert!(again.controls.iter().all(|one| one.existing.is_some()));
        assert!(again.weeks.iter().all(|week| week.controls + week.tasks + week.policies == 0));
    }

    #[test]
    fn the_catalogue_has_no_cycle() {
        let mut done: HashSet<&str> = HashSet::new();
        for one in in_order(catalogue::all().iter().collect()) {
            assert!(one.after.iter().all(|after| done.contains(after.as_str())), "{}", one.key);
            done.insert(&one.key);
        }
    }

    #[test]
    fn an_extension_plans_from_today() {
        let plan =
            plan(&settings(Some("2027-06-01"), &json!({})), &all(), &Existing::default(), date("2027-03-01"));
        assert!(plan.tasks.iter().all(|one| one.due >= date("2027-03-01")));
        assert_eq!(counted(2, "policy"), "2 policies");
    }

    #[test]
    fn a_close_audit_and_missing_owners_are_decisions() {
        let mut settings = settings(Some("2026-12-01"), &json!({}));
        settings.owners.remove(&OwnerRole::Management);
        let plan = plan(&settings, &all(), &Existing::default(), date("2026-11-18"));
        let kinds: HashSet<&str> = plan.decisions.iter().map(|one| one.kind.as_str()).collect();
        assert!(kinds.contains("too_close") && kinds.contains("no_owner"), "{kinds:?}");
        assert!(plan.tasks.iter().all(|one| one.due < date("2026-12-01")));
    }
}
