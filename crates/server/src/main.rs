//! The binary `attestry`: command line, configuration, start and stop.

mod commands;
mod config;
mod privileges;
mod serve;
mod start;
mod telemetry;
mod write_timeout;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Flags};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compliance management in one binary.
#[derive(Debug, Parser)]
#[command(name = "attestry", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Common {
    /// A configuration file (TOML)
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder: database, files, mail, key file
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// postgres://… instead of SQLite in the data folder
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and the console, and run jobs
    Serve {
        /// The address and port to listen on
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Run jobs only, alongside servers on the same database
    Worker,
    /// Bring the database's schema up to date
    Migrate {
        /// Only report missing migrations; exit 1 if there are any
        #[arg(long)]
        check: bool,
    },
    /// Set up and repair an installation, also while a server is running
    #[command(subcommand)]
    Admin(commands::admin::Admin),
    /// Print the OpenAPI document
    Openapi,
    /// Show or check the settings
    #[command(subcommand)]
    Config(commands::settings::Settings),
    /// Check database, key, files and mail, and report what to do
    Doctor,
    /// Verify the audit log
    #[command(subcommand)]
    Audit(commands::audit::Audit),
    /// Check offline that a signed file, such as an agreement, is unchanged
    Verify {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The keys of the server that signed it, from its /.well-known/attestry-keys.json; this installation's own
        /// if left out
        #[arg(long, value_name = "FILE")]
        keys: Option<PathBuf>,
    },
    /// Write database and files into one archive, also while a server is running
    Backup {
        /// The archive to write
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
        /// Replace the file if it exists
        #[arg(long)]
        overwrite: bool,
    },
    /// Fill an empty database with a sample organization and a year of its history
    Demo(commands::demo::Demo),
    /// Fill an empty database from an archive
    Restore {
        /// The archive to read
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
}

/// The command that starts the process from which script processes are forked. This command and the next one are handled
/// before everything else, because every file open by then would have to be closed again.
const SANDBOX_CHILD: &str = "sandbox-child";
/// The command that starts the process from which those are forked that read uploaded PDFs.
const PDF_CHILD: &str = "pdf-child";

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(command) if command == SANDBOX_CHILD => attestry_sandbox::child(),
        Some(command) if command == PDF_CHILD => attestry_pdf::stamping_child(),
        _ => {}
    }
    // Without huge pages, which the allocator asks for and which count in full even if little of them is used, the
    // idle server takes 27 MB instead of 44. The call does no harm on a kernel that does not support it.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
    match run() {
        Ok(code) => code,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the last word of a command")]
            {
                eprintln!("attestry: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let Cli { common, command } = Cli::parse();
    let mut flags = Flags {
        config: common.config,
        data_dir: common.data_dir,
        database_url: common.database_url,
        listen: None,
    };
    if let Command::Serve { listen } = &command {
        flags.listen.clone_from(listen);
    }
    if let Command::Openapi = command {
        return commands::settings::print_document();
    }
    // One provider for all TLS in the process.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Checking the settings builds the clients they configure, and some of those need a runtime.
    let inside = runtime.enter();
    let config = Config::load(&flags)?;
    if let Command::Config(command) = &command {
        return Ok(commands::settings::run(command, &config));
    }
    if let Command::Verify { file, keys } = &command {
        return commands::verify::run(&config, file, keys.as_deref());
    }
    privileges::adopt_owner(&config.data_dir)?;
    telemetry::start(&config);
    drop(inside);
    runtime.block_on(async {
        match command {
            Command::Serve { .. } => serve::serve(&config).await,
            Command::Worker => serve::worker(&config).await,
            Command::Migrate { check } => commands::migrate::run(&config, check).await,
            Command::Admin(command) => commands::admin::run(command, &config).await,
            Command::Doctor => Box::pin(commands::doctor::run(&config)).await,
            Command::Audit(command) => commands::audit::run(command, &config).await,
            Command::Backup { to, overwrite } => commands::archive::backup(&config, &to, overwrite).await,
            Command::Restore { from } => commands::archive::restore(&config, &from).await,
            Command::Demo(wishes) => commands::demo::run(&config, &wishes).await,
            Command::Openapi | Command::Config(_) | Command::Verify { .. } => Ok(ExitCode::SUCCESS),
        }
    })
}
