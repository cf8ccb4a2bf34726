//! Stamps on uploaded PDFs: the visible result, and hostile files.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "test code"
)]

mod build;
mod confined;
mod geometry;
mod hostile;
mod read;
mod refused;
mod resources;
mod scripts;
