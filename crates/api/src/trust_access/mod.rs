//! `/v1/trust-access`: access requests, agreements, grants and reading.

pub(crate) mod agreements;
pub(crate) mod grants;
pub(crate) mod page;
pub(crate) mod public;
pub(crate) mod reading;
pub(crate) mod requests;

use attestry_app::trust_access::agreements::Preview;
use attestry_derive::View;
use attestry_domain::JsonSchema;
use attestry_domain::Time;
use attestry_domain::any_of::AnyOf;
use attestry_domain::id::{AccessGrantId, AccessRequestId, MemberId, NdaPreviewId};
use attestry_domain::page::{PageRequest, Sort};
use attestry_domain::portals::trust_access::{AccessGrant, GrantStatus};
use attestry_domain::text::{LongText, Parse};
use attestry_http::answer::lists;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::query::{FromQuery, Query};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// An access grant. It never contains the link, which is sent only by mail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessGrant, example = json!(grant_example()))]
pub(crate) struct GrantView {
    #[schema(value_type = String)]
    id: AccessGrantId,
    #[schema(value_type = String)]
    request_id: AccessRequestId,
    name: String,
    email: String,
    #[schema(schema_with = schema_of::<GrantStatus>)]
    status: GrantStatus,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Time>,
    #[schema(required, value_type = Option<String>)]
    revoked_by: Option<MemberId>,
    #[schema(required)]
    revocation_reason: Option<String>,
}

pub(crate) fn grant_example() -> Value {
    json!({
        "id": "tag_01jcqg3v5mefzr7d0a6w3k9x2b", "requestId": "tar_01jcqg3v5mefzr7d0a6w3k9x2b",
        "name": "Grace Hopper", "email": "grace@customer.example", "status": "active",
        "createdAt": "2026-11-15T09:30:00.000Z", "expiresAt": "2026-12-15T09:30:00.000Z", "revokedAt": null,
        "revokedBy": null, "revocationReason": null
    })
}

impl GrantView {
    fn new(grant: AccessGrant, now: Time) -> Self {
        let status = grant.status(now);
        let AccessGrant { id, request_id, name, email, created_at, expires_at, .. } = grant;
        let AccessGrant { revoked_at, revoked_by, revocation_reason, .. } = grant;
        Self {
            id,
            request_id,
            name,
            email,
            status,
            created_at,
            expires_at,
            revoked_at,
            revoked_by,
            revocation_reason,
        }
    }
}

/// A preview of an agreement.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Preview)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaPreview, example = json!({
    "message": "The preview is ready.", "previewId": "tnp_01jcqg3v5mefzr7d0a6w3k9x2b",
    "s3Key": "org_01jcqg3v5mefzr7d0a6w3k9x2b/trust-nda/preview-tnp_01jcqg3v5mefzr7d0a6w3k9x2b.pdf",
    "pdfDownloadUrl": "https://compliance.example.com/v1/files/9rVq0mJxk2J6n0y8"
}))]
pub(crate) struct PreviewView {
    #[view("The preview is ready.")]
    message: &'static str,
    #[schema(value_type = String)]
    #[view(one.id)]
    preview_id: NdaPreviewId,
    /// The key in the object storage; the file is removed after a day.
    #[view(one.key)]
    s3_key: String,
    /// Works for 15 minutes, for anyone who has it.
    #[view(one.link.0)]
    pdf_download_url: String,
}

/// The query of a list that can be filtered by status and sorted by `K`.
#[derive(Debug)]
pub(crate) struct OfStatus<S, K> {
    pub(super) status: Option<AnyOf<S>>,
    pub(super) page: PageRequest<K>,
    pub(super) total: bool,
}

impl<S: Parse + PartialEq, K: Sort> FromQuery for OfStatus<S, K> {
    fn read(query: &mut Query) -> Self {
        Self { status: query.any_of("status"), page: lists::page(query), total: lists::total(query) }
    }
}

impl<S: JsonSchema, K: Sort + JsonSchema> IntoParams for OfStatus<S, K> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = lists::parameters::<K>();
        all.push(lists::total_parameter());
        all.push(lists::parameter("status", schema_of::<AnyOf<S>>(), "Only those with this status."));
        all
    }
}

body! {
    /// The reason for the decision.
    GiveReason (Medium) {
        reason "reason": required LongText = "Why.",
    }
    example json!({"reason": "We only share our documents with customers."})
}
