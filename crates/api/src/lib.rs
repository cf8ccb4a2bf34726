//! HTTP: the operations by area. [`router`] is the whole interface; a handler turns a body into a domain value, calls
//! one use case and turns its result into a view. Everything else (credentials, strict bodies, problems, conditional
//! requests, idempotency, limits) is implemented once, in `attestry-http`.

#[macro_use]
extern crate attestry_http;

#[macro_use]
mod registers;

mod automations;
mod document;
mod frameworks;
mod identity;
mod policies;
mod programme;
mod routes;
mod service;
mod soa;
mod tasks;
mod trust_access;
mod trust_portal;

pub use attestry_http::answer::problem::{CODES, Problem};
pub use attestry_http::state::{Api, HttpSettings};
pub use document::document;
pub use identity::members::{MemberList, MemberView, UserView};
pub use registers::{AuthInfo, AuthenticatedUser, List, View};
pub use routes::{router, tidy};
pub use service::console::has_console;
pub use soa::exports::tables as statement_tables;
