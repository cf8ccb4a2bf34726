//! The use cases, by feature. Each function takes the context and the scope that proves the permission, and runs one
//! transaction in which the change, its journal entry and its jobs are committed together or not at all. Nothing here
//! depends on HTTP.

mod assembly;
pub mod assistant;
pub mod automations;
pub mod comments;
pub mod core;
pub mod feed;
pub mod files;
pub mod frameworks;
mod housekeeping;
pub mod identity;
pub mod notices;
pub mod policies;
pub mod portals;
pub mod programme;
pub mod registers;
pub mod schema_status;
pub mod soa;
pub mod tasks;
pub mod trust_access;

/// Returns the future of an `async fn` boxed. Use cases that other crates await have it: an unboxed future is compiled anew by each
/// crate that awaits it, with everything it awaits itself. That was most of the build time of `api`, `demo` and the tests.
pub(crate) use async_recursion::async_recursion as boxed;

pub use attestry_pdf::StamperSettings;

pub use crate::assembly::Settings;
pub use crate::automations::runner::RunnerSettings;
pub use crate::core::context::Ctx;
pub use crate::core::error::{Error, FieldError};
