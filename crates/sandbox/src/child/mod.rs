//! The hidden command for scripts: a template process that initializes the engine, and its children, each of which
//! confines itself, reads one script, runs it and ends.

mod clock;
pub(crate) mod confine;
mod engine;
mod explain;
pub(crate) mod forks;
pub(crate) mod function;
mod native;
mod pipe;
mod query;
mod room;

use std::process::exit;

use rquickjs::{Context, Runtime};
use serde::de::DeserializeOwned;

use self::clock::Clock;
use self::confine::PreparedConfinement;
use self::engine::Engine;
use self::forks::forks;
use crate::Limits;
use crate::wire::{Down, LIMITS, Up};

/// Bytes of stack for the script: a small part of the process's stack.
const STACK: usize = 512 << 10;

/// Initializes the engine, then forks a process for each script of the server. Must be called before there are
/// threads or open files.
pub fn child() -> ! {
    let limits: Limits = limits();
    let walls = PreparedConfinement::build().unwrap_or_else(|reason| refuse_all(&reason));
    let Ok(runtime) = Runtime::new() else { refuse_all("the engine did not start") };
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    let clock = Clock::watched_by(&runtime);
    let Ok(context) = Context::full(&runtime) else { refuse_all("the engine did not start") };
    context.with(|ctx| {
        let engine = Engine::new(ctx, &limits)
            .unwrap_or_else(|error| refuse_all(&format!("the engine did not start: {error}")));
        forks(|| {
            if let Err(reason) = walls.close(limits.process()) {
                refuse(&reason);
            }
            run(&engine, &clock, &limits);
        })
    })
}

/// The limits that the server has set.
fn limits<L: DeserializeOwned>() -> L {
    match std::env::var(LIMITS).map(|limits| serde_json::from_str(&limits)) {
        Ok(Ok(limits)) => limits,
        _ => refuse("this command is started by the server alone"),
    }
}

/// Runs or checks one script.
fn run(engine: &Engine<'_>, clock: &Clock, limits: &Limits) {
    pipe::send(&Up::Ready);
    let frame = pipe::receive();
    clock.start(limits.cpu);
    if engine.begin().is_err() {
        exit(1);
    }
    let end = match pipe::parse(&frame) {
        Down::Run { source, context } => engine.run(&source, context.get()),
        Down::Check { source } => Up::Checked(engine.check(&source)),
        Down::Answer(..) | Down::Refusal(..) => exit(1),
    };
    pipe::send(&end);
}

/// Keeps forking children, because only a child can report the reason to the server.
fn refuse_all(reason: &str) -> ! {
    forks(|| refuse(reason))
}

/// Reports to the server why processes cannot be confined here.
fn refuse(reason: &str) -> ! {
    pipe::send(&Up::Refused(reason.to_owned()));
    exit(1)
}
