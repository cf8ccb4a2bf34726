//! Runs a tenant's script in a process of its own, which gives up everything but memory, processor time and a socket before
//! it reads the script. The same binary, started with a hidden command, gets the engine ready once; the processes of the
//! scripts are forked from it.
//!
//! What a script may do beyond computing, it asks the [`Host`] for. The server believes nothing the child says: it counts
//! calls and bytes itself, and has the child killed when the time is up or the [`run`](Sandbox::run) is dropped.

mod child;
mod limits;
mod pool;
mod run;
mod template;
mod wire;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use crate::child::child;
#[doc(hidden)]
pub use crate::child::confine::{Confinement, Walls, confinement};
#[doc(hidden)]
pub use crate::child::forks::forks;
pub use crate::limits::{Code, Failure, Limits};
pub use crate::pool::{Sandbox, Settings};

/// What a script may ask for while it runs.
pub trait Host: Send + Sync + 'static {
    /// Answers a call of the script: `fetch`, `secret`, `dns` or `tls`. The script gets an `Err` as an error with this
    /// message.
    fn call(
        &self,
        operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>>;

    /// Takes a line of the script's log.
    fn log(&self, line: String);
}

/// What is to be run.
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

/// What a script returned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub verdict: Verdict,
    pub summary: String,
    pub evidence: Option<Box<RawValue>>,
}

/// Why a source is not a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    pub message: String,
    /// Both count from 1, columns in characters.
    pub line: Option<u32>,
    pub column: Option<u32>,
}
