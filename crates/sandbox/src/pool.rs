//! The pool of children that wait for their input. Each is used once; a replacement is started as soon as a child is
//! assigned.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::net;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::timeout;

use crate::limits::Limits;
use crate::template::{Process, Template};
use crate::wire::Up;
use crate::worker::Listener;

/// The maximum time until a child is ready.
const START: Duration = Duration::from_secs(10);

/// The maximum number of children that are tried for one input.
pub(crate) const ATTEMPTS: usize = 5;

/// The maximum length of the message of a child that is ready, or cannot be confined.
const MAX_READY_MESSAGE: usize = 64 << 10;

/// The command that starts children, and their limits.
#[derive(Clone, Debug)]
pub struct Settings<L = Limits> {
    /// The program that calls [`child`](crate::child()) or [`serve_function`](crate::serve_function()).
    pub program: PathBuf,
    /// The arguments that make it do so.
    pub arguments: Vec<OsString>,
    /// The number of children started in advance.
    pub ready: usize,
    pub limits: L,
}

impl Default for Settings {
    fn default() -> Self {
        Self { ready: 2, ..Self::of_command("sandbox-child", Limits::default()) }
    }
}

impl<L> Settings<L> {
    /// Settings for a command of this program.
    pub fn of_command(command: &str, limits: L) -> Self {
        Self { program: own_program(), arguments: vec![command.into()], ready: 1, limits }
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

/// The reason why there is no child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoChild {
    NotStarted,
    NotConfined,
}

#[derive(Debug)]
pub(crate) struct Pool {
    /// With the limits as JSON.
    launch: Settings<String>,
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
struct Worker {
    listener: Listener,
    input: OwnedWriteHalf,
}

impl Pool {
    /// Starts children immediately if there is a runtime, otherwise with the first use.
    pub(crate) fn new<L: Serialize>(settings: &Settings<L>) -> Arc<Self> {
        let Settings { program, arguments, ready, limits } = settings;
        let launch = Settings {
            program: program.clone(),
            arguments: arguments.clone(),
            ready: *ready,
            // Without limits, which are numbers and can always be serialized, children would end at once.
            limits: serde_json::to_string(limits).unwrap_or_default(),
        };
        let pool = Arc::new(Self { launch, waiting: Mutex::default() });
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.refill(&mut pool.waiting());
        }
        pool
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a child that waits for its input.
    pub(crate) async fn ready(&self) -> Result<(Listener, OwnedWriteHalf), NoChild> {
        timeout(START, self.find_ready()).await.unwrap_or(Err(NoChild::NotStarted))
    }

    /// Replaces a child that has ended before it received its input.
    async fn find_ready(&self) -> Result<(Listener, OwnedWriteHalf), NoChild> {
        for _ in 0..ATTEMPTS {
            let Worker { mut listener, input } = self.take()?;
            match listener.receive(MAX_READY_MESSAGE).await {
                Ok(Up::Ready) if listener.is_alive() => return Ok((listener, input)),
                Ok(Up::Refused(reason)) => {
                    tracing::error!(%reason, "processes cannot be confined on this system, so nothing is run in them");
                    return Err(NoChild::NotConfined);
                }
                // Its template may be gone, and with it all waiting children.
                _ => listener.process.retire_template(),
            }
        }
        tracing::error!(program = %self.launch.program.display(), "no confined process became ready");
        Err(NoChild::NotStarted)
    }

    /// Returns a waiting child, or a new one, and starts a replacement.
    fn take(&self) -> Result<Worker, NoChild> {
        let mut waiting = self.waiting();
        let waits = std::iter::from_fn(|| waiting.workers.pop_front())
            .find(|worker| worker.listener.process.is_trusted());
        let worker = waits.map_or_else(|| self.start(&mut waiting), Ok);
        self.refill(&mut waiting);
        worker
    }

    /// Starts children up to the configured number, without waiting for them.
    fn refill(&self, waiting: &mut Waiting) {
        while waiting.workers.len() < self.launch.ready {
            match self.start(waiting) {
                Ok(worker) => waiting.workers.push_back(worker),
                Err(_) => return,
            }
        }
    }

    fn start(&self, waiting: &mut Waiting) -> Result<Worker, NoChild> {
        self.fork(waiting).map_err(|error| {
            tracing::error!(program = %self.launch.program.display(), %error, "no confined process could be started");
            NoChild::NotStarted
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
        Ok(Worker { listener: Listener { process, output: BufReader::new(output) }, input })
    }

    fn fork_from_another(&self, waiting: &mut Waiting) -> io::Result<(Process, net::UnixStream)> {
        waiting.template.insert(Template::start(&self.launch)?).fork()
    }
}
