//! Runs one script in one child, on the server's side.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::pool::{ATTEMPTS, NoChild, Pool, Settings};
use crate::wire::{self, Down, Up};
use crate::worker::{Ending, Listener, Lost};
use crate::{Code, Failure, Host, Limits, Mistake, Outcome, Script};

/// The maximum number of concurrent calls of one script; the others wait.
const MAX_CONCURRENT_CALLS: usize = 8;

/// The maximum nesting depth of evidence: JSON parsers stop at 128.
const DEPTH: usize = 100;

/// The maximum number of bytes of a child's own error message.
const MESSAGE: usize = 4 << 10;

/// Runs scripts. Clones share their children; dropping the last clone kills the waiting ones.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
    limits: Limits,
}

impl Sandbox {
    /// Starts children immediately if there is a runtime, otherwise with the first run.
    pub fn new(settings: Settings) -> Self {
        Self { pool: Pool::new(&settings), limits: settings.limits }
    }

    /// Runs a script to its end. Dropping the future kills it.
    pub async fn run<H: Host>(&self, script: Script, host: Arc<H>) -> Result<Outcome, Failure> {
        let message = Down::Run { source: script.source, context: &script.context };
        match converse(self, &message, &host).await? {
            Up::Done(outcome) => received(outcome, &self.limits),
            _ => Err(broken()),
        }
    }

    /// Checks a source without running it: its syntax, its imports, and its default export.
    pub async fn check(&self, source: &str) -> Result<Result<(), Mistake>, Failure> {
        let message = Down::Check { source: source.to_owned() };
        match converse(self, &message, &Arc::new(NoHost)).await? {
            Up::Checked(mistake) => Ok(mistake.map_or(Ok(()), Err)),
            _ => Err(broken()),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Sends the work to a child and waits for its end. A child whose template was replaced is replaced itself, as long
/// as it has had no visible effect.
async fn converse<H: Host>(sandbox: &Sandbox, message: &Down<'_>, host: &Arc<H>) -> Result<Up, Failure> {
    for _ in 1..ATTEMPTS {
        let mut talk = Conversation::begin(sandbox, message).await?;
        let ended = talk.listen(host).await;
        if !talk.can_be_repeated() {
            return ended;
        }
        tracing::warn!("a script is handed to another process, because its own was replaced");
    }
    Conversation::begin(sandbox, message).await?.listen(host).await
}

/// Checks an outcome against the limits.
fn received(mut outcome: Outcome, limits: &Limits) -> Result<Outcome, Failure> {
    let evidence = outcome.evidence.as_deref().map_or("", RawValue::get);
    if outcome.summary.len() + evidence.len() > limits.output {
        return Err(limits.exceeded(Code::OutputLimit));
    }
    if wire::depth(evidence) > DEPTH {
        let message = format!("The script returned evidence that is nested more than {DEPTH} levels deep.");
        return Err(Failure { code: Code::BadResult, message });
    }
    outcome.evidence = outcome.evidence.as_deref().map(mended).transpose()?;
    Ok(outcome)
}

fn mended(json: &RawValue) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(wire::mend(json.get())).map_err(|_| broken())
}

/// The failure of a child that violates the protocol: it is no longer the program that was started.
fn broken() -> Failure {
    let message = "The script tried something that its sandbox does not allow, and was stopped.".to_owned();
    Failure { code: Code::Confinement, message }
}

/// The host of a check, which is never called because nothing of the source runs.
struct NoHost;

impl Host for NoHost {
    fn call(
        &self,
        _operation: String,
        _argument: Box<RawValue>,
    ) -> futures_util::future::BoxFuture<'_, Result<Box<RawValue>, String>> {
        std::future::ready(Err("There is nobody to answer.".to_owned())).boxed()
    }

    fn log(&self, _line: String) {}
}

/// The conversation with one child.
struct Conversation<'a> {
    worker: Listener,
    limits: &'a Limits,
    started: Instant,
    replies: mpsc::UnboundedSender<Vec<u8>>,
    places: Arc<Semaphore>,
    /// The writing task and the pending calls. They end with the conversation.
    tasks: JoinSet<()>,
    calls: u32,
    logged: usize,
    /// True if the child ended with its template.
    is_orphan: bool,
}

impl<'a> Conversation<'a> {
    /// Sends the work to a child that is ready.
    async fn begin(sandbox: &'a Sandbox, message: &Down<'_>) -> Result<Self, Failure> {
        let message = wire::frame(message).map_err(|error| {
            tracing::error!(%error, "a script could not be handed over");
            Failure::unavailable("The script could not be handed to its process.")
        })?;
        let (worker, input) = sandbox.pool.ready().await.map_err(|reason| {
            Failure::unavailable(match reason {
                NoChild::NotStarted => "The server could not start a process for the script.",
                NoChild::NotConfined => {
                    "The server cannot confine scripts, so it runs none. Its log tells the operator why."
                }
            })
        })?;
        Ok(Self::with(worker, input, &sandbox.limits, message))
    }

    fn with(worker: Listener, input: OwnedWriteHalf, limits: &'a Limits, message: Vec<u8>) -> Self {
        let (replies, queue) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        // Never in the reading task: each side would wait for the other to read.
        tasks.spawn(write(input, message, queue));
        let places = Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS));
        let started = Instant::now();
        Self { worker, limits, started, replies, places, tasks, calls: 0, logged: 0, is_orphan: false }
    }

    /// Returns true if the child ended with its template before it called or logged anything.
    fn can_be_repeated(&self) -> bool {
        self.is_orphan && self.calls == 0 && self.logged == 0
    }

    /// Handles calls until the child reports its end or the time is up.
    async fn listen<H: Host>(&mut self, host: &Arc<H>) -> Result<Up, Failure> {
        match timeout(self.limits.wall, self.until_the_end(host)).await {
            Ok(end) => end,
            Err(_) => Err(self.limits.exceeded(Code::WallTimeLimit)),
        }
    }

    async fn until_the_end<H: Host>(&mut self, host: &Arc<H>) -> Result<Up, Failure> {
        loop {
            match self.worker.receive(self.limits.frame()).await {
                Ok(Up::Call(number, operation, argument)) => {
                    self.call(host, number, operation, &argument).await?;
                }
                Ok(Up::Log(line)) => {
                    self.logged += line.len() + 1;
                    if self.logged > self.limits.log {
                        return Err(self.limits.exceeded(Code::LogLimit));
                    }
                    host.log(line);
                }
                Ok(Up::Exceeded(code)) if code.is_limit() => return Err(self.limits.exceeded(code)),
                Ok(Up::Failed(code, mut message)) if code.is_of_the_script() => {
                    message.truncate(message.floor_char_boundary(MESSAGE));
                    return Err(Failure { code, message });
                }
                Ok(end @ (Up::Done(_) | Up::Checked(_))) => return Ok(end),
                Ok(_) | Err(Lost::Garbage) => return Err(broken()),
                Err(Lost::Ended) => return Err(self.died().await),
            }
        }
    }

    /// Starts a task in which the host handles the call.
    async fn call<H: Host>(
        &mut self,
        host: &Arc<H>,
        number: u32,
        operation: String,
        argument: &RawValue,
    ) -> Result<(), Failure> {
        self.calls += 1;
        if self.calls > self.limits.calls {
            return Err(self.limits.exceeded(Code::CallLimit));
        }
        if argument.get().len() > self.limits.message {
            return Err(self.limits.exceeded(Code::MessageLimit));
        }
        let argument = mended(argument)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        let (host, replies, most) = (Arc::clone(host), self.replies.clone(), self.limits.memory);
        self.tasks.spawn(async move {
            let answer = AssertUnwindSafe(host.call(operation, argument)).catch_unwind().await;
            let reply = match &answer {
                Ok(Ok(answer)) if answer.get().len() > most => {
                    Down::Refusal(number, "The answer is larger than the memory of a script.".to_owned())
                }
                Ok(Ok(answer)) => Down::Answer(number, answer),
                Ok(Err(reason)) => Down::Refusal(number, reason.clone()),
                Err(_) => Down::Refusal(number, "The server could not answer the call.".to_owned()),
            };
            // The receiver is gone once the child has ended.
            if let Ok(frame) = wire::frame(&reply) {
                let _ = replies.send(frame);
            }
            drop(place);
        });
        Ok(())
    }

    /// Returns the failure of a child that ended without a final message.
    async fn died(&mut self) -> Failure {
        match self.worker.ending(self.started, self.limits.cpu).await {
            Ending::Orphaned => {
                self.is_orphan = true;
                Failure::unavailable("The process of the script ended.")
            }
            Ending::Killed => Failure::unavailable(
                "The process of the script was killed from outside; the server may lack memory.",
            ),
            Ending::CpuTime => self.limits.exceeded(Code::CpuTimeLimit),
            Ending::Memory => self.limits.exceeded(Code::MemoryLimit),
            Ending::Forbidden => broken(),
            Ending::Crashed => {
                let message = "The script made the engine that runs it fail.".to_owned();
                Failure { code: Code::ScriptError, message }
            }
        }
    }
}

/// Writes until the queue is closed or the child stops reading.
async fn write(mut input: OwnedWriteHalf, first: Vec<u8>, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    let mut next = Some(first);
    while let Some(frame) = next {
        if input.write_all(&frame).await.is_err() {
            return;
        }
        next = queue.recv().await;
    }
}
