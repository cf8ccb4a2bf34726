//! The wire shapes of the programme.

use attestry_app::programme::{ProgrammeStatus, start::Started};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::date::Date;
use attestry_domain::id::{
    ControlId, FrameworkId, MemberId, PolicyId, ProgrammeId, ProgrammeRunId, RequirementId, TaskId,
};
use attestry_domain::programme::planner::{Coverage, Decision, DecisionKind, HOURS_PER_DAY, Plan, Week};
use attestry_domain::programme::progress::{BurnUp, Counts, Item, ItemKind, ItemState, WeekItems};
use attestry_domain::programme::scope::{LeftOut, Question, QuestionKind, questions};
use attestry_domain::programme::{OwnerRole, Settings};
use attestry_http::document::schemas::{schema, schema_of};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

const REQUIREMENT: &str = "frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b";
const FRAMEWORK: &str = "frk_01jcqg3v5mefzr7d0a6w3k9x2b";
const MEMBER: &str = "mem_01jcqg3v5mefzr7d0a6w3k9x2b";

/// The schema of answers: one property for each question.
pub(super) fn answers_schema() -> Value {
    let answer = |question: &Question| {
        let values: Vec<&str> = question.options.iter().map(|option| option.value.as_str()).collect();
        match question.kind {
            QuestionKind::YesNo => json!({"type": "boolean", "description": question.question}),
            QuestionKind::Number => {
                json!({"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": question.question})
            }
            QuestionKind::Choice if question.multiple => json!({
                "type": "array", "maxItems": values.len(), "items": {"type": "string", "enum": values},
                "description": question.question
            }),
            QuestionKind::Choice => {
                json!({"type": "string", "enum": values, "description": question.question})
            }
        }
    };
    let properties: Map<String, Value> =
        questions().iter().map(|question| (question.key.clone(), answer(question))).collect();
    json!({
        "type": "object", "additionalProperties": false, "properties": properties,
        "examples": [{"people": 40, "offices": 0, "software": true}]
    })
}

/// The schema of owners: one property for each role.
pub(super) fn owners_schema() -> Value {
    let member = || json!({"type": "string", "maxLength": 30, "examples": [MEMBER]});
    let properties: Map<String, Value> =
        OwnerRole::WORDS.iter().map(|role| ((*role).to_owned(), member())).collect();
    json!({
        "type": "object", "additionalProperties": false, "properties": properties,
        "examples": [{"security_lead": MEMBER}]
    })
}

fn answers() -> RefOr<Schema> {
    schema(answers_schema())
}

fn owners() -> RefOr<Schema> {
    schema(owners_schema())
}

/// An answer to choose.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"value": "dpo", "label": "We must, or want to, appoint a data protection officer"}))]
pub(crate) struct QuestionOption {
    value: String,
    label: String,
}

/// A question about the scope.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScopeQuestion, example = json!(question_example()))]
pub(crate) struct QuestionView {
    /// Its name in `scope`.
    key: String,
    question: String,
    help: String,
    #[schema(schema_with = schema_of::<QuestionKind>)]
    kind: QuestionKind,
    options: Vec<QuestionOption>,
    /// True if several options can be chosen.
    multiple: bool,
    /// The flags that its answers set, by answer; for a number, by the lowest one that sets them.
    #[schema(value_type = std::collections::BTreeMap<String, Vec<String>>)]
    sets: Value,
    /// The flag without which it is not asked.
    #[schema(required)]
    only_if: Option<String>,
    /// The aliases of the frameworks that need it; empty for all.
    frameworks: Vec<String>,
}

impl From<&Question> for QuestionView {
    fn from(question: &Question) -> Self {
        let options = question.options.iter();
        Self {
            key: question.key.clone(),
            question: question.question.clone(),
            help: question.help.clone(),
            kind: question.kind,
            options: options
                .map(|option| QuestionOption { value: option.value.clone(), label: option.label.clone() })
                .collect(),
            multiple: question.multiple,
            sets: json!(question.sets()),
            only_if: question.only_if.clone(),
            frameworks: question.frameworks.clone(),
        }
    }
}

fn question_example() -> Value {
    json!(questions().first().map(QuestionView::from))
}

page_of! {
    pub(crate) QuestionList = QuestionView, "ScopeQuestionList", question_example(), HAS_TOTAL = false
}

/// A control of a plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "backups", "title": "Backups are made, protected and restored in tests", "existingId": null,
    "role": "engineering_lead", "assigneeId": MEMBER, "dueDate": "2026-12-04", "effortDays": 3.0,
    "area": "resilience", "policyTemplateIds": [], "taskTemplateIds": []
}))]
pub(crate) struct PlannedControl {
    key: String,
    title: String,
    area: String,
    /// The control that is reused; null if one is created.
    #[schema(required, value_type = Option<String>)]
    existing_id: Option<ControlId>,
    #[schema(schema_with = schema_of::<OwnerRole>)]
    role: OwnerRole,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    /// The day by which it is to be set up.
    #[schema(value_type = String, format = Date)]
    due_date: Date,
    /// The effort to set it up in a company of 25 to 100 people.
    effort_days: f64,
    policy_template_ids: Vec<String>,
    task_template_ids: Vec<String>,
}

/// A policy of a plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "templateId": "frk_pt_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Access Control Policy", "existingId": null,
    "role": "security_lead", "assigneeId": MEMBER, "dueDate": "2026-12-04"
}))]
pub(crate) struct PlannedPolicy {
    template_id: String,
    title: String,
    #[schema(required, value_type = Option<String>)]
    existing_id: Option<PolicyId>,
    #[schema(schema_with = schema_of::<OwnerRole>)]
    role: OwnerRole,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    #[schema(value_type = String, format = Date)]
    due_date: Date,
}

/// A task of a plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "templateId": "frk_tt_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Review user access", "existingId": null,
    "role": "it_lead", "assigneeId": MEMBER, "dueDate": "2026-12-04", "minutes": 120
}))]
pub(crate) struct PlannedTask {
    template_id: String,
    title: String,
    #[schema(required, value_type = Option<String>)]
    existing_id: Option<TaskId>,
    #[schema(schema_with = schema_of::<OwnerRole>)]
    role: OwnerRole,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    #[schema(value_type = String, format = Date)]
    due_date: Date,
    /// The typical time for one round.
    minutes: u32,
}

/// A requirement that does not concern the organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LeftOutRequirement, example = json!({
    "requirementId": REQUIREMENT, "question": "offices", "justification": "The company has no premises of its own."
}))]
pub(crate) struct LeftOutView {
    #[schema(value_type = String)]
    requirement_id: RequirementId,
    /// The key of the question whose answer leaves it out; null if it concerns no company.
    #[schema(required)]
    question: Option<&'static str>,
    justification: String,
}

impl From<&LeftOut> for LeftOutView {
    fn from(one: &LeftOut) -> Self {
        let LeftOut { requirement, question, justification } = one.clone();
        Self { requirement_id: requirement, question, justification }
    }
}

/// The coverage of a framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FrameworkCoverage, example = json!({
    "frameworkId": FRAMEWORK, "requirements": 116, "leftOut": 7, "metBefore": 0, "met": 109
}))]
pub(crate) struct CoverageView {
    #[schema(value_type = String)]
    framework_id: FrameworkId,
    requirements: usize,
    left_out: usize,
    /// The requirements that existing controls meet.
    met_before: usize,
    /// The requirements that controls meet once the programme is started.
    met: usize,
}

impl From<&Coverage> for CoverageView {
    fn from(one: &Coverage) -> Self {
        let Coverage { framework, requirements, left_out, met_before, met } = one.clone();
        Self { framework_id: framework, requirements, left_out, met_before, met }
    }
}

/// A decision that the plan leaves to a person.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlanDecision, example = json!({
    "kind": "no_owner", "subject": "privacy_lead", "message": "Nobody has this role, so its 8 controls and 11 tasks have no owner."
}))]
pub(crate) struct DecisionView {
    #[schema(schema_with = schema_of::<DecisionKind>)]
    kind: DecisionKind,
    /// The key of the question, the role, the code of the requirement, or the control.
    subject: String,
    message: String,
}

impl From<&Decision> for DecisionView {
    fn from(one: &Decision) -> Self {
        let Decision { kind, subject, message } = one.clone();
        Self { kind, subject, message }
    }
}

/// The load of a week: what is created and due in it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanWeek, example = json!({
    "startsOn": "2026-11-30", "endsOn": "2026-12-06", "controls": 4, "policies": 2, "tasks": 5, "effortDays": 6.5
}))]
pub(crate) struct PlanWeekView {
    #[schema(value_type = String, format = Date)]
    starts_on: Date,
    #[schema(value_type = String, format = Date)]
    ends_on: Date,
    controls: usize,
    policies: usize,
    tasks: usize,
    effort_days: f64,
}

impl From<&Week> for PlanWeekView {
    fn from(week: &Week) -> Self {
        let Week { starts_on, ends_on, controls, policies, tasks, effort_hours } = *week;
        Self { starts_on, ends_on, controls, policies, tasks, effort_days: days(effort_hours) }
    }
}

/// Hours as working days.
fn days(hours: u64) -> f64 {
    let of = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    of(hours) / of(HOURS_PER_DAY)
}

/// The number of records that are created and reused.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"created": 97, "reused": 0}))]
pub(crate) struct PlanCount {
    created: usize,
    reused: usize,
}

impl PlanCount {
    fn of(existing: impl Iterator<Item = bool>) -> Self {
        let (mut created, mut reused) = (0, 0);
        for exists in existing {
            if exists { reused += 1 } else { created += 1 }
        }
        Self { created, reused }
    }
}

/// The number of records of each kind.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "controls": {"created": 97, "reused": 0}, "policies": {"created": 30, "reused": 1}, "tasks": {"created": 80, "reused": 2}
}))]
pub(crate) struct PlanCounts {
    controls: PlanCount,
    policies: PlanCount,
    tasks: PlanCount,
}

/// A plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProgrammePlan, example = json!({
    "frameworkIds": [FRAMEWORK], "startsOn": "2026-11-18", "endsOn": "2027-05-18", "auditDate": "2027-06-01",
    "counts": {
        "controls": {"created": 97, "reused": 0}, "policies": {"created": 30, "reused": 1},
        "tasks": {"created": 80, "reused": 2}
    },
    "coverage": [], "weeks": [], "controls": [], "policies": [], "tasks": [], "leftOut": [], "decisions": []
}))]
pub(crate) struct PlanView {
    #[schema(value_type = Vec<String>)]
    framework_ids: Vec<FrameworkId>,
    #[schema(value_type = String, format = Date)]
    starts_on: Date,
    /// The last day on which something is due.
    #[schema(value_type = String, format = Date)]
    ends_on: Date,
    #[schema(required, value_type = Option<String>, format = Date)]
    audit_date: Option<Date>,
    counts: PlanCounts,
    coverage: Vec<CoverageView>,
    weeks: Vec<PlanWeekView>,
    /// In the order of their due dates.
    controls: Vec<PlannedControl>,
    policies: Vec<PlannedPolicy>,
    tasks: Vec<PlannedTask>,
    left_out: Vec<LeftOutView>,
    decisions: Vec<DecisionView>,
}

impl PlanView {
    pub(super) fn new(settings: &Settings, plan: &Plan) -> Self {
        let controls = plan.controls.iter().map(|one| PlannedControl {
            key: one.template.key.clone(),
            title: one.template.title.clone(),
            area: one.template.area.clone(),
            existing_id: one.existing,
            role: one.role,
            assignee_id: one.owner,
            due_date: one.due,
            effort_days: days(one.template.effort_hours),
            policy_template_ids: one.template.policy_templates.iter().map(ToString::to_string).collect(),
            task_template_ids: one.template.task_templates.iter().map(ToString::to_string).collect(),
        });
        let policies = plan.policies.iter().map(|one| PlannedPolicy {
            template_id: one.template.id.to_string(),
            title: one.template.name.to_owned(),
            existing_id: one.existing,
            role: one.role,
            assignee_id: one.owner,
            due_date: one.due,
        });
        let tasks = plan.tasks.iter().map(|one| PlannedTask {
            template_id: one.template.id.to_string(),
            title: one.template.title.clone(),
            existing_id: one.existing,
            role: one.role,
            assignee_id: one.owner,
            due_date: one.due,
            minutes: one.template.minutes,
        });
        Self {
            framework_ids: settings.framework_ids.clone(),
            starts_on: settings.starts_on,
            ends_on: plan.ends_on,
            audit_date: settings.audit_date,
            counts: PlanCounts {
                controls: PlanCount::of(plan.controls.iter().map(|one| one.existing.is_some())),
                policies: PlanCount::of(plan.policies.iter().map(|one| one.existing.is_some())),
                tasks: PlanCount::of(plan.tasks.iter().map(|one| one.existing.is_some())),
            },
            coverage: plan.coverage.iter().map(CoverageView::from).collect(),
            weeks: plan.weeks.iter().map(PlanWeekView::from).collect(),
            controls: controls.collect(),
            policies: policies.collect(),
            tasks: tasks.collect(),
            left_out: plan.left_out.iter().map(LeftOutView::from).collect(),
            decisions: plan.decisions.iter().map(DecisionView::from).collect(),
        }
    }
}

/// The number of records that a start created.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"controls": 97, "policies": 30, "tasks": 80}))]
pub(crate) struct CreatedCounts {
    controls: usize,
    policies: usize,
    tasks: usize,
}

/// The result of a start.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StartedProgramme, example = json!({
    "id": "prg_01jcqg3v5mefzr7d0a6w3k9x2b", "startId": "prr_01jcqg3v5mefzr7d0a6w3k9x2b",
    "created": {"controls": 97, "policies": 30, "tasks": 80},
    "decisions": []
}))]
pub(crate) struct StartedView {
    #[schema(value_type = String)]
    id: ProgrammeId,
    /// The id to undo it with; null if it changed nothing.
    #[schema(required, value_type = Option<String>)]
    start_id: Option<ProgrammeRunId>,
    created: CreatedCounts,
    /// The decisions that are left.
    decisions: Vec<DecisionView>,
}

impl StartedView {
    pub(super) fn new(started: &Started) -> Self {
        let created = started.created;
        Self {
            id: started.programme.id,
            start_id: started.run,
            created: CreatedCounts {
                controls: created.controls,
                policies: created.policies,
                tasks: created.tasks,
            },
            decisions: started.plan.decisions.iter().map(DecisionView::from).collect(),
        }
    }
}

/// The result of undoing a start.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UndoneProgramme, example = json!({"success": true, "deleted": 207, "restored": 2}))]
pub(crate) struct UndoneView {
    pub(super) success: bool,
    pub(super) deleted: usize,
    pub(super) restored: usize,
}

/// The result of a reminder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RemindedOwners, example = json!({"items": 3, "members": 2}))]
pub(crate) struct RemindedView {
    /// The late items with an owner.
    pub(super) items: usize,
    /// Their owners.
    pub(super) members: usize,
}

/// The number of items in each state.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Counts)]
#[schema(as = ProgrammeCounts, example = json!({"done": 12, "due": 80, "late": 3, "blocked": 1}))]
pub(crate) struct CountsView {
    done: usize,
    due: usize,
    late: usize,
    blocked: usize,
}

fn item_example() -> Value {
    json!({
        "kind": "task", "id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "T-12", "title": "Review user access",
        "state": "late", "assigneeId": MEMBER, "dueDate": "2026-11-13", "completedOn": null
    })
}

/// A policy or a task of the programme.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProgrammeItem, example = json!(item_example()))]
pub(crate) struct ItemView {
    #[schema(schema_with = schema_of::<ItemKind>)]
    kind: ItemKind,
    id: String,
    reference: String,
    title: String,
    #[schema(schema_with = schema_of::<ItemState>)]
    state: ItemState,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    #[schema(required, value_type = Option<String>, format = Date)]
    due_date: Option<Date>,
    /// The day on which it was completed last.
    #[schema(required, value_type = Option<String>, format = Date)]
    completed_on: Option<Date>,
}

impl ItemView {
    fn new(item: Item, today: Date) -> Self {
        let state = item.state(today);
        let Item {
            kind,
            id,
            reference,
            title,
            assignee,
            due,
            completed,
            reopened: _,
            is_done: _,
            is_blocked: _,
            recurs: _,
        } = item;
        Self {
            kind,
            id,
            reference,
            title,
            state,
            assignee_id: assignee,
            due_date: due,
            completed_on: completed,
        }
    }
}

/// The items of a week: those that were completed in it, and those that are due in it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProgrammeWeek, example = json!({
    "startsOn": "2026-11-09", "endsOn": "2026-11-15",
    "counts": {"done": 0, "due": 0, "late": 1, "blocked": 0}, "items": [item_example()]
}))]
pub(crate) struct WeekView {
    #[schema(value_type = String, format = Date)]
    starts_on: Date,
    #[schema(value_type = String, format = Date)]
    ends_on: Date,
    counts: CountsView,
    items: Vec<ItemView>,
}

impl WeekView {
    fn new(week: WeekItems, today: Date) -> Self {
        let WeekItems { starts_on, ends_on, counts, items } = week;
        let items = items.into_iter().map(|item| ItemView::new(item, today)).collect();
        Self { starts_on, ends_on, counts: counts.into(), items }
    }
}

/// The expected end.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProgrammeForecast, example = json!({
    "remaining": 84, "completedLately": 12, "finishesOn": "2027-06-02", "isOnTime": false
}))]
pub(crate) struct ForecastView {
    /// The items that were never completed.
    remaining: usize,
    /// The items completed in the last four weeks.
    completed_lately: usize,
    /// The day on which the last item is completed at this pace; null without a pace.
    #[schema(required, value_type = Option<String>, format = Date)]
    finishes_on: Option<Date>,
    /// True if that is before the audit; null without a pace or an audit date.
    #[schema(required)]
    is_on_time: Option<bool>,
}

/// The items completed and planned up to a day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BurnUpPoint, example = json!({"on": "2026-11-15", "done": 12, "planned": 15}))]
pub(crate) struct BurnUpView {
    #[schema(value_type = String, format = Date)]
    on: Date,
    /// The items that were done at the end of the day. A recurring task counts once it was completed.
    done: usize,
    /// The items that were to be done by then.
    planned: usize,
}

/// The programme of the organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Programme, example = json!({
    "id": "prg_01jcqg3v5mefzr7d0a6w3k9x2b", "frameworkIds": [FRAMEWORK], "startsOn": "2026-11-11",
    "auditDate": "2027-06-01", "scope": {"people": 40}, "owners": {"security_lead": MEMBER},
    "counts": {"done": 12, "due": 80, "late": 3, "blocked": 1}, "weeks": [], "unscheduled": [],
    "forecast": {"remaining": 84, "completedLately": 12, "finishesOn": "2027-06-02", "isOnTime": false},
    "burnUp": [{"on": "2026-11-15", "done": 12, "planned": 15}], "lastStartId": null, "canUndoUntil": null,
    "createdAt": "2026-11-11T09:30:00.000Z", "updatedAt": "2026-11-11T09:30:00.000Z"
}))]
pub(crate) struct ProgrammeView {
    #[schema(value_type = String)]
    id: ProgrammeId,
    #[schema(value_type = Vec<String>)]
    framework_ids: Vec<FrameworkId>,
    #[schema(value_type = String, format = Date)]
    starts_on: Date,
    #[schema(required, value_type = Option<String>, format = Date)]
    audit_date: Option<Date>,
    #[schema(schema_with = answers)]
    scope: Value,
    #[schema(schema_with = owners)]
    owners: Value,
    counts: CountsView,
    weeks: Vec<WeekView>,
    /// The items without a due date.
    unscheduled: Vec<ItemView>,
    forecast: ForecastView,
    burn_up: Vec<BurnUpView>,
    /// The start that can be undone.
    #[schema(required, value_type = Option<String>)]
    last_start_id: Option<ProgrammeRunId>,
    /// The time until which it can be undone.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    can_undo_until: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl ProgrammeView {
    pub(super) fn new(status: ProgrammeStatus) -> Self {
        let ProgrammeStatus { programme, progress, undo, today } = status;
        let settings = programme.settings;
        let forecast = progress.forecast;
        let is_on_time = settings.audit_date.zip(forecast.finishes_on).map(|(audit, end)| end < audit);
        let point = |point: BurnUp| BurnUpView { on: point.on, done: point.done, planned: point.planned };
        Self {
            id: programme.id,
            framework_ids: settings.framework_ids,
            starts_on: settings.starts_on,
            audit_date: settings.audit_date,
            scope: json!(settings.scope),
            owners: json!(settings.owners),
            counts: progress.counts.into(),
            weeks: progress.weeks.into_iter().map(|week| WeekView::new(week, today)).collect(),
            unscheduled: progress.unscheduled.into_iter().map(|item| ItemView::new(item, today)).collect(),
            forecast: ForecastView {
                remaining: forecast.remaining,
                completed_lately: forecast.completed_lately,
                finishes_on: forecast.finishes_on,
                is_on_time,
            },
            burn_up: progress.burn_up.into_iter().map(point).collect(),
            last_start_id: undo.map(|(id, _)| id),
            can_undo_until: undo.map(|(_, until)| until),
            created_at: programme.created_at,
            updated_at: programme.updated_at,
        }
    }
}
