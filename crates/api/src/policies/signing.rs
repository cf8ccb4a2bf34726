//! Signing policies: `…/sign`, `…/signatures`, `…/remind` and `/v1/policies/to-sign`.

use attestry_app::identity::confirmation;
use attestry_app::policies::signing::{self, Signer};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{MemberId, PolicyId, PolicySignatureId, PolicyVersionId, kind};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicySignature};
use attestry_http::answer::lists::{self, ById};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{reference, schema};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::FromJson;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Optional;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::Signed;
use super::texts::Texts;
use crate::registers::{self, RegisterApi, View};

body! {
    /// The version to sign.
    SignPolicy {
        version_id "versionId": optional PolicyVersionId = "The version you have read. If another one is published by now, nothing is signed.",
    }
    example json!({"versionId": "pv_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

/// A member's signature of a version of a policy.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(PolicySignature)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicySignature, example = json!({
    "id": "psg_01jcqg3v5mefzr7d0a6w3k9x2b", "policyId": "pol_01jcqg3v5mefzr7d0a6w3k9x2b",
    "versionId": "pv_01jcqg3v5mefzr7d0a6w3k9x2b", "version": 2, "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
    "signedAt": "2026-11-15T09:30:00.000Z"
}))]
pub(crate) struct SignatureView {
    #[schema(value_type = String)]
    id: PolicySignatureId,
    #[schema(value_type = String)]
    policy_id: PolicyId,
    #[schema(value_type = String)]
    version_id: PolicyVersionId,
    #[schema(value_type = i64)]
    version: VersionNumber,
    #[schema(value_type = String)]
    member_id: MemberId,
    #[schema(value_type = String, format = DateTime)]
    signed_at: Time,
}

/// Signs the published version of a policy
///
/// Requires a session, because only a person can sign. Signing again changes nothing. The body can be left out.
#[utoipa::path(
    post, path = "/v1/policies/{id}/sign", tag = "Policies", request_body = Option<SignPolicy>,
    responses(
        (status = 200, body = SignatureView, description = "The signature."),
        (status = 403, description = "An API key cannot sign; or you entered your password more than ten minutes ago."),
        (status = 409, description = "No version is published, or another one than `versionId`."),
    ),
    extensions(("x-session" = json!(true)))
)]
pub(crate) async fn sign_policy(
    api: State<Api>,
    scope: Granted<grant::PolicySign>,
    id: PathId<kind::Policy>,
    body: Optional<SignPolicy>,
) -> Result<Json<SignatureView>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let seen = body.0.and_then(|body| body.version_id);
    Ok(Json(signing::sign(&api.ctx, &scope, id.found()?, seen).await?.into()))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToSign {
    data: Vec<View<Policy, Signed>>,
    count: usize,
}

impl PartialSchema for ToSign {
    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "object", "required": ["data", "count"],
            "properties": {
                "data": {"type": "array", "items": reference("PolicyView")},
                "count": {"type": "integer", "minimum": 0}
            },
            "example": {"data": [Policy::example()], "count": 1}
        }))
    }
}

impl ToSchema for ToSign {}

/// Lists the policies you have to sign
///
/// In their published version, oldest first.
#[utoipa::path(
    get, path = "/v1/policies/to-sign", tag = "Policies", params(Texts),
    responses((status = 200, body = ToSign, description = "The policies whose signature is missing."))
)]
pub(crate) async fn list_policies_to_sign(
    api: State<Api>,
    scope: Granted<grant::PolicySign>,
    ValidQuery(texts): ValidQuery<Texts>,
) -> Result<Json<ToSign>, Problem> {
    let found = signing::to_sign(&api.ctx, &scope).await?;
    let data = registers::views(&api, &scope, &texts, found, None).await?;
    Ok(Json(ToSign { count: data.len(), data }))
}

/// A member who has to sign a policy, or has signed it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicySigner, example = json!(signer_example()))]
pub(crate) struct SignerView {
    #[schema(value_type = String)]
    member_id: MemberId,
    name: String,
    email: String,
    /// True if the policy requires the member's signature.
    has_to_sign: bool,
    /// True if the member has signed the text that is published now.
    has_signed: bool,
    /// When the member signed last.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    signed_at: Option<Time>,
    /// The number of the version that was signed.
    #[schema(required, value_type = Option<i64>)]
    version: Option<VersionNumber>,
    #[schema(required, value_type = Option<String>)]
    version_id: Option<PolicyVersionId>,
}

fn signer_example() -> Value {
    json!({
        "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Lovelace", "email": "ada@example.com",
        "hasToSign": true, "hasSigned": true, "signedAt": "2026-11-15T09:30:00.000Z", "version": 2,
        "versionId": "pv_01jcqg3v5mefzr7d0a6w3k9x2b"
    })
}

impl From<Signer> for SignerView {
    fn from(one: Signer) -> Self {
        let has_signed = one.has_signed();
        let Signer { person, has_to_sign, signature } = one;
        Self {
            member_id: person.member.id,
            name: person.user.name,
            email: person.user.email,
            has_to_sign,
            has_signed,
            signed_at: signature.as_ref().map(|signature| signature.signed_at),
            version: signature.as_ref().map(|signature| signature.version),
            version_id: signature.map(|signature| signature.version_id),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicySigners, example = json!({
    "data": [signer_example()], "count": 1, "nextCursor": null, "signedCount": 1, "missingCount": 0
}))]
pub(crate) struct SignerList {
    data: Vec<SignerView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    /// The number of members who have signed the published text, on all pages.
    signed_count: usize,
    /// The number of members whose signature is missing, on all pages.
    missing_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct ListSigners {
    by_id: ById,
    version: Option<VersionNumber>,
}

impl FromQuery for ListSigners {
    fn read(query: &mut Query) -> Self {
        Self { by_id: ById::read(query), version: query.get("version") }
    }
}

impl IntoParams for ListSigners {
    fn into_params(
        place: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
    ) -> Vec<utoipa::openapi::path::Parameter> {
        let mut all = ById::into_params(place);
        let about = "Only those whose latest signature is of the version with this number.";
        all.push(lists::parameter("version", <VersionNumber as FromJson>::schema(), about));
        all
    }
}

/// Shows who has signed which version of a policy, and who still has to
#[utoipa::path(
    get, path = "/v1/policies/{id}/signatures", tag = "Policies",
    params(ListSigners),
    responses((status = 200, body = SignerList, description = "The members."))
)]
pub(crate) async fn list_policy_signatures(
    api: State<Api>,
    scope: Granted<grant::PolicyRead>,
    id: PathId<kind::Policy>,
    query: ValidQuery<ListSigners>,
) -> Result<Json<SignerList>, Problem> {
    let ValidQuery(ListSigners { by_id, version }) = query;
    let all = signing::signers(&api.ctx, &scope, id.found()?, version).await?;
    let signed_count = all.iter().filter(|one| one.has_signed()).count();
    let missing_count = all.iter().filter(|one| one.is_missing()).count();
    let total = by_id.total.then_some(all.len());
    let (page, next_cursor) = by_id.cut(all, |one| one.person.member.id);
    let data: Vec<SignerView> = page.into_iter().map(Into::into).collect();
    Ok(Json(SignerList { count: data.len(), data, next_cursor, signed_count, missing_count, total }))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"remindedCount": 3}))]
pub(crate) struct Reminded {
    reminded_count: usize,
}

/// Reminds all members whose signature is missing
///
/// They get a mail, unless they have turned off notices about policies.
#[utoipa::path(
    post, path = "/v1/policies/{id}/remind", tag = "Policies",
    responses(
        (status = 200, body = Reminded, description = "The number of missing signatures."),
        (status = 409, description = "No version of the policy is published."),
    )
)]
pub(crate) async fn remind_policy_signers(
    api: State<Api>,
    scope: Granted<grant::PolicyUpdate>,
    id: PathId<kind::Policy>,
) -> Result<Json<Reminded>, Problem> {
    Ok(Json(Reminded { reminded_count: signing::remind(&api.ctx, &scope, id.found()?).await? }))
}
