//! How a request is read and guarded: who calls, what the path, the query and the body say, what is refused before a
//! handler sees it.

#[macro_use]
pub mod wire;

pub mod arrival;
pub mod bodies;
pub mod body_limits;
pub mod caller;
pub mod facts;
pub mod idempotency;
pub mod json;
pub mod limits;
pub mod path;
pub mod portal_hosts;
pub mod preferences;
pub mod query;
pub mod uploads;
pub mod values;
