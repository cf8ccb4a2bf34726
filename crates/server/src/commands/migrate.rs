//! `attestry migrate`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use attestry_storage::schema::MIGRATIONS;

use super::say;
use crate::config::Config;
use crate::start;

pub(crate) async fn run(config: &Config, check: bool) -> Result<ExitCode> {
    if check && !start::database_exists(config) {
        let all: Vec<String> =
            MIGRATIONS.iter().map(|step| format!("{:04}_{}", step.number, step.name)).collect();
        say(format_args!("There is no database yet. Missing: {}", all.join(", ")));
        return Ok(ExitCode::FAILURE);
    }
    let ctx = start::open(config, None)?;
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    start::must_be_known(&pending)?;
    if pending.missing.is_empty() {
        say("The schema is up to date.");
        return Ok(ExitCode::SUCCESS);
    }
    if check {
        say(format_args!("Missing: {}", pending.missing.join(", ")));
        return Ok(ExitCode::FAILURE);
    }
    ctx.db.migrate(MIGRATIONS).await?;
    say(format_args!("Applied: {}", pending.missing.join(", ")));
    Ok(ExitCode::SUCCESS)
}
