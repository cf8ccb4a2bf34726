//! The log: to standard error, as text or JSON lines.

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

use crate::config::Config;

pub(crate) fn start(config: &Config) {
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match config.log_json {
        true => lines.json().boxed(),
        false => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
    };
    registry().with(lines.with_filter(config.log_level.clone())).init();
}
