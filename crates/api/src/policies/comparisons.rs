//! The differences between two texts of a policy.

use attestry_app::policies::comparisons::{self, Text};
use attestry_domain::access::{Permission, Scope, grant};
use attestry_domain::content::diff::{self, ChangeKind, Words};
use attestry_domain::content::{Block, Body, Content, MAX_NODES};
use attestry_domain::id::kind;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::problem::{FieldProblem, Problem};
use attestry_http::document::schemas::{reference, schema};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::{ParentId, PathId};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::answered;
use super::texts::Markdown;
use super::versions::Named;

/// A block of the merged texts.
#[derive(Debug, Serialize)]
struct ChangeView<'a> {
    id: usize,
    change: ChangeKind,
    before: Option<&'a Block>,
    after: Option<&'a Block>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<Words>,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    same: usize,
    changed: usize,
    added: usize,
    removed: usize,
}

/// The differences between two texts.
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

/// The differences between two texts, or the policy to which some of them were applied.
#[derive(Debug)]
pub(crate) struct PolicyComparison;

impl PartialSchema for PolicyComparison {
    fn schema() -> RefOr<Schema> {
        let example = json!(PolicyDiff::schema())["example"].clone();
        schema(json!({"anyOf": [reference("PolicyDiff"), reference("Policy")], "example": example}))
    }
}

impl ToSchema for PolicyComparison {}

async fn difference(api: &Api, scope: &Scope, [before, after]: [Text; 2]) -> Result<Response, Problem> {
    let written = api.ctx.comparing.work(scope.organization(), move || {
        let mut counts = Counts::default();
        let changes: Vec<ChangeView<'_>> = diff::diff(&before.content, &after.content)
            .into_iter()
            .enumerate()
            .map(|(id, one)| {
                let count = match one.fate {
                    ChangeKind::Same => &mut counts.same,
                    ChangeKind::Changed => &mut counts.changed,
                    ChangeKind::Added => &mut counts.added,
                    ChangeKind::Removed => &mut counts.removed,
                };
                *count += 1;
                let diff::Difference { fate, before, after, words } = one;
                ChangeView { id, change: fate, before, after, words }
            })
            .collect();
        serde_json::to_vec(&json!({
            "before": {"name": before.name}, "after": {"name": after.name}, "counts": counts, "changes": changes
        }))
    });
    let written = written.await?.map_err(Problem::internal)?;
    Ok(([(http::header::CONTENT_TYPE, "application/json")], written).into_response())
}

/// Compares two versions of a policy
///
/// Block by block, and word by word within a changed block. `draft` is the text that is being edited.
#[utoipa::path(
    get, path = "/v1/policies/{id}/versions/{a}/diff/{b}", tag = "Policies",
    params(
        ("a" = String, Path, description = "The text before: the id or number of a version, or `draft`.", example = "1"),
        ("b" = String, Path, description = "The text after: the id or number of a version, or `draft`.", example = "draft"),
    ),
    responses((status = 200, body = PolicyDiff, description = "All blocks of both texts."))
)]
pub(crate) async fn diff_policy_versions(
    api: State<Api>,
    scope: Granted<grant::PolicyRead>,
    id: ParentId<kind::Policy>,
    named: Named,
) -> Result<Response, Problem> {
    let which = [named.at(0)?, named.at(1)?];
    difference(&api, &scope, comparisons::both(&api.ctx, &scope, id.found()?, which).await?).await
}

/// The ids of changes.
#[derive(Clone, Debug)]
pub(crate) struct ChangeIds(Vec<usize>);

impl FromJson for ChangeIds {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let read = |item: &JsonValue| {
            let place = item.whole().and_then(|place| usize::try_from(place).ok());
            place.ok_or_else(|| "must be a whole number of 0 or more".to_owned())
        };
        json.each(2 * MAX_NODES, read).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "array", "items": {"type": "integer", "minimum": 0}}))
    }
}

body! {
    /// Another text for a policy.
    ComparePolicy (Large) {
        content_markdown "contentMarkdown": optional Markdown = "The text as Markdown.",
        content "content": optional Body = "The text as editor nodes, in place of `contentMarkdown`.",
        apply "apply": optional ChangeIds = "The ids of changes to make. Needs `policy:update`; the answer is the policy.",
    }
    example json!({"contentMarkdown": "## Purpose\n\nWho may see what, and why.\n"})
}

/// Compares a policy with another text, or applies some of the differences
///
/// Without `apply` nothing is saved. With `apply` only the changes with these ids are made, and the response is the
/// policy. The ids refer to the current policy: send its ETag in `If-Match` to detect a change in the meantime.
#[utoipa::path(
    post, path = "/v1/policies/{id}/diff", tag = "Policies", request_body = ComparePolicy,
    responses(
        (status = 200, body = PolicyComparison, description = "All blocks of both texts; with `apply`, the policy."),
        (status = 412, description = "`If-Match` does not match, or the policy was changed in the meantime."),
    )
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
    if let Some(ChangeIds(wanted)) = apply {
        let allowed = scope.require(Permission::PolicyUpdate);
        allowed.map_err(attestry_app::Error::from)?;
        let policy =
            comparisons::apply(&api.ctx, &scope, id, proposal, wanted, conditions.if_match()).await?;
        return answered(&api, &scope, StatusCode::OK, policy).await;
    }
    let (before, _) = comparisons::draft(&api.ctx, &scope, id).await?;
    let after = Text { name: before.name.clone(), content: proposal };
    difference(&api, &scope, [before, after]).await
}
