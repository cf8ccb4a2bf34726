//! How a request is answered: problems, versions, pages of lists, tables, downloads, streams, and bodies that are watched on their way out.

pub(crate) mod conditions;
pub(crate) mod downloads;
pub(crate) mod lists;
pub(crate) mod memory;
pub(crate) mod problem;
pub(crate) mod streams;
pub(crate) mod tables;
pub(crate) mod watched;
