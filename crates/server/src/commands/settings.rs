//! `attestry config` and `attestry openapi`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::say;
use crate::config::Config;

#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// Print every setting and its source
    Show,
    /// Check that the settings are valid
    Check,
}

pub(crate) fn run(command: &Settings, config: &Config) -> ExitCode {
    match command {
        Settings::Show => {
            for (key, value, from) in config.show() {
                say(format_args!("{key} = {value}  # {from}"));
            }
        }
        Settings::Check => say("The configuration is valid."),
    }
    ExitCode::SUCCESS
}

pub(crate) fn print_document() -> Result<ExitCode> {
    say(serde_json::to_string_pretty(&attestry_api::document())?);
    Ok(ExitCode::SUCCESS)
}
