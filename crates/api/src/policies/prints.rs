//! Policies as PDF: `/v1/policies/{id}/pdf` and `/v1/policies/pdf`.

use attestry_app::core::journal;
use attestry_app::policies::prints;
use attestry_app::policies::versions::TextSelector;
use attestry_domain::access::SeePolicies;
use attestry_domain::files::MediaType;
use attestry_domain::id::kind;
use attestry_domain::policies::Policy;
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::registers::Register;
use attestry_http::answer::downloads::download;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::FromJson;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use utoipa::IntoParams;

#[derive(Debug)]
pub(crate) struct PrintPolicy {
    version: Option<VersionNumber>,
}

impl FromQuery for PrintPolicy {
    fn read(query: &mut Query) -> Self {
        Self { version: query.get("version") }
    }
}

impl IntoParams for PrintPolicy {
    fn into_params(
        _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
    ) -> Vec<utoipa::openapi::path::Parameter> {
        let about = "The number of the version to print; otherwise the policy as it is.";
        vec![lists::parameter("version", <VersionNumber as FromJson>::schema(), about)]
    }
}

/// Downloads a policy as PDF
///
/// A published policy is printed with its approval and its signatures, a draft without. Characters that cannot be printed
/// are marked in the text and named in the header `X-Missing-Glyphs`. The audit log records the download.
#[utoipa::path(
    get, path = "/v1/policies/{id}/pdf", tag = "Policies",
    params(PrintPolicy),
    responses(
        (status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."),
        (status = 409, description = "The policy is an uploaded file, or has too many pages."),
    )
)]
pub(crate) async fn print_policy(
    api: State<Api>,
    scope: Granted<SeePolicies>,
    id: PathId<kind::Policy>,
    ValidQuery(PrintPolicy { version }): ValidQuery<PrintPolicy>,
    method: Method,
) -> Result<Response, Problem> {
    let id = id.found()?;
    let printed = prints::policy(&api.ctx, &scope, id, version.map(TextSelector::Number)).await?;
    if method != Method::HEAD {
        let asked =
            version.map_or_else(|| format!("id={id}"), |version| format!("id={id}&version={version}"));
        journal::exported(&api.ctx, &scope, Policy::ACTIONS.exported, Policy::ENTITY, "pdf", &asked).await?;
    }
    Ok(download(MediaType::PDF, printed))
}

/// Downloads all published policies as one PDF
///
/// One cover, one table of contents, and each policy on pages of its own. The audit log records the download.
#[utoipa::path(
    get, path = "/v1/policies/pdf", tag = "Policies",
    responses(
        (status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."),
        (status = 409, description = "There are too many pages."),
    )
)]
pub(crate) async fn print_policies(
    api: State<Api>,
    scope: Granted<SeePolicies>,
    method: Method,
) -> Result<Response, Problem> {
    let printed = prints::all(&api.ctx, &scope, None).await?;
    if method != Method::HEAD {
        journal::exported(&api.ctx, &scope, Policy::ACTIONS.exported, Policy::ENTITY, "pdf", "").await?;
    }
    Ok(download(MediaType::PDF, printed))
}
