//! The OpenAPI document, from the list of routes and the facts of each.

pub mod listed;
pub mod openapi;
pub mod operations;
pub mod schemas;
