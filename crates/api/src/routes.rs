//! The one list of routes. An operation listed in `operations!` is documented by its own handler, so a route cannot
//! exist undocumented.

use std::sync::Arc;
use std::time::Duration;

use attestry_domain::frameworks::controls::Control;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_domain::registers::risks::Risk;
use attestry_domain::registers::vendors::Vendor;
use attestry_domain::tasks::Task;
use attestry_http::answer::downloads::AsStored;
use attestry_http::document::listed::Listed;
use attestry_http::state::Api;
use attestry_http::{layers, metrics, operations};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::automations::{checks, hosts, runs, secrets, versions};
use crate::frameworks::controls;
use crate::identity::{
    access_review, api_keys, auth, chat_channels, directory, inbox, mail_domains, members, organization,
    passkeys, releases, scim, second_factors, service_accounts, sessions, setup, sign_in_policy, sso,
    sso_connections,
};
use crate::policies::{chat, comparisons, prints, signing, templates, versions as policy_versions};
use crate::registers::{attachments, comments, risk_criteria, views};
use crate::service::{audit_logs, console, docs, events, files, health};
use crate::tasks::templates as task_templates;
use crate::trust_access::{agreements, grants, page, public, reading, requests};
use crate::{automations, frameworks, policies, programme, registers, soa, tasks, trust_portal};

pub(crate) fn all(listed: Listed) -> Listed {
    listed
        .routes(operations!(health::health))
        .routes(operations!(setup::get_setup, setup::set_up))
        .routes(operations!(auth::login))
        .routes(operations!(auth::login_with_code))
        .routes(operations!(auth::logout))
        .routes(operations!(auth::get_session))
        .routes(operations!(auth::change_password))
        .routes(operations!(auth::remove_password))
        .routes(operations!(sessions::list_sessions))
        .routes(operations!(sessions::end_session))
        .routes(operations!(sessions::get_confirmation, sessions::confirm_session))
        .routes(operations!(second_factors::get_security))
        .routes(operations!(second_factors::start_totp, second_factors::remove_totp))
        .routes(operations!(second_factors::activate_totp))
        .routes(operations!(second_factors::renew_recovery_codes))
        .routes(operations!(passkeys::add_passkey))
        .routes(operations!(passkeys::rename_passkey, passkeys::remove_passkey))
        .routes(operations!(passkeys::start_passkey_registration))
        .routes(operations!(passkeys::start_passkey_sign_in))
        .routes(operations!(passkeys::sign_in_with_passkey))
        .routes(operations!(passkeys::start_passkey_confirmation))
        .routes(operations!(passkeys::confirm_with_passkey))
        .routes(operations!(auth::update_profile))
        .routes(operations!(auth::get_notifications, auth::update_notifications))
        .routes(operations!(auth::unsubscribe))
        .routes(operations!(auth::forgot_password))
        .routes(operations!(auth::reset_password))
        .routes(operations!(auth::look_up_invitation))
        .routes(operations!(auth::accept_invitation))
        .routes(operations!(
            organization::get_organization,
            organization::update_organization,
            organization::delete_organization
        ))
        .with(of_single_sign_on)
        .with(of_directory)
        .routes(operations!(sign_in_policy::get_sign_in_policy, sign_in_policy::update_sign_in_policy))
        .routes(operations!(sign_in_policy::sign_out_everybody))
        .routes(operations!(api_keys::list_api_keys, api_keys::create_api_key))
        .routes(operations!(api_keys::list_available_scopes))
        .routes(operations!(api_keys::rotate_api_key))
        .with(of_service_accounts)
        .routes(operations!(access_review::review_access))
        .routes(operations!(access_review::export_access_review))
        .routes(operations!(api_keys::revoke_api_key))
        .routes(operations!(members::list_members, members::create_member))
        .routes(operations!(members::create_members))
        .routes(operations!(members::invite_member))
        .routes(operations!(members::get_member, members::update_member, members::delete_member))
        .routes(operations!(releases::list_released))
        .routes(operations!(releases::hand_over))
        .routes(operations!(sign_in_policy::sign_out_member))
        .routes(operations!(second_factors::reset_second_factor))
        .routes(operations!(inbox::list_inbox))
        .routes(operations!(inbox::mark_inbox))
        .routes(operations!(chat_channels::list_chat_channels, chat_channels::create_chat_channel))
        .routes(operations!(chat_channels::update_chat_channel, chat_channels::delete_chat_channel))
        .routes(operations!(chat_channels::test_chat_channel))
        .routes(operations!(views::list_views, views::create_view))
        .routes(operations!(views::get_view, views::update_view, views::delete_view))
        .with(registers::rated_routes::<Risk>)
        .routes(operations!(risk_criteria::accept_risk, risk_criteria::withdraw_risk_acceptance))
        .routes(operations!(risk_criteria::get_risk_criteria, risk_criteria::set_risk_criteria))
        .with(registers::rated_routes::<Vendor>)
        .with(registers::routes::<Task>)
        .routes(operations!(tasks::set_task_status, tasks::delete_tasks))
        .routes(operations!(tasks::assign_tasks))
        .routes(operations!(tasks::reorder_tasks))
        .routes(operations!(task_templates::create_tasks_from_templates))
        .routes(operations!(task_templates::list_task_templates))
        .with(of_policies)
        .with(of_frameworks)
        .with(of_portals)
        .routes(operations!(automations::list_automations, automations::create_automation))
        .routes(operations!(runs::list_task_runs))
        .routes(operations!(
            automations::get_automation,
            automations::update_automation,
            automations::delete_automation
        ))
        .routes(operations!(versions::list_automation_versions, versions::create_automation_version))
        .routes(operations!(runs::list_automation_runs, runs::run_automation))
        .routes(operations!(runs::get_run))
        .routes(operations!(runs::cancel_run))
        .routes(operations!(checks::list_automation_checks))
        .routes(operations!(secrets::list_secrets))
        .routes(operations!(secrets::set_secret, secrets::delete_secret))
        .routes(operations!(hosts::get_automation_hosts, hosts::set_automation_hosts))
        .routes(operations!(comments::list_comments, comments::create_comment))
        .routes(operations!(comments::update_comment, comments::delete_comment))
        .with(attachments::routes)
        .routes(operations!(attachments::get_attachment_link))
        .routes(operations!(files::get_file))
        .routes(operations!(audit_logs::list_audit_logs))
        .routes(operations!(audit_logs::export_audit_logs))
        .routes(operations!(audit_logs::get_audit_head))
        .routes(operations!(events::follow_events))
}

/// Adds the routes of service accounts.
fn of_service_accounts(listed: Listed) -> Listed {
    listed
        .routes(operations!(
            service_accounts::list_service_accounts,
            service_accounts::create_service_account
        ))
        .routes(operations!(
            service_accounts::get_service_account,
            service_accounts::update_service_account,
            service_accounts::delete_service_account
        ))
        .routes(operations!(
            service_accounts::list_service_account_keys,
            service_accounts::create_service_account_key
        ))
        .routes(operations!(service_accounts::revoke_service_account_key))
}

/// Adds the routes of single sign-on.
fn of_single_sign_on(listed: Listed) -> Listed {
    listed
        .routes(operations!(sso::show_sign_in_methods))
        .routes(operations!(sso::start_sso))
        .routes(operations!(sso::finish_sso))
        .routes(operations!(sso::switch_session))
        .routes(operations!(sso::start_sso_ticket))
        .routes(operations!(sso::receive_logout_token))
        .routes(operations!(sso::remove_own_identity))
        .routes(operations!(sso::list_identities))
        .routes(operations!(sso::remove_identity))
        .routes(operations!(mail_domains::list_mail_domains, mail_domains::add_mail_domain))
        .routes(operations!(
            mail_domains::get_mail_domain,
            mail_domains::update_mail_domain,
            mail_domains::remove_mail_domain
        ))
        .routes(operations!(mail_domains::verify_mail_domain))
        .routes(operations!(sso_connections::list_sso_connections, sso_connections::create_sso_connection))
        .routes(operations!(
            sso_connections::get_sso_connection,
            sso_connections::update_sso_connection,
            sso_connections::delete_sso_connection
        ))
        .routes(operations!(sso_connections::check_sso_connection))
        .routes(operations!(sso_connections::test_sso_connection))
        .routes(operations!(sso_connections::list_sso_sign_ins))
}

/// Adds the routes of the directory: for people, and for the identity provider.
fn of_directory(listed: Listed) -> Listed {
    listed
        .routes(operations!(directory::get_directory, directory::update_directory))
        .routes(operations!(directory::list_directory_tokens, directory::create_directory_token))
        .routes(operations!(directory::revoke_directory_token))
        .routes(operations!(directory::list_directory_requests))
        .routes(operations!(directory::list_directory_groups))
        .routes(operations!(directory::update_directory_group))
        .routes(operations!(scim::get_scim_configuration))
        .routes(operations!(scim::list_scim_resource_types))
        .routes(operations!(scim::get_scim_resource_type))
        .routes(operations!(scim::list_scim_schemas))
        .routes(operations!(scim::get_scim_schema))
        .routes(operations!(scim::list_scim_users, scim::create_scim_user))
        .routes(operations!(
            scim::get_scim_user,
            scim::replace_scim_user,
            scim::change_scim_user,
            scim::delete_scim_user
        ))
        .routes(operations!(scim::list_scim_groups, scim::create_scim_group))
        .routes(operations!(
            scim::get_scim_group,
            scim::replace_scim_group,
            scim::change_scim_group,
            scim::delete_scim_group
        ))
}

fn of_policies(listed: Listed) -> Listed {
    listed
        .with(policies::routes)
        .routes(operations!(policies::submit_policy_for_approval))
        .routes(operations!(policies::approve_policy))
        .routes(operations!(policies::deny_policy))
        .routes(operations!(chat::ask_about_policy))
        .routes(operations!(prints::print_policy))
        .routes(operations!(prints::print_policies))
        .routes(operations!(signing::sign_policy))
        .routes(operations!(signing::remind_policy_signers))
        .routes(operations!(signing::list_policy_signatures))
        .routes(operations!(signing::list_policies_to_sign))
        .routes(operations!(policy_versions::list_policy_versions))
        .routes(operations!(policy_versions::get_policy_version))
        .routes(operations!(comparisons::diff_policy_versions))
        .routes(operations!(comparisons::compare_policy))
        .routes(operations!(policy_versions::get_policy_file))
        .routes(operations!(templates::list_policy_templates))
        .routes(operations!(templates::get_policy_template))
        .routes(operations!(templates::create_policy_from_template))
}

/// Adds the routes of frameworks, controls and statements of applicability.
fn of_frameworks(listed: Listed) -> Listed {
    listed
        .routes(operations!(frameworks::list_frameworks, frameworks::own::create_framework))
        .routes(operations!(
            frameworks::get_framework,
            frameworks::own::replace_framework,
            frameworks::own::delete_framework
        ))
        .routes(operations!(frameworks::own::export_framework))
        .schemas(frameworks::own::schemas)
        .routes(operations!(frameworks::list_requirements))
        .routes(operations!(frameworks::readiness::get_framework_readiness))
        .routes(operations!(frameworks::trace::get_framework_trace))
        .routes(operations!(frameworks::trace::export_framework_trace))
        .routes(operations!(programme::get_programme, programme::start_programme))
        .routes(operations!(programme::export::export_programme))
        .routes(operations!(programme::list_scope_questions))
        .routes(operations!(programme::preview_programme))
        .routes(operations!(programme::remind_owners))
        .routes(operations!(programme::undo_programme))
        .routes(operations!(programme::risk_library::list_risk_library))
        .routes(operations!(programme::risk_library::create_risks_from_library))
        .with(registers::routes::<Control>)
        .routes(operations!(controls::link_control))
        .routes(operations!(controls::unlink_control))
        .routes(operations!(controls::create_controls_from_framework))
        .with(registers::routes::<ContextEntry>)
        .routes(operations!(soa::ensure_soa_setup))
        .routes(operations!(soa::create_soa_document))
        .routes(operations!(soa::save_soa_answer))
        .routes(operations!(soa::confirm_soa_answers))
        .routes(operations!(soa::filling::fill_soa))
        .routes(operations!(soa::submit_soa))
        .routes(operations!(soa::approve_soa))
        .routes(operations!(soa::decline_soa))
        .routes(operations!(soa::list_soa_documents))
        .routes(operations!(soa::get_soa_document))
        .routes(operations!(soa::statements::list_soa_rows))
        .routes(operations!(soa::statements::list_soa_gaps))
        .routes(operations!(soa::statements::diff_soa_documents))
        .routes(operations!(soa::exports::export_soa))
        .routes(operations!(soa::exports::verify_soa))
}

/// Adds the routes of the trust portal and of access to its documents.
fn of_portals(listed: Listed) -> Listed {
    listed
        .routes(operations!(trust_portal::get_portal_settings, trust_portal::update_portal_settings))
        .routes(operations!(trust_portal::preview_portal))
        .routes(operations!(trust_portal::domains::get_domain_status))
        .routes(operations!(trust_portal::certificates::upload_certificate))
        .routes(operations!(trust_portal::certificates::list_certificates))
        .routes(operations!(trust_portal::certificates::get_certificate_link))
        .routes(operations!(trust_portal::certificates::delete_certificate))
        .routes(operations!(trust_portal::posts::list_portal_posts, trust_portal::posts::create_portal_post))
        .routes(operations!(
            trust_portal::posts::get_portal_post,
            trust_portal::posts::update_portal_post,
            trust_portal::posts::delete_portal_post
        ))
        .routes(operations!(requests::list_access_requests))
        .routes(operations!(requests::get_access_request))
        .routes(operations!(requests::approve_access_request))
        .routes(operations!(requests::deny_access_request))
        .routes(operations!(requests::resend_nda))
        .routes(operations!(requests::preview_nda))
        .routes(operations!(requests::download_nda))
        .routes(operations!(grants::list_access_grants))
        .routes(operations!(grants::revoke_access_grant))
        .routes(operations!(grants::list_portal_visits))
        .routes(operations!(public::get_public_portal))
        .routes(operations!(public::download_public_document))
        .routes(operations!(public::request_access))
        .routes(operations!(public::reclaim_access))
        .routes(operations!(public::subscribe))
        .routes(operations!(public::confirm_subscription))
        .routes(operations!(public::end_subscription))
        .routes(operations!(agreements::get_nda))
        .routes(operations!(agreements::preview_own_nda))
        .routes(operations!(agreements::sign_nda))
        .routes(operations!(agreements::verify_nda_code))
        .routes(operations!(agreements::verify_nda_file))
        .routes(operations!(reading::get_access))
        .routes(operations!(reading::list_readable_policies))
        .routes(operations!(reading::download_readable_policies))
        .routes(operations!(reading::download_readable_policy))
        .routes(operations!(reading::list_readable_certificates))
        .routes(operations!(reading::download_readable_certificate))
}

/// Builds the router of the API and the console.
pub fn router(api: Api) -> Router {
    let small = SizeAbove::new(1024).and(DefaultPredicate::new()).and(not_as_stored);
    let (operations, facts) = all(Listed::served()).into_router();
    let outer = layers::Outer { api: api.clone(), facts: Arc::new(facts) };
    let guides = docs::GUIDES.iter().enumerate().fold(Router::new(), |router, (number, (_, page, ..))| {
        router.route(&format!("/docs/{page}"), get(async move || docs::guide(number)))
    });
    let router = operations
        .merge(guides)
        .route("/docs", get(docs::root))
        .route("/docs/", get(docs::browser))
        .route("/docs/errors", get(docs::errors))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .route("/.well-known/attestry-keys.json", get(health::keys))
        .route("/internal/tls/ask", get(trust_portal::domains::may_serve))
        .route("/scim/v2/Bulk", any(scim::not_supported))
        .route("/scim/v2/Me", any(scim::not_supported))
        .route("/scim/v2/.search", any(scim::not_supported))
        .route("/trust/{friendlyUrl}", get(page::show))
        .route("/trust/nda", get(page::agreement))
        .route("/trust/access", get(page::access))
        .route("/trust/confirm", get(page::confirm))
        // Requested by mail programs, at the address in the `List-Unsubscribe` header of a message (RFC 8058).
        .route("/unsubscribe", post(auth::unsubscribe_by_mail))
        .route("/trust/leave", get(page::leave).post(public::leave_by_mail))
        .merge(console::routes())
        .fallback(console::missing)
        .method_not_allowed_fallback(async || layers::method_not_allowed())
        .layer(from_fn_with_state(outer, layers::outer))
        // Outermost, so that the inner layer, which reserves memory for responses, knows the size of each one.
        .layer(CompressionLayer::new().gzip(true).compress_when(small));
    let router = match api.http.cors_origins.as_slice() {
        [] => router,
        origins => router.layer(cors(origins)),
    };
    router.with_state(api)
}

fn not_as_stored(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<AsStored>().is_none()
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

/// Removes expired rate-limit counters every minute.
pub async fn tidy(api: Api) {
    loop {
        tokio::time::sleep(Duration::from_mins(1)).await;
        api.limits.tidy();
    }
}
