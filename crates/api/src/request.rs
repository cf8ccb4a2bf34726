//! How a request is read and guarded: who calls, what the path, the query and the body say, what is refused before a
//! handler sees it.

#[macro_use]
pub(crate) mod wire;

pub(crate) mod arrival;
pub(crate) mod bodies;
#[cfg(test)]
pub(crate) mod body_limits;
pub(crate) mod caller;
pub(crate) mod facts;
pub(crate) mod idempotency;
pub(crate) mod json;
pub(crate) mod limits;
pub(crate) mod path;
pub(crate) mod portal_hosts;
pub(crate) mod preferences;
pub(crate) mod query;
pub(crate) mod uploads;
