//! HTTP. [`router`] is the whole interface; a handler turns a body into a domain value, calls one use
//! case and turns its result into a view. Everything else (credentials, strict bodies, problems,
//! conditional requests, idempotency, limits) is done once, in the extractors and layers here.

#[macro_use]
mod request;

mod answer;
mod document;
mod layers;
mod routes;
mod state;

mod api_keys;
mod attachments;
mod audit_logs;
mod auth;
mod automations;
mod comments;
mod console;
mod events;
mod files;
mod health;
mod members;
mod metrics;
mod organization;
#[macro_use]
mod registers;
mod context_entries;
mod controls;
mod frameworks;
mod policies;
mod risks;
mod secrets;
mod sessions;
mod setup;
mod soa;
mod task_templates;
mod tasks;
mod trust_access;
mod trust_portal;
mod vendors;
mod views;

pub use answer::problem::{CODES, Problem};
pub use console::has_console;
pub use document::openapi::document;
pub use members::{MemberList, MemberView, UserView};
pub use registers::{AuthInfo, AuthenticatedUser, List, View};
pub use routes::{router, tidy};
pub use soa::exports::tables as statement_tables;
pub use state::{Api, HttpSettings};
