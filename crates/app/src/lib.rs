//! The use cases. Each function takes the context and the scope that proves the permission, runs
//! one transaction in which the change, its journal entry and its jobs land together or not at all,
//! and knows nothing of HTTP.

pub mod api_keys;
mod assignees;
pub mod assistant;
pub mod attachments;
mod attempts;
pub mod automations;
pub mod backups;
mod change;
pub mod comments;
pub mod context;
mod context_entries;
pub mod controls;
pub mod downloads;
pub mod error;
mod events;
pub mod files;
pub mod frameworks;
pub mod history;
pub mod idempotency;
pub mod inspection;
pub mod invitations;
pub mod jobs;
pub mod journal;
pub mod keys;
mod letters;
mod links;
pub mod members;
pub mod notices;
pub mod organizations;
pub mod passwords;
pub mod places;
pub mod policies;
pub mod precondition;
pub mod principals;
pub mod proof;
pub mod readiness;
pub mod registers;
mod remembered;
pub mod runner;
pub mod runs;
mod sealing;
pub mod secrets;
pub mod service;
pub mod sessions;
pub mod setup;
pub mod soa;
mod subjects;
pub mod tasks;
mod turns;

pub use context::{Ctx, Settings};
pub use error::{Error, FieldError};
pub use runner::RunnerSettings;
