//! The cost of the list and the creation as a register grows, in one organization: the share of the bare route at
//! each size, and the ratio to the first size.

use anyhow::{Context, Result};

use crate::{Cli, bare, load, process, seed};

/// The maximum ratio of a request's cost to that at the first size.
const LIMIT: f64 = 1.3;
/// The list comes first, because creating makes the register larger.
const ROUTES: &[&str] = &[
    "GET /v1/risks?limit=50",
    "GET /v1/risks?limit=50&sort=title",
    "GET /v1/risks?limit=50&sort=inherentScore",
    "POST /v1/risks",
];

pub(crate) async fn run(cli: &Cli, engine: &str, sizes: &[usize]) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let mut first: Vec<f64> = Vec::new();
    println!(
        "{:<9} {:>9}  {:<42} {:>9} {:>9} {:>6} {:>8}",
        "database", "risks", "route", "req/s", "bare", "ratio", "cost"
    );
    for size in sizes {
        let had = seed::fill(data.path(), database.as_deref(), home.organization, *size).await?;
        let server = process::Server::start(data.path(), database.as_deref())?;
        let folder = tempfile::tempdir()?;
        bare::prepare(folder.path(), &server.url, &home).await?;
        let bare = process::Bare::start(folder.path())?;
        for (place, route) in ROUTES.iter().enumerate() {
            let script = load::script(folder.path(), route, &home)?;
            let (best_bare, best) = load::compare(&bare, &server, &script, cli.windows, cli.seconds)?;
            let ratio = best.per_second / best_bare.per_second;
            if first.len() == place {
                first.push(ratio);
            }
            let cost = first[place] / ratio;
            let mark = if cost > LIMIT { " ✗" } else { "" };
            println!(
                "{engine:<9} {:>9}  {route:<42} {:>9.0} {:>9.0} {ratio:>6.3} {cost:>7.2}×{mark}",
                had.max(*size),
                best.per_second,
                best_bare.per_second
            );
        }
    }
    Ok(())
}
