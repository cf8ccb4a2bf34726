//! `/v1/risk-library`: risks that ship with the product.

use attestry_app::programme::risk_library as library;
use attestry_domain::access::grant;
use attestry_domain::programme::risk_library::{self, LibraryRisk};
use attestry_domain::registers::risks::{Risk, RiskCategory};
use attestry_domain::words::Department;
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{reference, schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue, distinct};
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::Optional;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::registers::{RegisterApi, View};

/// A risk of the library.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LibraryRisk, example = json!(risk_example()))]
pub(crate) struct LibraryRiskView {
    key: &'static str,
    title: &'static str,
    description: &'static str,
    #[schema(schema_with = schema_of::<RiskCategory>)]
    category: RiskCategory,
    #[schema(schema_with = schema_of::<Department>)]
    department: Department,
    /// The scope flag under which it applies; null if it always does.
    #[schema(required)]
    applies_when: Option<&'static str>,
    /// The keys of the catalogue's controls that treat it.
    control_keys: &'static [String],
}

impl From<&'static LibraryRisk> for LibraryRiskView {
    fn from(risk: &'static LibraryRisk) -> Self {
        let LibraryRisk { key, title, description, category, department, applies_when, controls } = risk;
        let (category, department, applies_when) = (*category, *department, applies_when.as_deref());
        Self { key, title, description, category, department, applies_when, control_keys: controls }
    }
}

fn risk_example() -> Value {
    json!(risk_library::all().first().map(LibraryRiskView::from))
}

page_of! {
    pub(crate) RiskLibrary = LibraryRiskView, "RiskLibrary", risk_example(), HAS_TOTAL = false
}

/// Lists the risk library
///
/// Risks in our own words, with the controls that treat them. Their ratings are yours to decide.
#[utoipa::path(
    get, path = "/v1/risk-library", tag = "Risks",
    responses((status = 200, body = RiskLibrary, description = "The risks."))
)]
pub(crate) async fn list_risk_library(
    _scope: Granted<grant::RiskRead>,
    _none: ValidQuery<NoQuery>,
) -> Json<RiskLibrary> {
    Json(PageView::whole(risk_library::all().iter().map(LibraryRiskView::from).collect::<Vec<_>>()))
}

/// Keys of risks of the library.
#[derive(Clone, Debug)]
pub(crate) struct RiskKeys(Vec<String>);

impl FromJson for RiskKeys {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let keys = json.each(risk_library::all().len(), |item| {
            let key = item.text()?;
            match risk_library::get(&key) {
                Some(risk) => Ok(risk.key.clone()),
                None => Err("is not in the library; GET /v1/risk-library lists it".to_owned()),
            }
        })?;
        distinct(keys, String::clone).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        let keys: Vec<&str> = risk_library::all().iter().map(|risk| risk.key.as_str()).collect();
        schema(json!({"type": "array", "maxItems": keys.len(), "items": {"type": "string", "enum": keys}}))
    }
}

body! {
    /// The risks to add.
    CreateRisksFromLibrary (Medium) {
        keys "keys": optional RiskKeys = "All risks that apply to the scope of the programme, if it is left out.",
    }
    example json!({"keys": [risk_library::all().first().map(|risk| risk.key.as_str())]})
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RisksFromLibrary {
    created: Vec<View<Risk>>,
    created_count: usize,
}

impl PartialSchema for RisksFromLibrary {
    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "object", "required": ["created", "createdCount"],
            "properties": {
                "created": {"type": "array", "items": reference("RiskView")},
                "createdCount": {"type": "integer", "minimum": 0}
            },
            "example": {"created": [Risk::example()], "createdCount": 1}
        }))
    }
}

impl ToSchema for RisksFromLibrary {}

/// Adds risks from the library
///
/// Links them to the controls of the catalogue that treat them, if you may change controls. A risk whose title the register already has is left
/// out, so you can repeat the request. The body can be left out.
#[utoipa::path(
    post, path = "/v1/risks/from-library", tag = "Risks", request_body = Option<CreateRisksFromLibrary>,
    responses((status = 201, body = RisksFromLibrary, description = "The risks that were added."))
)]
pub(crate) async fn create_risks_from_library(
    api: State<Api>,
    scope: Granted<grant::RiskCreate>,
    body: Optional<CreateRisksFromLibrary>,
) -> Result<(StatusCode, Json<RisksFromLibrary>), Problem> {
    let named = body.0.and_then(|body| body.keys).map(|keys| keys.0);
    let today = scope.today(api.ctx.now());
    let made = library::create(&api.ctx, &scope, named).await?;
    let created: Vec<View<Risk>> = made.into_iter().map(|risk| View::new(risk, today)).collect();
    Ok((StatusCode::CREATED, Json(RisksFromLibrary { created_count: created.len(), created })))
}
