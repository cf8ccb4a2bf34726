//! `/v1/setup`: the first organization of an empty installation.

use attestry_app::identity::setup::{self, Founded, NewInstallation};
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::text::{Email, Name, Password};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Visitor;
use attestry_http::request::idempotency::WithoutSecret;
use attestry_http::request::json::Secret;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"needed": true}))]
pub(crate) struct SetupStatus {
    /// True until the installation has been set up.
    needed: bool,
}

/// Shows whether the installation has to be set up
#[utoipa::path(
    get, path = "/v1/setup", tag = "Set-up",
    responses((status = 200, body = SetupStatus, description = "True if set-up is needed."))
)]
pub(crate) async fn get_setup(api: State<Api>, _visitor: Visitor) -> Result<Json<SetupStatus>, Problem> {
    Ok(Json(SetupStatus { needed: setup::is_open(&api.ctx).await? }))
}

body! {
    /// The first organization and its owner.
    SetUp {
        token "token": required Secret = "The one-time token that the server printed when it started.",
        organization "organization": required Name = "The organization's name.",
        name "name": optional Name = "The owner's name.",
        email "email": required Email = "The owner's address.",
        password "password": required Password = "The owner's password.",
    }
    example json!({
        "token": "9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0", "organization": "Analytical Engines",
        "name": "Ada Byron", "email": "ada@example.com", "password": "correct horse battery"
    })
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b",
    "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "apiKey": "atk_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0"
}))]
pub(crate) struct SetUpDone {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    user_id: UserId,
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    /// An API key with all permissions, shown only once. A repeated request with the same `Idempotency-Key` gets null.
    #[schema(required)]
    api_key: Option<String>,
}

/// Sets up the installation
#[utoipa::path(
    post, path = "/v1/setup", tag = "Set-up", request_body = SetUp,
    responses(
        (status = 201, body = SetUpDone, description = "The installation is set up; you can sign in."),
        (status = 403, description = "The token is wrong."),
        (status = 409, description = "The installation is already set up."),
    )
)]
pub(crate) async fn set_up(
    api: State<Api>,
    Visitor(origin): Visitor,
    body: Valid<SetUp>,
) -> Result<Response, Problem> {
    let SetUp { token, organization, name, email, password } = body.0;
    let new = NewInstallation { organization, email, password: Some(password), name };
    let (Founded { organization, user, member }, made) =
        setup::by_token(&api.ctx, &token.0, new, &origin).await?;
    let mut view = SetUpDone {
        organization_id: organization,
        user_id: user,
        member_id: member,
        api_key: Some(made.text),
    };
    let mut response = (StatusCode::CREATED, Json(&view)).into_response();
    view.api_key = None;
    response.extensions_mut().insert(WithoutSecret::of(&view)?);
    Ok(response)
}
