//! Scripts in their sandbox.

#![expect(clippy::expect_used, clippy::panic, reason = "test code")]

mod check;
mod common;
#[cfg(target_os = "linux")]
mod confinement;
mod hostile;
mod script;
