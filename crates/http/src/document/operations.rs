//! Operations documented in code: those that exist once for each register or subject.

use serde_json::{Value, json};
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, PathItem, Paths};

use crate::document::listed::{Documented, Operations};
use crate::document::schemas::reference;
use crate::request::facts::{Facts, Needed, Route};

/// Capitalizes a word: `risks` becomes `Risks`.
pub fn capitalized(word: &str) -> String {
    word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect()
}

/// The documentation of an operation.
#[must_use]
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
pub struct Described {
    /// The `operationId`.
    id: String,
    tag: String,
    summary: String,
    description: &'static str,
    /// The errors in addition to the common ones.
    failures: Vec<(u16, &'static str)>,
    parameters: Vec<Parameter>,
    body: Option<Value>,
    needs_body: bool,
    status: u16,
    answer: &'static str,
    content: Value,
}

/// Returns a JSON content with this schema.
pub fn json_of(name: &str) -> Value {
    json!({"application/json": {"schema": reference(name)}})
}

impl Operations {
    /// Builds a route whose documentation is generated only with the document.
    pub fn described(path: String, route: Route, described: impl FnOnce() -> Described + 'static) -> Self {
        let (method, facts, written) = (route.method.clone(), route.facts, path.clone());
        let documented = Box::new(move || described().written(method, &facts, written));
        Self { routes: vec![(path, route)], documented }
    }
}

impl Described {
    pub fn new(id: String, summary: String) -> Self {
        Self {
            id,
            tag: String::new(),
            summary,
            description: "",
            failures: Vec::new(),
            parameters: Vec::new(),
            body: None,
            needs_body: true,
            status: 200,
            answer: "",
            content: Value::Null,
        }
    }

    pub fn tagged(self, tag: String) -> Self {
        Self { tag, ..self }
    }

    /// Adds an error response.
    pub fn fails(mut self, status: u16, why: &'static str) -> Self {
        self.failures.push((status, why));
        self
    }

    pub fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub fn takes(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Sets the content of an optional body, by media type.
    pub fn may_read(self, body: Value) -> Self {
        Self { body: Some(body), needs_body: false, ..self }
    }

    /// Sets the content of the body, by media type.
    pub fn reads(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Sets the content of the response, by media type.
    pub fn answers(self, status: u16, answer: &'static str, content: Value) -> Self {
        Self { status, answer, content, ..self }
    }

    fn written(self, method: HttpMethod, facts: &Facts, path: String) -> Documented {
        let mut operation = json!({
            "tags": [self.tag],
            "summary": self.summary,
            "operationId": self.id,
            "parameters": self.parameters,
            "responses": {self.status.to_string(): {"description": self.answer, "content": self.content}},
        });
        let needs = facts.needs.map(|needed| needed.permission);
        let also = facts.also_needs.filter(|also| Some(also.permission) != needs);
        let also = also.map_or_else(String::new, |Needed { permission, or }| {
            let or = or.map_or_else(String::new, |(or, _)| format!(" or `{}`", or.as_str()));
            format!("Also needs the permission `{}`{or}.", permission.as_str())
        });
        let or = facts.needs.and_then(|needed| needed.or).map_or_else(String::new, |(or, reach)| {
            format!("With the permission `{}` alone, only {reach}.", or.as_str())
        });
        let about = format!("{}\n\n{also}\n\n{or}", self.description);
        if !about.trim().is_empty() {
            operation["description"] = json!(about.trim());
        }
        for (status, why) in self.failures {
            operation["responses"][status.to_string()] = json!({"description": why});
        }
        if let Some(content) = self.body {
            operation["requestBody"] = json!({"required": self.needs_body, "content": content});
        }
        let operation: Operation = serde_json::from_value(operation).unwrap_or_default();
        let mut paths = Paths::new();
        paths.paths.insert(path, PathItem::new(method, operation));
        Documented { paths, schemas: Vec::new() }
    }
}
