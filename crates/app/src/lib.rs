//! The use cases, by feature. Each function takes the context and the scope that proves the permission, runs
//! one transaction in which the change, its journal entry and its jobs land together or not at all,
//! and knows nothing of HTTP.

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
pub mod registers;
pub mod schema_status;
pub mod soa;
pub mod tasks;
pub mod trust_access;

pub use crate::assembly::Settings;
pub use crate::automations::runner::RunnerSettings;
pub use crate::core::context::Ctx;
pub use crate::core::error::{Error, FieldError};
