//! The HTTP layer that all operations share: authentication, parsing, permissions and responses. [`layers`] wraps
//! everything; extractors in [`request`] declare what an operation needs; [`answer`] has problems, pages, tables and
//! downloads; [`document`] generates the OpenAPI document from the same facts. Nothing here depends on a particular
//! operation.

#[macro_use]
pub mod request;

pub mod answer;
pub mod document;
pub mod layers;
pub mod metrics;
pub mod state;

// For the macros.
pub use utoipa;
pub use utoipa_axum;
