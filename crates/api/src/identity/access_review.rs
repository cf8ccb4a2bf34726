//! `/v1/organization/access-review`: who can get in, and how.

use attestry_app::core::journal;
use attestry_app::identity::access_review::{self, Reviewed};
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::id::MemberId;
use attestry_domain::plain::Plain;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, Shape, all_rows, download};
use attestry_http::answer::tables::{Cell, text};
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use crate::service::files::FileBytes;

/// An active member, with everything that lets them in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessReview, example = json!(review_example()))]
pub(crate) struct ReviewView {
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    name: String,
    email: String,
    role: String,
    /// The ways in which the account can sign in: `password`, `passkey`, `sso`.
    methods: Vec<&'static str>,
    has_second_factor: bool,
    /// The owner signs in with their own credentials where single sign-on is required.
    is_exempt: bool,
    /// The directory manages the person.
    is_managed: bool,
    /// The number of API keys that act as the member.
    api_keys: i64,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_login: Option<Time>,
}

fn review_example() -> Value {
    json!({
        "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com", "role": "owner",
        "methods": ["password", "passkey"], "hasSecondFactor": true, "isExempt": true, "isManaged": false, "apiKeys": 1,
        "lastLogin": "2026-11-15T09:30:00.000Z"
    })
}

impl From<Reviewed> for ReviewView {
    fn from(reviewed: Reviewed) -> Self {
        let Reviewed {
            member: member_id,
            name,
            email,
            role,
            is_exempt,
            has_password,
            has_passkey,
            has_sso,
            has_second_factor,
            is_managed,
            api_keys,
            last_login,
        } = reviewed;
        let ways = [(has_password, "password"), (has_passkey, "passkey"), (has_sso, "sso")];
        Self {
            member_id,
            name,
            email,
            role: role.as_str().to_owned(),
            methods: ways.into_iter().filter(|(has, _)| *has).map(|(_, way)| way).collect(),
            has_second_factor,
            is_exempt,
            is_managed,
            api_keys,
            last_login,
        }
    }
}

page_of! {
    pub(crate) ReviewList = ReviewView, "AccessReviewList", review_example()
}

/// Lists who can get in, and how
///
/// Every active member, with the ways to sign in, the second factor and the number of API keys. Keys and tokens have lists
/// of their own.
#[utoipa::path(
    get, path = "/v1/organization/access-review", tag = "Organization", params(ById),
    responses((status = 200, body = ReviewList, description = "The members, oldest first."))
)]
pub(crate) async fn review_access(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    query: ValidQuery<ById>,
) -> Result<Json<ReviewList>, Problem> {
    let ValidQuery(ById { limit, after, total }) = query;
    let page = access_review::list(&api.ctx, &scope, limit, after).await?;
    let total = if total { Some(access_review::count(&api.ctx, &scope).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

#[derive(Debug)]
pub(crate) struct ExportReview(Shape);

impl FromQuery for ExportReview {
    fn read(query: &mut Query) -> Self {
        Self(Shape::read(query))
    }
}

impl IntoParams for ExportReview {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        Shape::parameters().into()
    }
}

/// The columns of the exported table, with their display widths.
const COLUMNS: &[(&str, u16)] = &[
    ("memberId", 32),
    ("name", 24),
    ("email", 32),
    ("role", 16),
    ("methods", 24),
    ("hasSecondFactor", 16),
    ("isExempt", 12),
    ("isManaged", 12),
    ("apiKeys", 10),
    ("lastLogin", 20),
];

fn cells(reviewed: Reviewed) -> Vec<Cell> {
    let view = ReviewView::from(reviewed);
    vec![
        text(view.member_id.to_string()),
        text(view.name),
        text(view.email),
        text(view.role),
        text(view.methods.join(", ")),
        Plain::Bool(view.has_second_factor),
        Plain::Bool(view.is_exempt),
        Plain::Bool(view.is_managed),
        Plain::Int(view.api_keys),
        view.last_login.map_or(Plain::Null, Plain::Time),
    ]
}

/// Downloads who can get in, and how, as a table
///
/// Evidence for an access review. The export is recorded in the audit log.
#[utoipa::path(
    get, path = "/v1/organization/access-review/export", tag = "Organization", params(ExportReview),
    responses((status = 200, description = "The members, oldest first.", content(
        (String = "text/csv"), (FileBytes = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    )))
)]
pub(crate) async fn export_access_review(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    ValidQuery(ExportReview(shape)): ValidQuery<ExportReview>,
    method: Method,
) -> Result<Response, Problem> {
    if method != Method::HEAD {
        let format = shape.format.as_str();
        journal::exported(&api.ctx, &scope, "access_review.exported", "access_review", format, "").await?;
    }
    let file_name = format!("access-review-{}", scope.today(api.ctx.now()));
    let (api, scope): (Api, Scope) = (api.0.clone(), (*scope).clone());
    let rows = all_rows(None, cells, move |after, limit| {
        let (api, scope) = (api.clone(), scope.clone());
        async move { access_review::list(&api.ctx, &scope, limit, after).await }
    });
    let columns = COLUMNS.iter().map(|(name, width)| Column { name, width: *width }).collect();
    download("access-review", &file_name, shape, columns, rows).await
}
