//! Tries one thing that no script may do, confined as a script is or free, and tells whether it worked. For tests.

use std::fs;
use std::io::Error;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Command, ExitCode};
use std::thread;

use attestry_sandbox::{Limits, confine};
use nix::sys::signal::kill;
use nix::unistd::{Pid, getppid};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let attempt = arguments.next().unwrap_or_default();
    let target = arguments.next().unwrap_or_default();
    let parent = getppid();
    if arguments.next().as_deref() != Some("free") && confine(&Limits::default()).is_err() {
        return ExitCode::from(2);
    }
    match try_to(&attempt, &target, parent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(1),
    }
}

fn try_to(attempt: &str, target: &str, parent: Pid) -> Result<(), Error> {
    match attempt {
        "read" => fs::read(target).map(drop),
        "write" => fs::write(target, "x"),
        "list" => fs::read_dir(target).map(drop),
        "look" => fs::metadata(target).map(drop),
        "remove" => fs::remove_file(target),
        "rename" => fs::rename(target, format!("{target}.renamed")),
        "make_folder" => fs::create_dir(target),
        "link" => std::os::unix::fs::symlink("/", target),
        "change_folder" => std::env::set_current_dir(target),
        "tcp" => TcpStream::connect(target).map(drop),
        "listen" => TcpListener::bind("127.0.0.1:0").map(drop),
        "udp" => UdpSocket::bind("127.0.0.1:0").map(drop),
        "unix" => UnixStream::connect(target).map(drop),
        "unix_pair" => UnixDatagram::pair().map(drop),
        "pipe" => std::io::pipe().map(drop),
        "run" => Command::new(target).status().map(drop),
        "thread" => thread::Builder::new().spawn(|| ()).map(drop),
        "ask_for_parent" => {
            let _ = getppid();
            Ok(())
        }
        "signal_parent" => kill(parent, None).map_err(Error::from),
        "memory" => Vec::<u8>::new().try_reserve_exact(200 << 20).map_err(|_| Error::other("no memory")),
        _ => Err(Error::other("no such attempt")),
    }
}
