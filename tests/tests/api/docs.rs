//! The OpenAPI document and the pages around it.

use std::collections::HashSet;

use attestry_tests::{TestApp, both};
use serde_json::Value;

use crate::coverage::operations;

both! {
    links_between_guides_lead_somewhere,
    the_pages_come_from_this_server_alone,
    the_console_is_packed_and_kept_by_browsers,
}

fn walk<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        Value::Object(map) => map.values().for_each(|item| walk(item, found)),
        _ => {}
    }
}

#[test]
fn the_committed_document_is_fresh() {
    let path = "../crates/api/openapi.json";
    let committed: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the document")).expect("JSON");
    assert!(committed == attestry_api::document(), "crates/api/openapi.json is stale: run `make openapi`");
}

#[test]
fn every_reference_leads_somewhere() {
    let document = attestry_api::document();
    let mut found = Vec::new();
    walk(&document, &mut found);
    for reference in found.iter().filter_map(|value| value["$ref"].as_str()) {
        assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
    }
}

#[test]
fn every_operation_is_described_to_the_end() {
    let mut ids = HashSet::new();
    for operation in operations() {
        let id = &operation.id;
        assert!(ids.insert(id.clone()), "{id} twice");
        assert!(operation.details["summary"].is_string() && operation.details["tags"].is_array(), "{id}");
        for parameter in operation.details["parameters"].as_array().expect("parameters") {
            assert!(parameter["description"].is_string(), "{id}: {parameter}");
        }
        let responses = operation.details["responses"].as_object().expect("responses");
        assert!(
            responses.contains_key("500") && responses.contains_key("503") && responses.contains_key("429"),
            "{id}"
        );
        assert!(responses.keys().any(|status| status.starts_with(['2', '3'])), "{id}");
        for (status, response) in responses {
            assert!(response["$ref"].is_string() || response["description"].is_string(), "{id} {status}");
        }
        let is_public = operation.details["security"] == serde_json::json!([]);
        let marks = ["x-permission", "x-session", "x-directory"];
        let named = marks.iter().any(|mark| operation.details.get(mark).is_some());
        assert_eq!(is_public, !named, "{id} is public, or names what it needs");
    }
}

#[test]
fn every_schema_has_an_example_that_fits_it() {
    let document = attestry_api::document();
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        let mut root = schema.clone();
        root["components"] = document["components"].clone();
        let validator = jsonschema::options().should_validate_formats(true).build(&root).expect("a schema");
        let example = schema.get("example").or_else(|| schema["examples"].get(0));
        let is_object = schema["type"] == "object" || schema.get("allOf").is_some();
        assert!(example.is_some() || !is_object, "{name} has no example");
        if let Some(example) = example {
            let errors: Vec<String> = validator.iter_errors(example).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
}

#[test]
fn every_code_is_in_the_documentation_once() {
    let mut codes = HashSet::new();
    for (code, status, ..) in attestry_api::CODES {
        assert!(codes.insert(code), "{code} twice");
        assert!((400..600).contains(status));
    }
}

#[test]
fn generated_clients_can_make_the_plain_calls() {
    let document = attestry_api::document();
    let operation = |method: &str, path: &str| document["paths"][path][method].clone();
    let mut optional = vec![operation("delete", "/v1/comments/{commentId}")];
    let paths = document["paths"].as_object().expect("paths");
    optional.extend(paths.iter().filter_map(|(path, item)| {
        let is_file = path.ends_with("/attachments/{attachmentId}");
        item.get("delete").filter(|_| is_file).cloned()
    }));
    assert_eq!(optional.len(), 6);
    for operation in optional {
        assert_eq!(operation["requestBody"]["required"], false, "{}", operation["operationId"]);
    }
    let limit = |path: &str| {
        let operation = operation("get", path);
        let all = operation["parameters"].as_array().expect("parameters").clone();
        all.into_iter().find(|one| one["name"] == "limit").expect("a limit")["schema"].clone()
    };
    for bare in [
        "/v1/tasks",
        "/v1/tasks/{taskId}/automations/runs",
        "/v1/tasks/{taskId}/automations/{automationId}/runs",
    ] {
        assert_eq!(limit(bare).get("default"), None, "{bare}");
    }
    assert_eq!(limit("/v1/risks")["default"], 100);
    let default = |schema: &str, name: &str| {
        document["components"]["schemas"][schema]["properties"][name]["default"].clone()
    };
    for (schema, name, value) in [
        ("CreateRisk", "status", "open"),
        ("CreateRisk", "likelihood", "very_unlikely"),
        ("CreateRisk", "residualImpact", "insignificant"),
        ("CreateRisk", "treatmentStrategy", "accept"),
        ("CreateVendor", "category", "other"),
        ("CreateVendor", "inherentProbability", "very_unlikely"),
        ("CreateTask", "status", "todo"),
    ] {
        assert_eq!(default(schema, name), value, "{schema}.{name}");
    }
    assert_eq!(default("UpdateRisk", "status"), Value::Null, "a change has no defaults");
    let tags: HashSet<&str> = document["tags"]
        .as_array()
        .expect("tags")
        .iter()
        .filter_map(|tag| {
            assert!(tag["description"].as_str().is_some_and(|text| !text.is_empty()));
            tag["name"].as_str()
        })
        .collect();
    for (path, item) in paths {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id");
            assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{id}");
            assert!(tags.contains(operation["tags"][0].as_str().expect("a tag")), "{method} {path}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().expect("a name");
                if ["Idempotency-Key", "If-Match", "cursor", "asOf", "X-Organization-Id"].contains(&name) {
                    assert!(parameter["schema"]["pattern"].is_string(), "{method} {path}: {name}");
                }
            }
        }
    }
    let file_type = &document["components"]["schemas"]["UploadCertificate"]["properties"]["fileType"];
    assert_eq!(file_type["const"], "application/pdf");
}

async fn the_pages_come_from_this_server_alone(app: &TestApp) {
    let document = app.call("GET", "/v1/openapi.json").send().await;
    assert_eq!(document.json(), attestry_api::document());
    let tag = document.header("etag").expect("it can be asked about").to_owned();
    let again = app.call("GET", "/v1/openapi.json").header("if-none-match", &tag).send().await;
    assert_eq!((again.status.as_u16(), again.text().len()), (304, 0));
    for path in [
        "/",
        "/setup",
        "/sign-in",
        "/accept-invitation",
        "/forgot-password",
        "/reset-password",
        "/docs/",
        "/docs/errors",
        "/docs/guide",
        "/docs/identity",
        "/docs/operations",
    ] {
        let page = app.call("GET", path).send().await;
        assert_eq!(page.status.as_u16(), 200, "{path}");
        assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{path}");
        assert!(
            page.header("content-security-policy").is_some_and(|policy| policy.contains("script-src 'self'")),
            "{path}"
        );
        for part in ["src=\"http", "href=\"http", "src=\"//", "<script>"] {
            assert!(!page.text().contains(part), "{path} has {part}");
        }
    }
    assert_eq!(app.call("GET", "/docs").send().await.header("location"), Some("/docs/"));
    assert!(app.call("GET", "/docs/swagger-initializer.js").send().await.text().contains("/v1/openapi.json"));
    for asset in ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/assets/pages.css"] {
        assert_eq!(app.call("GET", asset).send().await.status.as_u16(), 200, "{asset}");
    }
    app.call("GET", "/docs/../secret").send().await.problem(404, "not_found");
}

async fn links_between_guides_lead_somewhere(app: &TestApp) {
    let mut links = 0;
    for path in ["/docs/guide", "/docs/identity", "/docs/operations"] {
        let page = app.call("GET", path).send().await.text();
        for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().expect("an end")) {
            let (to, part) = link.split_once('#').unwrap_or((link, ""));
            let target = match to {
                "" => page.clone(),
                to if to.starts_with("data:") => continue,
                to => {
                    let reply = app.call("GET", to).send().await;
                    assert_eq!(reply.status, 200, "{path}: {link}");
                    reply.text()
                }
            };
            assert!(part.is_empty() || target.contains(&format!("id=\"{part}\"")), "{path}: {link}");
            links += usize::from(to.starts_with("/docs/") && !part.is_empty());
        }
    }
    assert!(links >= 6, "{links}");
}

/// `make test` builds the console before the server.
async fn the_console_is_packed_and_kept_by_browsers(app: &TestApp) {
    let page = app.call("GET", "/risks").header("accept", "text/html").send().await;
    let text = page.text();
    let start = text.find("/assets/console-").expect("the server was built with the console");
    let script = text[start..].split('"').next().expect("a path");
    assert_eq!(page.header("cache-control"), Some("no-cache"));

    let fetch = |encoding: &str| app.call("GET", script).header("accept-encoding", encoding).send();
    let (packed, plain) = (fetch("gzip, br").await, fetch("identity").await);
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), (Some("br"), None));
    assert_eq!(fetch("gzip;q=0.5, br;q=0").await.header("content-encoding"), Some("gzip"));
    for reply in [&packed, &plain] {
        assert_eq!(reply.status.as_u16(), 200);
        assert!(reply.header("cache-control").is_some_and(|cache| cache.contains("immutable")));
        assert!(reply.header("content-type").is_some_and(|kind| kind.starts_with("text/javascript")));
        assert_eq!(reply.header("vary"), Some("accept-encoding"));
    }
    assert!(plain.text().contains("assets/app-"), "unpacked for whoever accepts nothing packed");
    let tag = plain.header("etag").expect("a fingerprint");
    let again = app.call("GET", script).header("if-none-match", tag).send().await;
    assert_eq!((again.status.as_u16(), again.text().len()), (304, 0));

    app.call("GET", "/assets/nothing.js").send().await.problem(404, "not_found");
    let missing = app.call("GET", "/nowhere").header("accept", "text/html").send().await;
    assert_eq!(missing.status.as_u16(), 404);
    assert!(missing.text().contains("/assets/console-"), "the console shows what is not there");
    app.call("GET", "/nowhere").send().await.problem(404, "not_found");
    app.call("GET", "/v1/nowhere").header("accept", "text/html").send().await.problem(404, "not_found");
}
