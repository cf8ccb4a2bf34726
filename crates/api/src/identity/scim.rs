//! `/scim/v2`: the protocol in which an identity provider keeps people and groups in step (RFC 7643 and 7644).

use attestry_app::identity::directory::people::Given;
use attestry_app::identity::directory::{self, Found, Versioned, groups, has_tag, people};
use attestry_domain::id::kind;
use attestry_domain::identity::directory::{
    Attribute, ENTERPRISE, ENTERPRISE_PARTS, GROUP, GROUPS, Kind, Projection, Resource, Type, USER, USERS,
};
use attestry_http::answer::conditions::tags;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::scim::SCIM;
use attestry_http::document::schemas::schema;
use attestry_http::request::directory::{Directory, MAX_PAGE, ScimBody, query};
use attestry_http::request::path::PathId;
use attestry_http::state::Api;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const PATCH: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/// Declares a document of SCIM for the OpenAPI document.
macro_rules! documents {
    ($($(#[$about:meta])* $name:ident $schema:expr;)*) => {
        $(
            $(#[$about])*
            #[derive(Debug)]
            pub(crate) enum $name {}

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    schema($schema)
                }
            }

            impl ToSchema for $name {}
        )*
    };
}

documents! {
    /// A person.
    ScimUser json!({
        "type": "object", "description": "A person, with the attributes that are kept. Others are ignored.",
        "properties": {
            "schemas": {"type": "array", "items": {"type": "string"}}, "id": {"type": "string"},
            "externalId": {"type": "string"}, "userName": {"type": "string"}, "displayName": {"type": "string"},
            "name": {"type": "object"}, "title": {"type": "string"}, "active": {"type": ["boolean", "string"]},
            "emails": one_or_more(), "groups": {"type": "array", "items": {"type": "object"}},
            (ENTERPRISE): {"type": "object"}, "meta": {"type": "object"}
        },
        "examples": [user_example()]
    });
    /// A group of people.
    ScimGroup json!({
        "type": "object", "description": "A group of people.",
        "properties": {
            "schemas": {"type": "array", "items": {"type": "string"}}, "id": {"type": "string"},
            "externalId": {"type": "string"}, "displayName": {"type": "string"},
            "members": one_or_more(), "meta": {"type": "object"}
        },
        "examples": [group_example()]
    });
    /// Operations on a resource.
    ScimPatch json!({
        "type": "object", "description": "Operations, all of which are applied, or none.",
        "properties": {
            "schemas": {"type": "array", "items": {"type": "string"}},
            "Operations": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "object", "additionalProperties": true}}
        },
        "examples": [{"schemas": [PATCH], "Operations": [{"op": "replace", "path": "externalId", "value": "a1"}]}]
    });
    /// A page of resources.
    ScimList json!({
        "type": "object", "required": ["schemas", "totalResults"], "description": "A page of resources.",
        "properties": {
            "schemas": {"type": "array", "items": {"type": "string"}}, "totalResults": {"type": "integer"},
            "startIndex": {"type": "integer"}, "itemsPerPage": {"type": "integer"},
            "Resources": {"type": "array", "items": {"type": "object"}}
        },
        "examples": [{"schemas": [LIST], "totalResults": 0, "startIndex": 1, "itemsPerPage": 0, "Resources": []}]
    });
    /// A failure.
    ScimError json!({
        "type": "object", "required": ["schemas", "status", "detail"], "description": "A failure.",
        "properties": {
            "schemas": {"type": "array", "items": {"type": "string"}}, "status": {"type": "string"},
            "scimType": {"type": "string"}, "detail": {"type": "string"}
        },
        "examples": [{
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": "404", "detail": "There is no such user."
        }]
    });
    /// A description of the interface.
    ScimDescription json!({
        "type": "object", "description": "A description of the interface.", "additionalProperties": true,
        "properties": {"schemas": {"type": "array", "items": {"type": "string"}}},
        "examples": [configuration()]
    });
}

/// The schema of values that are sent as a list, or alone.
fn one_or_more() -> Value {
    json!({"oneOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]})
}

fn user_example() -> Value {
    json!({
        "schemas": [USER], "externalId": "e1", "userName": "eve@example.com", "displayName": "Eve", "active": true,
        "emails": [{"value": "eve@example.com", "type": "work", "primary": true}]
    })
}

fn group_example() -> Value {
    json!({"schemas": [GROUP], "externalId": "g1", "displayName": "Compliance"})
}

/// The parameters of a response.
pub(crate) enum ScimSelection {}

impl IntoParams for ScimSelection {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let text = |name, about| lists::parameter(name, schema(json!({"type": "string"})), about);
        vec![
            text("attributes", "Only these attributes, separated by commas."),
            text("excludedAttributes", "All but these attributes."),
        ]
    }
}

/// The parameters of a list.
pub(crate) enum ScimQuery {}

impl IntoParams for ScimQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let number = || schema(json!({"type": "integer", "format": "int64"}));
        let text = schema(json!({"type": "string"}));
        let mut all = vec![
            lists::parameter("filter", text, "Only resources that match, such as `userName eq \"eve\"`."),
            lists::parameter("startIndex", number(), "The number of the first one, counted from 1."),
            lists::parameter("count", number(), "The size of the page; 100, and at most 200."),
        ];
        all.extend(ScimSelection::into_params(place));
        all
    }
}

/// Answers with a document of SCIM.
fn answer(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, SCIM)], body.to_string()).into_response()
}

/// Answers with a resource, its ETag and, if it is new, its address.
fn resource(status: StatusCode, found: Versioned, projection: &Projection) -> Response {
    let Versioned { resource, version } = found;
    let location = resource["meta"]["location"].as_str().and_then(|text| HeaderValue::from_str(text).ok());
    let mut response = answer(status, &Value::Object(projection.apply(resource)));
    if let Ok(version) = HeaderValue::from_str(&version) {
        response.headers_mut().insert(header::ETAG, version);
    }
    if let Some(location) = location.filter(|_| status == StatusCode::CREATED) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Answers with a resource, or with 304 if the client has this version.
fn read(headers: &HeaderMap, found: Versioned, projection: &Projection) -> Response {
    if tags(headers, &header::IF_NONE_MATCH).is_some_and(|tags| has_tag(&tags, &found.version)) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, found.version)]).into_response();
    }
    resource(StatusCode::OK, found, projection)
}

fn list(found: Found, projection: &Projection) -> Response {
    let Found { total, start, items } = found;
    let items: Vec<Resource> = items.into_iter().map(|item| projection.apply(item)).collect();
    answer(
        StatusCode::OK,
        &json!({
            "schemas": [LIST], "totalResults": total, "startIndex": start, "itemsPerPage": items.len(), "Resources": items
        }),
    )
}

fn all_of(items: &[Value]) -> Response {
    let body = json!({
        "schemas": [LIST], "totalResults": items.len(), "startIndex": 1, "itemsPerPage": items.len(), "Resources": items
    });
    answer(StatusCode::OK, &body)
}

/// Lists the people of the directory
///
/// Those with an address of a verified domain, unless they are exempt. Takes `filter`, `startIndex`, `count` (100, at most
/// 200), `attributes` and `excludedAttributes`.
#[utoipa::path(
    get, path = "/scim/v2/Users", tag = "Directory (SCIM)",
    params(ScimQuery),
    responses((status = 200, body = ScimList, content_type = "application/scim+json", description = "A page."))
)]
pub(crate) async fn list_scim_users(
    api: State<Api>,
    directory: Directory,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let query = query(&USERS, raw.as_deref())?;
    let projection = query.projection.clone();
    Ok(list(people::list(&api.ctx, &directory.0, query).await?, &projection))
}

/// Adds a person to the directory
///
/// A member with the same address is adopted, and one who was deleted comes back. No mail is sent.
#[utoipa::path(
    post, path = "/scim/v2/Users", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimUser = "application/json"), (ScimUser = "application/scim+json"))),
    responses(
        (status = 201, body = ScimUser, content_type = "application/scim+json", description = "The person."),
        (status = 409, description = "Another person has the userName, the externalId or the address."),
    )
)]
pub(crate) async fn create_scim_user(
    api: State<Api>,
    directory: Directory,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    let query = query(&USERS, raw.as_deref())?;
    let made = people::create(&api.ctx, &directory.0, body).await?;
    Ok(resource(StatusCode::CREATED, made, &query.projection))
}

/// Returns a person of the directory
#[utoipa::path(
    get, path = "/scim/v2/Users/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    responses((status = 200, body = ScimUser, content_type = "application/scim+json", description = "The person."))
)]
pub(crate) async fn get_scim_user(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::Member>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let query = query(&USERS, raw.as_deref())?;
    let found = people::get(&api.ctx, &directory.0, id.found()?).await?;
    Ok(read(&headers, found, &query.projection))
}

/// Replaces a person of the directory
///
/// An absent `active` stays as it is.
#[utoipa::path(
    put, path = "/scim/v2/Users/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimUser = "application/json"), (ScimUser = "application/scim+json"))),
    responses((status = 200, body = ScimUser, content_type = "application/scim+json", description = "The person."))
)]
pub(crate) async fn replace_scim_user(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::Member>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    change_user(api, directory, id, &headers, raw, Given::Whole(body)).await
}

/// Changes a person of the directory
///
/// `active: false` keeps the person out, and ends their sessions and keys.
#[utoipa::path(
    patch, path = "/scim/v2/Users/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimPatch = "application/json"), (ScimPatch = "application/scim+json"))),
    responses((status = 200, body = ScimUser, content_type = "application/scim+json", description = "The person."))
)]
pub(crate) async fn change_scim_user(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::Member>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    change_user(api, directory, id, &headers, raw, Given::Part(body)).await
}

async fn change_user(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::Member>,
    headers: &HeaderMap,
    raw: Option<String>,
    given: Given,
) -> Result<Response, Problem> {
    let query = query(&USERS, raw.as_deref())?;
    let expected = tags(headers, &header::IF_MATCH);
    let changed = people::update(&api.ctx, &directory.0, id.found()?, given, expected).await?;
    Ok(resource(StatusCode::OK, changed, &query.projection))
}

/// Removes a person from the directory
///
/// The member is deactivated and stays in the history; adding the person again brings the same member back.
#[utoipa::path(
    delete, path = "/scim/v2/Users/{id}", tag = "Directory (SCIM)",
    responses((status = 204, description = "The person is removed."))
)]
pub(crate) async fn delete_scim_user(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::Member>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let expected = tags(&headers, &header::IF_MATCH);
    people::delete(&api.ctx, &directory.0, id.found()?, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the groups of the directory
#[utoipa::path(
    get, path = "/scim/v2/Groups", tag = "Directory (SCIM)",
    params(ScimQuery),
    responses((status = 200, body = ScimList, content_type = "application/scim+json", description = "A page."))
)]
pub(crate) async fn list_scim_groups(
    api: State<Api>,
    directory: Directory,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let query = query(&GROUPS, raw.as_deref())?;
    let projection = query.projection.clone();
    Ok(list(groups::list(&api.ctx, &directory.0, query).await?, &projection))
}

/// Adds a group to the directory
#[utoipa::path(
    post, path = "/scim/v2/Groups", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimGroup = "application/json"), (ScimGroup = "application/scim+json"))),
    responses(
        (status = 201, body = ScimGroup, content_type = "application/scim+json", description = "The group."),
        (status = 409, description = "Another group has the name."),
    )
)]
pub(crate) async fn create_scim_group(
    api: State<Api>,
    directory: Directory,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    let query = query(&GROUPS, raw.as_deref())?;
    let made = groups::create(&api.ctx, &directory.0, body).await?;
    Ok(resource(StatusCode::CREATED, made, &query.projection))
}

/// Returns a group of the directory
#[utoipa::path(
    get, path = "/scim/v2/Groups/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    responses((status = 200, body = ScimGroup, content_type = "application/scim+json", description = "The group."))
)]
pub(crate) async fn get_scim_group(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::DirectoryGroup>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let query = query(&GROUPS, raw.as_deref())?;
    let has_members = query.projection.has("members");
    let found = groups::get(&api.ctx, &directory.0, id.found()?, has_members).await?;
    Ok(read(&headers, found, &query.projection))
}

/// Replaces a group of the directory
#[utoipa::path(
    put, path = "/scim/v2/Groups/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimGroup = "application/json"), (ScimGroup = "application/scim+json"))),
    responses((status = 200, body = ScimGroup, content_type = "application/scim+json", description = "The group."))
)]
pub(crate) async fn replace_scim_group(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::DirectoryGroup>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    let query = query(&GROUPS, raw.as_deref())?;
    let expected = tags(&headers, &header::IF_MATCH);
    let given = Given::Whole(body);
    let changed = groups::update(&api.ctx, &directory.0, id.found()?, given, expected).await?;
    Ok(resource(StatusCode::OK, changed, &query.projection))
}

/// Changes a group of the directory
///
/// With `attributes` the answer is the group, otherwise nothing: a group can have many members.
#[utoipa::path(
    patch, path = "/scim/v2/Groups/{id}", tag = "Directory (SCIM)",
    params(ScimSelection),
    request_body(content((ScimPatch = "application/json"), (ScimPatch = "application/scim+json"))),
    responses(
        (status = 200, body = ScimGroup, content_type = "application/scim+json", description = "The named attributes."),
        (status = 204, description = "The group is changed."),
    )
)]
pub(crate) async fn change_scim_group(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::DirectoryGroup>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
    ScimBody(body): ScimBody,
) -> Result<Response, Problem> {
    let query = query(&GROUPS, raw.as_deref())?;
    let expected = tags(&headers, &header::IF_MATCH);
    let given = Given::Part(body);
    let changed = groups::update(&api.ctx, &directory.0, id.found()?, given, expected).await?;
    if query.projection.only.is_empty() {
        return Ok((StatusCode::NO_CONTENT, [(header::ETAG, changed.version)]).into_response());
    }
    Ok(resource(StatusCode::OK, changed, &query.projection))
}

/// Removes a group from the directory
///
/// Its members keep what their other groups give.
#[utoipa::path(
    delete, path = "/scim/v2/Groups/{id}", tag = "Directory (SCIM)",
    responses((status = 204, description = "The group is removed."))
)]
pub(crate) async fn delete_scim_group(
    api: State<Api>,
    directory: Directory,
    id: PathId<kind::DirectoryGroup>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let expected = tags(&headers, &header::IF_MATCH);
    groups::delete(&api.ctx, &directory.0, id.found()?, expected).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn configuration() -> Value {
    let supports = |is_supported: bool| json!({"supported": is_supported});
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": supports(true), "changePassword": supports(false), "sort": supports(false), "etag": supports(true),
        "bulk": {"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": true, "maxResults": MAX_PAGE},
        "authenticationSchemes": [{
            "type": "oauthbearertoken", "name": "Token", "description": "A token of the directory, as a bearer token."
        }]
    })
}

/// Describes what the interface supports
#[utoipa::path(
    get, path = "/scim/v2/ServiceProviderConfig", tag = "Directory (SCIM)",
    responses((status = 200, body = ScimDescription, content_type = "application/scim+json", description = "The description."))
)]
pub(crate) async fn get_scim_configuration(api: State<Api>, _directory: Directory) -> Response {
    let mut configuration = configuration();
    configuration["meta"] = meta(&api, "ServiceProviderConfig", "ServiceProviderConfig");
    answer(StatusCode::OK, &configuration)
}

fn meta(api: &Api, kind: &str, path: &str) -> Value {
    json!({"resourceType": kind, "location": api.ctx.link(&format!("{}/{path}", directory::BASE))})
}

fn resource_type(api: &Api, of: &Type) -> Value {
    let mut described = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"], "id": of.name, "name": of.name,
        "endpoint": of.endpoint, "schema": of.urn,
        "meta": meta(api, "ResourceType", &format!("ResourceTypes/{}", of.name))
    });
    if of.urn == USER {
        described["schemaExtensions"] = json!([{"schema": ENTERPRISE, "required": false}]);
    }
    described
}

/// Lists the types of resources
#[utoipa::path(
    get, path = "/scim/v2/ResourceTypes", tag = "Directory (SCIM)",
    responses((status = 200, body = ScimList, content_type = "application/scim+json", description = "The types."))
)]
pub(crate) async fn list_scim_resource_types(api: State<Api>, _directory: Directory) -> Response {
    all_of(&[USERS, GROUPS].map(|of| resource_type(&api, &of)))
}

/// Returns a type of resource
#[utoipa::path(
    get, path = "/scim/v2/ResourceTypes/{name}", tag = "Directory (SCIM)",
    params(("name" = String, Path, description = "User or Group.", example = "User")),
    responses((status = 200, body = ScimDescription, content_type = "application/scim+json", description = "The type."))
)]
pub(crate) async fn get_scim_resource_type(
    api: State<Api>,
    _directory: Directory,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let found = [USERS, GROUPS].into_iter().find(|of| of.name == name);
    let found = found.ok_or_else(|| Problem::not_found("resource type"))?;
    Ok(answer(StatusCode::OK, &resource_type(&api, &found)))
}

fn described(attribute: &Attribute) -> Value {
    let kind = match attribute.kind {
        Kind::Reference(_) => "reference",
        Kind::Text | Kind::Exact => "string",
        Kind::Boolean => "boolean",
        Kind::DateTime => "dateTime",
        Kind::Complex(_) => "complex",
    };
    let mut described = json!({
        "name": attribute.name, "type": kind, "multiValued": attribute.is_multi, "description": attribute.about,
        "required": attribute.is_required, "caseExact": matches!(attribute.kind, Kind::Exact | Kind::Reference(_)),
        "mutability": if attribute.is_read_only { "readOnly" } else { "readWrite" }, "returned": "default",
        "uniqueness": if attribute.is_required { "server" } else { "none" }
    });
    if let Kind::Reference(to) = attribute.kind {
        described["referenceTypes"] = json!([to]);
    }
    if let Kind::Complex(parts) = attribute.kind {
        described["subAttributes"] = parts.iter().map(self::described).collect();
    }
    described
}

fn schema_document(api: &Api, urn: &str, name: &str, attributes: &[Attribute]) -> Value {
    let own = attributes.iter().filter(|attribute| !attribute.name.starts_with("urn:"));
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"], "id": urn, "name": name, "description": name,
        "attributes": own.map(described).collect::<Value>(), "meta": meta(api, "Schema", &format!("Schemas/{urn}"))
    })
}

fn schema_documents(api: &Api) -> Vec<Value> {
    vec![
        schema_document(api, USER, "User", USERS.attributes),
        schema_document(api, ENTERPRISE, "EnterpriseUser", ENTERPRISE_PARTS),
        schema_document(api, GROUP, "Group", GROUPS.attributes),
    ]
}

/// Lists the schemas of the resources
#[utoipa::path(
    get, path = "/scim/v2/Schemas", tag = "Directory (SCIM)",
    responses((status = 200, body = ScimList, content_type = "application/scim+json", description = "The schemas."))
)]
pub(crate) async fn list_scim_schemas(api: State<Api>, _directory: Directory) -> Response {
    all_of(&schema_documents(&api))
}

/// Returns a schema
#[utoipa::path(
    get, path = "/scim/v2/Schemas/{urn}", tag = "Directory (SCIM)",
    params(("urn" = String, Path, description = "The URN.", example = "urn:ietf:params:scim:schemas:core:2.0:User")),
    responses((status = 200, body = ScimDescription, content_type = "application/scim+json", description = "The schema."))
)]
pub(crate) async fn get_scim_schema(
    api: State<Api>,
    _directory: Directory,
    Path(urn): Path<String>,
) -> Result<Response, Problem> {
    let found = schema_documents(&api).into_iter().find(|document| document["id"] == *urn);
    let found = found.ok_or_else(|| Problem::not_found("schema"))?;
    Ok(answer(StatusCode::OK, &found))
}

/// Refuses the parts of SCIM that are not supported.
pub(crate) async fn not_supported() -> Problem {
    Problem::new("not_implemented", "This part of SCIM is not supported; see /scim/v2/ServiceProviderConfig.")
}
