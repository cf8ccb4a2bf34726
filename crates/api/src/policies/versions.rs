//! `…/versions` and what differs between two texts of a policy.

use attestry_app::attachments;
use attestry_app::policies::versions::{self, Text, Which};
use attestry_domain::Time;
use attestry_domain::access::{SeePolicies, grant};
use attestry_domain::content::diff::{self, Fate};
use attestry_domain::content::{Block, Body, Content};
use attestry_domain::id::{AttachmentId, MemberId, PolicyId, PolicyVersionId, kind};
use attestry_domain::policies::{Policy, PolicyFile, PolicyVersion};
use attestry_domain::text::Parse;
use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{Markdown, Texts, answered, as_markdown, content_example};
use crate::answer::conditions::Conditions;
use crate::answer::lists::{self, ById};
use crate::answer::problem::{FieldProblem, Problem};
use crate::document::operations::schema;
use crate::request::caller::Granted;
use crate::request::json::{FromJson, Json as JsonValue};
use crate::request::path::{ParentId, PathId};
use crate::request::query::ValidQuery;
use crate::request::wire::Valid;
use crate::state::Api;

/// The number of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) i64);

impl Parse for Number {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number @ 1..) => Ok(Self(number)),
            _ => Err("must be the number of a version: 1 or more".to_owned()),
        }
    }
}

/// The texts a path names: `pv_…`, a number, or `draft`.
#[derive(Debug)]
pub(crate) struct Named(Vec<Option<Which>>);

impl FromRequestParts<Api> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, api).await;
        let params = params.map_err(|_| Problem::not_found("policy version"))?;
        let read = |text: &str| match text {
            "draft" => Some(Which::Draft),
            text => PolicyVersionId::read(text)
                .map(Which::Version)
                .or_else(|| Number::parse(text).ok().map(|number| Which::Number(number.0))),
        };
        Ok(Self(params.iter().skip(1).map(|(_, text)| read(text)).collect()))
    }
}

impl Named {
    fn at(&self, place: usize) -> Result<Which, Problem> {
        self.0.get(place).copied().flatten().ok_or_else(|| Problem::not_found("policy version"))
    }
}

/// The file that is the text of a version.
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
    version: i64,
    name: String,
    description: String,
    #[schema(required)]
    file: Option<FileView>,
    /// Whether it says something else than the version before, so that it had to be signed again.
    is_changed: bool,
    #[schema(required, value_type = Option<String>)]
    approver_id: Option<MemberId>,
    #[schema(required, value_type = Option<String>)]
    submitted_by_id: Option<MemberId>,
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
        "publishedAt": "2026-11-15T09:30:00.000Z", "content": content_example()
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
            published_at,
            content: None,
            content_markdown: None,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicyVersionList, example = json!({"data": [version_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct VersionList {
    data: Vec<VersionView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<i64>,
}

/// Lists the versions of a policy
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions", tag = "Policies",
    params(("id" = inline(PolicyId), Path, description = "The policy's id."), ById),
    responses((status = 200, body = VersionList, description = "The versions, newest first, without their texts.")),
    extensions(("x-permission" = json!("policy:read")))
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
    Ok(Json(VersionList { count: data.len(), data, next_cursor, total }))
}

/// Shows one version of a policy with its text
///
/// Whoever may not see all policies sees the version that is published.
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions/{version}", tag = "Policies",
    params(
        ("id" = inline(PolicyId), Path, description = "The policy's id."),
        ("version" = String, Path, description = "The version's id or number.", example = "pv_01jcqg3v5mefzr7d0a6w3k9x2b"),
        Texts
    ),
    responses((status = 200, body = VersionView, description = "The version.")),
    extensions(("x-permission" = json!("policy:read")), ("x-or-permission" = json!("policy:sign")))
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
    Ok(conditions.respond(&[view.version], view))
}

/// A block of both texts together.
#[derive(Debug, Serialize)]
struct ChangeView<'a> {
    id: usize,
    change: Fate,
    before: Option<&'a Block>,
    after: Option<&'a Block>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<WordsView>,
}

#[derive(Debug, Serialize)]
struct WordsView {
    change: Fate,
    text: String,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    same: usize,
    changed: usize,
    added: usize,
    removed: usize,
}

/// What differs between two texts.
#[derive(Debug)]
pub(crate) struct PolicyDiff;

impl PartialSchema for PolicyDiff {
    fn schema() -> RefOr<Schema> {
        let node = json!({"anyOf": [{"$ref": "#/components/schemas/EditorNode"}, {"type": "null"}]});
        let change = json!({"type": "string", "enum": ["same", "changed", "added", "removed"]});
        let name = json!({"type": "string", "description": "The policy's name in this text."});
        schema(json!({
            "type": "object", "required": ["before", "after", "counts", "changes"],
            "properties": {
                "before": {"type": "object", "required": ["name"], "properties": {"name": name}},
                "after": {"type": "object", "required": ["name"], "properties": {"name": name}},
                "counts": {
                    "type": "object", "required": ["same", "changed", "added", "removed"],
                    "properties": {
                        "same": {"type": "integer"}, "changed": {"type": "integer"},
                        "added": {"type": "integer"}, "removed": {"type": "integer"}
                    }
                },
                "changes": {"type": "array", "items": {
                    "type": "object", "required": ["id", "change", "before", "after"],
                    "properties": {
                        "id": {"type": "integer", "description": "Names the change in `apply`."},
                        "change": change, "before": node, "after": node,
                        "words": {
                            "type": "array", "description": "The words of a block that was changed.",
                            "items": {
                                "type": "object", "required": ["change", "text"],
                                "properties": {"change": change, "text": {"type": "string"}}
                            }
                        }
                    }
                }}
            },
            "example": {
                "before": {"name": "Access Control Policy"}, "after": {"name": "Access Control Policy"},
                "counts": {"same": 0, "changed": 1, "added": 0, "removed": 0},
                "changes": [{
                    "id": 0, "change": "changed",
                    "before": {"type": "paragraph", "content": [{"type": "text", "text": "Every quarter."}]},
                    "after": {"type": "paragraph", "content": [{"type": "text", "text": "Every month."}]},
                    "words": [
                        {"change": "same", "text": "Every "}, {"change": "removed", "text": "quarter"},
                        {"change": "added", "text": "month"}, {"change": "same", "text": "."}
                    ]
                }]
            }
        }))
    }
}

impl ToSchema for PolicyDiff {}

/// What differs, or the policy in which some of it was changed.
#[derive(Debug)]
pub(crate) struct PolicyComparison;

impl PartialSchema for PolicyComparison {
    fn schema() -> RefOr<Schema> {
        let differences = json!(PolicyDiff::schema());
        let example = differences["example"].clone();
        schema(json!({"anyOf": [differences, {"$ref": "#/components/schemas/Policy"}], "example": example}))
    }
}

impl ToSchema for PolicyComparison {}

async fn difference(api: &Api, [before, after]: [Text; 2]) -> Result<Response, Problem> {
    let written = versions::comparing(&api.ctx, move || {
        let mut counts = Counts::default();
        let changes: Vec<ChangeView<'_>> = diff::diff(&before.content, &after.content)
            .into_iter()
            .enumerate()
            .map(|(id, one)| {
                let count = match one.fate {
                    Fate::Same => &mut counts.same,
                    Fate::Changed => &mut counts.changed,
                    Fate::Added => &mut counts.added,
                    Fate::Removed => &mut counts.removed,
                };
                *count += 1;
                let words =
                    one.words.into_iter().map(|words| WordsView { change: words.fate, text: words.text });
                ChangeView {
                    id,
                    change: one.fate,
                    before: one.before,
                    after: one.after,
                    words: words.collect(),
                }
            })
            .collect();
        serde_json::to_vec(&json!({
            "before": {"name": before.name}, "after": {"name": after.name}, "counts": counts, "changes": changes
        }))
    });
    let written = written.await?.map_err(Problem::internal)?;
    Ok(([(http::header::CONTENT_TYPE, "application/json")], written).into_response())
}

/// Shows what differs between two versions of a policy
///
/// Block by block, and word by word within a block that was changed. `draft` is the text that people work on.
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions/{a}/diff/{b}", tag = "Policies",
    params(
        ("id" = inline(PolicyId), Path, description = "The policy's id."),
        ("a" = String, Path, description = "The text before: the id or number of a version, or `draft`.", example = "1"),
        ("b" = String, Path, description = "The text after: the id or number of a version, or `draft`.", example = "draft"),
    ),
    responses((status = 200, body = PolicyDiff, description = "All blocks of both texts.")),
    extensions(("x-permission" = json!("policy:read")))
)]
pub(crate) async fn diff_policy_versions(
    api: State<Api>,
    scope: Granted<grant::PolicyRead>,
    id: ParentId<kind::Policy>,
    named: Named,
) -> Result<Response, Problem> {
    let which = [named.at(0)?, named.at(1)?];
    difference(&api, versions::both(&api.ctx, &scope, id.found()?, which).await?).await
}

/// The ids of changes.
#[derive(Clone, Debug)]
pub(crate) struct Places(Vec<usize>);

impl FromJson for Places {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let read =
            |item: &JsonValue| item.value().map_err(|_| "must be a whole number of 0 or more".to_owned());
        json.each(2 * attestry_domain::content::MOST_NODES, read).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "array", "items": {"type": "integer", "minimum": 0}}))
    }
}

body! {
    /// Another text for a policy.
    ComparePolicy {
        content_markdown "contentMarkdown": optional Markdown = "The text as Markdown.",
        content "content": optional Body = "The text as editor nodes, in place of `contentMarkdown`.",
        apply "apply": optional Places = "The ids of changes to make. Needs `policy:update`; the answer is the policy.",
    }
    example json!({"contentMarkdown": "## Purpose\n\nWho may see what, and why.\n"})
}

/// Shows what another text would change in a policy, or makes some of its changes
///
/// Without `apply` nothing is saved. With `apply` only the changes with these ids are made, and the answer is the policy.
/// The ids are those of the policy as it is: send its ETag in `If-Match` to be sure that nobody has changed it since.
#[utoipa::path(
    post, path = "/v1/policies/{id}/diff", tag = "Policies", request_body = ComparePolicy,
    params(("id" = inline(PolicyId), Path, description = "The policy's id.")),
    responses(
        (status = 200, body = PolicyComparison, description = "All blocks of both texts; with `apply`, the policy."),
        (status = 412, description = "`If-Match` does not match, or the policy was changed in the meantime."),
    ),
    extensions(("x-permission" = json!("policy:read")), ("x-unrecorded" = json!("A comparison saves nothing.")))
)]
pub(crate) async fn compare_policy(
    api: State<Api>,
    scope: Granted<grant::PolicyRead>,
    id: PathId<kind::Policy>,
    conditions: Conditions,
    body: Valid<ComparePolicy>,
) -> Result<Response, Problem> {
    let ComparePolicy { content_markdown, content, apply } = body.0;
    let wrong = |message: &str| Problem::invalid(vec![FieldProblem::new("contentMarkdown", message)]);
    let proposal: Content = match (content_markdown, content) {
        (Some(Markdown(content)), None) => content,
        (None, Some(body)) => body.content().map_err(Problem::internal)?,
        (None, None) => return Err(wrong("is required, or content in its place")),
        (Some(_), Some(_)) => return Err(wrong("cannot be given together with content")),
    };
    let id = id.found()?;
    if let Some(Places(wanted)) = apply {
        let allowed = scope.require(attestry_domain::access::Permission::PolicyUpdate);
        allowed.map_err(attestry_app::Error::from)?;
        let policy = versions::apply(&api.ctx, &scope, id, proposal, wanted, conditions.if_match()).await?;
        return answered(&api, &scope, StatusCode::OK, policy).await;
    }
    let (before, _) = versions::draft(&api.ctx, &scope, id).await?;
    let after = Text { name: before.name.clone(), content: proposal };
    difference(&api, [before, after]).await
}

/// Makes a link to the file that is a policy's text
///
/// Of the version that is published, or for whoever may see drafts the one that people work on. The audit log records
/// this as a download.
#[utoipa::path(
    get, path = "/v1/policies/{id}/file", tag = "Policies",
    params(("id" = inline(PolicyId), Path, description = "The policy's id.")),
    responses((status = 200, body = crate::attachments::AttachmentLink, description = "The link, and how long it works.")),
    extensions(("x-permission" = json!("policy:read")), ("x-or-permission" = json!("policy:sign")))
)]
pub(crate) async fn get_policy_file(
    api: State<Api>,
    scope: Granted<SeePolicies>,
    id: PathId<kind::Policy>,
) -> Result<Json<crate::attachments::AttachmentLink>, Problem> {
    let id = id.found()?;
    let record = attestry_app::registers::get::<Policy>(&api.ctx, &scope, id).await?;
    let mut rows = [record];
    attestry_app::policies::complete(&api.ctx, &scope, &mut rows, None).await?;
    let file = rows[0].file_id.ok_or_else(|| Problem::not_found("file of this policy"))?;
    let (link, lifetime) = attachments::link_to_policy(&api.ctx, &scope, id, file).await?;
    Ok(Json(crate::attachments::AttachmentLink::new(link, lifetime)))
}
