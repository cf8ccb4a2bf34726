//! The template: it initializes the engine, never sees a script, and forks a child for each.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::process::exit;

use fork::{Fork, ensure_waitable_children, fork, waitpid};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::io::{retry_on_intr, write};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::stdio::{dup2_stdin, dup2_stdout, stdin};

use crate::wire::{ORDER, Order, UNKNOWN};

/// Executes the server's orders, which arrive on standard input, a socket, until the server closes it. Calls `each`
/// in every child, whose standard input and output are its own socket to the server; nothing else is open.
pub fn forks(each: impl Fn()) -> ! {
    // The parent process may have set SIGCHLD to be ignored, and then there would be no exit status.
    if ensure_waitable_children().is_err() {
        exit(1);
    }
    let template = Pid::this();
    let mut running = HashMap::new();
    while let Some(order) = next() {
        match order {
            (Order::Start(number), Some(socket)) => match fork() {
                Ok(Fork::Child) => run_child(template, socket, &each),
                Ok(Fork::Parent(process)) => {
                    running.insert(number, process);
                }
                // The server sees the socket close.
                Err(_) => {}
            },
            (Order::End(number), None) => {
                let status = running.remove(&number).map_or(UNKNOWN, end);
                if write(stdin(), &status.to_le_bytes()).is_err() {
                    break;
                }
            }
            _ => break,
        }
    }
    for process in running.into_values() {
        end(process);
    }
    exit(0)
}

fn run_child(template: Pid, socket: OwnedFd, each: impl Fn()) -> ! {
    // This closes the template's own socket too.
    if dup2_stdin(&socket).and_then(|()| dup2_stdout(&socket)).is_err() {
        exit(1);
    }
    drop(socket);
    if dies_with(template) {
        each();
    }
    exit(0)
}

/// Makes the kernel kill this child when its template ends, because no other process would.
#[cfg(target_os = "linux")]
fn dies_with(template: Pid) -> bool {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).is_ok() && nix::unistd::getppid() == template
}

#[cfg(not(target_os = "linux"))]
fn dies_with(_template: Pid) -> bool {
    true
}

/// Returns the next order and the socket sent with it; `None` if the server is gone.
fn next() -> Option<(Order, Option<OwnedFd>)> {
    let mut order = [0; ORDER];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut extra = RecvAncillaryBuffer::new(&mut space);
    let received = retry_on_intr(|| {
        recvmsg(stdin(), &mut [IoSliceMut::new(&mut order)], &mut extra, RecvFlags::empty())
    });
    // Orders are short and sent in one piece, so they arrive in one piece.
    if !received.is_ok_and(|received| received.bytes == ORDER) {
        return None;
    }
    let socket = extra.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Some((Order::parse(order)?, socket))
}

/// Kills a child, unless it has ended already, and returns its status.
fn end(process: i32) -> i32 {
    // The process id is not reused before it is waited for.
    let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    waitpid(process).unwrap_or(UNKNOWN)
}
