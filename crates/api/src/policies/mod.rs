//! `/v1/policies`: the operations that only policies have: Markdown, approval and publishing.

use attestry_app::identity::confirmation;
use attestry_app::{Ctx, policies};
use attestry_domain::Time;
use attestry_domain::access::{Scope, SeePolicies, grant};
use attestry_domain::content::Body;
use attestry_domain::content::content_example;
use attestry_domain::id::{MemberId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::policies::{Policy, PolicyPatch, PolicySort};
use attestry_domain::registers::Fields as _;
use attestry_domain::registers::comments::CommentText;
use attestry_domain::registers::{Record, Wanted};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::listed::Listed;
use attestry_http::request::caller::Granted;
use attestry_http::request::facts::BodyLimit;
use attestry_http::request::path::PathId;
use attestry_http::request::wire::{Fields, Valid};
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::ser::SerializeMap;
use serde_json::{Value, json};
use utoipa::openapi::path::Parameter;

use crate::registers::{self, Extension, ExtensionView, Names, RegisterApi};

pub(crate) mod chat;
pub(crate) mod comparisons;
pub(crate) mod prints;
pub(crate) mod signing;
pub(crate) mod templates;
mod texts;
pub(crate) mod versions;

use texts::{Markdown, Texts, as_markdown, format_parameter};

/// The members who have signed a policy, and its text as Markdown if requested.
#[derive(Debug)]
pub(crate) struct Signed {
    signed_by: Vec<MemberId>,
    markdown: Option<String>,
}

impl ExtensionView for Signed {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("signedBy", &self.signed_by)?;
        match &self.markdown {
            Some(markdown) => map.serialize_entry("contentMarkdown", markdown),
            None => Ok(()),
        }
    }

    fn version(&self) -> Option<i64> {
        i64::try_from(self.signed_by.len()).ok()
    }
}

impl Extension<Policy> for Texts {
    type ExtensionView = Signed;

    fn parameters() -> Vec<Parameter> {
        vec![format_parameter()]
    }

    fn properties() -> Vec<(&'static str, Value)> {
        vec![
            (
                "signedBy",
                json!({
                    "type": "array", "items": {"type": "string", "examples": ["mem_01jcqg3v5mefzr7d0a6w3k9x2b"]},
                    "description": "The members who have signed the version that is published. Members who may not see all policies see only themselves."
                }),
            ),
            (
                "contentMarkdown",
                json!({"type": "string", "description": "The text as Markdown; only with `format=markdown`."}),
            ),
        ]
    }

    async fn find(
        &self,
        api: &Api,
        scope: &Scope,
        records: &mut [Record<Policy>],
        at: Option<Time>,
    ) -> Result<Vec<Signed>, Problem> {
        let signed = policies::complete(&api.ctx, scope, records, at).await?;
        let shown = records.iter().zip(signed).map(|(record, signed_by)| {
            let markdown = self.markdown.then(|| as_markdown(&record.content)).transpose()?;
            Ok(Signed { signed_by, markdown })
        });
        shown.collect()
    }
}

impl RegisterApi for Policy {
    type Read = SeePolicies;
    type ReadAll = grant::PolicyRead;
    type Create = grant::PolicyCreate;
    type Update = grant::PolicyUpdate;
    type Delete = grant::PolicyDelete;
    type Extension = Texts;

    const NAMES: Names = Names {
        schema: "Policy",
        one: "policy",
        many: "policies",
        deleted: Some("deletedPolicy"),
        parameter: "id",
    };
    const TABLES: bool = false;
    const BODY_LIMIT: BodyLimit = BodyLimit::Large;
    const GIVEN: &'static [&'static str] = &["name", "description", "content", "frequency", "department"];

    async fn page(
        ctx: &Ctx,
        scope: &Scope,
        wanted: &Wanted<Self>,
        page: PageRequest<PolicySort>,
        at: Option<Time>,
    ) -> Result<Page<Record<Self>>, attestry_app::Error> {
        policies::list(ctx, scope, wanted, page, at).await
    }

    async fn count(
        ctx: &Ctx,
        scope: &Scope,
        wanted: &Wanted<Self>,
        at: Option<Time>,
    ) -> Result<i64, attestry_app::Error> {
        policies::count(ctx, scope, wanted, at).await
    }

    fn body(fields: &mut Fields, whole: bool) -> Option<PolicyPatch> {
        // Read all fields before returning, so that every invalid one is reported.
        let both = fields.has("contentMarkdown") && fields.has("content");
        let markdown: Option<Option<Markdown>> = fields.optional("contentMarkdown");
        let patch = Policy::given_in(fields, whole);
        if both {
            fields.note("contentMarkdown", "cannot be given together with content");
            return None;
        }
        let (markdown, patch) = (markdown?, patch?);
        match markdown {
            None => Some(patch),
            Some(Markdown(content)) => Some(PolicyPatch { content: Some(Body::of(&content).ok()?), ..patch }),
        }
    }

    fn also_given() -> Vec<(&'static str, Value)> {
        let about = "The text as Markdown, in place of `content`.";
        vec![("contentMarkdown", json!({"type": "string", "description": about}))]
    }

    fn example() -> Value {
        json!({
            "id": "pol_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "P-3", "name": "Access Control Policy",
            "description": "Who may see what.", "status": "published", "content": content_example(), "fileId": null,
            "frequency": "yearly", "department": "it", "isRequiredToSign": true, "dueDate": "2026-12-04", "reviewDate": "2027-11-15",
            "isArchived": false, "assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
            "approverId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "submittedById": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
            "policyTemplateId": null, "isPublished": true, "currentVersion": 2,
            "currentVersionId": "pv_01jcqg3v5mefzr7d0a6w3k9x2b", "firstPublishedAt": "2026-03-02T09:30:00.000Z",
            "lastPublishedAt": "2026-11-15T09:30:00.000Z",
            "lastArchivedAt": null, "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b",
            "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z",
            "signedBy": ["mem_01jcqg3v5mefzr7d0a6w3k9x2b"]
        })
    }

    fn change_example() -> Value {
        json!({"contentMarkdown": "## Purpose\n\nWho may see what, and **why**.\n", "frequency": "quarterly"})
    }
}

/// Responds with the current policy and its ETag.
pub(crate) async fn answered(
    api: &Api,
    scope: &Scope,
    status: StatusCode,
    record: Record<Policy>,
) -> Result<Response, Problem> {
    let (tag, row) = registers::answer(api, scope, &Texts::default(), record, None).await?;
    Ok(with_tag(status, &tag, row))
}

body! {
    /// The member who is asked to approve a policy.
    SubmitForApproval {
        approver_id "approverId": required MemberId = "An active member who may approve policies.",
    }
    example json!({"approverId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

/// Submits a policy for approval
///
/// The policy becomes `needs_review`. Changing its name, description, content or file makes it a draft again.
#[utoipa::path(
    post, path = "/v1/policies/{id}/submit-for-approval", tag = "Policies", request_body = SubmitForApproval,
    responses(
        (status = 200, body = ref("#/components/schemas/Policy"), description = "The policy, waiting for approval."),
        (status = 409, description = "The policy has no text, or is archived."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn submit_policy_for_approval(
    api: State<Api>,
    scope: Granted<grant::PolicyUpdate>,
    id: PathId<kind::Policy>,
    conditions: Conditions,
    body: Valid<SubmitForApproval>,
) -> Result<Response, Problem> {
    let approver = body.0.approver_id;
    let policy =
        policies::submit_for_approval(&api.ctx, &scope, id.found()?, approver, conditions.if_match()).await?;
    answered(&api, &scope, StatusCode::OK, policy).await
}

/// Approves a policy, which publishes it
///
/// Only the member who was asked can do this. A new version is frozen; if its text differs from the previous version,
/// members are asked to sign it.
#[utoipa::path(
    post, path = "/v1/policies/{id}/approve", tag = "Policies",
    responses(
        (status = 200, body = ref("#/components/schemas/Policy"), description = "The policy, published."),
        (status = 403, description = "You are not the approver, or entered your password more than ten minutes ago."),
        (status = 409, description = "The policy does not wait for an approval, or is archived."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn approve_policy(
    api: State<Api>,
    scope: Granted<grant::PolicyApprove>,
    id: PathId<kind::Policy>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let policy = policies::approve(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    answered(&api, &scope, StatusCode::OK, policy).await
}

body! {
    /// The reason for not approving a policy.
    DenyPolicy {
        comment "comment": required CommentText = "The required changes. They become a comment on the policy.",
    }
    example json!({"comment": "Section 3 does not say who approves exceptions."})
}

/// Returns a policy to its authors, with a comment
///
/// Only the member who was asked can do this. The policy becomes a draft again.
#[utoipa::path(
    post, path = "/v1/policies/{id}/deny", tag = "Policies", request_body = DenyPolicy,
    responses(
        (status = 200, body = ref("#/components/schemas/Policy"), description = "The policy, a draft again."),
        (status = 409, description = "The policy does not wait for an approval, or is archived."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn deny_policy(
    api: State<Api>,
    scope: Granted<grant::PolicyApprove>,
    id: PathId<kind::Policy>,
    conditions: Conditions,
    body: Valid<DenyPolicy>,
) -> Result<Response, Problem> {
    let comment = body.0.comment;
    let policy = policies::deny(&api.ctx, &scope, id.found()?, comment, conditions.if_match()).await?;
    answered(&api, &scope, StatusCode::OK, policy).await
}

/// Adds the register operations of policies, and the schemas they refer to.
pub(crate) fn routes(listed: Listed) -> Listed {
    registers::routes::<Policy>(listed).schemas(|| vec![("EditorNode", texts::node_schema())])
}
