//! `/v1/risks`: the risk register.

use attestry_app::{history, risks};
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::id::{MemberId, OrganizationId, RiskId, kind};
use attestry_domain::page::{Order, PageRequest};
use attestry_domain::risks::{
    NewRisk, Risk, RiskCategory, RiskFilter, RiskPatch, RiskSort, RiskStatus, TreatmentStrategy,
};
use attestry_domain::scales::{Impact, Likelihood};
use attestry_domain::text::{LongText, Name};
use attestry_domain::words::Department;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::audit_logs::{EntryList, ListHistory};
use crate::caller::Granted;
use crate::conditions::{Conditions, with_tag};
use crate::lists;
use crate::path::PathId;
use crate::problem::Problem;
use crate::query::{Asked, FromQuery, Query};
use crate::registers::{AsOf, Asker, MatrixView, Score, as_of_parameter};
use crate::state::Api;
use crate::tables::{DryRun, ImportResult, Table, TableFormat, all_rows, download, format_parameter, import};
use crate::wire::Valid;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(risk_example()))]
pub struct RiskView {
    #[schema(value_type = String, example = "rsk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: RiskId,
    title: String,
    description: String,
    #[schema(inline)]
    category: RiskCategory,
    #[schema(inline, required)]
    department: Option<Department>,
    #[schema(inline)]
    status: RiskStatus,
    #[schema(inline)]
    likelihood: Likelihood,
    #[schema(inline)]
    impact: Impact,
    #[schema(inline)]
    residual_likelihood: Likelihood,
    #[schema(inline)]
    residual_impact: Impact,
    /// 1 to 25.
    inherent_score: i64,
    /// 1 to 25, after treatment.
    residual_score: i64,
    #[schema(inline)]
    treatment_strategy: TreatmentStrategy,
    #[schema(required)]
    treatment_strategy_description: Option<String>,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b", required)]
    assignee_id: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl From<Risk> for RiskView {
    fn from(risk: Risk) -> Self {
        let (inherent_score, residual_score) = (risk.inherent_score(), risk.residual_score());
        let Risk {
            id,
            title,
            description,
            category,
            department,
            status,
            likelihood,
            impact,
            residual_likelihood,
            residual_impact,
            treatment_strategy,
            treatment_strategy_description,
            organization_id,
            assignee_id,
            created_at,
            updated_at,
            version: _,
        } = risk;
        Self {
            id,
            title,
            description,
            category,
            department,
            status,
            likelihood,
            impact,
            residual_likelihood,
            residual_impact,
            inherent_score,
            residual_score,
            treatment_strategy,
            treatment_strategy_description,
            organization_id,
            assignee_id,
            created_at,
            updated_at,
        }
    }
}

fn risk_example() -> Value {
    json!({
        "id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Laptops are lost", "description": "With customer data on them.",
        "category": "technology", "department": "it", "status": "open", "likelihood": "likely", "impact": "major",
        "residualLikelihood": "unlikely", "residualImpact": "minor", "inherentScore": 16, "residualScore": 4,
        "treatmentStrategy": "mitigate", "treatmentStrategyDescription": "Encrypt every disk.",
        "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "assigneeId": null,
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

/// A risk, and how the request was authenticated.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Risk, example = json!(answer_example()))]
pub(crate) struct RiskAnswer {
    #[serde(flatten)]
    risk: RiskView,
    #[serde(flatten)]
    asker: Asker,
}

fn answer_example() -> Value {
    let mut example = risk_example();
    example["authType"] = json!("api-key");
    example
}

impl RiskAnswer {
    fn new(risk: Risk, scope: &Scope) -> Self {
        Self { risk: risk.into(), asker: scope.into() }
    }
}

/// One page of the risks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [risk_example()], "count": 1, "nextCursor": null, "authType": "api-key"}))]
pub struct RiskList {
    data: Vec<RiskView>,
    /// How many items this page holds.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(flatten)]
    asker: Asker,
}

impl RiskList {
    pub fn new(risks: Vec<Risk>, next_cursor: Option<String>, asker: Asker) -> Self {
        let data: Vec<RiskView> = risks.into_iter().map(Into::into).collect();
        Self { count: data.len(), data, next_cursor, asker }
    }
}

body! {
    /// A risk to add. What has a default may be left out.
    CreateRisk {
        title "title": required Name = "What could go wrong, in a few words.",
        description "description": required LongText = "What could go wrong, and why.",
        category "category": required RiskCategory = "What it is about.",
        department "department": nullable Department = "The part of the company it belongs to.",
        status "status": optional RiskStatus = "`open` if left out.",
        likelihood "likelihood": optional Likelihood = "`very_unlikely` if left out.",
        impact "impact": optional Impact = "`insignificant` if left out.",
        residual_likelihood "residualLikelihood": optional Likelihood = "After treatment; `very_unlikely` if left out.",
        residual_impact "residualImpact": optional Impact = "After treatment; `insignificant` if left out.",
        treatment_strategy "treatmentStrategy": optional TreatmentStrategy = "`accept` if left out.",
        treatment_strategy_description "treatmentStrategyDescription": nullable LongText = "What is done about it.",
        assignee_id "assigneeId": nullable MemberId = "An active member who is responsible.",
    }
    example json!({
        "title": "Laptops are lost", "description": "With customer data on them.", "category": "technology",
        "likelihood": "likely", "impact": "major", "treatmentStrategy": "mitigate"
    })
}

impl From<CreateRisk> for NewRisk {
    fn from(body: CreateRisk) -> Self {
        Self {
            title: body.title,
            description: body.description,
            category: body.category,
            department: body.department.into_option(),
            status: body.status.unwrap_or_default(),
            likelihood: body.likelihood.unwrap_or_default(),
            impact: body.impact.unwrap_or_default(),
            residual_likelihood: body.residual_likelihood.unwrap_or_default(),
            residual_impact: body.residual_impact.unwrap_or_default(),
            treatment_strategy: body.treatment_strategy.unwrap_or_default(),
            treatment_strategy_description: body.treatment_strategy_description.into_option(),
            assignee_id: body.assignee_id.into_option(),
        }
    }
}

body! {
    /// What to change of a risk. What is left out stays, null clears.
    UpdateRisk {
        title "title": optional Name = "What could go wrong, in a few words.",
        description "description": optional LongText = "What could go wrong, and why.",
        category "category": optional RiskCategory = "What it is about.",
        department "department": nullable Department = "The part of the company it belongs to.",
        status "status": optional RiskStatus = "Any status may follow any.",
        likelihood "likelihood": optional Likelihood = "Before treatment.",
        impact "impact": optional Impact = "Before treatment.",
        residual_likelihood "residualLikelihood": optional Likelihood = "After treatment.",
        residual_impact "residualImpact": optional Impact = "After treatment.",
        treatment_strategy "treatmentStrategy": optional TreatmentStrategy = "What is done about it.",
        treatment_strategy_description "treatmentStrategyDescription": nullable LongText = "How it is done.",
        assignee_id "assigneeId": nullable MemberId = "An active member who is responsible.",
    }
    example json!({"status": "closed", "residualLikelihood": "unlikely", "assigneeId": null})
}

impl From<UpdateRisk> for RiskPatch {
    fn from(body: UpdateRisk) -> Self {
        Self {
            title: body.title,
            description: body.description,
            category: body.category,
            department: body.department,
            status: body.status,
            likelihood: body.likelihood,
            impact: body.impact,
            residual_likelihood: body.residual_likelihood,
            residual_impact: body.residual_impact,
            treatment_strategy: body.treatment_strategy,
            treatment_strategy_description: body.treatment_strategy_description,
            assignee_id: body.assignee_id,
        }
    }
}

fn filter(query: &mut Query) -> RiskFilter {
    RiskFilter {
        status: query.get("status"),
        category: query.get("category"),
        department: query.get("department"),
        assignee_id: query.get("assigneeId"),
        treatment_strategy: query.get("treatmentStrategy"),
        min_score: query.get("minScore").map(|Score(least)| least),
        q: lists::search(query),
    }
}

fn filter_parameters() -> Vec<Parameter> {
    vec![
        lists::parameter(
            "status",
            RiskStatus::schema(),
            "Only risks that stand so; archived ones are left out otherwise.",
        ),
        lists::parameter("category", RiskCategory::schema(), "Only risks of this category."),
        lists::parameter("department", Department::schema(), "Only risks of this department."),
        lists::parameter("assigneeId", MemberId::schema(), "Only risks this member is responsible for."),
        lists::parameter("treatmentStrategy", TreatmentStrategy::schema(), "Only risks that are treated so."),
        lists::parameter(
            "minScore",
            lists::number(1, 25),
            "Only risks with at least this inherent score, 1 to 25.",
        ),
        lists::parameter("q", lists::text(), "Part of the title or the description, in any case."),
    ]
}

#[derive(Debug)]
pub(crate) struct ListRisks {
    filter: RiskFilter,
    page: PageRequest<RiskSort>,
    as_of: Option<Time>,
}

impl FromQuery for ListRisks {
    fn read(query: &mut Query) -> Self {
        Self { filter: filter(query), page: lists::page(query), as_of: query.get("asOf") }
    }
}

impl IntoParams for ListRisks {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.push(as_of_parameter());
        all.extend(lists::parameters::<RiskSort>());
        all
    }
}

/// Lists the risks
#[utoipa::path(
    get, path = "/v1/risks", tag = "Risks", params(ListRisks),
    responses((status = 200, body = RiskList, description = "A page of the risks, newest first.")),
    extensions(("x-permission" = json!("risk:read")))
)]
pub(crate) async fn list_risks(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    asked: Asked<ListRisks>,
) -> Result<Json<RiskList>, Problem> {
    let Asked(ListRisks { filter, page, as_of }) = asked;
    let (sort, order) = (page.sort, page.order);
    let mut found = risks::list(&api.ctx, &scope, filter, page, as_of).await?;
    let next_cursor = lists::next_of(sort, order, &mut found);
    Ok(Json(RiskList::new(found.items, next_cursor, (&*scope).into())))
}

/// Adds a risk
#[utoipa::path(
    post, path = "/v1/risks", tag = "Risks", request_body = CreateRisk,
    responses((status = 201, body = RiskAnswer, description = "The risk.")),
    extensions(("x-permission" = json!("risk:create")))
)]
pub(crate) async fn create_risk(
    api: State<Api>,
    scope: Granted<grant::RiskCreate>,
    body: Valid<CreateRisk>,
) -> Result<Response, Problem> {
    let risk = risks::create(&api.ctx, &scope, body.0.into()).await?;
    Ok(with_tag(StatusCode::CREATED, &[risk.version], RiskAnswer::new(risk, &scope)))
}

/// Shows one risk
#[utoipa::path(
    get, path = "/v1/risks/{id}", tag = "Risks", params(AsOf, ("id" = inline(RiskId), Path, description = "The risk's id.")),
    responses((status = 200, body = RiskAnswer, description = "The risk.")),
    extensions(("x-permission" = json!("risk:read")))
)]
pub(crate) async fn get_risk(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    id: PathId<kind::Risk>,
    asked: Asked<AsOf>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    if let Asked(AsOf(Some(at))) = asked {
        let risk = risks::get_at(&api.ctx, &scope, id.found()?, at).await?;
        return Ok(Json(RiskAnswer::new(risk, &scope)).into_response());
    }
    let risk = risks::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[risk.version], RiskAnswer::new(risk, &scope)))
}

/// Changes a risk
#[utoipa::path(
    patch, path = "/v1/risks/{id}", tag = "Risks", request_body = UpdateRisk,
    params(("id" = inline(RiskId), Path, description = "The risk's id.")),
    responses((status = 200, body = RiskAnswer, description = "The risk as it is now.")),
    extensions(("x-permission" = json!("risk:update")))
)]
pub(crate) async fn update_risk(
    api: State<Api>,
    scope: Granted<grant::RiskUpdate>,
    id: PathId<kind::Risk>,
    conditions: Conditions,
    body: Valid<UpdateRisk>,
) -> Result<Response, Problem> {
    let risk = risks::update(&api.ctx, &scope, id.found()?, body.0.into(), conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[risk.version], RiskAnswer::new(risk, &scope)))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Laptops are lost"}))]
pub(crate) struct DeletedRisk {
    #[schema(value_type = String, example = "rsk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: RiskId,
    title: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedRisk": {"id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Laptops are lost"}}))]
pub(crate) struct RiskDeletion {
    success: bool,
    deleted_risk: DeletedRisk,
}

/// Deletes a risk
#[utoipa::path(
    delete, path = "/v1/risks/{id}", tag = "Risks", params(("id" = inline(RiskId), Path, description = "The risk's id.")),
    responses((status = 200, body = RiskDeletion, description = "It is gone; its history stays.")),
    extensions(("x-permission" = json!("risk:delete")))
)]
pub(crate) async fn delete_risk(
    api: State<Api>,
    scope: Granted<grant::RiskDelete>,
    id: PathId<kind::Risk>,
    conditions: Conditions,
) -> Result<Json<RiskDeletion>, Problem> {
    let Risk { id, title, .. } = risks::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(RiskDeletion { success: true, deleted_risk: DeletedRisk { id, title } }))
}

/// Shows who changed a risk, when and how, field by field
#[utoipa::path(
    get, path = "/v1/risks/{id}/history", tag = "Risks",
    params(ListHistory, ("id" = inline(RiskId), Path, description = "The risk's id.")),
    responses((status = 200, body = EntryList, description = "The entries about it, newest first.")),
    extensions(("x-permission" = json!("risk:read")))
)]
pub(crate) async fn get_risk_history(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    id: PathId<kind::Risk>,
    asked: Asked<ListHistory>,
) -> Result<Json<EntryList>, Problem> {
    let Asked(ListHistory { limit, before }) = asked;
    Ok(Json(EntryList::new(history::of(&api.ctx, &scope, id.found()?, limit, before).await?)))
}

/// Counts the risks in each cell of the matrix
#[utoipa::path(
    get, path = "/v1/risks/matrix", tag = "Risks",
    responses((status = 200, body = MatrixView, description = "Archived risks are not counted.")),
    extensions(("x-permission" = json!("risk:read")))
)]
pub(crate) async fn get_risk_matrix(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
) -> Result<Json<MatrixView>, Problem> {
    Ok(Json(risks::matrix(&api.ctx, &scope).await?.into()))
}

#[derive(Debug)]
pub(crate) struct ExportRisks {
    filter: RiskFilter,
    format: TableFormat,
    sorting: (RiskSort, Order),
    as_of: Option<Time>,
}

impl FromQuery for ExportRisks {
    fn read(query: &mut Query) -> Self {
        Self {
            filter: filter(query),
            format: query.get("format").unwrap_or_default(),
            sorting: lists::sorting(query),
            as_of: query.get("asOf"),
        }
    }
}

impl IntoParams for ExportRisks {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.push(format_parameter());
        all.push(as_of_parameter());
        all.extend(lists::sorting_parameters::<RiskSort>());
        all
    }
}

const COLUMNS: &[&str] = &[
    "id",
    "title",
    "description",
    "category",
    "department",
    "status",
    "likelihood",
    "impact",
    "inherentScore",
    "residualLikelihood",
    "residualImpact",
    "residualScore",
    "treatmentStrategy",
    "treatmentStrategyDescription",
    "assigneeId",
    "createdAt",
    "updatedAt",
];

fn cells(risk: Risk) -> Vec<String> {
    let (inherent, residual) = (risk.inherent_score().to_string(), risk.residual_score().to_string());
    vec![
        risk.id.to_string(),
        risk.title,
        risk.description,
        risk.category.to_string(),
        risk.department.map(|word| word.to_string()).unwrap_or_default(),
        risk.status.to_string(),
        risk.likelihood.to_string(),
        risk.impact.to_string(),
        inherent,
        risk.residual_likelihood.to_string(),
        risk.residual_impact.to_string(),
        residual,
        risk.treatment_strategy.to_string(),
        risk.treatment_strategy_description.unwrap_or_default(),
        risk.assignee_id.map(|id| id.to_string()).unwrap_or_default(),
        risk.created_at.to_string(),
        risk.updated_at.to_string(),
    ]
}

/// Downloads the risks as a table
#[utoipa::path(
    get, path = "/v1/risks/export", tag = "Risks", params(ExportRisks),
    responses((status = 200, description = "The table.", content(
        (String = "text/csv"), (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    ))),
    extensions(("x-permission" = json!("risk:read")))
)]
pub(crate) async fn export_risks(
    api: State<Api>,
    scope: Granted<grant::RiskRead>,
    asked: Asked<ExportRisks>,
) -> Result<Response, Problem> {
    let Asked(ExportRisks { filter, format, sorting: (sort, order), as_of }) = asked;
    let (api, scope): (Api, Scope) = (api.0.clone(), (*scope).clone());
    let rows = all_rows(as_of, cells, move |after, limit| {
        let (api, scope, filter) = (api.clone(), scope.clone(), filter.clone());
        let page = PageRequest { sort, order, limit, after };
        async move { risks::list(&api.ctx, &scope, filter, page, as_of).await }
    });
    download("risks", format, COLUMNS, rows).await
}

/// Adds the risks of a table: all rows or none
///
/// The first line of the CSV names the fields of a creation; an empty cell is a field that is left out.
#[utoipa::path(
    post, path = "/v1/risks/import", tag = "Risks", params(DryRun), request_body(content = String, content_type = "text/csv"),
    responses((status = 200, body = ImportResult, description = "What was taken, or in a dry run what is wrong.")),
    extensions(("x-permission" = json!("risk:create")))
)]
pub(crate) async fn import_risks(
    api: State<Api>,
    scope: Granted<grant::RiskCreate>,
    asked: Asked<DryRun>,
    table: Table<CreateRisk>,
) -> Result<Json<ImportResult>, Problem> {
    import(
        &api,
        &scope,
        asked.0,
        table,
        |body| body.assignee_id.clone().into_option(),
        async |good| {
            let items = good.into_iter().map(Into::into).collect();
            risks::create_many(&api.ctx, &scope, items).await
        },
    )
    .await
}
