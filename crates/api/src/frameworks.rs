//! `/v1/frameworks`: what the frameworks ask for.

use std::sync::Arc;

use attestry_app::frameworks;
use attestry_app::readiness::{self, FrameworkReadiness, Met};
use attestry_domain::access::{Scope, grant};
use attestry_domain::controls::{ControlReadiness, Readiness};
use attestry_domain::frameworks::{Framework, FrameworkName, FrameworkText, Requirement, mapped, shipped};
use attestry_domain::id::{ControlId, FrameworkId, RequirementId};
use attestry_domain::text::Name;
use attestry_domain::{Parse, Time};
use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::response::Response;
use http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use crate::answer::conditions::Conditions;
use crate::answer::lists::{self, ById};
use crate::answer::problem::Problem;
use crate::controls::{readiness_example, readiness_schema};
use crate::document::operations::schema;
use crate::registers::as_of_parameter;
use crate::request::caller::Granted;
use crate::request::query::{FromQuery, Query, ValidQuery};
use crate::state::Api;

pub(crate) mod own;

/// A framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Framework, example = json!(framework_example()))]
pub(crate) struct FrameworkView {
    #[schema(value_type = String)]
    id: FrameworkId,
    /// A name for programs that never changes; taken wherever the id is.
    alias: String,
    name: String,
    description: String,
    version: String,
    /// Who publishes it.
    source: String,
    licence: String,
    attribution: String,
    #[schema(inline)]
    text: FrameworkText,
    total_requirements: usize,
    /// Whether the organization added it.
    is_own: bool,
}

impl From<&Framework> for FrameworkView {
    fn from(framework: &Framework) -> Self {
        let Framework {
            id,
            alias,
            name,
            description,
            version,
            source,
            licence,
            attribution,
            text,
            requirements,
        } = framework.clone();
        let (total_requirements, is_own) = (requirements.len(), framework.is_own());
        Self {
            id,
            alias,
            name,
            description,
            version,
            source,
            licence,
            attribution,
            text,
            total_requirements,
            is_own,
        }
    }
}

fn framework_example() -> Value {
    json!(shipped().first().map(|framework| FrameworkView::from(&**framework)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [framework_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct FrameworkList {
    data: Vec<FrameworkView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<usize>,
}

/// Lists the frameworks
///
/// Those that ship with the product, whose ids never change, and the organization's own.
#[utoipa::path(
    get, path = "/v1/frameworks", tag = "Frameworks", params(ById),
    responses((status = 200, body = FrameworkList, description = "The frameworks.")),
    extensions(("x-permission" = json!("framework:read")))
)]
pub(crate) async fn list_frameworks(
    api: State<Api>,
    scope: Granted<grant::FrameworkRead>,
    query: ValidQuery<ById>,
) -> Result<Json<FrameworkList>, Problem> {
    let ValidQuery(by_id) = query;
    let all = frameworks::all(&api.ctx, &scope).await?;
    let total = by_id.total.then_some(all.len());
    let (page, next_cursor) = by_id.cut(all, |one| one.id);
    let data: Vec<FrameworkView> = page.iter().map(|framework| FrameworkView::from(&**framework)).collect();
    Ok(Json(FrameworkList { count: data.len(), data, next_cursor, total }))
}

/// The framework a path names, by its id or its alias.
#[derive(Debug)]
pub(crate) struct Named(Option<FrameworkName>);

impl Named {
    pub(crate) async fn found(&self, api: &Api, scope: &Scope) -> Result<Arc<Framework>, Problem> {
        let name = self.0.clone().ok_or_else(|| Problem::not_found("framework"))?;
        Ok(frameworks::get(&api.ctx, scope, name).await?)
    }
}

impl FromRequestParts<Api> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, api).await;
        let params = params.map_err(|_| Problem::not_found("framework"))?;
        Ok(Self(params.iter().next().and_then(|(_, name)| FrameworkName::parse(name).ok())))
    }
}

/// Shows one framework
#[utoipa::path(
    get, path = "/v1/frameworks/{id}", tag = "Frameworks",
    params(("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001")),
    responses((status = 200, body = FrameworkView, description = "The framework.")),
    extensions(("x-permission" = json!("framework:read")))
)]
pub(crate) async fn get_framework(
    api: State<Api>,
    scope: Granted<grant::FrameworkRead>,
    named: Named,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let framework = named.found(&api, &scope).await?;
    Ok(conditions.respond(&[framework.tag()], FrameworkView::from(&*framework)))
}

/// What a requirement corresponds to in another framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"framework": "soc_2", "code": "CC5.3", "requirementId": "frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b"}))]
pub(crate) struct MappedRequirement {
    /// The other framework's alias.
    framework: String,
    code: String,
    #[schema(value_type = String)]
    requirement_id: RequirementId,
}

/// Something a framework asks for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Requirement, example = json!(requirement_example()))]
pub(crate) struct RequirementView {
    #[schema(value_type = String)]
    id: RequirementId,
    /// Its number or short name.
    code: String,
    title: String,
    theme: String,
    /// What the framework calls it: control, clause, criterion …
    kind: String,
    /// What it is for; in our own words for what ships with the product.
    objective: String,
    tags: Vec<String>,
    /// What corresponds to it in other frameworks.
    mappings: Vec<MappedRequirement>,
}

impl From<&Requirement> for RequirementView {
    fn from(requirement: &Requirement) -> Self {
        let Requirement { id, code, title, theme, kind, objective, tags } = requirement.clone();
        let mappings = mapped(id).iter().map(|(framework, other)| MappedRequirement {
            framework: framework.alias.clone(),
            code: other.code.clone(),
            requirement_id: other.id,
        });
        Self { id, code, title, theme, kind, objective, tags, mappings: mappings.collect() }
    }
}

fn requirement_example() -> Value {
    let mut all = shipped().iter().flat_map(|framework| &framework.requirements);
    json!(all.find(|one| one.is_control()).map(RequirementView::from))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [requirement_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct RequirementList {
    data: Vec<RequirementView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct ListRequirements {
    by_id: ById,
    theme: Option<Name>,
    kind: Option<Name>,
    q: Option<String>,
}

impl FromQuery for ListRequirements {
    fn read(query: &mut Query) -> Self {
        let (theme, kind, q) = (query.get("theme"), query.get("kind"), lists::search(query));
        Self { by_id: ById::read(query), theme, kind, q }
    }
}

impl IntoParams for ListRequirements {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = ById::into_params(place);
        for (name, about) in [
            ("theme", "Only requirements of this theme, such as `People`."),
            ("kind", "Only requirements of this kind, such as `control`."),
            ("q", "Part of the code, the title or the objective, case-insensitive."),
        ] {
            all.push(lists::parameter(name, lists::text(), about));
        }
        all
    }
}

impl ListRequirements {
    fn takes(&self, one: &Requirement) -> bool {
        let is = |wanted: &Option<Name>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.as_str().eq_ignore_ascii_case(value))
        };
        let has = |q: &String| {
            let q = q.to_lowercase();
            [&one.code, &one.title, &one.objective].iter().any(|text| text.to_lowercase().contains(&q))
        };
        is(&self.theme, &one.theme) && is(&self.kind, &one.kind) && self.q.as_ref().is_none_or(has)
    }
}

/// Lists what a framework asks for
///
/// In the framework's own order, with what corresponds to each in the other frameworks.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/requirements", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        ListRequirements
    ),
    responses((status = 200, body = RequirementList, description = "The requirements.")),
    extensions(("x-permission" = json!("framework:read")))
)]
pub(crate) async fn list_requirements(
    api: State<Api>,
    scope: Granted<grant::FrameworkRead>,
    named: Named,
    ValidQuery(query): ValidQuery<ListRequirements>,
) -> Result<Json<RequirementList>, Problem> {
    let framework = named.found(&api, &scope).await?;
    let places = framework.requirements.iter().enumerate();
    let all: Vec<(usize, &Requirement)> = places.filter(|(_, one)| query.takes(one)).collect();
    let total = query.by_id.total.then_some(all.len());
    // In the framework's own order, which is not always that of the ids.
    let (page, next_cursor) = query.by_id.cut(all, |(place, _)| format!("{place:05}"));
    let data: Vec<RequirementView> = page.into_iter().map(|(_, one)| one.into()).collect();
    Ok(Json(RequirementList { count: data.len(), data, next_cursor, total }))
}

attestry_domain::words! {
    /// How far a requirement is.
    RequirementStatus {
        Ready = "ready",
        InProgress = "in_progress",
        NotStarted = "not_started",
        /// No control is linked to it.
        Uncovered = "uncovered",
        /// It does not apply, says the statement of applicability that is approved.
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

/// How many requirements are how far.
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

fn control_readiness() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    schema(readiness_schema())
}

fn meeting_example() -> Value {
    json!({
        "id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "C-3", "name": "Access is reviewed every quarter",
        "readiness": readiness_example()
    })
}

/// How far one requirement is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(met_example()))]
pub(crate) struct MetRequirement {
    #[schema(value_type = String)]
    requirement_id: RequirementId,
    code: String,
    title: String,
    theme: String,
    #[schema(inline)]
    status: RequirementStatus,
    /// The controls that meet it. It is ready when all of them are.
    controls: Vec<MeetingControl>,
}

fn met_example() -> Value {
    json!({
        "requirementId": "frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b", "code": "5.15", "title": "Access control",
        "theme": "Organizational", "status": "in_progress", "controls": [meeting_example()]
    })
}

/// How ready the organization is for a framework.
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
    /// The moment it is about.
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    /// How many of a hundred requirements that apply are ready, rounded down.
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
        let control = |place: &usize| {
            let (control, readiness) = found.controls.get(*place)?;
            let (reference, name) = (control.reference(), control.name.as_str().to_owned());
            Some(MeetingControl { id: control.id, reference, name, readiness: *readiness })
        };
        let requirements = found.requirements.iter().map(|one| MetRequirement {
            requirement_id: one.requirement.id,
            code: one.requirement.code.clone(),
            title: one.requirement.title.clone(),
            theme: one.requirement.theme.clone(),
            status: one.met.into(),
            controls: one.controls.iter().filter_map(control).collect(),
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

#[derive(Debug)]
pub(crate) struct AskReadiness {
    at: Option<Time>,
}

impl FromQuery for AskReadiness {
    fn read(query: &mut Query) -> Self {
        Self { at: query.as_of("asOf") }
    }
}

impl IntoParams for AskReadiness {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![as_of_parameter()]
    }
}

/// Shows how ready the organization is for a framework
///
/// From what is linked to the controls: published policies, and tasks that are done with fresh evidence.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/readiness", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        AskReadiness
    ),
    responses((status = 200, body = ReadinessView, description = "How far each requirement is.")),
    extensions(("x-permission" = json!("control:read")))
)]
pub(crate) async fn get_framework_readiness(
    api: State<Api>,
    scope: Granted<grant::ControlRead>,
    named: Named,
    ValidQuery(AskReadiness { at }): ValidQuery<AskReadiness>,
) -> Result<Json<ReadinessView>, Problem> {
    let framework = named.found(&api, &scope).await?;
    let found = readiness::of(&api.ctx, &scope, &framework, at).await?;
    Ok(Json(ReadinessView::new(framework.id, at.unwrap_or(api.ctx.now()), &found)))
}
