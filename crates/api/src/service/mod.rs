//! The service itself: health, the audit log, events, files, documentation and the console.

pub(crate) mod audit_logs;
pub(crate) mod console;
pub(crate) mod docs;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod health;
