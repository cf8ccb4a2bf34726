//! What is told of the interface: the OpenAPI document and the pages that show it.

pub(crate) mod docs;
pub(crate) mod listed;
pub(crate) mod openapi;
pub(crate) mod operations;
