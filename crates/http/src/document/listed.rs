//! The list of routes, read for one of two purposes: to serve them, or to document them. A server does only
//! the first: the document takes longer to make than everything else at its start.

use axum::Router;
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa::openapi::path::Paths;
use utoipa::openapi::{OpenApi, RefOr, Schema};

use crate::request::facts::{FactTable, Route};
use crate::state::Api;

/// Operations, and how they are documented.
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
pub struct Operations {
    pub routes: Vec<(String, Route)>,
    pub documented: Box<dyn FnOnce() -> Documented>,
}

/// What the document says of operations.
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
#[derive(Default)]
pub struct Documented {
    pub paths: Paths,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

impl Documented {
    /// Adds what `utoipa::path` has written down.
    pub fn add<P: utoipa::Path + Tags<'static> + SchemaReferences>(&mut self) {
        let mut operation = P::operation();
        let tags = P::tags();
        if !tags.is_empty() {
            operation.tags.get_or_insert_default().extend(tags.iter().map(ToString::to_string));
        }
        self.paths.add_path_operation(P::path(), P::methods(), operation);
        P::schemas(&mut self.schemas);
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
    /// Nothing yet, to be served.
    pub fn served() -> Self {
        Self { purpose: Purpose::Serve(Router::new()), facts: FactTable::default() }
    }

    /// Nothing yet, to be documented.
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

    /// Adds what another part of the list has.
    pub fn with(self, part: impl FnOnce(Self) -> Self) -> Self {
        part(self)
    }

    /// Adds schemas that no operation brings with it.
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

/// The operations of handlers on one path, which `utoipa::path` describes.
#[macro_export]
macro_rules! operations {
    ($($($part:ident)::+),+ $(,)?) => {
        $crate::document::listed::Operations {
            routes: vec![$($crate::operations!(@route [] $($part)::+ => $($part)::+)),+],
            documented: Box::new(|| {
                let mut documented = $crate::document::listed::Documented::default();
                $($crate::operations!(@document documented [] $($part)::+);)+
                documented
            }),
        }
    };
    (@route [$($module:ident)*] $next:ident :: $($rest:ident)::+ => $handler:path) => {
        $crate::operations!(@route [$($module)* $next] $($rest)::+ => $handler)
    };
    (@route [$($module:ident)*] $name:ident => $handler:path) => {
        $crate::paste! {{
            let method = <$($module::)* [<__path_ $name>] as $crate::utoipa::Path>::methods().remove(0);
            let path = <$($module::)* [<__path_ $name>] as $crate::utoipa::Path>::path();
            (path, $crate::request::facts::Route::new(method, $handler))
        }}
    };
    (@document $documented:ident [$($module:ident)*] $next:ident :: $($rest:ident)::+) => {
        $crate::operations!(@document $documented [$($module)* $next] $($rest)::+)
    };
    (@document $documented:ident [$($module:ident)*] $name:ident) => {
        $crate::paste! { $documented.add::<$($module::)* [<__path_ $name>]>() }
    };
}
