//! Children that wait for a script. Each runs one; another is started as soon as one is taken.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::BufReader;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{Failure, Host, Limits, Mistake, Outcome, Script, run, wire};

/// How children are started, and what their scripts may use.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program that calls [`child`](crate::child()).
    pub program: PathBuf,
    /// The arguments that make it do so.
    pub arguments: Vec<OsString>,
    /// How many children are started ahead.
    pub ready: usize,
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            program: own_program(),
            arguments: vec![OsString::from("sandbox-child")],
            ready: 2,
            limits: Limits::default(),
        }
    }
}

/// This program. On Linux the link still leads to it when an upgrade has replaced the file.
fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|error| {
        tracing::error!(%error, "the path of this program is unknown");
        PathBuf::new()
    })
}

/// Runs scripts. Clones share their children; the last one that is dropped kills those that wait.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
}

impl Sandbox {
    /// Starts children at once if there is a runtime, else with the first run.
    pub fn new(settings: Settings) -> Self {
        let pool = Arc::new(Pool { settings, waiting: Mutex::default() });
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.refill();
        }
        Self { pool }
    }

    /// Runs a script to its end. Dropping the future kills it.
    pub async fn run<H: Host>(&self, script: Script, host: Arc<H>) -> Result<Outcome, Failure> {
        run::run(self.pool.take()?, &self.pool.settings.limits, script, host).await
    }

    /// Whether a source is a script: its syntax, its imports, and that it has a default export. Nothing of it runs.
    pub async fn check(&self, source: &str) -> Result<Result<(), Mistake>, Failure> {
        run::check(self.pool.take()?, &self.pool.settings.limits, source).await
    }

    pub fn limits(&self) -> &Limits {
        &self.pool.settings.limits
    }

    /// Ends the children that wait; no script is run from now on.
    pub async fn close(&self) {
        let waiting = {
            let mut waiting = self.pool.waiting();
            waiting.closed = true;
            std::mem::take(&mut waiting.workers)
        };
        for mut worker in waiting {
            if let Err(error) = worker.process.kill().await {
                tracing::debug!(%error, "a waiting sandbox could not be ended");
            }
        }
    }
}

#[derive(Debug)]
struct Pool {
    settings: Settings,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    workers: VecDeque<Worker>,
    starting: usize,
    closed: bool,
}

/// A child, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) process: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Pool {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>) -> Result<Worker, Failure> {
        let taken = {
            let mut waiting = self.waiting();
            if waiting.closed {
                return Err(Failure::unavailable("The server is shutting down and runs no more scripts."));
            }
            // One may have been killed from outside while it waited.
            std::iter::from_fn(|| waiting.workers.pop_front())
                .find_map(|mut worker| matches!(worker.process.try_wait(), Ok(None)).then_some(worker))
        };
        let worker = taken.map_or_else(|| self.start(), Ok);
        self.refill();
        worker
    }

    /// Starts as many children as are missing, in tasks of their own: whoever took one does not wait for the next.
    fn refill(self: &Arc<Self>) {
        let missing = {
            let mut waiting = self.waiting();
            let missing = self.settings.ready.saturating_sub(waiting.workers.len() + waiting.starting);
            waiting.starting += missing;
            missing
        };
        for _ in 0..missing {
            let pool = Arc::clone(self);
            tokio::spawn(async move {
                let started = pool.start();
                let mut waiting = pool.waiting();
                waiting.starting -= 1;
                if !waiting.closed {
                    waiting.workers.extend(started);
                }
            });
        }
    }

    fn start(&self) -> Result<Worker, Failure> {
        self.spawn().map_err(|error| {
            tracing::error!(program = %self.settings.program.display(), %error, "no sandbox could be started");
            Failure::unavailable("The server could not start a process for the script.")
        })
    }

    fn spawn(&self) -> std::io::Result<Worker> {
        let mut process = Command::new(&self.settings.program)
            .args(&self.settings.arguments)
            .env_clear()
            .env(wire::LIMITS, serde_json::to_string(&self.settings.limits)?)
            // Otherwise the allocator maps a gigabyte, more than the child may.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .current_dir("/")
            // A Ctrl-C in the terminal is for the server, which may want to wait for its scripts.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(std::io::Error::other("the process has no pipes"));
        };
        Ok(Worker { process, input, output: BufReader::new(output) })
    }
}
