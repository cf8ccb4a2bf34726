//! Operations that are described in code: those that exist once for each register or subject.

use attestry_domain::access::{Grant, Permission};
use attestry_domain::id::{Id, Kind};
use axum::routing::MethodRouter;
use serde_json::{Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::path::{
    HttpMethod, Operation, Parameter, ParameterBuilder, ParameterIn, PathItem, Paths,
};
use utoipa::openapi::{RefOr, Required, Schema};

use crate::document::listed::{Documented, Operations};
use crate::state::Api;

/// A reference to a schema of the document.
pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A schema that is written as it will be read.
pub(crate) fn schema(json: Value) -> RefOr<Schema> {
    serde_json::from_value(json).unwrap_or_default()
}

/// The parameter of an id in the path.
pub(crate) fn path_id<K: Kind>(name: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(format!("The {}'s id.", K::NOUN)))
        .schema(Some(<Id<K> as PartialSchema>::schema()))
        .build()
}

/// `risks` is `Risks`.
pub(crate) fn capitalized(word: &str) -> String {
    word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect()
}

/// What is told of an operation.
pub(crate) struct Described {
    method: HttpMethod,
    /// Its name for programs.
    id: String,
    tag: String,
    summary: String,
    description: &'static str,
    permission: Permission,
    /// What else it needs: a permission, or the weaker one in its place.
    also: Option<(Permission, Option<Permission>)>,
    /// A weaker permission that is enough for some.
    or: Option<(Permission, &'static str)>,
    /// What else can happen, beside what happens everywhere.
    failures: Vec<(u16, &'static str)>,
    parameters: Vec<Parameter>,
    body: Option<Value>,
    needs_body: bool,
    status: u16,
    answer: &'static str,
    content: Value,
}

/// JSON of a schema.
pub(crate) fn json_of(name: &str) -> Value {
    json!({"application/json": {"schema": reference(name)}})
}

impl Operations {
    /// A route whose documentation is made only when the document is.
    pub(crate) fn described(
        path: String,
        handler: MethodRouter<Api>,
        described: impl FnOnce() -> Described + 'static,
    ) -> Self {
        let routes = vec![(path.clone(), handler)];
        Self { routes, documented: Box::new(move || described().written(path)) }
    }
}

impl Described {
    pub(crate) fn new(method: HttpMethod, id: String, summary: String, permission: Permission) -> Self {
        Self {
            method,
            id,
            tag: String::new(),
            summary,
            description: "",
            permission,
            also: None,
            or: None,
            failures: Vec::new(),
            parameters: Vec::new(),
            body: None,
            needs_body: true,
            status: 200,
            answer: "",
            content: Value::Null,
        }
    }

    pub(crate) fn tagged(self, tag: String) -> Self {
        Self { tag, ..self }
    }

    /// What else it needs.
    pub(crate) fn also_needs<G: Grant>(self) -> Self {
        Self { also: Some((G::PERMISSION, G::OR)), ..self }
    }

    /// A weaker permission that is enough for some.
    pub(crate) fn or_by<G: Grant>(self) -> Self {
        Self { or: G::OR.map(|or| (or, G::REACH)), ..self }
    }

    /// What else can happen.
    pub(crate) fn fails(mut self, status: u16, why: &'static str) -> Self {
        self.failures.push((status, why));
        self
    }

    pub(crate) fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub(crate) fn takes(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// The same of a body that can be left out.
    pub(crate) fn may_read(self, body: Value) -> Self {
        Self { body: Some(body), needs_body: false, ..self }
    }

    /// The content of the body, by its type.
    pub(crate) fn reads(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    /// The content of the answer, by its type.
    pub(crate) fn answers(self, status: u16, answer: &'static str, content: Value) -> Self {
        Self { status, answer, content, ..self }
    }

    fn written(self, path: String) -> Documented {
        let mut operation = json!({
            "tags": [self.tag],
            "summary": self.summary,
            "operationId": self.id,
            "parameters": self.parameters,
            "responses": {self.status.to_string(): {"description": self.answer, "content": self.content}},
            "x-permission": self.permission.as_str(),
        });
        let also = self.also.filter(|(also, _)| *also != self.permission);
        let also = also.map_or_else(String::new, |(also, or)| {
            let or = or.map_or_else(String::new, |or| format!(" or `{}`", or.as_str()));
            format!("Also needs the permission `{}`{or}.", also.as_str())
        });
        let or = self.or.map_or_else(String::new, |(or, reach)| {
            format!("With the permission `{}` alone, only {reach}.", or.as_str())
        });
        let about = format!("{}\n\n{also}\n\n{or}", self.description);
        if !about.trim().is_empty() {
            operation["description"] = json!(about.trim());
        }
        for (status, why) in self.failures {
            operation["responses"][status.to_string()] = json!({"description": why});
        }
        if let Some((or, _)) = self.or {
            operation["x-or-permission"] = json!(or.as_str());
        }
        if let Some((also, or)) = self.also {
            let either: Vec<&str> = [Some(also), or].into_iter().flatten().map(Permission::as_str).collect();
            operation["x-also-permission"] = json!(either);
        }
        if let Some(content) = self.body {
            operation["requestBody"] = json!({"required": self.needs_body, "content": content});
        }
        let operation: Operation = serde_json::from_value(operation).unwrap_or_default();
        let mut paths = Paths::new();
        paths.paths.insert(path, PathItem::new(self.method, operation));
        Documented { paths, schemas: Vec::new() }
    }
}
