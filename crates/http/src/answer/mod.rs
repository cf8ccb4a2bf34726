//! How a request is answered: problems, versions, pages of lists, tables, downloads, streams, and bodies that are watched on their way out.

pub mod conditions;
pub mod downloads;
pub mod lists;
pub mod memory;
pub mod problem;
pub mod streams;
pub mod tables;
pub mod watched;
