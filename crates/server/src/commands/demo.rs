//! `attestry demo`: fills an empty database with a sample organization.

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use attestry_app::assistant::Assistant;
use attestry_app::identity::setup;
use attestry_demo::{Filled, Stage};
use attestry_domain::Parse;
use attestry_domain::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use attestry_domain::date::Date;
use attestry_domain::hash::hex;
use attestry_domain::text::Password;
use clap::Args;

use super::say;
use crate::config::Config;
use crate::start::{self, Dependencies};

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// The day after the sample history ends; today by default (YYYY-MM-DD)
    #[arg(long, value_name = "DATE")]
    today: Option<String>,
    /// The password of the sample accounts; a random one is generated and printed by default
    #[arg(long)]
    password: Option<String>,
}

/// Parses `--today`, which must not be in the future.
fn day(given: Option<&str>) -> Result<Date> {
    let now = Date::of(SystemClock.now());
    let Some(text) = given else { return Ok(now) };
    match Date::parse(text).map_err(|message| anyhow!("--today {message}"))? {
        day if day > now => {
            bail!("--today must not be in the future: its history would not have happened yet")
        }
        day => Ok(day),
    }
}

fn password(given: Option<&str>) -> Result<Password> {
    let text = given.map_or_else(
        || {
            let mut bytes = [0; 8];
            SystemEntropy.fill(&mut bytes);
            hex(&bytes)
        },
        str::to_owned,
    );
    Password::parse(&text).map_err(|message| anyhow!("--password {message}"))
}

pub(crate) async fn run(config: &Config, wishes: &Demo) -> Result<ExitCode> {
    let (today, password) = (day(wishes.today.as_deref())?, password(wishes.password.as_deref())?);
    let stage = Stage::new(today)?;
    let mut runner = config.runner.clone();
    runner.answers = Some(stage.outside());
    let world = Dependencies {
        clock: stage.clock(),
        ids: stage.ids(),
        mailer: stage.mailer(),
        runner,
        assistant: Assistant::Nobody,
    };
    let ctx = start::migrated_in(world, config, None).await?;
    if !setup::is_open(&ctx).await? {
        bail!(
            "this database already has an organization, and nothing was changed; `attestry demo` needs an empty one: \
             choose another folder with --data-dir"
        );
    }
    let filled = attestry_demo::fill(&ctx, &stage, &password, attestry_api::statement_tables).await?;
    tell(config, &filled, &password);
    Ok(ExitCode::SUCCESS)
}

/// Prints how to start the server and sign in.
fn tell(config: &Config, filled: &Filled, password: &Password) {
    let url = start::public_url(config, None);
    say(format_args!("{} is ready. Start the server with the same settings:", filled.organization));
    say("");
    match &config.database {
        attestry_db::Config::Sqlite { .. } => {
            say(format_args!("  attestry serve --data-dir {}", config.data_dir.display()));
        }
        attestry_db::Config::Postgres { .. } => {
            say(format_args!("  attestry serve --data-dir {} --database-url …", config.data_dir.display()));
        }
    }
    say("");
    say(format_args!("Then open {url} and sign in as:"));
    say("");
    for account in &filled.accounts {
        say(format_args!("  {:<36} {} ({})", account.email, account.name, account.role));
    }
    say("");
    say(format_args!("Password:      {}  (shown only once)", password.expose()));
    say(format_args!("API key:       {}  (shown only once)", filled.api_key));
    say(format_args!("Trust portal:  {url}{}", filled.portal));
}
