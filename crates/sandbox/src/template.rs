//! The process that children are forked from, on the server's side.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::sync::oneshot;

use crate::Settings;
use crate::wire::{self, Order};

// Limits of one template. Its children share one memory layout, and knowledge that one of them gains about it must not
// help many others.
const MAX_CHILDREN: u32 = 250;
const MAX_AGE: Duration = Duration::from_hours(1);

/// The maximum time for the process to respond: less than a run waits for its child, so that another template can
/// take over.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The template process. Dropping it ends the process and all remaining children.
#[derive(Debug)]
pub(crate) struct Template {
    tasks: Sender<Task>,
    began: Instant,
    forked: AtomicU32,
    is_retired: AtomicBool,
}

/// A task of the thread that communicates with the process.
#[derive(Debug)]
enum Task {
    Start(u32, UnixStream),
    End(u32, Option<oneshot::Sender<ExitStatus>>),
}

/// A child. Killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    template: Arc<Template>,
    number: u32,
    has_ended: bool,
}

impl Template {
    /// Starts the program in a thread of its own. If that fails, the children end before they are ready.
    pub(crate) fn start(launch: &Settings<String>) -> io::Result<Arc<Self>> {
        let (own, theirs) = UnixStream::pair()?;
        own.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        own.set_write_timeout(Some(RESPONSE_TIMEOUT))?;
        let command = command(launch, theirs.into());
        let (tasks, queue) = channel();
        thread::Builder::new().name("sandbox".to_owned()).spawn(move || run(command, own, queue))?;
        let (forked, is_retired) = (AtomicU32::new(0), AtomicBool::new(false));
        Ok(Arc::new(Self { tasks, began: Instant::now(), forked, is_retired }))
    }

    /// Returns true if another template must take over.
    pub(crate) fn is_used_up(&self) -> bool {
        self.forked.load(Ordering::Relaxed) >= MAX_CHILDREN || !self.is_trusted()
    }

    fn is_trusted(&self) -> bool {
        !self.is_retired.load(Ordering::Relaxed) && self.began.elapsed() < MAX_AGE
    }

    /// Requests a child that gets the other end of the socket. Fails with a broken pipe if the process has ended.
    pub(crate) fn fork(self: &Arc<Self>) -> io::Result<(Process, UnixStream)> {
        let (own, theirs) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        let number = self.forked.fetch_add(1, Ordering::Relaxed);
        self.tasks.send(Task::Start(number, theirs)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok((Process { template: Arc::clone(self), number, has_ended: false }, own))
    }
}

impl Process {
    /// Kills the child, unless it has ended already. Its status is unknown if its template has ended too.
    pub(crate) async fn end(&mut self) -> Option<ExitStatus> {
        let (answer, status) = oneshot::channel();
        self.has_ended = true;
        self.template.tasks.send(Task::End(self.number, Some(answer))).ok()?;
        status.await.ok()
    }

    /// Returns true if its template may still be used.
    pub(crate) fn is_trusted(&self) -> bool {
        self.template.is_trusted()
    }

    /// Replaces the template: it is gone, or a child may have learned too much about it.
    pub(crate) fn retire_template(&self) {
        self.template.is_retired.store(true, Ordering::Relaxed);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended {
            // Fails only if the template has ended, and all its children with it.
            let _ = self.template.tasks.send(Task::End(self.number, None));
        }
    }
}

fn command(launch: &Settings<String>, control: OwnedFd) -> Command {
    let Settings { program, arguments, limits, .. } = launch;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env(wire::LIMITS, limits)
        // Otherwise the allocator maps a gigabyte, more than a child may.
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .current_dir("/")
        // A Ctrl-C in the terminal is for the server, which may wait for its scripts to end.
        .process_group(0)
        .stdin(control)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Starts the process and passes on tasks until all senders are dropped.
fn run(mut command: Command, control: UnixStream, tasks: Receiver<Task>) {
    let started = command.spawn();
    // The command holds the other end of the socket.
    drop(command);
    match started {
        Ok(process) => serve(process, control, tasks),
        Err(error) => tracing::error!(%error, "no confined process could be started"),
    }
}

fn serve(mut process: Child, mut control: UnixStream, tasks: Receiver<Task>) {
    while let Ok(task) = tasks.recv() {
        if let Err(error) = pass_on(&mut control, task) {
            tracing::warn!(%error, "the process that children are forked from does not answer; another takes over");
            // The process may be stuck. Its children die with it.
            let _ = process.kill();
            break;
        }
    }
    // Callers stop waiting, and without the socket the process ends by itself.
    drop((tasks, control));
    if let Err(error) = process.wait() {
        tracing::debug!(%error, "the process that children are forked from cannot be waited for");
    }
}

fn pass_on(control: &mut UnixStream, task: Task) -> io::Result<()> {
    match task {
        Task::Start(number, socket) => {
            let descriptors = [socket.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut extra = SendAncillaryBuffer::new(&mut space);
            extra.push(SendAncillaryMessage::ScmRights(&descriptors));
            let order = Order::Start(number).bytes();
            sendmsg(&control, &[IoSlice::new(&order)], &mut extra, SendFlags::empty())?;
        }
        Task::End(number, answer) => {
            control.write_all(&Order::End(number).bytes())?;
            let mut status = [0; 4];
            control.read_exact(&mut status)?;
            let status = i32::from_le_bytes(status);
            if let Some(answer) = answer.filter(|_| status != wire::UNKNOWN) {
                // The caller may have stopped waiting.
                let _ = answer.send(ExitStatus::from_raw(status));
            }
        }
    }
    Ok(())
}
