//! Runs untrusted input in a process of its own, which drops every privilege except memory, CPU time and a socket
//! before it reads the input: a tenant's script in the [`Sandbox`], or data that a [`ConfinedFunction`] reads. The same
//! binary, started with a hidden command, initializes the engine once; the processes are forked from it.
//!
//! A script reaches anything beyond its own computation through the [`Host`]. The server trusts nothing the child
//! sends: it counts calls and bytes itself, and has the child killed when the time is up or the [`run`](Sandbox::run)
//! is dropped.

mod child;
mod function;
mod limits;
mod pool;
mod run;
mod template;
mod wire;
mod worker;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use crate::child::child;
#[doc(hidden)]
pub use crate::child::confine::{Confinement, PreparedConfinement, confinement};
#[doc(hidden)]
pub use crate::child::forks::forks;
pub use crate::child::function::serve_function;
pub use crate::function::{CallError, ConfinedFunction};
pub use crate::limits::{Code, Failure, FunctionLimits, Limits, ProcessLimits};
pub use crate::pool::Settings;
pub use crate::run::Sandbox;

/// The functions that a running script may call.
pub trait Host: Send + Sync + 'static {
    /// Handles a call of the script: `fetch`, `secret`, `dns` or `tls`. The script gets an `Err` as an error with
    /// this message.
    fn call(
        &self,
        operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>>;

    /// Receives a line of the script's log.
    fn log(&self, line: String);
}

/// A script and its input.
#[derive(Clone, Debug)]
pub struct Script {
    /// An ES module whose default export is a function of one argument.
    pub source: String,
    /// A JSON object: `now`, `event`, `task`, `parameters`.
    pub context: Box<RawValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail,
}

/// The result of a script.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub verdict: Verdict,
    pub summary: String,
    pub evidence: Option<Box<RawValue>>,
}

/// An error in a source, found before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    pub message: String,
    /// Line and column count from 1, columns in characters.
    pub line: Option<u32>,
    pub column: Option<u32>,
}
