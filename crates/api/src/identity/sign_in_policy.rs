//! `/v1/organization/sign-in-policy`, and signing a member out of the organization.

use attestry_app::identity::sign_in_policy::{PolicyInForce, PolicyPatch};
use attestry_app::identity::{confirmation, sign_in_policy};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{MemberId, kind};
use attestry_domain::identity::sign_in::{Mfa, SsoDemand, SsoMfa};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::Whole;
use attestry_http::request::path::PathId;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::identity::auth::Done;

/// The rules for the sessions of the organization's members.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignInPolicy, example = json!({
    "mfa": "required", "graceDays": 14, "mfaFrom": "2026-11-29T09:30:00.000Z", "idleMinutes": 60, "maxHours": null,
    "sso": "optional", "ssoMfa": "trusted", "ssoMaxHours": 12, "apiKeyMaxDays": 365, "apiKeyScopesRequired": false, "exemptMembers": [],
    "membersWithoutSecondFactor": 3, "apiKeysBeyondPolicy": 0, "updatedAt": "2026-11-15T09:30:00.000Z"
}))]
pub(crate) struct PolicyView {
    /// `required`: a session needs a second factor, which is a passkey, or a code beside the password.
    #[schema(schema_with = schema_of::<Mfa>)]
    mfa: Mfa,
    /// The days before a newly required second factor is enforced.
    grace_days: i64,
    /// From when the second factor is enforced; null while it is optional.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    mfa_from: Option<Time>,
    /// After so many minutes without a request, a session must be confirmed; null: the installation's limit.
    #[schema(required)]
    idle_minutes: Option<i64>,
    /// So many hours after the sign-in, a session ends here; null: the installation's limit.
    #[schema(required)]
    max_hours: Option<i64>,
    /// `required`: members sign in with a connection, except exempt owners.
    #[schema(schema_with = schema_of::<SsoDemand>)]
    sso: SsoDemand,
    /// When a sign-in with a connection counts as a second factor: always, if the provider names several factors in `amr`,
    /// or never.
    #[schema(schema_with = schema_of::<SsoMfa>)]
    sso_mfa: SsoMfa,
    /// So many hours after a sign-in with a connection, it ends here.
    sso_max_hours: i64,
    /// New API keys must expire within so many days; null: they need not expire.
    #[schema(required)]
    api_key_max_days: Option<i64>,
    /// True: new API keys name their scopes, and none has all permissions (`*`).
    api_key_scopes_required: bool,
    /// The owners who sign in with their own credentials and a second factor where single sign-on is required.
    #[schema(value_type = Vec<String>)]
    exempt_members: Vec<MemberId>,
    /// The number of active members whose accounts have no second factor.
    members_without_second_factor: i64,
    /// The number of API keys that were made before, and that the policy would not allow today. They go on working.
    api_keys_beyond_policy: i64,
    /// Null while these are the defaults.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    updated_at: Option<Time>,
}

impl From<PolicyInForce> for PolicyView {
    fn from(found: PolicyInForce) -> Self {
        let PolicyInForce { policy, members_without_second_factor, exempt_members, api_keys_beyond } = found;
        Self {
            mfa: policy.mfa,
            grace_days: policy.grace_days,
            mfa_from: policy.mfa_from,
            idle_minutes: policy.idle_minutes,
            max_hours: policy.max_hours,
            sso: policy.sso,
            sso_mfa: policy.sso_mfa,
            sso_max_hours: policy.sso_max_hours,
            api_key_max_days: policy.api_key_max_days,
            api_key_scopes_required: policy.api_key_scopes_required,
            exempt_members,
            members_without_second_factor,
            api_keys_beyond_policy: api_keys_beyond,
            updated_at: policy.updated_at,
        }
    }
}

body! {
    /// The rules to change. Fields that are left out stay as they are.
    UpdateSignInPolicy {
        mfa "mfa": optional Mfa = "`required`: sessions of members need a second factor. You must have one yourself.",
        grace_days "graceDays": optional Whole<0, 90> = "The days before a newly required second factor is enforced; 14 by default.",
        idle_minutes "idleMinutes": nullable Whole<5, 43_200> = "The minutes without a request after which a session must be confirmed, to within a minute; null: the installation's limit.",
        max_hours "maxHours": nullable Whole<1, 8_760> = "The hours after the sign-in at which a session ends here; null: the installation's limit.",
        sso "sso": optional SsoDemand = "`required`: members sign in with a connection. A connection must be tested and enabled, and an owner with a second factor exempt.",
        sso_mfa "ssoMfa": optional SsoMfa = "When a sign-in with a connection counts as a second factor.",
        sso_max_hours "ssoMaxHours": optional Whole<1, 720> = "The hours after which a sign-in with a connection ends here; 12 by default.",
        api_key_max_days "apiKeyMaxDays": nullable Whole<1, 3_650> = "The days within which a new API key must expire; null: it need not.",
        api_key_scopes_required "apiKeyScopesRequired": optional bool = "True: a new API key names its scopes.",
    }
    example json!({"graceDays": 7, "idleMinutes": 60})
}

/// The versions that the `ETag` is made of.
fn tag_of(found: &PolicyInForce) -> [i64; 4] {
    let of_ids = |all: i64, id: &MemberId| {
        all ^ i64::from_be_bytes(std::array::from_fn(|at| id.as_u128().to_be_bytes()[8 + at]))
    };
    let exempt = found.exempt_members.iter().fold(0, of_ids);
    [found.policy.version, found.members_without_second_factor, exempt, found.api_keys_beyond]
}

/// Shows the sign-in policy
#[utoipa::path(
    get, path = "/v1/organization/sign-in-policy", tag = "Organization",
    responses((status = 200, body = PolicyView, description = "The policy."))
)]
pub(crate) async fn get_sign_in_policy(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let found = sign_in_policy::get(&api.ctx, &scope).await?;
    let tag = tag_of(&found);
    Ok(conditions.respond(&tag, PolicyView::from(found)))
}

/// Changes the sign-in policy
///
/// For owners, whose session must have been confirmed within the last ten minutes. Members without a second factor are
/// told by mail when one becomes required. Open sessions are affected within seconds; API keys that exist are not.
#[utoipa::path(
    patch, path = "/v1/organization/sign-in-policy", tag = "Organization", request_body = UpdateSignInPolicy,
    responses(
        (status = 200, body = PolicyView, description = "The policy as it is now."),
        (status = 409, description = "You do not meet the policy yourself."),
    )
)]
pub(crate) async fn update_sign_in_policy(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    conditions: Conditions,
    body: Valid<UpdateSignInPolicy>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let UpdateSignInPolicy {
        mfa,
        grace_days,
        idle_minutes,
        max_hours,
        sso,
        sso_mfa,
        sso_max_hours,
        api_key_max_days,
        api_key_scopes_required,
    } = body.0;
    let patch = PolicyPatch {
        mfa,
        grace_days: grace_days.map(|Whole(days)| days),
        idle_minutes: idle_minutes.map(|Whole(minutes)| minutes),
        max_hours: max_hours.map(|Whole(hours)| hours),
        sso,
        sso_mfa,
        sso_max_hours: sso_max_hours.map(|Whole(hours)| hours),
        api_key_max_days: api_key_max_days.map(|Whole(days)| days),
        api_key_scopes_required,
    };
    let set = sign_in_policy::update(&api.ctx, &scope, patch, conditions.if_match()).await?;
    let tag = tag_of(&set);
    Ok(with_tag(StatusCode::OK, &tag, PolicyView::from(set)))
}

/// Signs everybody out of the organization
///
/// All sessions of its members, also yours, must sign in again; they stay valid in other organizations. API keys go on
/// working. The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    post, path = "/v1/organization/sign-out-everybody", tag = "Organization",
    responses((status = 200, body = Done, description = "Everybody has to sign in again."))
)]
pub(crate) async fn sign_out_everybody(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    sign_in_policy::sign_out_everybody(&api.ctx, &scope).await?;
    Ok(Json(Done::DONE))
}

/// Signs a member out of the organization
///
/// Their sessions stay valid in other organizations. Signing out an owner requires `owner:manage`.
#[utoipa::path(
    post, path = "/v1/people/{id}/sign-out", tag = "People",
    responses((status = 200, body = Done, description = "The member has to sign in again."))
)]
pub(crate) async fn sign_out_member(
    api: State<Api>,
    scope: Granted<grant::MemberUpdate>,
    id: PathId<kind::Member>,
) -> Result<Json<Done>, Problem> {
    sign_in_policy::sign_out(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(Done::DONE))
}
