//! Stamps on files that somebody gave: what readers see of them, and what hostile files achieve.

#![expect(clippy::unwrap_used, reason = "test code")]

mod build;
mod geometry;
mod hostile;
mod read;
mod refused;
mod resources;
mod scripts;
