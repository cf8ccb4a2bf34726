//! HTTP. [`router`] is the whole interface; a handler turns a body into a domain value, calls one use
//! case and turns its result into a view. Everything else (credentials, strict bodies, problems,
//! conditional requests, idempotency, limits) is done once, in the extractors and layers here.

#[macro_use]
mod wire;

mod api_keys;
mod arrival;
mod attachments;
mod audit_logs;
mod auth;
mod bodies;
mod body_limits;
mod caller;
mod comments;
mod conditions;
mod docs;
mod files;
mod health;
mod idempotency;
mod json;
mod layers;
mod limits;
mod lists;
mod members;
mod metrics;
mod openapi;
mod operations;
mod organization;
mod path;
mod problem;
mod query;
#[macro_use]
mod registers;
mod risks;
mod routes;
mod setup;
mod state;
mod tables;
mod uploads;
mod vendors;
mod watched;

pub use members::{MemberList, MemberView, UserView};
pub use openapi::document;
pub use problem::{CODES, Problem};
pub use registers::{AuthInfo, AuthenticatedUser, List};
pub use routes::{PUBLIC, Page, router, tidy};
pub use state::{Api, HttpSettings};
