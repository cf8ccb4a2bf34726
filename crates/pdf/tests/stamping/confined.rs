//! The processes that read uploaded files.

use std::time::Duration;

use attestry_pdf::{Stamper, StamperSettings};
use tokio::runtime::Runtime;

pub(crate) fn settings() -> StamperSettings {
    let mut settings = StamperSettings::default();
    settings.0.program = env!("CARGO_BIN_EXE_pdf-child").into();
    settings.0.arguments.clear();
    settings.0.limits.cpu = Duration::from_secs(5);
    settings
}

/// Runs the work with a stamper.
pub(crate) fn run<T>(work: impl AsyncFnOnce(&Stamper) -> T) -> T {
    Runtime::new().unwrap().block_on(async { work(&Stamper::new(settings())).await })
}
