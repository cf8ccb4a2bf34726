//! The hidden command: a process that gets everything ready, and those forked from it, of which each confines itself, reads
//! one script, runs it and ends.

mod clock;
pub(crate) mod confine;
mod engine;
mod explain;
pub(crate) mod forks;
mod native;
mod pipe;
mod query;
mod room;

use std::process::exit;

use rquickjs::{Context, Runtime};

use self::clock::Clock;
use self::confine::Walls;
use self::engine::Engine;
use self::forks::forks;
use crate::Limits;
use crate::wire::{Down, LIMITS, Up};

/// Bytes of stack for the script: a small part of what a process has.
const STACK: usize = 512 << 10;

/// Gets the engine ready, then forks a process for each script that the server has. To be called first of all, before there
/// are threads or open files.
pub fn child() -> ! {
    let limits: Limits = match std::env::var(LIMITS).map(|limits| serde_json::from_str(&limits)) {
        Ok(Ok(limits)) => limits,
        _ => refuse("this command is started by the server alone"),
    };
    let walls = Walls::build().unwrap_or_else(|reason| refuse_all(&reason));
    let Ok(runtime) = Runtime::new() else { refuse_all("the engine did not start") };
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    let clock = Clock::watched_by(&runtime);
    let Ok(context) = Context::full(&runtime) else { refuse_all("the engine did not start") };
    context.with(|ctx| {
        let engine = Engine::new(ctx, &limits)
            .unwrap_or_else(|error| refuse_all(&format!("the engine did not start: {error}")));
        forks(|| {
            if let Err(reason) = walls.close(&limits) {
                refuse(&reason);
            }
            run(&engine, &clock, &limits);
        })
    })
}

/// Runs one script.
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

/// Goes on, because only a child can tell.
fn refuse_all(reason: &str) -> ! {
    forks(|| refuse(reason))
}

/// Tells the server why nothing can be run here.
fn refuse(reason: &str) -> ! {
    pipe::send(&Up::Refused(reason.to_owned()));
    exit(1)
}
