//! Two servers on one PostgreSQL: their combined write throughput against that of one server.

use std::thread;

use anyhow::{Context, Result};

use crate::{Cli, load, process, seed};

const ORGANIZATIONS: usize = 50;

pub(crate) async fn run(cli: &Cli) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = Some(seed::fresh_postgres().await?);
    eprintln!("seeding {ORGANIZATIONS} organizations …");
    let homes = seed::seed(data.path(), database.as_deref(), ORGANIZATIONS, ORGANIZATIONS).await?;
    let script = load::by_all(data.path(), &homes)?;
    let one = process::Server::start(data.path(), database.as_deref())?;
    let two = process::Server::start(data.path(), database.as_deref())?;
    let (mut alone, mut together) = (0.0_f64, 0.0_f64);
    for _ in 0..cli.windows {
        alone = alone.max(load::drive(&one.url, &script, cli.seconds, None)?.per_second);
        let load =
            |url: &str| load::drive(url, &script, cli.seconds, None).map(|measured| measured.per_second);
        let both = thread::scope(|scope| {
            let other = scope.spawn(|| load(&two.url));
            let own = load(&one.url)?;
            let other = other.join().ok().context("the other load ran")??;
            Ok::<_, anyhow::Error>(own + other)
        })?;
        together = together.max(both);
    }
    println!(
        "{ORGANIZATIONS} organizations, POST /v1/risks: one server {alone:.0}/s, two servers {together:.0}/s: {:.2} times",
        together / alone
    );
    Ok(())
}
