//! Calls of a function of this binary in a confined process. The function computes its output from its input and reaches
//! nothing else.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::{Instant, timeout};

use crate::limits::FunctionLimits;
use crate::pool::{ATTEMPTS, Pool, Settings};
use crate::worker::{Ending, Listener, Lost};

/// Calls a function in confined processes, one per call. Clones share the waiting processes; dropping the last clone
/// kills them.
#[derive(Clone, Debug)]
pub struct ConfinedFunction {
    pool: Arc<Pool>,
    limits: FunctionLimits,
}

/// The reason why a call has no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// There is no process, or it was killed from outside: the cause is not the input.
    Unavailable,
    MemoryLimit,
    CpuTimeLimit,
    WallTimeLimit,
    OutputLimit,
    /// The process crashed, or attempted something that its confinement does not allow.
    Crashed,
}

impl ConfinedFunction {
    /// Starts processes immediately if there is a runtime, otherwise with the first call.
    pub fn new(settings: Settings<FunctionLimits>) -> Self {
        Self { pool: Pool::new(&settings), limits: settings.limits }
    }

    /// Calls the function; its input is the concatenation of the parts. Dropping the future kills the process.
    pub async fn call(&self, input: &[&[u8]]) -> Result<Vec<u8>, CallError> {
        let length: usize = input.iter().map(|part| part.len()).sum();
        let length = u32::try_from(length).map_err(|_| CallError::MemoryLimit)?;
        for _ in 0..ATTEMPTS {
            let (mut child, socket) = self.pool.ready().await.map_err(|_| CallError::Unavailable)?;
            let started = Instant::now();
            let exchange = exchange(&mut child, socket, length, input, self.limits.output);
            let lost = match timeout(self.limits.wall, exchange).await {
                Ok(Ok(output)) => return Ok(output),
                Ok(Err(lost)) => lost,
                Err(_) => return Err(CallError::WallTimeLimit),
            };
            if lost == Lost::Garbage {
                return Err(CallError::OutputLimit);
            }
            return Err(match child.ending(started, self.limits.cpu).await {
                Ending::Orphaned => continue,
                Ending::Killed => CallError::Unavailable,
                Ending::Memory => CallError::MemoryLimit,
                Ending::CpuTime => CallError::CpuTimeLimit,
                Ending::Forbidden | Ending::Crashed => CallError::Crashed,
            });
        }
        Err(CallError::Unavailable)
    }
}

/// Sends the input and receives the output. The child reads all of its input before it writes.
async fn exchange(
    child: &mut Listener,
    mut socket: OwnedWriteHalf,
    length: u32,
    input: &[&[u8]],
    max_output: usize,
) -> Result<Vec<u8>, Lost> {
    socket.write_all(&length.to_le_bytes()).await.map_err(|_| Lost::Ended)?;
    for part in input {
        socket.write_all(part).await.map_err(|_| Lost::Ended)?;
    }
    child.receive_bytes(max_output).await
}
