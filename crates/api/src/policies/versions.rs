//! `…/versions` of a policy, and `…/file`.

use attestry_app::policies::files;
use attestry_app::policies::versions::{self, TextSelector};
use attestry_domain::Time;
use attestry_domain::access::{SeePolicies, grant};
use attestry_domain::content::Body;
use attestry_domain::content::content_example;
use attestry_domain::id::{AttachmentId, MemberId, PolicyId, PolicyVersionId, kind};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{PolicyFile, PolicyVersion};
use attestry_domain::text::Parse;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::facts::Argument;
use attestry_http::request::json::FromJson;
use attestry_http::request::path::{ParentId, PathId};
use attestry_http::request::query::ValidQuery;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::response::Response;
use http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::texts::{Texts, as_markdown};
use crate::registers::attachments::AttachmentLink;

/// The versions that a path names: `pv_…`, a number, or `draft`.
#[derive(Debug)]
pub(crate) struct Named(Vec<Option<TextSelector>>);

impl Argument for Named {}

impl FromRequestParts<Api> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, api).await;
        let params = params.map_err(|_| Problem::not_found("policy version"))?;
        let read = |text: &str| match text {
            "draft" => Some(TextSelector::Draft),
            text => PolicyVersionId::read(text)
                .map(TextSelector::Version)
                .or_else(|| VersionNumber::parse(text).ok().map(TextSelector::Number)),
        };
        Ok(Self(params.iter().skip(1).map(|(_, text)| read(text)).collect()))
    }
}

impl Named {
    pub(super) fn at(&self, place: usize) -> Result<TextSelector, Problem> {
        self.0.get(place).copied().flatten().ok_or_else(|| Problem::not_found("policy version"))
    }
}

/// The file that contains the text of a version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PolicyFile, example = json!({"id": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "policy.pdf", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}))]
pub(crate) struct FileView {
    #[schema(value_type = String, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AttachmentId,
    name: String,
    /// The SHA-256 of its content, in hexadecimal.
    sha256: String,
}

/// A policy as it was published.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicyVersion, example = json!(version_example()))]
pub(crate) struct VersionView {
    #[schema(value_type = String)]
    id: PolicyVersionId,
    #[schema(value_type = String)]
    policy_id: PolicyId,
    #[schema(value_type = i64)]
    version: VersionNumber,
    name: String,
    description: String,
    #[schema(required)]
    file: Option<FileView>,
    /// True if its text differs from the previous version, so that it had to be signed again.
    is_changed: bool,
    #[schema(required, value_type = Option<String>)]
    approver_id: Option<MemberId>,
    #[schema(required, value_type = Option<String>)]
    submitted_by_id: Option<MemberId>,
    /// True if the same member submitted and approved it.
    is_self_approved: bool,
    #[schema(value_type = String, format = DateTime)]
    published_at: Time,
    /// Its text; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = content_schema, required = false)]
    content: Option<Body>,
    /// Its text as Markdown; only with `format=markdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content_markdown: Option<String>,
}

fn content_schema() -> RefOr<Schema> {
    <Body as FromJson>::schema()
}

fn version_example() -> Value {
    json!({
        "id": "pv_01jcqg3v5mefzr7d0a6w3k9x2b", "policyId": "pol_01jcqg3v5mefzr7d0a6w3k9x2b", "version": 2,
        "name": "Access Control Policy", "description": "Who may see what.", "file": null, "isChanged": true,
        "approverId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "submittedById": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
        "isSelfApproved": true, "publishedAt": "2026-11-15T09:30:00.000Z", "content": content_example()
    })
}

impl VersionView {
    fn without_text(version: PolicyVersion) -> Self {
        let PolicyVersion {
            id,
            organization_id: _,
            policy_id,
            number,
            name,
            description,
            content: _,
            file,
            is_changed,
            approver_id,
            submitted_by_id,
            published_at,
        } = version;
        Self {
            id,
            policy_id,
            version: number,
            name,
            description,
            file: file.map(|PolicyFile { id, name, sha256 }| FileView { id, name, sha256 }),
            is_changed,
            approver_id,
            submitted_by_id,
            is_self_approved: approver_id.is_some() && approver_id == submitted_by_id,
            published_at,
            content: None,
            content_markdown: None,
        }
    }
}

page_of! {
    pub(crate) VersionList = VersionView, "PolicyVersionList", version_example()
}

/// Lists the versions of a policy
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions", tag = "Policies",
    params(ById),
    responses((status = 200, body = VersionList, description = "The versions, newest first, without their texts."))
)]
pub(crate) async fn list_policy_versions(
    api: State<Api>,
    scope: Granted<grant::PolicyRead>,
    id: PathId<kind::Policy>,
    query: ValidQuery<ById>,
) -> Result<Json<VersionList>, Problem> {
    let ValidQuery(ById { limit, after, total }) = query;
    let id = id.found()?;
    let page = versions::list(&api.ctx, &scope, id, limit, after).await?;
    let total = if total { Some(versions::count(&api.ctx, &scope, id).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    let data: Vec<VersionView> = page.items.into_iter().map(VersionView::without_text).collect();
    Ok(Json(PageView::new(data, next_cursor, total)))
}

/// Shows one version of a policy with its text
///
/// Without the permission to see all policies, only the published version is available.
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions/{version}", tag = "Policies",
    params(
        ("version" = String, Path, description = "The version's id or number.", example = "pv_01jcqg3v5mefzr7d0a6w3k9x2b"),
        Texts
    ),
    responses((status = 200, body = VersionView, description = "The version."))
)]
pub(crate) async fn get_policy_version(
    api: State<Api>,
    scope: Granted<SeePolicies>,
    id: ParentId<kind::Policy>,
    named: Named,
    ValidQuery(texts): ValidQuery<Texts>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let version = versions::get(&api.ctx, &scope, id.found()?, named.at(0)?).await?;
    let content = version.content.clone();
    let content_markdown = texts.markdown.then(|| as_markdown(&content)).transpose()?;
    let view = VersionView { content: Some(content), content_markdown, ..VersionView::without_text(version) };
    Ok(conditions.respond(&[view.version.get()], view))
}

/// Creates a link to the file of a policy
///
/// The file of the published version or, if you may see drafts, of the current draft. The audit log records this as a
/// download.
#[utoipa::path(
    get, path = "/v1/policies/{id}/file", tag = "Policies",
    responses((status = 200, body = AttachmentLink, description = "The link, and how long it works."))
)]
pub(crate) async fn get_policy_file(
    api: State<Api>,
    scope: Granted<SeePolicies>,
    id: PathId<kind::Policy>,
) -> Result<Json<AttachmentLink>, Problem> {
    let (link, lifetime) = files::link(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(AttachmentLink::new(link, lifetime)))
}
