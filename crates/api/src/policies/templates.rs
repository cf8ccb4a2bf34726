//! `/v1/policy-templates`: policies that ship with the product.

use attestry_app::policies::templates::{self, TemplateOverrides};
use attestry_domain::access::grant;
use attestry_domain::content::{Body, Content, markdown};
use attestry_domain::id::{MemberId, PolicyTemplateId, kind};
use attestry_domain::policies::templates::PolicyTemplate;
use attestry_domain::policies::{ReviewFrequency, templates as policy_templates};
use attestry_domain::text::Name;
use attestry_domain::words::Department;
use attestry_domain::{Parse, Zone};
use attestry_http::answer::lists::{ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::PathId;
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::answered;

/// A policy that ships with the product, from which an organization can create its own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PolicyTemplate, example = json!(template_example()))]
pub(crate) struct TemplateView {
    #[schema(value_type = String)]
    id: PolicyTemplateId,
    name: &'static str,
    description: &'static str,
    #[schema(schema_with = schema_of::<Department>)]
    department: Department,
    #[schema(schema_with = schema_of::<ReviewFrequency>)]
    frequency: ReviewFrequency,
    /// Common names of its subject.
    topics: &'static [&'static str],
}

impl From<&'static PolicyTemplate> for TemplateView {
    fn from(template: &'static PolicyTemplate) -> Self {
        let PolicyTemplate { id, name, description, department, frequency, topics, text: _ } = template;
        Self { id: *id, name, description, department: *department, frequency: *frequency, topics }
    }
}

fn template_example() -> Value {
    json!(policy_templates::all().get(1).map(TemplateView::from))
}

page_of! {
    pub(crate) TemplateList = TemplateView, "PolicyTemplateList", template_example()
}

/// Lists the policy templates
///
/// They ship with the product; their ids never change.
#[utoipa::path(
    get, path = "/v1/policy-templates", tag = "Policies", params(ById),
    responses((status = 200, body = TemplateList, description = "The templates."))
)]
pub(crate) async fn list_policy_templates(
    _scope: Granted<grant::PolicyRead>,
    query: ValidQuery<ById>,
) -> Json<TemplateList> {
    let ValidQuery(by_id) = query;
    let all = policy_templates::all();
    let (page, next_cursor) = by_id.cut(all, |one| one.id);
    Json(PageView::new(page, next_cursor, by_id.total_of(all.len())))
}

/// A template with its text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PolicyTemplateText, example = json!(text_example()))]
pub(crate) struct TextView {
    #[serde(flatten)]
    template: TemplateView,
    /// Its text as Markdown, with the placeholders `{{organization}}`, `{{contact}}`, `{{reviewPeriod}}` and
    /// `{{timeZone}}`.
    content_markdown: &'static str,
    #[schema(schema_with = content_schema)]
    content: Content,
}

fn content_schema() -> RefOr<Schema> {
    Body::schema()
}

fn text_example() -> Value {
    let mut example = template_example();
    example["contentMarkdown"] = json!("## Purpose\n\nWho may see what at {{organization}}.\n");
    example["content"] = json!(markdown::read("## Purpose\n\nWho may see what at {{organization}}.").ok());
    example
}

/// Shows one policy template with its text
#[utoipa::path(
    get, path = "/v1/policy-templates/{id}", tag = "Policies",
    responses((status = 200, body = TextView, description = "The template."))
)]
pub(crate) async fn get_policy_template(
    _scope: Granted<grant::PolicyRead>,
    id: PathId<kind::PolicyTemplate>,
) -> Result<Json<TextView>, Problem> {
    let missing = || Problem::not_found("policy template");
    let template = policy_templates::get(id.found()?).ok_or_else(missing)?;
    let content = markdown::read(template.text).map_err(Problem::internal)?;
    Ok(Json(TextView { template: template.into(), content_markdown: template.text, content }))
}

/// The id of a template that exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Existing(PolicyTemplateId);

impl FromJson for Existing {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let found = policy_templates::get(PolicyTemplateId::parse(&json.text()?)?);
        found.map(|found| Self(found.id)).ok_or_else(|| {
            "is not one of the policy templates; GET /v1/policy-templates lists them".to_owned()
        })
    }

    fn schema() -> RefOr<Schema> {
        schema_of::<PolicyTemplateId>()
    }
}

body! {
    /// A template to create a policy from, and the values of its placeholders.
    CreatePolicyFromTemplate (Large) {
        template_id "templateId": required Existing = "The template.",
        name "name": optional Name = "The policy's name; the template's, if it is left out.",
        assignee_id "assigneeId": optional MemberId = "The active member who looks after it.",
        organization "organizationName": optional Name = "The organization as the text names it; its name, if it is left out.",
        contact "contact": optional Name = "The contact named in the text; your e-mail address by default.",
        frequency "frequency": optional ReviewFrequency = "The review interval; that of the template by default.",
        time_zone "timeZone": optional Zone = "The time zone of the text's deadlines; the organization's, if it is left out.",
    }
    example json!({"templateId": policy_templates::all().get(1).map(|template| template.id), "contact": "security@example.com"})
}

/// Creates a policy from a template
///
/// The new policy is a draft with the whole text, its placeholders filled in.
#[utoipa::path(
    post, path = "/v1/policies/from-template", tag = "Policies", request_body = CreatePolicyFromTemplate,
    responses((status = 201, body = ref("#/components/schemas/Policy"), description = "The policy."))
)]
pub(crate) async fn create_policy_from_template(
    api: State<Api>,
    scope: Granted<grant::PolicyCreate>,
    body: Valid<CreatePolicyFromTemplate>,
) -> Result<Response, Problem> {
    let CreatePolicyFromTemplate {
        template_id: Existing(template),
        name,
        assignee_id,
        organization,
        contact,
        frequency,
        time_zone,
    } = body.0;
    let wishes = TemplateOverrides { name, assignee_id, organization, contact, frequency, time_zone };
    let policy = templates::create(&api.ctx, &scope, template, wishes).await?;
    answered(&api, &scope, StatusCode::CREATED, policy).await
}
