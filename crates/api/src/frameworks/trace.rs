//! `/v1/frameworks/{id}/trace`: from each requirement to its latest evidence.

use attestry_app::core::journal;
use attestry_app::frameworks::readiness::Met;
use attestry_app::frameworks::trace::{self, LatestEvidence, Trace, TracedRequirement};
use attestry_domain::access::{Permission, Scope, grant};
use attestry_domain::date::Date;
use attestry_domain::frameworks::controls::{Control, ControlReadiness, Missing, Readiness};
use attestry_domain::id::{AttachmentId, ControlId, FrameworkId, MemberId, PolicyId, RequirementId, TaskId};
use attestry_domain::page::Page;
use attestry_domain::plain::Plain;
use attestry_domain::policies::{Policy, PolicyStatus};
use attestry_domain::registers::{Record, Register};
use attestry_domain::tasks::{EvidenceStatus, Task, TaskStatus};
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, Shape, all_rows, download};
use attestry_http::answer::tables::{Cell, text};
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, NoQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::Named;
use super::readiness::{MissingSchema, RequirementStatus};

/// The latest evidence of a task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TracedEvidence, example = json!({
    "id": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "access-review.pdf", "effectiveDate": "2026-11-02"
}))]
pub(crate) struct EvidenceView {
    #[schema(value_type = String)]
    id: AttachmentId,
    name: String,
    #[schema(value_type = String, format = Date)]
    effective_date: Date,
}

/// A task that keeps a control in operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TracedTask, example = json!({
    "id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "T-12", "title": "Review user access", "status": "done",
    "evidenceStatus": "fresh", "dueDate": null, "assigneeId": null, "evidence": null
}))]
pub(crate) struct TaskView {
    #[schema(value_type = String)]
    id: TaskId,
    reference: String,
    title: String,
    #[schema(schema_with = schema_of::<TaskStatus>)]
    status: TaskStatus,
    #[schema(schema_with = schema_of::<EvidenceStatus>)]
    evidence_status: EvidenceStatus,
    #[schema(required, value_type = Option<String>, format = Date)]
    due_date: Option<Date>,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    #[schema(required)]
    evidence: Option<EvidenceView>,
}

/// A policy that states a control.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TracedPolicy, example = json!({
    "id": "pol_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "P-3", "name": "Access Control Policy",
    "status": "published", "isPublished": true, "isArchived": false, "dueDate": null
}))]
pub(crate) struct PolicyView {
    #[schema(value_type = String)]
    id: PolicyId,
    reference: String,
    name: String,
    #[schema(schema_with = schema_of::<PolicyStatus>)]
    status: PolicyStatus,
    is_published: bool,
    /// True if it is out of use, so that it states nothing.
    is_archived: bool,
    #[schema(required, value_type = Option<String>, format = Date)]
    due_date: Option<Date>,
}

/// A control that meets a requirement, with its policies and tasks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TracedControl, example = json!({
    "id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "C-3", "name": "Access is reviewed every quarter",
    "assigneeId": null, "status": "in_progress", "missing": ["owner"], "policies": [], "tasks": []
}))]
pub(crate) struct ControlView {
    #[schema(value_type = String)]
    id: ControlId,
    reference: String,
    name: String,
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    #[schema(schema_with = schema_of::<Readiness>)]
    status: Readiness,
    #[schema(schema_with = schema_of::<Vec<Missing>>)]
    missing: Vec<Missing>,
    policies: Vec<PolicyView>,
    tasks: Vec<TaskView>,
}

/// A requirement, with the controls that meet it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TracedRequirement, example = json!(requirement_example()))]
pub(crate) struct RequirementView {
    #[schema(value_type = String)]
    requirement_id: RequirementId,
    code: String,
    title: String,
    theme: String,
    #[schema(schema_with = schema_of::<RequirementStatus>)]
    status: RequirementStatus,
    /// The items that its controls lack before it is ready.
    #[schema(value_type = Vec<MissingSchema>, inline)]
    missing: Vec<Missing>,
    controls: Vec<ControlView>,
}

fn requirement_example() -> Value {
    json!({
        "requirementId": "frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b", "code": "5.18", "title": "Access rights",
        "theme": "Organizational", "status": "uncovered", "missing": [], "controls": []
    })
}

/// The trace of a framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FrameworkTrace, example = json!({
    "frameworkId": "frk_01jcqg3v5mefzr7d0a6w3k9x2b", "gaps": 1, "requirements": [requirement_example()]
}))]
pub(crate) struct TraceView {
    #[schema(value_type = String)]
    framework_id: FrameworkId,
    /// The number of applicable requirements that are not ready.
    gaps: usize,
    requirements: Vec<RequirementView>,
}

/// Builds the views of a trace. Policies and tasks are left out for callers who may not see them.
struct Tracing<'a> {
    trace: &'a Trace,
    scope: &'a Scope,
    today: Date,
    sees_policies: bool,
    sees_tasks: bool,
}

impl<'a> Tracing<'a> {
    fn new(trace: &'a Trace, scope: &'a Scope, today: Date) -> Self {
        let (sees_policies, sees_tasks) =
            (scope.allows(Permission::PolicyRead), scope.allows(Permission::TaskRead));
        Self { trace, scope, today, sees_policies, sees_tasks }
    }

    fn policies(&self, control: &'a Record<Control>) -> impl Iterator<Item = &'a Record<Policy>> {
        let (trace, sees) = (self.trace, self.sees_policies);
        control.policy_ids.iter().filter_map(move |id| trace.policies.get(&id)).filter(move |_| sees)
    }

    fn tasks(&self, control: &'a Record<Control>) -> impl Iterator<Item = &'a Record<Task>> {
        let (trace, sees) = (self.trace, self.sees_tasks);
        control.task_ids.iter().filter_map(move |id| trace.tasks.get(&id)).filter(move |_| sees)
    }

    /// The latest evidence of a task, for callers who may see files.
    fn evidence(&self, task: &Record<Task>) -> Option<&'a LatestEvidence> {
        let found = self.trace.evidence.get(&task.id.to_string());
        found.filter(|_| self.scope.allows(Permission::AttachmentRead))
    }

    fn task(&self, task: &Record<Task>) -> TaskView {
        let evidence = self.evidence(task).map(|found| EvidenceView {
            id: found.id,
            name: found.name.clone(),
            effective_date: found.effective_date,
        });
        TaskView {
            id: task.id,
            reference: task.reference(),
            title: task.name().to_owned(),
            status: task.status,
            evidence_status: task.evidence_status(self.today),
            due_date: task.due_date,
            assignee_id: task.assignee_id,
            evidence,
        }
    }

    fn control(&self, (control, readiness): &'a (Record<Control>, ControlReadiness)) -> ControlView {
        let policy = |policy: &Record<Policy>| PolicyView {
            id: policy.id,
            reference: policy.reference(),
            name: policy.name().to_owned(),
            status: policy.status,
            is_published: policy.is_published,
            is_archived: policy.is_archived,
            due_date: policy.due_date,
        };
        ControlView {
            id: control.id,
            reference: control.reference(),
            name: control.name().to_owned(),
            assignee_id: control.assignee_id,
            status: readiness.status,
            missing: readiness.missing.clone(),
            policies: self.policies(control).map(policy).collect(),
            tasks: self.tasks(control).map(|task| self.task(task)).collect(),
        }
    }

    fn requirement(&self, one: &'a TracedRequirement) -> RequirementView {
        RequirementView {
            requirement_id: one.requirement.id,
            code: one.requirement.code.clone(),
            title: one.requirement.title.clone(),
            theme: one.requirement.theme.clone(),
            status: one.met.into(),
            missing: one.missing.clone(),
            controls: one.controls.iter().map(|control| self.control(control)).collect(),
        }
    }

    /// The rows of the table: one for each policy and each task of each control.
    fn rows(&self, one: &'a TracedRequirement) -> Vec<Vec<Cell>> {
        let status = RequirementStatus::from(one.met);
        let missing: Vec<&str> = one.missing.iter().map(|piece| piece.as_str()).collect();
        let start = || {
            vec![
                text(one.requirement.code.as_str()),
                text(one.requirement.title.as_str()),
                text(status.as_str()),
                text(missing.join(", ")),
            ]
        };
        let row = |rest: Vec<Cell>| {
            let mut row = start();
            row.extend(rest);
            row.resize(COLUMNS.len(), Plain::Null);
            row
        };
        let mut rows = Vec::new();
        for (control, readiness) in &one.controls {
            let owner = control.assignee_id.and_then(|id| self.trace.names.get(&id.to_string()));
            let of_control = |rest: Vec<Cell>| {
                let mut cells = vec![
                    text(control.label()),
                    text(readiness.status.as_str()),
                    owner.map_or(Plain::Null, |owner| text(owner.as_str())),
                ];
                cells.extend(rest);
                row(cells)
            };
            let before = rows.len();
            for policy in self.policies(control) {
                let date =
                    policy.last_published_at.map_or(Plain::Null, |at| Plain::Date(self.scope.today(at)));
                let state = if policy.is_archived { "archived" } else { policy.status.as_str() };
                rows.push(of_control(vec![
                    text("policy"),
                    text(policy.label()),
                    text(state),
                    Plain::Null,
                    date,
                ]));
            }
            for task in self.tasks(control) {
                let evidence = self.evidence(task);
                rows.push(of_control(vec![
                    text("task"),
                    text(task.label()),
                    text(task.status.as_str()),
                    evidence.map_or(Plain::Null, |found| text(found.name.as_str())),
                    evidence.map_or(Plain::Null, |found| Plain::Date(found.effective_date)),
                ]));
            }
            if rows.len() == before {
                rows.push(of_control(Vec::new()));
            }
        }
        if rows.is_empty() {
            rows.push(row(Vec::new()));
        }
        rows
    }
}

/// The columns of the table, with their widths.
const COLUMNS: &[(&str, u16)] = &[
    ("Requirement", 14),
    ("Title", 40),
    ("Status", 14),
    ("Missing", 20),
    ("Control", 44),
    ("Control status", 14),
    ("Owner", 20),
    ("Kind", 8),
    ("Policy or task", 44),
    ("State", 14),
    ("Evidence", 30),
    ("Date", 12),
];

/// Shows the trace of a framework
///
/// From each requirement to its controls, to their policies and tasks, to the latest evidence and its date. Gaps are
/// named in `missing`. Policies, tasks and evidence are listed for callers who may see them.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/trace", tag = "Frameworks",
    params(("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001")),
    responses((status = 200, body = TraceView, description = "The trace."))
)]
pub(crate) async fn get_framework_trace(
    api: State<Api>,
    scope: Granted<grant::ControlRead>,
    named: Named,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<TraceView>, Problem> {
    let framework = named.found(&api, &scope).await?;
    let found = trace::of(&api.ctx, &scope, &framework).await?;
    let tracing = Tracing::new(&found, &scope, scope.today(api.ctx.now()));
    let is_gap =
        |one: &&TracedRequirement| !matches!(one.met, Met::NotApplicable | Met::As(Readiness::Ready));
    Ok(Json(TraceView {
        framework_id: framework.id,
        gaps: found.requirements.iter().filter(is_gap).count(),
        requirements: found.requirements.iter().map(|one| tracing.requirement(one)).collect(),
    }))
}

#[derive(Debug)]
pub(crate) struct ExportTrace(Shape);

impl FromQuery for ExportTrace {
    fn read(query: &mut Query) -> Self {
        Self(Shape::read(query))
    }
}

impl IntoParams for ExportTrace {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        Shape::parameters().into()
    }
}

/// Exports the trace of a framework
///
/// As CSV or XLSX, one row for each policy and each task of each control. The export is recorded in the audit log.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/trace/export", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        ExportTrace
    ),
    responses((status = 200, description = "The table.", content(
        (String = "text/csv"),
        (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    )))
)]
pub(crate) async fn export_framework_trace(
    api: State<Api>,
    scope: Granted<grant::ControlRead>,
    named: Named,
    ValidQuery(ExportTrace(shape)): ValidQuery<ExportTrace>,
    method: Method,
) -> Result<Response, Problem> {
    let framework = named.found(&api, &scope).await?;
    let id = framework.id.to_string();
    if method != Method::HEAD {
        journal::exported(&api.ctx, &scope, "framework.exported", "framework", shape.format.as_str(), &id)
            .await?;
    }
    let found = trace::of(&api.ctx, &scope, &framework).await?;
    let today = scope.today(api.ctx.now());
    let tracing = Tracing::new(&found, &scope, today);
    let lines: Vec<Vec<Cell>> = found.requirements.iter().flat_map(|one| tracing.rows(one)).collect();
    let rows = all_rows(
        None,
        |row: Vec<Cell>| row,
        move |_, _| {
            let page = Page { items: lines.clone(), next: None };
            async move { Ok(page) }
        },
    );
    let columns = COLUMNS.iter().map(|(name, width)| Column { name, width: *width }).collect();
    download("trace", &format!("trace-{}-{today}", framework.alias), shape, columns, rows).await
}
