//! Building of responses: problems, ETags, pages of lists, tables, downloads, streams, and the monitoring of streamed
//! bodies.

pub mod conditions;
pub mod downloads;
pub mod lists;
pub mod memory;
pub mod problem;
pub mod scim;
pub mod streams;
pub mod tables;
pub mod watched;
