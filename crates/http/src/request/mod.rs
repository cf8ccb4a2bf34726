//! Parsing and checking of requests: the caller, the path, the query, the body, and everything that is rejected
//! before a handler runs.

#[macro_use]
pub mod wire;

pub mod arrival;
pub mod bodies;
pub mod body_limits;
pub mod caller;
pub mod directory;
pub mod facts;
pub mod form;
pub mod idempotency;
pub mod json;
pub mod limits;
pub mod path;
pub mod portal_hosts;
pub mod preferences;
pub mod query;
pub mod uploads;
