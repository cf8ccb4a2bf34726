//! `/v1/risk-criteria`, and the acceptance of a risk.

use attestry_app::identity::confirmation;
use attestry_app::registers::risk_criteria;
use attestry_domain::JsonSchema;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::date::Date;
use attestry_domain::id::kind;
use attestry_domain::registers::Record;
use attestry_domain::registers::risk_criteria::{
    ACCEPTANCE_MONTHS, Level, LevelName, LevelText, Levels, RiskCriteria, SetCriteria, Step,
};
use attestry_domain::registers::risks::Risk;
use attestry_domain::registers::scales::{Impact, Likelihood, Score};
use attestry_domain::text::{LongText, Parse};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::PathId;
use attestry_http::request::wire::{Body, Fields, Valid};
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::{Nothing, answer};

/// The words for the steps of a scale, in a body and in an answer.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Scale<L>(Levels<L>);

struct LevelBody<L>(Level<L>);

impl<L: Parse + JsonSchema> Body for LevelBody<L> {
    fn read(fields: &mut Fields) -> Option<Self> {
        let (level, name, description) = (
            fields.required::<Wrapped<L>>("level"),
            fields.nullable::<LevelName>("name"),
            fields.nullable::<LevelText>("description"),
        );
        let (name, description) = (name?.into_option(), description?.into_option());
        Some(Self(Level { level: level?.0, name, description }))
    }
}

/// A step of a scale in a body.
struct Wrapped<L>(L);

impl<L: Parse + JsonSchema> FromJson for Wrapped<L> {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        L::parse(&json.text()?).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema_of::<L>()
    }
}

/// The fields of a level, all of which an answer has.
const LEVEL_FIELDS: [&str; 3] = ["level", "name", "description"];

fn scale_schema<L: Step + JsonSchema>(required: &[&str]) -> RefOr<Schema> {
    schema(json!({
        "type": "array", "maxItems": L::STEPS.len(),
        "items": {
            "type": "object", "required": required, "additionalProperties": false,
            "properties": {
                "level": L::json_schema(),
                "name": {"type": ["string", "null"], "minLength": 1, "maxLength": 60, "description": "The organization's own name; null means the product's."},
                "description": {"type": ["string", "null"], "minLength": 1, "maxLength": 1000, "description": "When this step applies."}
            }
        }
    }))
}

impl<L: Step + Parse + JsonSchema> FromJson for Scale<L> {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let given: Vec<LevelBody<L>> = json.each_body(L::STEPS.len())?;
        Levels::new(given.into_iter().map(|one| one.0).collect()).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        scale_schema::<L>(&["level"])
    }
}

/// The highest score that is tolerated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appetite(Score);

impl FromJson for Appetite {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        match json.whole() {
            Some(score) if Score::RANGE.contains(&score) => Ok(Self(Score(score))),
            _ => Err("must be a whole number from 1 to 25".to_owned()),
        }
    }

    fn schema() -> RefOr<Schema> {
        schema_of::<Score>()
    }
}

/// The longest time of an acceptance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Months(i64);

impl FromJson for Months {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let (first, last) = (ACCEPTANCE_MONTHS.start(), ACCEPTANCE_MONTHS.end());
        match json.whole() {
            Some(months) if ACCEPTANCE_MONTHS.contains(&months) => Ok(Self(months)),
            _ => Err(format!("must be a whole number from {first} to {last}")),
        }
    }

    fn schema() -> RefOr<Schema> {
        let (first, last) = (ACCEPTANCE_MONTHS.start(), ACCEPTANCE_MONTHS.end());
        schema(json!({"type": "integer", "minimum": first, "maximum": last}))
    }
}

fn example() -> Value {
    let levels = |names: &[(&str, Option<&str>)]| -> Value {
        let level =
            |(level, name): &(&str, Option<&str>)| json!({"level": level, "name": name, "description": null});
        names.iter().map(level).collect()
    };
    json!({
        "likelihood": levels(&[
            ("very_unlikely", Some("Once in ten years")), ("unlikely", None), ("possible", None), ("likely", None),
            ("very_likely", Some("Every month")),
        ]),
        "impact": levels(&[
            ("insignificant", None), ("minor", None), ("moderate", None), ("major", None), ("severe", None),
        ]),
        "appetite": 9, "acceptanceMonths": 12
    })
}

fn view_example() -> Value {
    let mut view = example();
    view["updatedAt"] = json!("2026-11-15T09:30:00.000Z");
    view
}

/// The risk criteria of the organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RiskCriteria, example = json!(view_example()))]
pub(crate) struct CriteriaView {
    #[schema(schema_with = likelihood_schema)]
    likelihood: Scale<Likelihood>,
    #[schema(schema_with = impact_schema)]
    impact: Scale<Impact>,
    /// The highest residual score that is tolerated without further treatment or acceptance; null if it was not
    /// decided.
    #[schema(required, value_type = Option<i64>, minimum = 1, maximum = 25)]
    appetite: Option<Score>,
    /// The longest time for which a risk can be accepted.
    acceptance_months: i64,
    /// Null while these are the defaults.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    updated_at: Option<Time>,
}

fn likelihood_schema() -> RefOr<Schema> {
    scale_schema::<Likelihood>(&LEVEL_FIELDS)
}

fn impact_schema() -> RefOr<Schema> {
    scale_schema::<Impact>(&LEVEL_FIELDS)
}

impl From<SetCriteria> for CriteriaView {
    fn from(SetCriteria { criteria, updated_at, .. }: SetCriteria) -> Self {
        let RiskCriteria { likelihood, impact, appetite, acceptance_months } = criteria;
        Self { likelihood: Scale(likelihood), impact: Scale(impact), appetite, acceptance_months, updated_at }
    }
}

body! {
    /// The risk criteria.
    SetRiskCriteria (Medium) {
        likelihood "likelihood": optional Scale<Likelihood> = "Words for the steps of likelihood. Steps that are left out have the product's words.",
        impact "impact": optional Scale<Impact> = "Words for the steps of impact.",
        appetite "appetite": nullable Appetite = "The highest residual score that is tolerated without further treatment or acceptance.",
        acceptance_months "acceptanceMonths": optional Months = "The longest time for which a risk can be accepted; 12 if it is left out.",
    }
    example example()
}

/// Shows the risk criteria
///
/// The organization's words for the steps of the scales, its appetite, and the longest time of an acceptance.
#[utoipa::path(
    get, path = "/v1/risk-criteria", tag = "Risks",
    responses((status = 200, body = CriteriaView, description = "The criteria."))
)]
pub(crate) async fn get_risk_criteria(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let found = risk_criteria::get(&api.ctx, &scope).await?;
    Ok(conditions.respond(&[found.version], CriteriaView::from(found)))
}

/// Sets the risk criteria
///
/// Replaces all of them.
#[utoipa::path(
    put, path = "/v1/risk-criteria", tag = "Risks", request_body = SetRiskCriteria,
    responses((status = 200, body = CriteriaView, description = "The criteria as they are now."))
)]
pub(crate) async fn set_risk_criteria(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    conditions: Conditions,
    Valid(body): Valid<SetRiskCriteria>,
) -> Result<Response, Problem> {
    let defaults = RiskCriteria::default();
    let criteria = RiskCriteria {
        likelihood: body.likelihood.map_or(defaults.likelihood, |scale| scale.0),
        impact: body.impact.map_or(defaults.impact, |scale| scale.0),
        appetite: body.appetite.into_option().map(|appetite| appetite.0),
        acceptance_months: body.acceptance_months.map_or(defaults.acceptance_months, |months| months.0),
    };
    let set = risk_criteria::set(&api.ctx, &scope, criteria, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[set.version], CriteriaView::from(set)))
}

body! {
    /// The acceptance of a risk.
    AcceptRisk (Medium) {
        until "until": required Date = "The last day of the acceptance.",
        reason "reason": required LongText = "The reason for accepting the risk as it is rated.",
    }
    example json!({"until": "2027-06-30", "reason": "The system is replaced in June; until then its network is closed."})
}

async fn shown(
    api: &Api,
    scope: &Granted<impl attestry_domain::access::Grant>,
    risk: Record<Risk>,
) -> Result<Response, Problem> {
    let (tag, row) = answer(api, scope, &Nothing, risk, None).await?;
    Ok(with_tag(StatusCode::OK, &tag, row))
}

/// Accepts a risk
///
/// The owner of a risk signs that it is accepted as it is rated, until a day. Requires a session, because only a person
/// can sign. The acceptance ends early if the rating, the treatment, the title or the description changes.
#[utoipa::path(
    post, path = "/v1/risks/{id}/acceptance", tag = "Risks", request_body = AcceptRisk,
    responses(
        (status = 200, body = ref("#/components/schemas/Risk"), description = "The risk, accepted."),
        (status = 403, description = "You are not its owner; an API key cannot sign; or you entered your password more than ten minutes ago."),
        (status = 409, description = "It was not rated after treatment."),
        (status = 412, description = "`If-Match` does not match."),
    ),
    extensions(("x-session" = json!(true)))
)]
pub(crate) async fn accept_risk(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    id: PathId<kind::Risk>,
    conditions: Conditions,
    Valid(body): Valid<AcceptRisk>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let AcceptRisk { until, reason } = body;
    let risk =
        risk_criteria::accept(&api.ctx, &scope, id.found()?, until, reason, conditions.if_match()).await?;
    shown(&api, &scope, risk).await
}

/// Withdraws the acceptance of a risk
///
/// Allowed to its owner with a session, and to callers with `risk:update`.
#[utoipa::path(
    delete, path = "/v1/risks/{id}/acceptance", tag = "Risks",
    responses(
        (status = 200, body = ref("#/components/schemas/Risk"), description = "The risk, not accepted."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn withdraw_risk_acceptance(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    id: PathId<kind::Risk>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let risk = risk_criteria::withdraw(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    shown(&api, &scope, risk).await
}
