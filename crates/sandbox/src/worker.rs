//! One child, on the server's side: its messages, and the way in which it ended.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use nix::sys::signal::Signal;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::time::Instant;

use crate::template::Process;
use crate::wire::{self, Up};

/// A child, without the writing half of its socket. Killed on drop.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) process: Process,
    pub(crate) output: BufReader<OwnedReadHalf>,
}

/// The reason why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The child ended, or closed its socket.
    Ended,
    /// It sent too much, or an invalid message.
    Garbage,
}

/// The way in which a child ended that was to give a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It ended with its template, which was replaced.
    Orphaned,
    /// It was killed from outside.
    Killed,
    CpuTime,
    Memory,
    /// It attempted something that its confinement does not allow.
    Forbidden,
    Crashed,
}

impl Listener {
    /// Returns true if a ready child is still alive: it may have been killed from outside while it waited.
    pub(crate) fn is_alive(&self) -> bool {
        let socket: &UnixStream = self.output.get_ref().as_ref();
        // Reads the socket directly, because the runtime may not have noticed yet.
        let peeked = recv(socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        matches!(peeked, Ok((1.., _)) | Err(Errno::WOULDBLOCK))
    }

    /// Receives a message of at most this many bytes.
    pub(crate) async fn receive(&mut self, max: usize) -> Result<Up, Lost> {
        let frame = self.receive_bytes(max).await?;
        serde_json::from_slice(&frame).map_err(|_| Lost::Garbage)
    }

    pub(crate) async fn receive_bytes(&mut self, max: usize) -> Result<Vec<u8>, Lost> {
        let length = self.output.read_u32_le().await.map_err(|_| Lost::Ended)?;
        let length = usize::try_from(length).map_err(|_| Lost::Garbage)?;
        if length > max {
            return Err(Lost::Garbage);
        }
        let mut frame = vec![0; length];
        self.output.read_exact(&mut frame).await.map_err(|_| Lost::Ended)?;
        Ok(frame)
    }

    /// Returns the reason why a child ended without a final message. `cpu`: its limit of CPU time.
    pub(crate) async fn ending(&mut self, started: Instant, cpu: Duration) -> Ending {
        let Some(status) = self.process.end().await else { return Ending::Orphaned };
        tracing::warn!(%status, "a confined process died");
        // An input that crashed its process may have learned about the memory layout of the next one.
        self.process.retire_template();
        match status.signal().and_then(|signal| Signal::try_from(signal).ok()) {
            Some(Signal::SIGSYS) => Ending::Forbidden,
            Some(Signal::SIGXCPU) => Ending::CpuTime,
            Some(Signal::SIGKILL) if started.elapsed() >= cpu => Ending::CpuTime,
            Some(Signal::SIGKILL | Signal::SIGTERM) => Ending::Killed,
            Some(Signal::SIGABRT) => Ending::Memory,
            None if status.code() == Some(wire::OUT_OF_MEMORY) => Ending::Memory,
            _ => Ending::Crashed,
        }
    }
}
