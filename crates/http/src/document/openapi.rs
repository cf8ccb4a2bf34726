//! The OpenAPI document. Handlers describe their own operation; everything common (security, error responses,
//! headers) is added here from the facts of the operation.

use attestry_domain::JsonSchema;
use attestry_domain::access::Permission;
use attestry_domain::id::OrganizationId;
use http::Method;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::answer::problem::CODES;
use crate::answer::scim::SCIM;
use crate::document::listed::Listed;
use crate::request::facts::{Facts, Needed};
use crate::request::idempotency;

const METHODS: &[&str] = &["get", "post", "put", "patch", "delete"];

/// Builds the whole document from the code. A server responds with the file that was generated at build time; a test
/// compares it with this one.
pub fn document(mut base: OpenApi, listed: Listed) -> Value {
    let (operations, facts) = listed.into_document();
    base.merge(operations);
    let mut document = serde_json::to_value(base).unwrap_or_default();
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    document["servers"] = json!([{"url": "/", "description": "This server"}]);
    document["components"]["securitySchemes"] = security_schemes();
    document["components"]["responses"] = problem_responses();
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, item) in paths {
            for method in METHODS {
                let known = Method::from_bytes(method.to_uppercase().as_bytes()).ok();
                let facts = known.and_then(|known| facts.get(&known, path));
                if let (Some(operation), Some(facts)) = (item.get_mut(*method), facts) {
                    finish(method, path, operation, &facts);
                }
            }
        }
    }
    name_constants(&mut document["components"]["schemas"]);
    // Remove the responses that no operation refers to.
    let paths = document["paths"].to_string();
    if let Some(responses) = document["components"]["responses"].as_object_mut() {
        responses.retain(|name, _| paths.contains(&format!("#/components/responses/{name}\"")));
    }
    document
}

/// Replaces an enum of one value by a constant.
fn name_constants(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(name_constants),
        Value::Object(map) => {
            if let Some([only]) = map.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
                let only = only.clone();
                map.remove("enum");
                map.insert("const".to_owned(), only);
            }
            map.values_mut().for_each(name_constants);
        }
        _ => {}
    }
}

fn security_schemes() -> Value {
    json!({
        "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key of the organization."},
        "bearer": {"type": "http", "scheme": "bearer", "description": "A session token; operations on an organization also need X-Organization-Id."},
        "directoryToken": {"type": "http", "scheme": "bearer", "description": "A token of the directory, for identity providers."},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "attestry_session", "description": "A session cookie; operations on an organization and all changes also need X-Organization-Id."}
    })
}

/// Returns one response for each status, with its possible codes.
fn problem_responses() -> Value {
    let mut responses = Map::new();
    for (_, status, ..) in CODES {
        let codes: Vec<&str> = CODES.iter().filter(|row| row.1 == *status).map(|row| row.0).collect();
        let title = CODES.iter().find(|row| row.1 == *status).map_or("", |row| row.2);
        let mut response = json!({
            "description": format!("{}. Codes: {}.", meaning(*status), codes.join(", ")),
            "content": {"application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": {
                    "type": format!("/docs/errors#{}", codes[0]), "title": title, "status": status,
                    "detail": meaning(*status), "code": codes[0], "requestId": "01jcqg3v5mefzr7d0a6w3k9x2b"
                }
            }}
        });
        if matches!(*status, 429 | 503) {
            response["headers"] =
                json!({"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}});
        }
        responses.insert(format!("Problem{status}"), response);
    }
    Value::Object(responses)
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The request is invalid",
        401 => "Missing or invalid credentials",
        403 => "Authenticated, but not allowed",
        404 => "It does not exist, or belongs to another organization",
        405 => "The method is not supported here",
        408 => "The body did not arrive in time",
        409 => "The request conflicts with the current state",
        410 => "The link is no longer valid",
        412 => "It was changed in the meantime",
        413 => "The body is too large",
        415 => "The content type is not supported",
        416 => "The range is not in the file",
        422 => "The Idempotency-Key was used for another request",
        429 => "Too many requests",
        501 => "This is not supported",
        502 => "A service outside this server failed",
        503 => "Temporarily unavailable",
        _ => "Internal server error",
    }
}

fn header(name: &str, about: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": about, "schema": schema})
}

/// Schemas of the common request headers.
fn request_id() -> Value {
    json!({"type": "string", "maxLength": 128, "pattern": "^[A-Za-z0-9_.:/+=-]+$"})
}

fn idempotency_key() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": idempotency::MAX_KEY_BYTES, "pattern": "^[ -~]+$"})
}

fn entity_tag() -> Value {
    json!({"type": "string", "pattern": "^(\\*|(W/)?\"[^\"]*\"(, *(W/)?\"[^\"]*\")*)$", "examples": ["\"3\""]})
}

/// Describes an optional body by its non-null schema, and marks it as not required.
fn unwrap_optional(body: &mut Value) {
    let Some(content) = body["content"].as_object_mut() else { return };
    let mut is_optional = false;
    for media in content.values_mut() {
        let choices = media["schema"]["oneOf"].as_array().cloned().unwrap_or_default();
        let (nulls, others): (Vec<Value>, Vec<Value>) =
            choices.into_iter().partition(|one| one["type"] == "null");
        if let ([_], [schema]) = (nulls.as_slice(), others.as_slice()) {
            media["schema"] = schema.clone();
            is_optional = true;
        }
    }
    if is_optional {
        body["required"] = json!(false);
    }
}

/// Returns the names of the parameters in a path.
pub fn names(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

/// Returns the parameters for the ids in a path, except those that the handler describes itself.
fn ids(path: &str, known: &[Value], facts: &Facts) -> Vec<Value> {
    let names = names(path);
    let mut all = Vec::new();
    for id in facts.ids.iter().flatten() {
        let name = id.place.map_or(names.last(), |place| names.get(place));
        if let Some(name) = name.filter(|name| !known.iter().any(|one| one["name"] == **name)) {
            let place = names.iter().position(|one| one == name);
            let about = format!("The {}'s id.", id.noun);
            let parameter = json!({"name": name, "in": "path", "required": true, "description": about, "schema": (id.schema)()});
            all.push((place, parameter));
        }
    }
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, parameter)| parameter).collect()
}

/// Adds the requirements of an operation, from its facts.
fn write_facts(operation: &mut Value, facts: &Facts) {
    if let Some(Needed { permission, or }) = facts.needs {
        operation["x-permission"] = json!(permission.as_str());
        if let (Some((or, _)), None) = (or, operation.get("x-or-permission")) {
            operation["x-or-permission"] = json!(or.as_str());
        }
    }
    if let Some(Needed { permission, or }) = facts.also_needs {
        let either = [Some(permission), or.map(|(or, _)| or)];
        let either: Vec<&str> = either.into_iter().flatten().map(Permission::as_str).collect();
        operation["x-also-permission"] = json!(either);
    }
    let marks = [
        ("x-session", facts.needs_session),
        ("x-stream", facts.is_stream),
        ("x-directory", facts.is_directory),
    ];
    for (name, is_so) in marks {
        if is_so {
            operation[name] = json!(true);
        }
    }
    if let (Some(_), Some(limit)) = (operation.get("requestBody"), facts.body_limit.bytes()) {
        operation["x-body-limit"] = json!(limit);
    }
}

fn finish(method: &str, path: &str, operation: &mut Value, facts: &Facts) {
    if let Some(body) = operation.get_mut("requestBody") {
        unwrap_optional(body);
    }
    write_facts(operation, facts);
    let (is_public, session_only) = (facts.is_public, operation.get("x-session").is_some());
    let has_body = operation.get("requestBody").is_some();
    let is_conditional = facts.is_conditional || (facts.is_directory && path.ends_with("{id}"));
    let is_one = method == "get" && is_conditional;
    operation["security"] = match (is_public, session_only) {
        _ if facts.is_directory => json!([{"directoryToken": []}]),
        (true, _) => json!([]),
        (false, true) => json!([{"bearer": []}, {"cookie": []}]),
        (false, false) => json!([{"apiKey": []}, {"bearer": []}, {"cookie": []}]),
    };
    let mut statuses = vec![400, 429, 500, 503];
    let mut parameters = vec![header(
        "X-Request-Id",
        "An id for tracing. One is generated if you leave it out, and returned either way.",
        &request_id(),
    )];
    if !is_public {
        statuses.push(401);
    }
    if !is_public && !facts.is_directory {
        statuses.push(403);
        let about = match session_only {
            true => "Required for any change with a session cookie, to protect against forged requests.",
            false => "The organization. Needed with a session, optional with an API key.",
        };
        parameters.push(header("X-Organization-Id", about, &OrganizationId::json_schema()));
    }
    if has_body {
        statuses.extend([408, 413, 415]);
    }
    if path.contains('{') {
        statuses.push(404);
    }
    match method {
        "post" | "put" | "patch" if facts.is_directory => statuses.push(409),
        "post" => statuses.extend([409, 422]),
        _ => {}
    }
    if method == "post" && !facts.is_stream && !facts.is_directory {
        parameters.push(header(
            "Idempotency-Key",
            "Within 24 hours, the same key and body have one effect and one answer.",
            &idempotency_key(),
        ));
    }
    if method != "get" && is_conditional {
        statuses.push(412);
        parameters.push(header("If-Match", "Proceed only if this is still the ETag.", &entity_tag()));
    }
    if is_one {
        parameters.push(header("If-None-Match", "Answers 304 if this is still the ETag.", &entity_tag()));
        operation["responses"]["304"] = json!({"description": "Not modified: you have the current version."});
        operation["responses"]["200"]["headers"] =
            json!({"ETag": {"description": "The version.", "schema": {"type": "string"}}});
    }
    if let Some(responses) = operation["responses"].as_object_mut() {
        for status in statuses {
            let common = || match facts.is_directory {
                true => json!({"description": meaning(status)}),
                false => json!({"$ref": format!("#/components/responses/Problem{status}")}),
            };
            responses.entry(status.to_string()).or_insert_with(common);
        }
        // Error responses that a handler describes itself contain a problem, too.
        for (status, response) in responses {
            if status.starts_with(['4', '5']) && response.get("$ref").is_none() {
                response["content"] = match facts.is_directory {
                    true => json!({SCIM: {"schema": {"$ref": "#/components/schemas/ScimError"}}}),
                    false => {
                        json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}})
                    }
                };
            }
        }
    }
    let mut known = operation["parameters"].as_array().cloned().unwrap_or_default();
    // Drop path parameters without a description: only their position in the path is known.
    known.retain(|one| one["in"] != "path" || one.get("description").is_some());
    let mut all = ids(path, &known, facts);
    all.extend(known);
    all.extend(parameters);
    operation["parameters"] = Value::Array(all);
    let needs = match operation.get("x-permission").and_then(Value::as_str) {
        Some(permission) if operation["x-or-permission"].is_array() => {
            format!("Needs the permission `{permission}`, or any of `x-or-permission`.")
        }
        Some(permission) => format!("Needs the permission `{permission}`."),
        None if is_public => "Needs no credentials.".to_owned(),
        None => "Needs a session.".to_owned(),
    };
    let about = operation.get("description").and_then(Value::as_str).unwrap_or_default();
    operation["description"] = json!(format!("{about}\n\n{needs}").trim());
}
