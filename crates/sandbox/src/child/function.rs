//! The hidden command of a function: a template process, and its children, each of which confines itself, reads one
//! input, writes the output and ends.

use super::confine::PreparedConfinement;
use super::forks::forks;
use super::{limits, pipe, refuse, refuse_all};
use crate::limits::FunctionLimits;
use crate::wire::Up;

/// Forks a process for each call of a [`ConfinedFunction`](crate::ConfinedFunction). Must be called before there are
/// threads or open files.
pub fn serve_function(function: impl Fn(&[u8]) -> Vec<u8>) -> ! {
    let limits: FunctionLimits = limits();
    let confinement = PreparedConfinement::build().unwrap_or_else(|reason| refuse_all(&reason));
    forks(|| {
        if let Err(reason) = confinement.close(limits.process()) {
            refuse(&reason);
        }
        pipe::send(&Up::Ready);
        pipe::send_bytes(&function(&pipe::receive()));
    })
}
