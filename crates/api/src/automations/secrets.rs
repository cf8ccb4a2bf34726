//! `/v1/organization/secrets`: the secrets for scripts.

use attestry_app::automations::secrets::{self, SecretMetadata};
use attestry_derive::View;
use attestry_domain::access::grant;
use attestry_domain::automations::secrets::SecretName;
use attestry_domain::{Parse, Time};
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

/// A secret, without its value.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(SecretMetadata)]
#[serde(rename_all = "camelCase")]
#[schema(as = Secret, example = json!({"name": "GITHUB_TOKEN", "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct SecretView {
    name: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

page_of! {
    pub(crate) SecretList = SecretView, "SecretList", json!({"name": "GITHUB_TOKEN", "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"}), HAS_TOTAL = false
}

/// The value of a secret, neither trimmed nor normalized.
#[derive(Clone)]
pub(crate) struct SecretValue(String);

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

impl FromJson for SecretValue {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let text = json.text()?;
        match text.len() {
            0 => Err("must not be empty".to_owned()),
            _ if text.contains('\0') => Err("must not contain a NUL character".to_owned()),
            1..=10_000 => Ok(Self(text.into_owned())),
            _ => Err("must have at most 10000 bytes".to_owned()),
        }
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(10_000)).into()
    }
}

body! {
    /// The value of a secret.
    SetSecret (Medium) {
        value "value": required SecretValue = "The value. It is encrypted and never shown again.",
    }
    example json!({"value": "ghp_example"})
}

/// Parses the name in the path.
fn name(text: &str) -> Result<SecretName, Problem> {
    SecretName::parse(text).map_err(|message| attestry_app::Error::field("name", message).into())
}

/// Lists the names of the secrets
#[utoipa::path(
    get, path = "/v1/organization/secrets", tag = "Automations",
    responses((status = 200, body = SecretList, description = "The names, never the values."))
)]
pub(crate) async fn list_secrets(
    api: State<Api>,
    scope: Granted<grant::SecretRead>,
) -> Result<Json<SecretList>, Problem> {
    let data: Vec<SecretView> = secrets::list(&api.ctx, &scope).await?.into_iter().map(Into::into).collect();
    Ok(Json(PageView::whole(data)))
}

/// Sets a secret
///
/// Scripts read it with `ctx.secret(name)`. The value cannot be read back.
#[utoipa::path(
    put, path = "/v1/organization/secrets/{name}", tag = "Automations", request_body = SetSecret,
    params(("name" = String, Path, description = "The secret's name: capitals, digits and underscores.")),
    responses((status = 200, body = SecretView, description = "The secret is set."))
)]
pub(crate) async fn set_secret(
    api: State<Api>,
    scope: Granted<grant::SecretUpdate>,
    Path(wanted): Path<String>,
    body: Valid<SetSecret>,
) -> Result<Json<SecretView>, Problem> {
    Ok(Json(secrets::set(&api.ctx, &scope, name(&wanted)?, body.0.value.0).await?.into()))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "The secret is deleted."}))]
pub(crate) struct SecretDeletion {
    success: bool,
    message: &'static str,
}

/// Deletes a secret
#[utoipa::path(
    delete, path = "/v1/organization/secrets/{name}", tag = "Automations",
    params(("name" = String, Path, description = "The secret's name.")),
    responses((status = 200, body = SecretDeletion, description = "The secret is deleted."))
)]
pub(crate) async fn delete_secret(
    api: State<Api>,
    scope: Granted<grant::SecretDelete>,
    Path(wanted): Path<String>,
) -> Result<Json<SecretDeletion>, Problem> {
    let name = SecretName::parse(&wanted).map_err(|_| Problem::not_found("secret"))?;
    secrets::delete(&api.ctx, &scope, name).await?;
    Ok(Json(SecretDeletion { success: true, message: "The secret is deleted." }))
}
