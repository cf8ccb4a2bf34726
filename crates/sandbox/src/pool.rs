//! The pool of children that wait for a script. Each runs one; a replacement is started as soon as a child is
//! assigned.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::net;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::template::{Process, Template};
use crate::{Failure, Host, Limits, Mistake, Outcome, Script, run};

/// The command that starts children, and the limits of their scripts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program that calls [`child`](crate::child()).
    pub program: PathBuf,
    /// The arguments that make it do so.
    pub arguments: Vec<OsString>,
    /// The number of children started in advance.
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

/// The path of this program. On Linux the link stays valid when an upgrade replaces the file.
fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|error| {
        tracing::error!(%error, "the path of this program is unknown");
        PathBuf::new()
    })
}

/// Runs scripts. Clones share their children; dropping the last clone kills the waiting ones.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
}

impl Sandbox {
    /// Starts children immediately if there is a runtime, otherwise with the first run.
    pub fn new(settings: Settings) -> Self {
        let pool = Arc::new(Pool { settings, waiting: Mutex::default() });
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.refill(&mut pool.waiting());
        }
        Self { pool }
    }

    /// Runs a script to its end. Dropping the future kills it.
    pub async fn run<H: Host>(&self, script: Script, host: Arc<H>) -> Result<Outcome, Failure> {
        run::run(&self.pool, script, host).await
    }

    /// Checks a source without running it: its syntax, its imports, and its default export.
    pub async fn check(&self, source: &str) -> Result<Result<(), Mistake>, Failure> {
        run::check(&self.pool, source).await
    }

    pub fn limits(&self) -> &Limits {
        &self.pool.settings.limits
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) settings: Settings,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    workers: VecDeque<Worker>,
    /// The process that children are forked from; started with the first child.
    template: Option<Arc<Template>>,
}

/// A child, killed on drop.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) process: Process,
    pub(crate) input: OwnedWriteHalf,
    pub(crate) output: BufReader<OwnedReadHalf>,
}

impl Pool {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a waiting child, or a new one, and starts a replacement.
    pub(crate) fn take(&self) -> Result<Worker, Failure> {
        let mut waiting = self.waiting();
        let waits =
            std::iter::from_fn(|| waiting.workers.pop_front()).find(|worker| worker.process.is_trusted());
        let worker = waits.map_or_else(|| self.start(&mut waiting), Ok);
        self.refill(&mut waiting);
        worker
    }

    /// Starts children up to the configured number, without waiting for them.
    fn refill(&self, waiting: &mut Waiting) {
        while waiting.workers.len() < self.settings.ready {
            match self.start(waiting) {
                Ok(worker) => waiting.workers.push_back(worker),
                Err(_) => return,
            }
        }
    }

    fn start(&self, waiting: &mut Waiting) -> Result<Worker, Failure> {
        self.fork(waiting).map_err(|error| {
            tracing::error!(program = %self.settings.program.display(), %error, "no sandbox could be started");
            Failure::unavailable("The server could not start a process for the script.")
        })
    }

    fn fork(&self, waiting: &mut Waiting) -> io::Result<Worker> {
        let template = waiting.template.as_ref().filter(|template| !template.is_used_up());
        let (process, socket) = match template.map(Template::fork) {
            Some(Err(error)) if error.kind() == ErrorKind::BrokenPipe => self.fork_from_another(waiting)?,
            Some(forked) => forked?,
            None => self.fork_from_another(waiting)?,
        };
        let (output, input) = UnixStream::from_std(socket)?.into_split();
        Ok(Worker { process, input, output: BufReader::new(output) })
    }

    fn fork_from_another(&self, waiting: &mut Waiting) -> io::Result<(Process, net::UnixStream)> {
        waiting.template.insert(Template::start(&self.settings)?).fork()
    }
}
