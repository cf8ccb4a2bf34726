//! The hidden command: confines itself, reads one script, runs it and ends.

mod clock;
pub(crate) mod confine;
mod engine;
mod explain;
mod native;
mod pipe;
mod query;
mod room;

use std::process::exit;

use rquickjs::{Context, Runtime};

use self::clock::Clock;
use self::engine::Engine;
use crate::Limits;
use crate::wire::{Down, LIMITS, Up};

/// Bytes of stack for the script: a small part of what a process has.
const STACK: usize = 512 << 10;

/// Runs what the parent sends and ends the process. To be called first of all, before there are threads or open files.
pub fn child() -> ! {
    let limits: Limits = match std::env::var(LIMITS).map(|limits| serde_json::from_str(&limits)) {
        Ok(Ok(limits)) => limits,
        _ => refuse("this command is started by the server alone"),
    };
    if let Err(reason) = confine::confine(&limits) {
        refuse(&reason);
    }
    let Ok(runtime) = Runtime::new() else { refuse("the engine did not start") };
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    let clock = Clock::watched_by(&runtime);
    let Ok(context) = Context::full(&runtime) else { refuse("the engine did not start") };
    let end = context.with(|ctx| {
        let engine = match Engine::new(ctx, &limits) {
            Ok(engine) => engine,
            Err(error) => refuse(&format!("the engine did not start: {error}")),
        };
        pipe::send(&Up::Ready);
        let frame = pipe::receive();
        clock.start(limits.cpu);
        match pipe::parse(&frame) {
            Down::Run { source, context } => engine.run(&source, context.get()),
            Down::Check { source } => Up::Checked(engine.check(&source)),
            Down::Answer(..) | Down::Refusal(..) => exit(1),
        }
    });
    pipe::send(&end);
    exit(0)
}

/// Tells the parent why nothing can be run here.
fn refuse(reason: &str) -> ! {
    pipe::send(&Up::Refused(reason.to_owned()));
    exit(1)
}
