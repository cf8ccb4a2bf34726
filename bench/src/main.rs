//! Drives the release server from another process over loopback, and in the same run a bare axum route that returns
//! the same bytes. Prints ratios, because absolute numbers mean little on a shared machine: req/s, p50, p99, the
//! server's CPU and memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports")]

mod attacks;
mod automations;
mod bare;
mod growth;
mod load;
mod policies;
mod portals;
mod process;
mod report;
mod seed;
mod soa;
mod together;
mod uploads;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::report::Case;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The benchmark
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Cli {
    /// Seconds of one window of load
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// Windows of each route; the best counts, on both sides
    #[arg(long, default_value_t = 3)]
    windows: u32,
    /// Organizations, each with 500 members
    #[arg(long, default_value_t = 20)]
    organizations: usize,
    /// API keys in all
    #[arg(long, default_value_t = 200)]
    keys: usize,
    /// Only this database: sqlite or postgres
    #[arg(long)]
    only: Option<String>,
    /// Measure again with ten times the organizations and keys
    #[arg(long)]
    growth: bool,
    /// Instead: the list and the creation of risks in one organization at each of these sizes, one after the other
    #[arg(long, value_delimiter = ',', num_args = 0.., default_missing_value = "1000,100000,1000000")]
    risks: Option<Vec<usize>>,
    /// Instead: the write throughput of two servers on one PostgreSQL, against one server
    #[arg(long)]
    together: bool,
    /// Instead: runs of automations, and the cost of a sandbox
    #[arg(long)]
    automations: bool,
    /// Instead: the assistant's streams, and PDF
    #[arg(long)]
    policies: bool,
    /// Instead: a statement of applicability, and readiness
    #[arg(long)]
    soa: bool,
    /// Instead: the trust portal's agreements, certificates and domains
    #[arg(long)]
    portals: bool,
    /// Instead: the latency of `/v1/health` during floods of expensive requests
    #[arg(long)]
    attacks: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The bare routes, in a separate process
    #[command(hide = true)]
    Bare { folder: PathBuf },
}

/// The minimum throughput of a route as a share of the bare one: SQLite, PostgreSQL.
const TARGETS: &[(&str, f64, f64)] = &[
    ("GET /v1/people/{id}", 0.40, 0.18),
    ("GET /v1/people?limit=50", 0.35, 0.20),
    ("PATCH /v1/people/{id}", 0.10, 0.05),
    ("GET /v1/vendors/{id}", 0.40, 0.18),
    ("GET /v1/risks?limit=50", 0.35, 0.20),
    ("POST /v1/risks", 0.10, 0.05),
    ("GET /v1/tasks", 0.35, 0.35),
];

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    if let Some(Command::Bare { folder }) = &cli.command {
        return bare::serve(folder).await;
    }
    let engines: Vec<&str> = ["sqlite", "postgres"]
        .into_iter()
        .filter(|engine| cli.only.as_deref().is_none_or(|only| only == *engine))
        .collect();
    if cli.together {
        return together::run(&cli).await;
    }
    if cli.automations {
        for engine in engines {
            automations::run(&cli, engine).await?;
        }
        return Ok(());
    }
    if cli.policies {
        for engine in engines {
            policies::run(&cli, engine).await?;
        }
        return Ok(());
    }
    if cli.soa {
        for engine in engines {
            soa::run(&cli, engine).await?;
        }
        return Ok(());
    }
    if cli.portals {
        for engine in engines {
            portals::run(&cli, engine).await?;
        }
        return Ok(());
    }
    if cli.attacks {
        for engine in engines {
            attacks::run(&cli, engine).await?;
        }
        return Ok(());
    }
    if let Some(sizes) = &cli.risks {
        for engine in engines {
            growth::run(&cli, engine, sizes).await?;
        }
        return Ok(());
    }
    let sizes = if cli.growth { vec![1, 10] } else { vec![1] };
    let mut cases = Vec::new();
    for engine in engines {
        for size in &sizes {
            cases.extend(run(&cli, engine, *size).await?);
        }
    }
    report::print(&cases);
    let path = report::write(&cases)?;
    println!("\nWritten to {}", path.display());
    let missed = cases.iter().filter(|case| case.ratio() < case.target).count();
    if missed > 0 {
        println!("{missed} of {} figures are below their target.", cases.len());
    }
    Ok(())
}

async fn run(cli: &Cli, engine: &str, size: usize) -> Result<Vec<Case>> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let (organizations, keys) = (cli.organizations * size, cli.keys * size);
    eprintln!("{engine}: seeding {organizations} organizations × 500 members, {keys} keys …");
    let mut homes = seed::seed(data.path(), database.as_deref(), organizations, keys).await?;
    let home = homes.pop().context("an organization")?;
    seed::tasks(data.path(), database.as_deref(), home.organization, 2000).await?;
    let server = process::Server::start(data.path(), database.as_deref())?;
    eprintln!(
        "{engine}: ready after {} ms, {} MB resident",
        server.ready_after.as_millis(),
        server.resident_mb()
    );
    let idle = server.resident_mb();
    let bare_folder = tempfile::tempdir()?;
    bare::prepare(bare_folder.path(), &server.url, &home).await?;
    let bare = process::Bare::start(bare_folder.path())?;
    let mut cases = Vec::new();
    for (name, sqlite, postgres) in TARGETS {
        let script = load::script(bare_folder.path(), name, &home)?;
        let target = if engine == "sqlite" { *sqlite } else { *postgres };
        let (best_bare, best) = load::compare(&bare, &server, &script, cli.windows, cli.seconds)?;
        let case = Case {
            engine: engine.to_owned(),
            size: organizations,
            route: (*name).to_owned(),
            measured: best,
            bare: best_bare,
            target,
            idle_mb: idle,
            ready_ms: u64::try_from(server.ready_after.as_millis()).unwrap_or(u64::MAX),
        };
        eprintln!("{engine}: {name}: {:.0}/s, {:.2} of bare", case.measured.per_second, case.ratio());
        cases.push(case);
    }
    let raised = uploads::raise(&server, &home).await?;
    println!(
        "{engine}: {} uploads of 10 MiB at once raise the resident memory by {raised} MB (limit {})",
        uploads::CLIENTS,
        uploads::LIMIT_MB
    );
    Ok(cases)
}

/// Returns the path of a binary in the same folder as this one.
fn sibling(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder: &Path = own.parent().context("the binary is in a folder")?;
    Ok(folder.join(name))
}
