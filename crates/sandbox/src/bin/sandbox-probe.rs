//! Attempts one operation that scripts are denied, confined or unconfined, and reports whether it succeeded. For
//! tests.

use std::fs;
use std::io::{Error, Read, Write, stdin, stdout};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Command, ExitCode};
use std::thread;

use attestry_sandbox::{Limits, PreparedConfinement, forks};
use nix::sys::signal::{Signal, kill, raise};
use nix::unistd::{Pid, getppid};

const READY: &str = r#""Ready""#;
const WORKED: &str = r#"{"Done":{"verdict":"pass","summary":"it worked","evidence":null}}"#;
const REFUSED: &str = r#"{"Failed":["script_error","refused"]}"#;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let attempt = arguments.next().unwrap_or_default();
    let target = arguments.next().unwrap_or_default();
    if arguments.next().as_deref() == Some("free") {
        return ExitCode::from(u8::from(try_to(&attempt, &target, getppid()).is_err()));
    }
    let (walls, limits) = (PreparedConfinement::build(), Limits::default());
    forks(|| {
        let template = getppid();
        // Open descriptors are counted first, because nothing can be opened after confinement.
        let open = fs::read_dir("/proc/self/fd").map_or(usize::MAX, Iterator::count);
        if !walls.as_ref().is_ok_and(|walls| walls.close(limits.process()).is_ok()) {
            return;
        }
        say(READY);
        read_script();
        let worked = match attempt.as_str() {
            // The child's three, and the one used for counting.
            "hold_descriptors" => open > 4,
            _ => try_to(&attempt, &target, template).is_ok(),
        };
        say(if worked { WORKED } else { REFUSED });
    })
}

fn say(message: &str) {
    let length = u32::try_from(message.len()).unwrap_or_default();
    let mut output = stdout().lock();
    // The server notices that there is no response.
    let _ = output.write_all(&length.to_le_bytes());
    let _ = output.write_all(message.as_bytes());
    let _ = output.flush();
}

fn read_script() {
    let mut length = [0; 4];
    let _ = stdin().read_exact(&mut length);
    let _ = stdin().take(u32::from_le_bytes(length).into()).read_to_end(&mut Vec::new());
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
        "fork" => fork::fork().map(drop),
        "ask_for_parent" => {
            let _ = getppid();
            Ok(())
        }
        "signal_parent" => kill(parent, None).map_err(Error::from),
        "signal_itself" => raise(Signal::SIGCONT).map_err(Error::from),
        "abort" => std::process::abort(),
        "memory" => Vec::<u8>::new().try_reserve_exact(200 << 20).map_err(|_| Error::other("no memory")),
        _ => Err(Error::other("no such attempt")),
    }
}
