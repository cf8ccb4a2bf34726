//! Reading and answering requests: who calls, what they send, what they may, and what they are told. [`layers`] is around
//! everything; extractors in [`request`] say what an operation needs; [`answer`] has problems, pages, tables and downloads;
//! [`document`] writes the OpenAPI document from the same facts. Nothing here knows an operation.

#[macro_use]
pub mod request;

pub mod answer;
pub mod document;
pub mod layers;
pub mod metrics;
pub mod state;

// For the macros.
pub use utoipa;
pub use utoipa_axum::paste;
