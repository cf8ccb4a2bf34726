//! `/v1/views`: saved views of lists.

use attestry_app::registers::views::{self, NewView, ViewPatch};
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::id::{MemberId, ViewId, kind};
use attestry_domain::registers::views::{View, ViewList, ViewParameters};
use attestry_domain::text::Name;
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::{self, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// A saved view of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = View, example = json!({
    "id": "view_01jcqg3v5mefzr7d0a6w3k9x2b", "list": "risks", "name": "High and open",
    "parameters": {"status": "open,pending", "sort": "residualScore", "order": "desc"}, "isShared": true,
    "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "isEditable": true,
    "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
}))]
pub(crate) struct ViewView {
    #[schema(value_type = String)]
    id: ViewId,
    #[schema(schema_with = schema_of::<ViewList>)]
    list: ViewList,
    name: String,
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    parameters: ViewParameters,
    /// True if every member sees it, false if only its creator does.
    is_shared: bool,
    /// The member who created it.
    #[schema(value_type = String)]
    member_id: MemberId,
    /// True if the caller may change it.
    is_editable: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl ViewView {
    fn new(view: View, scope: &Scope) -> Self {
        let is_editable = view.may_change(scope);
        let View { id, member_id, list, name, parameters, is_shared, created_at, updated_at, .. } = view;
        let name = name.to_string();
        Self { id, list, name, parameters, is_shared, member_id, is_editable, created_at, updated_at }
    }
}

page_of! {
    pub(crate) ViewsAnswer = ViewView, "ViewsAnswer", json!({
    "id": "view_01jcqg3v5mefzr7d0a6w3k9x2b", "list": "risks", "name": "High and open",
    "parameters": {"status": "open,pending", "sort": "residualScore", "order": "desc"}, "isShared": true,
    "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "isEditable": true,
    "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
}), HAS_TOTAL = false
}

body! {
    /// A view to add.
    CreateView (Large) {
        list "list": required ViewList = "The list it arranges.",
        name "name": required Name = "Its name.",
        parameters "parameters": required ViewParameters = "The query parameters of the list by their names; `columns` and `group` are the console's.",
        is_shared "isShared": optional bool = "True to share it with all members, which needs `organization:update`; false by default.",
    }
    example json!({"list": "risks", "name": "High and open", "parameters": {"status": "open,pending", "sort": "residualScore"}})
}

body! {
    /// An update of a view. Fields that are left out stay as they are.
    UpdateView (Large) {
        name "name": optional Name = "Its name.",
        parameters "parameters": optional ViewParameters = "The query parameters of the list.",
        is_shared "isShared": optional bool = "True if all members see it.",
    }
    example json!({"name": "High, open or pending"})
}

/// The filter of the list of views.
#[derive(Debug)]
pub(crate) struct ListViews {
    list: Option<ViewList>,
}

impl IntoParams for ListViews {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![lists::parameter("list", schema_of::<ViewList>(), "Only views of this list.")]
    }
}

impl FromQuery for ListViews {
    fn read(query: &mut Query) -> Self {
        Self { list: query.get("list") }
    }
}

/// Lists the views
///
/// Your own views and the shared ones, oldest first.
#[utoipa::path(
    get, path = "/v1/views", tag = "Views", params(ListViews),
    responses((status = 200, body = ViewsAnswer, description = "The views."))
)]
pub(crate) async fn list_views(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    query: ValidQuery<ListViews>,
) -> Result<Json<ViewsAnswer>, Problem> {
    let found = views::list(&api.ctx, &scope, query.0.list).await?;
    let data: Vec<ViewView> = found.into_iter().map(|view| ViewView::new(view, &scope)).collect();
    Ok(Json(PageView::whole(data)))
}

/// Adds a view
#[utoipa::path(
    post, path = "/v1/views", tag = "Views", request_body = CreateView,
    responses((status = 201, body = ViewView, description = "The view."))
)]
pub(crate) async fn create_view(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    Valid(body): Valid<CreateView>,
) -> Result<Response, Problem> {
    let CreateView { list, name, parameters, is_shared } = body;
    let new = NewView { list, name, parameters, is_shared: is_shared.unwrap_or_default() };
    let view = views::create(&api.ctx, &scope, new).await?;
    Ok(with_tag(StatusCode::CREATED, &[view.version], ViewView::new(view, &scope)))
}

/// Shows one view
#[utoipa::path(
    get, path = "/v1/views/{viewId}", tag = "Views",
    responses((status = 200, body = ViewView, description = "The view."))
)]
pub(crate) async fn get_view(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    id: PathId<kind::View>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let view = views::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[view.version], ViewView::new(view, &scope)))
}

/// Changes a view
///
/// You can change your own views or, with `organization:update`, shared ones.
#[utoipa::path(
    patch, path = "/v1/views/{viewId}", tag = "Views", request_body = UpdateView,
    responses((status = 200, body = ViewView, description = "The view."))
)]
pub(crate) async fn update_view(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    id: PathId<kind::View>,
    conditions: Conditions,
    Valid(body): Valid<UpdateView>,
) -> Result<Response, Problem> {
    let UpdateView { name, parameters, is_shared } = body;
    let patch = ViewPatch { name, parameters, is_shared };
    let view = views::update(&api.ctx, &scope, id.found()?, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[view.version], ViewView::new(view, &scope)))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "The view is deleted."}))]
pub(crate) struct ViewDeletion {
    success: bool,
    message: &'static str,
}

/// Deletes a view
///
/// You can delete your own views or, with `organization:update`, shared ones.
#[utoipa::path(
    delete, path = "/v1/views/{viewId}", tag = "Views",
    responses((status = 200, body = ViewDeletion, description = "The view is deleted."))
)]
pub(crate) async fn delete_view(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    id: PathId<kind::View>,
    conditions: Conditions,
) -> Result<Json<ViewDeletion>, Problem> {
    views::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(ViewDeletion { success: true, message: "The view is deleted." }))
}
