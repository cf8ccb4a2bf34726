//! `/v1/vendors`.

use attestry_app::{history, vendors};
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::id::{MemberId, OrganizationId, VendorId, kind};
use attestry_domain::page::{Order, PageRequest};
use attestry_domain::scales::{Impact, Likelihood};
use attestry_domain::text::{LongText, Name, WebAddress};
use attestry_domain::vendors::{
    NewVendor, Vendor, VendorCategory, VendorFilter, VendorPatch, VendorSort, VendorStatus,
};
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
#[schema(example = json!(vendor_example()))]
pub(crate) struct VendorView {
    #[schema(value_type = String, example = "vnd_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: VendorId,
    name: String,
    description: String,
    #[schema(inline)]
    category: VendorCategory,
    #[schema(inline)]
    status: VendorStatus,
    #[schema(inline)]
    inherent_probability: Likelihood,
    #[schema(inline)]
    inherent_impact: Impact,
    #[schema(inline)]
    residual_probability: Likelihood,
    #[schema(inline)]
    residual_impact: Impact,
    /// 1 to 25.
    inherent_score: i64,
    /// 1 to 25, after treatment.
    residual_score: i64,
    #[schema(required)]
    website: Option<String>,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b", required)]
    assignee_id: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl From<Vendor> for VendorView {
    fn from(vendor: Vendor) -> Self {
        let (inherent_score, residual_score) = (vendor.inherent_score(), vendor.residual_score());
        let Vendor {
            id,
            name,
            description,
            category,
            status,
            inherent_probability,
            inherent_impact,
            residual_probability,
            residual_impact,
            website,
            organization_id,
            assignee_id,
            created_at,
            updated_at,
            version: _,
        } = vendor;
        Self {
            id,
            name,
            description,
            category,
            status,
            inherent_probability,
            inherent_impact,
            residual_probability,
            residual_impact,
            inherent_score,
            residual_score,
            website,
            organization_id,
            assignee_id,
            created_at,
            updated_at,
        }
    }
}

fn vendor_example() -> Value {
    json!({
        "id": "vnd_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Cloudy", "description": "Hosts our servers.",
        "category": "cloud", "status": "assessed", "inherentProbability": "possible", "inherentImpact": "severe",
        "residualProbability": "unlikely", "residualImpact": "major", "inherentScore": 15, "residualScore": 8,
        "website": "https://cloudy.example", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "assigneeId": null,
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

/// A vendor, and how the request was authenticated.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Vendor, example = json!(answer_example()))]
pub(crate) struct VendorAnswer {
    #[serde(flatten)]
    vendor: VendorView,
    #[serde(flatten)]
    asker: Asker,
}

fn answer_example() -> Value {
    let mut example = vendor_example();
    example["authType"] = json!("api-key");
    example
}

impl VendorAnswer {
    fn new(vendor: Vendor, scope: &Scope) -> Self {
        Self { vendor: vendor.into(), asker: scope.into() }
    }
}

/// One page of the vendors.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [vendor_example()], "count": 1, "nextCursor": null, "authType": "api-key"}))]
pub(crate) struct VendorList {
    data: Vec<VendorView>,
    /// How many items this page holds.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(flatten)]
    asker: Asker,
}

body! {
    /// A vendor to add. What has a default may be left out.
    CreateVendor {
        name "name": required Name = "What the vendor is called.",
        description "description": required LongText = "What the vendor does for us.",
        category "category": optional VendorCategory = "`other` if left out.",
        status "status": optional VendorStatus = "`not_assessed` if left out.",
        inherent_probability "inherentProbability": optional Likelihood = "`very_unlikely` if left out.",
        inherent_impact "inherentImpact": optional Impact = "`insignificant` if left out.",
        residual_probability "residualProbability": optional Likelihood = "After treatment; `very_unlikely` if left out.",
        residual_impact "residualImpact": optional Impact = "After treatment; `insignificant` if left out.",
        website "website": nullable WebAddress = "The vendor's web site.",
        assignee_id "assigneeId": nullable MemberId = "An active member who manages the vendor.",
    }
    example json!({"name": "Cloudy", "description": "Hosts our servers.", "category": "cloud", "website": "cloudy.example"})
}

impl From<CreateVendor> for NewVendor {
    fn from(body: CreateVendor) -> Self {
        Self {
            name: body.name,
            description: body.description,
            category: body.category.unwrap_or_default(),
            status: body.status.unwrap_or_default(),
            inherent_probability: body.inherent_probability.unwrap_or_default(),
            inherent_impact: body.inherent_impact.unwrap_or_default(),
            residual_probability: body.residual_probability.unwrap_or_default(),
            residual_impact: body.residual_impact.unwrap_or_default(),
            website: body.website.into_option(),
            assignee_id: body.assignee_id.into_option(),
        }
    }
}

body! {
    /// What to change of a vendor. What is left out stays, null clears.
    UpdateVendor {
        name "name": optional Name = "What the vendor is called.",
        description "description": optional LongText = "What the vendor does for us.",
        category "category": optional VendorCategory = "What the vendor provides.",
        status "status": optional VendorStatus = "Any status may follow any.",
        inherent_probability "inherentProbability": optional Likelihood = "Before treatment.",
        inherent_impact "inherentImpact": optional Impact = "Before treatment.",
        residual_probability "residualProbability": optional Likelihood = "After treatment.",
        residual_impact "residualImpact": optional Impact = "After treatment.",
        website "website": nullable WebAddress = "The vendor's web site.",
        assignee_id "assigneeId": nullable MemberId = "An active member who manages the vendor.",
    }
    example json!({"status": "assessed", "residualProbability": "unlikely", "assigneeId": null})
}

impl From<UpdateVendor> for VendorPatch {
    fn from(body: UpdateVendor) -> Self {
        Self {
            name: body.name,
            description: body.description,
            category: body.category,
            status: body.status,
            inherent_probability: body.inherent_probability,
            inherent_impact: body.inherent_impact,
            residual_probability: body.residual_probability,
            residual_impact: body.residual_impact,
            website: body.website,
            assignee_id: body.assignee_id,
        }
    }
}

fn filter(query: &mut Query) -> VendorFilter {
    VendorFilter {
        status: query.get("status"),
        category: query.get("category"),
        assignee_id: query.get("assigneeId"),
        min_score: query.get("minScore").map(|Score(least)| least),
        q: lists::search(query),
    }
}

fn filter_parameters() -> Vec<Parameter> {
    vec![
        lists::parameter("status", VendorStatus::schema(), "Only vendors whose assessment is so far."),
        lists::parameter("category", VendorCategory::schema(), "Only vendors of this category."),
        lists::parameter("assigneeId", MemberId::schema(), "Only vendors this member is responsible for."),
        lists::parameter(
            "minScore",
            lists::number(1, 25),
            "Only vendors with at least this inherent score, 1 to 25.",
        ),
        lists::parameter("q", lists::text(), "Part of the name or the description, in any case."),
    ]
}

#[derive(Debug)]
pub(crate) struct ListVendors {
    filter: VendorFilter,
    page: PageRequest<VendorSort>,
    as_of: Option<Time>,
}

impl FromQuery for ListVendors {
    fn read(query: &mut Query) -> Self {
        Self { filter: filter(query), page: lists::page(query), as_of: query.get("asOf") }
    }
}

impl IntoParams for ListVendors {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.push(as_of_parameter());
        all.extend(lists::parameters::<VendorSort>());
        all
    }
}

/// Lists the vendors
#[utoipa::path(
    get, path = "/v1/vendors", tag = "Vendors", params(ListVendors),
    responses((status = 200, body = VendorList, description = "A page of the vendors, newest first.")),
    extensions(("x-permission" = json!("vendor:read")))
)]
pub(crate) async fn list_vendors(
    api: State<Api>,
    scope: Granted<grant::VendorRead>,
    asked: Asked<ListVendors>,
) -> Result<Json<VendorList>, Problem> {
    let Asked(ListVendors { filter, page, as_of }) = asked;
    let (sort, order) = (page.sort, page.order);
    let mut found = vendors::list(&api.ctx, &scope, filter, page, as_of).await?;
    let next_cursor = lists::next_of(sort, order, &mut found);
    let data: Vec<VendorView> = found.items.into_iter().map(Into::into).collect();
    Ok(Json(VendorList { count: data.len(), data, next_cursor, asker: (&*scope).into() }))
}

/// Adds a vendor
#[utoipa::path(
    post, path = "/v1/vendors", tag = "Vendors", request_body = CreateVendor,
    responses((status = 201, body = VendorAnswer, description = "The vendor.")),
    extensions(("x-permission" = json!("vendor:create")))
)]
pub(crate) async fn create_vendor(
    api: State<Api>,
    scope: Granted<grant::VendorCreate>,
    body: Valid<CreateVendor>,
) -> Result<Response, Problem> {
    let vendor = vendors::create(&api.ctx, &scope, body.0.into()).await?;
    Ok(with_tag(StatusCode::CREATED, &[vendor.version], VendorAnswer::new(vendor, &scope)))
}

/// Shows one vendor
#[utoipa::path(
    get, path = "/v1/vendors/{id}", tag = "Vendors", params(AsOf, ("id" = inline(VendorId), Path, description = "The vendor's id.")),
    responses((status = 200, body = VendorAnswer, description = "The vendor.")),
    extensions(("x-permission" = json!("vendor:read")))
)]
pub(crate) async fn get_vendor(
    api: State<Api>,
    scope: Granted<grant::VendorRead>,
    id: PathId<kind::Vendor>,
    asked: Asked<AsOf>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    if let Asked(AsOf(Some(at))) = asked {
        let vendor = vendors::get_at(&api.ctx, &scope, id.found()?, at).await?;
        return Ok(Json(VendorAnswer::new(vendor, &scope)).into_response());
    }
    let vendor = vendors::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[vendor.version], VendorAnswer::new(vendor, &scope)))
}

/// Changes a vendor
#[utoipa::path(
    patch, path = "/v1/vendors/{id}", tag = "Vendors", request_body = UpdateVendor,
    params(("id" = inline(VendorId), Path, description = "The vendor's id.")),
    responses((status = 200, body = VendorAnswer, description = "The vendor as it is now.")),
    extensions(("x-permission" = json!("vendor:update")))
)]
pub(crate) async fn update_vendor(
    api: State<Api>,
    scope: Granted<grant::VendorUpdate>,
    id: PathId<kind::Vendor>,
    conditions: Conditions,
    body: Valid<UpdateVendor>,
) -> Result<Response, Problem> {
    let vendor = vendors::update(&api.ctx, &scope, id.found()?, body.0.into(), conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[vendor.version], VendorAnswer::new(vendor, &scope)))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "vnd_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Cloudy"}))]
pub(crate) struct DeletedVendor {
    #[schema(value_type = String, example = "vnd_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: VendorId,
    name: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedVendor": {"id": "vnd_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Cloudy"}}))]
pub(crate) struct VendorDeletion {
    success: bool,
    deleted_vendor: DeletedVendor,
}

/// Deletes a vendor
#[utoipa::path(
    delete, path = "/v1/vendors/{id}", tag = "Vendors", params(("id" = inline(VendorId), Path, description = "The vendor's id.")),
    responses((status = 200, body = VendorDeletion, description = "It is gone; its history stays.")),
    extensions(("x-permission" = json!("vendor:delete")))
)]
pub(crate) async fn delete_vendor(
    api: State<Api>,
    scope: Granted<grant::VendorDelete>,
    id: PathId<kind::Vendor>,
    conditions: Conditions,
) -> Result<Json<VendorDeletion>, Problem> {
    let Vendor { id, name, .. } =
        vendors::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(VendorDeletion { success: true, deleted_vendor: DeletedVendor { id, name } }))
}

/// Shows who changed a vendor, when and how, field by field
#[utoipa::path(
    get, path = "/v1/vendors/{id}/history", tag = "Vendors",
    params(ListHistory, ("id" = inline(VendorId), Path, description = "The vendor's id.")),
    responses((status = 200, body = EntryList, description = "The entries about it, newest first.")),
    extensions(("x-permission" = json!("vendor:read")))
)]
pub(crate) async fn get_vendor_history(
    api: State<Api>,
    scope: Granted<grant::VendorRead>,
    id: PathId<kind::Vendor>,
    asked: Asked<ListHistory>,
) -> Result<Json<EntryList>, Problem> {
    let Asked(ListHistory { limit, before }) = asked;
    Ok(Json(EntryList::new(history::of(&api.ctx, &scope, id.found()?, limit, before).await?)))
}

/// Counts the vendors in each cell of the matrix
#[utoipa::path(
    get, path = "/v1/vendors/matrix", tag = "Vendors",
    responses((status = 200, body = MatrixView, description = "All vendors are counted.")),
    extensions(("x-permission" = json!("vendor:read")))
)]
pub(crate) async fn get_vendor_matrix(
    api: State<Api>,
    scope: Granted<grant::VendorRead>,
) -> Result<Json<MatrixView>, Problem> {
    Ok(Json(vendors::matrix(&api.ctx, &scope).await?.into()))
}

#[derive(Debug)]
pub(crate) struct ExportVendors {
    filter: VendorFilter,
    format: TableFormat,
    sorting: (VendorSort, Order),
    as_of: Option<Time>,
}

impl FromQuery for ExportVendors {
    fn read(query: &mut Query) -> Self {
        Self {
            filter: filter(query),
            format: query.get("format").unwrap_or_default(),
            sorting: lists::sorting(query),
            as_of: query.get("asOf"),
        }
    }
}

impl IntoParams for ExportVendors {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.push(format_parameter());
        all.push(as_of_parameter());
        all.extend(lists::sorting_parameters::<VendorSort>());
        all
    }
}

const COLUMNS: &[&str] = &[
    "id",
    "name",
    "description",
    "category",
    "status",
    "inherentProbability",
    "inherentImpact",
    "inherentScore",
    "residualProbability",
    "residualImpact",
    "residualScore",
    "website",
    "assigneeId",
    "createdAt",
    "updatedAt",
];

fn cells(vendor: Vendor) -> Vec<String> {
    let (inherent, residual) = (vendor.inherent_score().to_string(), vendor.residual_score().to_string());
    vec![
        vendor.id.to_string(),
        vendor.name,
        vendor.description,
        vendor.category.to_string(),
        vendor.status.to_string(),
        vendor.inherent_probability.to_string(),
        vendor.inherent_impact.to_string(),
        inherent,
        vendor.residual_probability.to_string(),
        vendor.residual_impact.to_string(),
        residual,
        vendor.website.unwrap_or_default(),
        vendor.assignee_id.map(|id| id.to_string()).unwrap_or_default(),
        vendor.created_at.to_string(),
        vendor.updated_at.to_string(),
    ]
}

/// Downloads the vendors as a table
#[utoipa::path(
    get, path = "/v1/vendors/export", tag = "Vendors", params(ExportVendors),
    responses((status = 200, description = "The table.", content(
        (String = "text/csv"), (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    ))),
    extensions(("x-permission" = json!("vendor:read")))
)]
pub(crate) async fn export_vendors(
    api: State<Api>,
    scope: Granted<grant::VendorRead>,
    asked: Asked<ExportVendors>,
) -> Result<Response, Problem> {
    let Asked(ExportVendors { filter, format, sorting: (sort, order), as_of }) = asked;
    let (api, scope): (Api, Scope) = (api.0.clone(), (*scope).clone());
    let rows = all_rows(as_of, cells, move |after, limit| {
        let (api, scope, filter) = (api.clone(), scope.clone(), filter.clone());
        let page = PageRequest { sort, order, limit, after };
        async move { vendors::list(&api.ctx, &scope, filter, page, as_of).await }
    });
    download("vendors", format, COLUMNS, rows).await
}

/// Adds the vendors of a table: all rows or none
///
/// The first line of the CSV names the fields of a creation; an empty cell is a field that is left out.
#[utoipa::path(
    post, path = "/v1/vendors/import", tag = "Vendors", params(DryRun), request_body(content = String, content_type = "text/csv"),
    responses((status = 200, body = ImportResult, description = "What was taken, or in a dry run what is wrong.")),
    extensions(("x-permission" = json!("vendor:create")))
)]
pub(crate) async fn import_vendors(
    api: State<Api>,
    scope: Granted<grant::VendorCreate>,
    asked: Asked<DryRun>,
    table: Table<CreateVendor>,
) -> Result<Json<ImportResult>, Problem> {
    import(
        &api,
        &scope,
        asked.0,
        table,
        |body| body.assignee_id.clone().into_option(),
        async |good| {
            let items = good.into_iter().map(Into::into).collect();
            vendors::create_many(&api.ctx, &scope, items).await
        },
    )
    .await
}
