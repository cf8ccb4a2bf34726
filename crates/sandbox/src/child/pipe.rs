//! The socket to the server. Any error on it ends the process, because it cannot be reported.

use std::io::{Read, Write, stdin, stdout};
use std::process::exit;

use crate::Code;
use crate::wire::{self, Down, HEADER, OUT_OF_MEMORY, Up};

pub(super) fn send(message: &Up) {
    let Ok(frame) = wire::frame(message) else { exit(OUT_OF_MEMORY) };
    write(&frame);
}

/// Sends the output of a function.
pub(super) fn send_bytes(bytes: &[u8]) {
    let Ok(length) = u32::try_from(bytes.len()) else { exit(OUT_OF_MEMORY) };
    write(&length.to_le_bytes());
    write(bytes);
}

fn write(bytes: &[u8]) {
    let mut pipe = stdout().lock();
    if pipe.write_all(bytes).and_then(|()| pipe.flush()).is_err() {
        exit(1);
    }
}

/// Ends the run because of a limit.
pub(super) fn exceeded(code: Code) -> ! {
    send(&Up::Exceeded(code));
    exit(0)
}

/// Receives the next message, unparsed. Ends the process when the socket is closed.
pub(super) fn receive() -> Vec<u8> {
    let mut pipe = stdin().lock();
    let mut header = [0; HEADER];
    if pipe.read_exact(&mut header).is_err() {
        exit(0);
    }
    let Ok(length) = usize::try_from(u32::from_le_bytes(header)) else { exit(1) };
    let mut frame = Vec::new();
    if frame.try_reserve_exact(length).is_err() {
        exit(OUT_OF_MEMORY);
    }
    frame.resize(length, 0);
    if pipe.read_exact(&mut frame).is_err() {
        exit(0);
    }
    frame
}

pub(super) fn parse(frame: &[u8]) -> Down<'_> {
    match serde_json::from_slice(frame) {
        Ok(message) => message,
        Err(_) => exit(1),
    }
}
