//! Validates every response of every test against the OpenAPI document.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::client::Reply;

static DOCUMENT: LazyLock<Value> = LazyLock::new(attestry_api::document);

/// Returns the documented path template that matches a path.
fn template(path: &str) -> Option<&'static str> {
    let path = path.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').collect();
    let fits = |template: &str| {
        let wanted: Vec<&str> = template.split('/').collect();
        wanted.len() == segments.len()
            && wanted.iter().zip(&segments).all(|(w, s)| w == s || w.starts_with('{'))
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let mut fitting: Vec<&str> = paths.keys().map(String::as_str).filter(|template| fits(template)).collect();
    // A literal segment such as `/runs` takes precedence over `/{id}`.
    fitting.sort_by_key(|template| template.matches('{').count());
    fitting.first().copied()
}

fn resolve(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            DOCUMENT.pointer(reference.trim_start_matches('#')).expect("a reference leads somewhere")
        }
        None => value,
    }
}

fn validator(schema: &Value) -> Validator {
    let mut root = json!({"components": DOCUMENT["components"]});
    for (key, value) in schema.as_object().expect("a schema") {
        root[key] = value.clone();
    }
    jsonschema::options().should_validate_formats(true).build(&root).expect("a valid schema")
}

fn fits(key: String, schema: &'static Value, body: &Value) -> Result<(), String> {
    static KNOWN: LazyLock<Mutex<HashMap<String, &'static Validator>>> = LazyLock::new(Mutex::default);
    let known = *KNOWN
        .lock()
        .expect("not poisoned")
        .entry(key)
        .or_insert_with(|| Box::leak(Box::new(validator(schema))));
    let errors: Vec<String> =
        known.iter_errors(body).map(|e| format!("{} at {}", e, e.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
}

#[track_caller]
pub(crate) fn check(method: &str, path: &str, reply: &Reply) {
    let Some(template) = template(path) else { return };
    let operation = &DOCUMENT["paths"][template][method.to_lowercase()];
    if operation.is_null() {
        return;
    }
    // A trailing slash redirects to the same path without it.
    if reply.status == http::StatusCode::PERMANENT_REDIRECT {
        return;
    }
    let status = reply.status.as_u16().to_string();
    let documented = &operation["responses"][&status];
    assert!(
        !documented.is_null(),
        "{method} {template} answers {status}, which is not documented: {}",
        reply.text()
    );
    let documented = resolve(documented);
    if reply.body.is_empty() || reply.header("content-encoding").is_some() {
        return;
    }
    let content_type = reply.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    let any = &documented["content"]["*/*"];
    let content = if any.is_null() { &documented["content"][content_type] } else { any };
    assert!(
        !content.is_null(),
        "{method} {template} answers {status} as {content_type:?}, which is not documented"
    );
    if any.is_null() && content_type.ends_with("json") {
        let key = format!("{method} {template} {status}");
        if let Err(errors) = fits(key, &content["schema"], &reply.json()) {
            panic!("{method} {template} {status} does not fit its schema: {errors}\n{}", reply.text());
        }
    }
}
