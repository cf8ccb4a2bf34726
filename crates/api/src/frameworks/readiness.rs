//! `/v1/frameworks/{id}/readiness`: the organization's readiness.

use attestry_app::frameworks::readiness::{self, FrameworkReadiness, Met};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::frameworks::controls::{Control, ControlReadiness, Missing, Readiness};
use attestry_domain::id::{ControlId, FrameworkId, RequirementId};
use attestry_domain::registers::Record;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::query::ValidQuery;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::Named;
use crate::frameworks::controls::{readiness_example, readiness_schema};
use crate::registers::AsOfQuery;

pub(crate) type MissingSchema = SchemaOf<Missing>;

attestry_domain::words! {
    /// The status of a requirement.
    RequirementStatus {
        Ready = "ready",
        InProgress = "in_progress",
        NotStarted = "not_started",
        /// No control is linked to it.
        Uncovered = "uncovered",
        /// The approved statement of applicability or the scope of the programme excludes it.
        NotApplicable = "not_applicable",
    }
}

impl From<Met> for RequirementStatus {
    fn from(met: Met) -> Self {
        match met {
            Met::As(Readiness::Ready) => Self::Ready,
            Met::As(Readiness::InProgress) => Self::InProgress,
            Met::As(Readiness::NotStarted) => Self::NotStarted,
            Met::Uncovered => Self::Uncovered,
            Met::NotApplicable => Self::NotApplicable,
        }
    }
}

/// The number of requirements in each status.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ready": 1, "inProgress": 0, "notStarted": 0, "uncovered": 0, "notApplicable": 0}))]
pub(crate) struct ReadinessCounts {
    ready: usize,
    in_progress: usize,
    not_started: usize,
    uncovered: usize,
    not_applicable: usize,
}

/// A control that meets a requirement.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(meeting_example()))]
pub(crate) struct MeetingControl {
    #[schema(value_type = String)]
    id: ControlId,
    reference: String,
    name: String,
    #[schema(schema_with = control_readiness)]
    readiness: ControlReadiness,
}

fn control_readiness() -> RefOr<Schema> {
    schema(readiness_schema())
}

fn meeting_example() -> Value {
    json!({
        "id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "C-3", "name": "Access is reviewed every quarter",
        "readiness": readiness_example()
    })
}

/// The status of one requirement.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(met_example()))]
pub(crate) struct MetRequirement {
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
    /// The controls that meet it. It is ready when all of them are.
    controls: Vec<MeetingControl>,
}

fn met_example() -> Value {
    json!({
        "requirementId": "frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b", "code": "5.15", "title": "Access control",
        "theme": "Organizational", "status": "in_progress", "missing": ["evidence"],
        "controls": [meeting_example()]
    })
}

/// The organization's readiness for a framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FrameworkReadiness, example = json!({
    "frameworkId": "frk_01jcqg3v5mefzr7d0a6w3k9x2b", "at": "2026-11-15T09:30:00.000Z", "score": 0,
    "totalRequirements": 1,
    "counts": {"ready": 0, "inProgress": 1, "notStarted": 0, "uncovered": 0, "notApplicable": 0},
    "requirements": [met_example()]
}))]
pub(crate) struct ReadinessView {
    #[schema(value_type = String)]
    framework_id: FrameworkId,
    /// The time that the readiness refers to.
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    /// The percentage of applicable requirements that are ready, rounded down.
    score: usize,
    total_requirements: usize,
    counts: ReadinessCounts,
    requirements: Vec<MetRequirement>,
}

impl ReadinessView {
    fn new(framework: FrameworkId, at: Time, found: &FrameworkReadiness) -> Self {
        let count = |met| found.count(met);
        let counts = ReadinessCounts {
            ready: count(Met::As(Readiness::Ready)),
            in_progress: count(Met::As(Readiness::InProgress)),
            not_started: count(Met::As(Readiness::NotStarted)),
            uncovered: count(Met::Uncovered),
            not_applicable: count(Met::NotApplicable),
        };
        let control = |(control, readiness): &(Record<Control>, ControlReadiness)| MeetingControl {
            id: control.id,
            reference: control.reference(),
            name: control.name.as_str().to_owned(),
            readiness: readiness.clone(),
        };
        let requirements = found.requirements.iter().map(|(requirement, met)| MetRequirement {
            requirement_id: requirement.id,
            code: requirement.code.clone(),
            title: requirement.title.clone(),
            theme: requirement.theme.clone(),
            status: (*met).into(),
            missing: found.controls.missing(requirement.id),
            controls: found.controls.of(requirement.id).map(control).collect(),
        });
        let requirements: Vec<MetRequirement> = requirements.collect();
        Self {
            framework_id: framework,
            at,
            score: found.score(),
            total_requirements: requirements.len(),
            counts,
            requirements,
        }
    }
}

/// Shows the organization's readiness for a framework
///
/// Computed from the records linked to the controls: published policies, and tasks that are done with fresh evidence.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/readiness", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        AsOfQuery
    ),
    responses((status = 200, body = ReadinessView, description = "The readiness of each requirement."))
)]
pub(crate) async fn get_framework_readiness(
    api: State<Api>,
    scope: Granted<grant::ControlRead>,
    named: Named,
    ValidQuery(AsOfQuery { at }): ValidQuery<AsOfQuery>,
) -> Result<Json<ReadinessView>, Problem> {
    let framework = named.found(&api, &scope).await?;
    let found = readiness::of(&api.ctx, &scope, &framework, at).await?;
    let now = api.ctx.now();
    Ok(Json(ReadinessView::new(framework.id, at.map_or(now, |at| at.min(now)), &found)))
}
