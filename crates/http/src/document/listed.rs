//! The list of routes, built for one of two purposes: to serve them, or to document them. A server only serves them,
//! because generating the document takes longer than the rest of its start.

use axum::Router;
use utoipa::openapi::path::Paths;
use utoipa::openapi::{OpenApi, RefOr, Schema};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::request::facts::{FactTable, Route};
use crate::state::Api;

/// Operations with their documentation.
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
pub struct Operations {
    pub routes: Vec<(String, Route)>,
    pub documented: Box<dyn FnOnce() -> Documented>,
}

/// The OpenAPI paths and schemas of operations.
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
#[derive(Default)]
pub struct Documented {
    pub paths: Paths,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

impl From<UtoipaMethodRouter<Api>> for Documented {
    fn from((schemas, paths, _): UtoipaMethodRouter<Api>) -> Self {
        Self { paths, schemas }
    }
}

/// The operations, with the facts of each.
#[must_use]
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
pub struct Listed {
    purpose: Purpose,
    facts: FactTable,
}

enum Purpose {
    Serve(Router<Api>),
    Document(Box<OpenApi>),
}

impl Listed {
    /// Creates an empty list for serving.
    pub fn served() -> Self {
        Self { purpose: Purpose::Serve(Router::new()), facts: FactTable::default() }
    }

    /// Creates an empty list for documenting.
    pub fn documented() -> Self {
        Self { purpose: Purpose::Document(Box::default()), facts: FactTable::default() }
    }

    pub fn routes(mut self, operations: Operations) -> Self {
        for (path, route) in &operations.routes {
            self.facts.add(path, &route.method, route.facts);
        }
        self.purpose = match self.purpose {
            Purpose::Serve(router) => Purpose::Serve(
                operations
                    .routes
                    .into_iter()
                    .fold(router, |all, (path, route)| all.route(&path, route.handlers)),
            ),
            Purpose::Document(mut document) => {
                let Documented { paths, schemas } = (operations.documented)();
                for (path, item) in paths.paths {
                    match document.paths.paths.get_mut(&path) {
                        Some(known) => known.merge_operations(item),
                        None => {
                            document.paths.paths.insert(path, item);
                        }
                    }
                }
                document.components.get_or_insert_default().schemas.extend(schemas);
                Purpose::Document(document)
            }
        };
        self
    }

    /// Adds another part of the list.
    pub fn with(self, part: impl FnOnce(Self) -> Self) -> Self {
        part(self)
    }

    /// Adds schemas that do not come with an operation.
    pub fn schemas<N: Into<String>>(mut self, schemas: impl FnOnce() -> Vec<(N, RefOr<Schema>)>) -> Self {
        if let Purpose::Document(document) = &mut self.purpose {
            let components = document.components.get_or_insert_default();
            components.schemas.extend(schemas().into_iter().map(|(name, schema)| (name.into(), schema)));
        }
        self
    }

    pub fn into_router(self) -> (Router<Api>, FactTable) {
        match self.purpose {
            Purpose::Serve(router) => (router, self.facts),
            Purpose::Document(_) => (Router::new(), self.facts),
        }
    }

    pub fn into_document(self) -> (OpenApi, FactTable) {
        match self.purpose {
            Purpose::Serve(_) => (OpenApi::default(), self.facts),
            Purpose::Document(document) => (*document, self.facts),
        }
    }
}

/// Collects the operations of handlers on one path, documented by `utoipa::path`.
#[macro_export]
macro_rules! operations {
    ($($($part:ident)::+),+ $(,)?) => {
        $crate::document::listed::Operations {
            routes: vec![$($crate::operations!(@route [] $($part)::+ => $($part)::+)),+],
            documented: Box::new(|| $crate::utoipa_axum::routes!($($($part)::+),+).into()),
        }
    };
    (@route [$($module:ident)*] $next:ident :: $($rest:ident)::+ => $handler:path) => {
        $crate::operations!(@route [$($module)* $next] $($rest)::+ => $handler)
    };
    (@route [$($module:ident)*] $name:ident => $handler:path) => {
        $crate::utoipa_axum::paste! {{
            let method = <$($module::)* [<__path_ $name>] as $crate::utoipa::Path>::methods().remove(0);
            let path = <$($module::)* [<__path_ $name>] as $crate::utoipa::Path>::path();
            (path, $crate::request::facts::Route::new(method, $handler))
        }}
    };
}
