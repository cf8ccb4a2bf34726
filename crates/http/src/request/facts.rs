//! Facts about an operation that are known before its handler runs. They follow from the handler's arguments: each
//! type of argument declares once what it means for an operation, and both the layers and the OpenAPI document use
//! that.

use std::collections::HashMap;

use attestry_domain::access::{Grant, Permission};
use axum::extract::{Path, RawQuery, State};
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter};
use http::{HeaderMap, Method, Uri};
use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::{RefOr, Schema};
use utoipa_axum::PathItemExt as _;

use crate::state::Api;

/// The maximum size of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BodyLimit {
    /// A few short fields, or no body at all.
    Small,
    /// Texts of a few pages, or many ids.
    Medium,
    /// Up to the server's limit: documents, tables, files.
    Large,
}

impl BodyLimit {
    /// Returns the limit in bytes; `None` if only the server's own limit applies.
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::Small => Some(64 << 10),
            Self::Medium => Some(1 << 20),
            Self::Large => None,
        }
    }
}

/// A permission, and a weaker one that suffices for some of the records.
#[derive(Clone, Copy, Debug)]
pub struct Needed {
    pub permission: Permission,
    /// The weaker permission, and a description of the records that it covers.
    pub or: Option<(Permission, &'static str)>,
}

impl Needed {
    pub fn by<G: Grant>() -> Self {
        Self { permission: G::PERMISSION, or: G::OR.map(|or| (or, G::REACH)) }
    }
}

/// An id in a path.
#[derive(Clone, Copy, Debug)]
pub struct IdInPath {
    /// Its index among the path parameters, from the left; `None` is the last one.
    pub place: Option<usize>,
    pub noun: &'static str,
    pub schema: fn() -> RefOr<Schema>,
}

/// The facts of one operation.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Facts {
    /// True if it needs no credentials, which an argument must declare.
    pub is_public: bool,
    /// True if an identity provider calls it, with the token of the directory.
    pub is_directory: bool,
    /// True if it acts on a user's own account, and so needs a session.
    pub needs_session: bool,
    /// The required permission; `None` for operations on a user's own account and public ones.
    pub needs: Option<Needed>,
    /// The required permission on the parent of the operation's subject.
    pub also_needs: Option<Needed>,
    pub takes_query: bool,
    /// True if the response is a page of a list.
    pub is_list: bool,
    /// True if the body may be a form.
    pub takes_form: bool,
    /// True if the response is a stream that saves nothing: it ends when the client disconnects.
    pub is_stream: bool,
    /// True if it supports `If-Match` or `If-None-Match`.
    pub is_conditional: bool,
    pub body_limit: BodyLimit,
    pub ids: [Option<IdInPath>; 3],
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            is_public: false,
            is_directory: false,
            needs_session: false,
            needs: None,
            also_needs: None,
            takes_query: false,
            is_list: false,
            takes_form: false,
            is_stream: false,
            is_conditional: false,
            body_limit: BodyLimit::Small,
            ids: [None; 3],
        }
    }
}

impl Facts {
    pub fn add_id(&mut self, id: IdInPath) {
        if let Some(free) = self.ids.iter_mut().find(|known| known.is_none()) {
            *free = Some(id);
        }
    }
}

/// An argument of a handler.
pub trait Argument {
    /// Adds the facts that follow from the argument.
    fn describe(_facts: &mut Facts) {}
}

impl Argument for State<Api> {}
impl<T> Argument for Path<T> {}
impl Argument for Method {}
impl Argument for Uri {}
impl Argument for HeaderMap {}

impl Argument for RawQuery {
    fn describe(facts: &mut Facts) {
        facts.takes_query = true;
    }
}

/// A handler with arguments `A`.
pub trait Described<A> {
    fn facts(&self) -> Facts;
}

macro_rules! described {
    ($($type:ident)*) => {
        impl<Function, Answer, $($type: Argument),*> Described<($($type,)*)> for Function
        where
            Function: Fn($($type),*) -> Answer,
        {
            fn facts(&self) -> Facts {
                let arguments: &[fn(&mut Facts)] = &[$($type::describe),*];
                arguments.iter().fold(Facts::default(), |mut facts, describe| {
                    describe(&mut facts);
                    facts
                })
            }
        }
    };
}

described!();
described!(A);
described!(A B);
described!(A B C);
described!(A B C D);
described!(A B C D E);
described!(A B C D E F);
described!(A B C D E F G);

/// A handler for a method, with its facts.
#[expect(missing_debug_implementations, reason = "what it is made of has none")]
pub struct Route {
    pub method: HttpMethod,
    pub handlers: MethodRouter<Api>,
    pub facts: Facts,
}

impl Route {
    pub fn new<H, T, A>(method: HttpMethod, handler: H) -> Self
    where
        H: Handler<T, Api> + Described<A>,
        T: 'static,
    {
        let facts = handler.facts();
        let filter: MethodFilter = method.to_method_filter();
        Self { method, handlers: MethodRouter::new().on(filter, handler), facts }
    }
}

/// The facts of every operation, by route and method.
#[derive(Debug, Default)]
pub struct FactTable(HashMap<String, Vec<(Method, Facts)>>);

impl FactTable {
    pub fn add(&mut self, path: &str, method: &HttpMethod, facts: Facts) {
        let method = match method {
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
            HttpMethod::Patch => Method::PATCH,
            HttpMethod::Delete => Method::DELETE,
            _ => Method::GET,
        };
        self.0.entry(path.to_owned()).or_default().push((method, facts));
    }

    /// Returns the facts of an operation; `None` if it is not in the OpenAPI document.
    pub fn get(&self, method: &Method, route: &str) -> Option<Facts> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.0.get(route)?.iter().find(|(known, _)| known == method).map(|(_, facts)| *facts)
    }
}
