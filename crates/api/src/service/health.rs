//! Health checks and public keys.

use attestry_app::schema_status;
use attestry_domain::Time;
use attestry_domain::hash::hex;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::SchemaOf;
use attestry_http::request::caller::Anyone;
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

type TimeSchema = SchemaOf<Time>;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"status": "ok", "timestamp": "2026-11-15T09:30:00.000Z", "uptime": 86400.5, "version": "0.1.0"}))]
pub(crate) struct Health {
    /// `ok` while the process responds.
    status: &'static str,
    #[schema(value_type = TimeSchema)]
    timestamp: Time,
    /// Seconds since the start.
    uptime: f64,
    version: &'static str,
}

/// Shows that the service is running
#[utoipa::path(get, path = "/v1/health", tag = "Service", responses((status = 200, body = Health, description = "The service is running.")))]
pub(crate) async fn health(api: State<Api>, _anyone: Anyone, _none: ValidQuery<NoQuery>) -> Json<Health> {
    let now = api.ctx.now();
    Json(Health {
        status: "ok",
        timestamp: now,
        uptime: now.since(api.started).as_secs_f64(),
        version: api.http.version,
    })
}

/// Liveness check for a process supervisor: succeeds while the process responds.
pub(crate) async fn live() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Readiness check for a load balancer: succeeds if the database responds and has this version's schema.
pub(crate) async fn ready(State(api): State<Api>) -> Result<Json<Value>, Problem> {
    let missing = schema_status::missing_migrations(&api.ctx).await?;
    if missing.is_empty() {
        return Ok(Json(json!({"status": "ok"})));
    }
    Err(Problem {
        retry_after: Some(5),
        ..Problem::new("unavailable", format!("Migrations are missing: {}.", missing.join(", ")))
    })
}

/// Returns the public keys with which journal heads and files are signed.
pub(crate) async fn keys(State(api): State<Api>) -> Json<Value> {
    let keys = &api.ctx.keys;
    Json(json!({"keys": [{
        "id": keys.signer_id(),
        "algorithm": "Ed25519",
        "publicKey": hex(keys.public_key()),
        "use": "journal-head, signed-file",
    }]}))
}
