//! `/v1/frameworks`: frameworks and their requirements.

use std::sync::Arc;

use attestry_app::frameworks;
use attestry_domain::Parse;
use attestry_domain::access::{Scope, grant};
use attestry_domain::frameworks::drafts::MAX_REQUIREMENTS;
use attestry_domain::frameworks::{Framework, FrameworkName, FrameworkText, Requirement, mapped, shipped};
use attestry_domain::id::{FrameworkId, RequirementId};
use attestry_domain::text::Name;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::facts::Argument;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::response::Response;
use http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, ToSchema};

pub(crate) mod controls;
pub(crate) mod own;
pub(crate) mod readiness;
pub(crate) mod trace;

/// A framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Framework, example = json!(framework_example()))]
pub(crate) struct FrameworkView {
    #[schema(value_type = String)]
    id: FrameworkId,
    /// A name for programs that never changes; accepted wherever the id is.
    alias: String,
    name: String,
    description: String,
    version: String,
    /// The publisher.
    source: String,
    licence: String,
    attribution: String,
    #[schema(schema_with = schema_of::<FrameworkText>)]
    text: FrameworkText,
    total_requirements: usize,
    /// True if the organization added it.
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

page_of! {
    pub(crate) FrameworkList = FrameworkView, "FrameworkList", framework_example()
}

/// Ids of requirements.
#[derive(Clone, Debug)]
pub(crate) struct RequirementIds(pub(crate) Vec<RequirementId>);

impl FromJson for RequirementIds {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        json.each(MAX_REQUIREMENTS, RequirementId::from_json).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(
            json!({"type": "array", "maxItems": MAX_REQUIREMENTS, "items": <RequirementId as FromJson>::schema()}),
        )
    }
}

/// Lists the frameworks
///
/// Those that ship with the product, whose ids never change, and the organization's own.
#[utoipa::path(
    get, path = "/v1/frameworks", tag = "Frameworks", params(ById),
    responses((status = 200, body = FrameworkList, description = "The frameworks."))
)]
pub(crate) async fn list_frameworks(
    api: State<Api>,
    scope: Granted<grant::FrameworkRead>,
    query: ValidQuery<ById>,
) -> Result<Json<FrameworkList>, Problem> {
    let ValidQuery(by_id) = query;
    let all = frameworks::all(&api.ctx, &scope).await?;
    let total = by_id.total_of(all.len());
    let (page, next_cursor) = by_id.cut(all, |one| one.id);
    let data: Vec<FrameworkView> = page.iter().map(|framework| FrameworkView::from(&**framework)).collect();
    Ok(Json(PageView::new(data, next_cursor, total)))
}

/// The framework that a path names, by its id or its alias.
#[derive(Debug)]
pub(crate) struct Named(Option<FrameworkName>);

impl Named {
    pub(crate) async fn found(&self, api: &Api, scope: &Scope) -> Result<Arc<Framework>, Problem> {
        let name = self.0.clone().ok_or_else(|| Problem::not_found("framework"))?;
        Ok(frameworks::get(&api.ctx, scope, name).await?)
    }
}

impl Argument for Named {}

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
    responses((status = 200, body = FrameworkView, description = "The framework."))
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

/// The corresponding requirement of another framework.
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

/// A requirement of a framework.
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
    /// The framework's term for it, such as control, clause or criterion.
    kind: String,
    /// The purpose; for frameworks that ship with the product, in our own words.
    objective: String,
    /// Guidance for meeting it; empty for frameworks that ship with the product.
    guidance: String,
    tags: Vec<String>,
    /// The corresponding requirements of other frameworks.
    mappings: Vec<MappedRequirement>,
}

impl From<&Requirement> for RequirementView {
    fn from(requirement: &Requirement) -> Self {
        let Requirement { id, code, title, theme, kind, objective, guidance, tags, .. } = requirement.clone();
        let mappings = mapped(id).iter().map(|(framework, other)| MappedRequirement {
            framework: framework.alias.clone(),
            code: other.code.clone(),
            requirement_id: other.id,
        });
        Self { id, code, title, theme, kind, objective, guidance, tags, mappings: mappings.collect() }
    }
}

fn requirement_example() -> Value {
    let mut all = shipped().iter().flat_map(|framework| &framework.requirements);
    json!(all.find(|one| one.is_control()).map(RequirementView::from))
}

page_of! {
    pub(crate) RequirementList = RequirementView, "RequirementList", requirement_example()
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

/// Lists the requirements of a framework
///
/// In the framework's own order, each with the corresponding requirements of the other frameworks.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/requirements", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        ListRequirements
    ),
    responses((status = 200, body = RequirementList, description = "The requirements."))
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
    let total = query.by_id.total_of(all.len());
    // In the framework's own order, which is not always that of the ids.
    let (page, next_cursor) = query.by_id.cut(all, |(place, _)| format!("{place:05}"));
    let data: Vec<RequirementView> = page.into_iter().map(|(_, one)| one.into()).collect();
    Ok(Json(PageView::new(data, next_cursor, total)))
}
