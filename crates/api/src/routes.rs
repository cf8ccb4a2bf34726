//! The one list of routes. What is listed in `routes!` is documented by its own handler, so a route
//! cannot exist undocumented.

use std::sync::Arc;
use std::time::Duration;

use attestry_domain::context_entries::ContextEntry;
use attestry_domain::controls::Control;
use attestry_domain::risks::Risk;
use attestry_domain::tasks::Task;
use attestry_domain::vendors::Vendor;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::automations::{checks, hosts, runs, versions};
use crate::document::docs;
use crate::policies::{chat, comparisons, prints, signing, templates, versions as policy_versions};
use crate::state::Api;
use crate::trust_access::{agreements, grants, page, public, reading, requests};
use crate::{
    api_keys, attachments, audit_logs, auth, automations, comments, console, controls, events, files,
    frameworks, health, layers, members, metrics, organization, policies, registers, secrets, sessions,
    setup, soa, task_templates, tasks, trust_portal,
};

/// The operations that need no credentials. A test holds this list against the document and the
/// running server.
pub const PUBLIC: &[(&str, &str)] = &[
    ("get", "/v1/health"),
    ("get", "/v1/files/{ticket}"),
    ("get", "/v1/setup"),
    ("post", "/v1/setup"),
    ("post", "/v1/auth/login"),
    ("post", "/v1/auth/forgot-password"),
    ("post", "/v1/auth/reset-password"),
    ("get", "/v1/auth/invitation"),
    ("post", "/v1/auth/unsubscribe"),
    ("post", "/v1/auth/accept-invitation"),
    ("get", "/v1/trust-access/{friendlyUrl}"),
    ("post", "/v1/trust-access/{friendlyUrl}/requests"),
    ("post", "/v1/trust-access/{friendlyUrl}/reclaim"),
    ("post", "/v1/trust-access/{friendlyUrl}/subscribers"),
    ("post", "/v1/trust-access/subscriptions/confirm"),
    ("post", "/v1/trust-access/subscriptions/unsubscribe"),
    ("get", "/v1/trust-access/nda/{token}"),
    ("post", "/v1/trust-access/nda/{token}/preview-nda"),
    ("post", "/v1/trust-access/nda/{token}/sign"),
    ("get", "/v1/trust-access/nda/verify/{code}"),
    ("post", "/v1/trust-access/nda/verify"),
    ("get", "/v1/trust-access/access/{token}"),
    ("get", "/v1/trust-access/access/{token}/policies"),
    ("get", "/v1/trust-access/access/{token}/policies/download-all"),
    ("get", "/v1/trust-access/access/{token}/policies/{id}"),
    ("get", "/v1/trust-access/access/{token}/compliance-resources"),
    ("get", "/v1/trust-access/access/{token}/compliance-resources/{framework}"),
];

pub(crate) fn documented() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(setup::get_setup, setup::set_up))
        .routes(routes!(auth::login))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::get_session))
        .routes(routes!(auth::change_password))
        .routes(routes!(sessions::list_sessions))
        .routes(routes!(sessions::end_session))
        .routes(routes!(sessions::confirm_session))
        .routes(routes!(auth::update_profile))
        .routes(routes!(auth::get_notifications, auth::update_notifications))
        .routes(routes!(auth::unsubscribe))
        .routes(routes!(auth::forgot_password))
        .routes(routes!(auth::reset_password))
        .routes(routes!(auth::look_up_invitation))
        .routes(routes!(auth::accept_invitation))
        .routes(routes!(
            organization::get_organization,
            organization::update_organization,
            organization::delete_organization
        ))
        .routes(routes!(api_keys::list_api_keys, api_keys::create_api_key))
        .routes(routes!(api_keys::list_available_scopes))
        .routes(routes!(api_keys::revoke_api_key))
        .routes(routes!(members::list_members, members::create_member))
        .routes(routes!(members::create_members))
        .routes(routes!(members::invite_member))
        .routes(routes!(members::get_member, members::update_member, members::delete_member))
        .merge(registers::rated_routes::<Risk>())
        .merge(registers::rated_routes::<Vendor>())
        .merge(registers::routes::<Task>())
        .routes(routes!(tasks::set_task_status, tasks::delete_tasks))
        .routes(routes!(tasks::assign_tasks))
        .routes(routes!(tasks::reorder_tasks))
        .routes(routes!(task_templates::create_tasks_from_templates))
        .routes(routes!(task_templates::list_task_templates))
        .merge(of_policies())
        .merge(of_frameworks())
        .merge(of_portals())
        .routes(routes!(automations::list_automations, automations::create_automation))
        .routes(routes!(runs::list_task_runs))
        .routes(routes!(
            automations::get_automation,
            automations::update_automation,
            automations::delete_automation
        ))
        .routes(routes!(versions::list_automation_versions, versions::create_automation_version))
        .routes(routes!(runs::list_automation_runs, runs::run_automation))
        .routes(routes!(runs::get_run))
        .routes(routes!(runs::cancel_run))
        .routes(routes!(checks::list_automation_checks))
        .routes(routes!(secrets::list_secrets))
        .routes(routes!(secrets::set_secret, secrets::delete_secret))
        .routes(routes!(hosts::get_automation_hosts, hosts::set_automation_hosts))
        .routes(routes!(comments::list_comments, comments::create_comment))
        .routes(routes!(comments::update_comment, comments::delete_comment))
        .merge(attachments::routes())
        .routes(routes!(attachments::get_attachment_link))
        .routes(routes!(files::get_file))
        .routes(routes!(audit_logs::list_audit_logs))
        .routes(routes!(audit_logs::export_audit_logs))
        .routes(routes!(audit_logs::get_audit_head))
        .routes(routes!(events::follow_events))
}

fn of_policies() -> OpenApiRouter<Api> {
    policies::routes()
        .routes(routes!(policies::submit_policy_for_approval))
        .routes(routes!(policies::approve_policy))
        .routes(routes!(policies::deny_policy))
        .routes(routes!(chat::ask_about_policy))
        .routes(routes!(prints::print_policy))
        .routes(routes!(prints::print_policies))
        .routes(routes!(signing::sign_policy))
        .routes(routes!(signing::remind_policy_signers))
        .routes(routes!(signing::list_policy_signatures))
        .routes(routes!(signing::list_policies_to_sign))
        .routes(routes!(policy_versions::list_policy_versions))
        .routes(routes!(policy_versions::get_policy_version))
        .routes(routes!(comparisons::diff_policy_versions))
        .routes(routes!(comparisons::compare_policy))
        .routes(routes!(policy_versions::get_policy_file))
        .routes(routes!(templates::list_policy_templates))
        .routes(routes!(templates::get_policy_template))
        .routes(routes!(templates::create_policy_from_template))
}

/// Frameworks, and what an organization says and does about them.
fn of_frameworks() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(frameworks::list_frameworks, frameworks::own::create_framework))
        .routes(routes!(
            frameworks::get_framework,
            frameworks::own::replace_framework,
            frameworks::own::delete_framework
        ))
        .routes(routes!(frameworks::own::export_framework))
        .routes(routes!(frameworks::list_requirements))
        .routes(routes!(frameworks::readiness::get_framework_readiness))
        .merge(registers::routes::<Control>())
        .routes(routes!(controls::link_control))
        .routes(routes!(controls::unlink_control))
        .routes(routes!(controls::create_controls_from_framework))
        .merge(registers::routes::<ContextEntry>())
        .routes(routes!(soa::ensure_soa_setup))
        .routes(routes!(soa::create_soa_document))
        .routes(routes!(soa::save_soa_answer))
        .routes(routes!(soa::confirm_soa_answers))
        .routes(routes!(soa::filling::fill_soa))
        .routes(routes!(soa::submit_soa))
        .routes(routes!(soa::approve_soa))
        .routes(routes!(soa::decline_soa))
        .routes(routes!(soa::list_soa_documents))
        .routes(routes!(soa::get_soa_document))
        .routes(routes!(soa::statements::list_soa_rows))
        .routes(routes!(soa::statements::list_soa_gaps))
        .routes(routes!(soa::statements::diff_soa_documents))
        .routes(routes!(soa::exports::export_soa))
        .routes(routes!(soa::exports::verify_soa))
}

/// The trust portal, and access to what it keeps.
fn of_portals() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(trust_portal::get_portal_settings, trust_portal::update_portal_settings))
        .routes(routes!(trust_portal::domains::get_domain_status))
        .routes(routes!(trust_portal::certificates::upload_certificate))
        .routes(routes!(trust_portal::certificates::list_certificates))
        .routes(routes!(trust_portal::certificates::get_certificate_link))
        .routes(routes!(trust_portal::certificates::delete_certificate))
        .routes(routes!(trust_portal::posts::list_portal_posts, trust_portal::posts::create_portal_post))
        .routes(routes!(
            trust_portal::posts::get_portal_post,
            trust_portal::posts::update_portal_post,
            trust_portal::posts::delete_portal_post
        ))
        .routes(routes!(requests::list_access_requests))
        .routes(routes!(requests::get_access_request))
        .routes(routes!(requests::approve_access_request))
        .routes(routes!(requests::deny_access_request))
        .routes(routes!(requests::resend_nda))
        .routes(routes!(requests::preview_nda))
        .routes(routes!(requests::download_nda))
        .routes(routes!(grants::list_access_grants))
        .routes(routes!(grants::revoke_access_grant))
        .routes(routes!(grants::list_portal_visits))
        .routes(routes!(public::get_public_portal))
        .routes(routes!(public::request_access))
        .routes(routes!(public::reclaim_access))
        .routes(routes!(public::subscribe))
        .routes(routes!(public::confirm_subscription))
        .routes(routes!(public::end_subscription))
        .routes(routes!(agreements::get_nda))
        .routes(routes!(agreements::preview_own_nda))
        .routes(routes!(agreements::sign_nda))
        .routes(routes!(agreements::verify_nda_code))
        .routes(routes!(agreements::verify_nda_file))
        .routes(routes!(reading::get_access))
        .routes(routes!(reading::list_readable_policies))
        .routes(routes!(reading::download_readable_policies))
        .routes(routes!(reading::download_readable_policy))
        .routes(routes!(reading::list_readable_certificates))
        .routes(routes!(reading::download_readable_certificate))
}

/// The whole HTTP interface, and the console beside it.
pub fn router(api: Api) -> Router {
    let (documented, _) = documented().split_for_parts();
    let small = SizeAbove::new(1024).and(DefaultPredicate::new()).and(not_as_stored);
    let router = documented
        .route("/v1/openapi.json", get(docs::openapi))
        .route("/docs", get(docs::root))
        .route("/docs/errors", get(docs::errors))
        .route("/docs/guide", get(docs::guide))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .route("/.well-known/attestry-keys.json", get(health::keys))
        .route("/internal/tls/ask", get(trust_portal::domains::may_serve))
        .route("/trust/{friendlyUrl}", get(page::show))
        .merge(console::routes())
        .fallback(console::missing)
        .method_not_allowed_fallback(async || layers::method_not_allowed())
        .layer(CompressionLayer::new().gzip(true).compress_when(small))
        .layer(from_fn_with_state(api.clone(), layers::outer));
    let router = match api.http.cors_origins.as_slice() {
        [] => router,
        origins => router.layer(cors(origins)),
    };
    router.with_state(api)
}

fn not_as_stored(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<files::AsStored>().is_none()
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins: Arc<[HeaderValue]> = origins
        .iter()
        .filter_map(|origin| HeaderValue::from_str(origin.trim_end_matches('/')).ok())
        .collect();
    let named = |names: &[&'static str]| -> Vec<HeaderName> {
        names.iter().map(|name| HeaderName::from_static(name)).collect()
    };
    let mut headers =
        named(&["x-api-key", "x-organization-id", "x-request-id", "idempotency-key", "last-event-id"]);
    headers.extend([
        header::RANGE,
        header::IF_RANGE,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::IF_MATCH,
        header::IF_NONE_MATCH,
    ]);
    let mut exposed = named(&["x-request-id", "idempotency-replayed"]);
    exposed.extend([header::ETAG, header::LINK, header::RETRY_AFTER]);
    exposed.extend([header::CONTENT_DISPOSITION, header::CONTENT_RANGE, header::ACCEPT_RANGES]);
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| origins.contains(origin)))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(headers)
        .expose_headers(exposed)
        .allow_credentials(true)
        .max_age(Duration::from_hours(1))
}

/// Forgets old rate-limit counters now and then.
pub async fn tidy(api: Api) {
    loop {
        tokio::time::sleep(Duration::from_mins(1)).await;
        api.limits.tidy();
    }
}
