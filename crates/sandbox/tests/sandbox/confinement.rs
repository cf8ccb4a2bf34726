//! What the process of a script cannot do even if the script takes over the engine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use attestry_sandbox::{Confinement, confinement};
use nix::sys::signal::Signal;

fn probe(attempt: &str, target: &str, how: &str) -> ExitStatus {
    Command::new(env!("CARGO_BIN_EXE_sandbox-probe"))
        .args([attempt, target, how])
        .stderr(Stdio::null())
        .status()
        .expect("the probe starts")
}

#[test]
fn whatever_a_script_may_not_do_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["read", "remove", "rename", "write"] {
        fs::write(path(name), name).expect("it can be written");
    }
    let tcp = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let tcp = tcp.local_addr().expect("it is bound").to_string();
    let socket = path("socket");
    let _listening = UnixListener::bind(&socket).expect("it can be bound");
    let attempts = [
        ("read", path("read")),
        ("read", "/proc/self/environ".to_owned()),
        ("read", "/proc/self/mem".to_owned()),
        ("write", path("write")),
        ("write", path("new")),
        ("list", path("")),
        ("look", path("read")),
        ("make_folder", path("folder")),
        ("link", path("link")),
        ("change_folder", path("")),
        ("tcp", tcp),
        ("listen", String::new()),
        ("udp", String::new()),
        ("unix", socket),
        ("unix_pair", String::new()),
        ("pipe", String::new()),
        ("run", "/bin/true".to_owned()),
        ("thread", String::new()),
        ("ask_for_parent", String::new()),
        ("signal_parent", String::new()),
        ("memory", String::new()),
        ("rename", path("rename")),
        ("remove", path("remove")),
    ];
    for (attempt, target) in attempts {
        let status = probe(attempt, &target, "confined");
        let killed = status.signal() == Some(Signal::SIGSYS as i32);
        assert!(killed || status.code() == Some(1), "{attempt} {target}: {status}");
        // The attempt is one that works elsewhere; this file cannot be read to its end by anybody.
        if target != "/proc/self/mem" {
            assert!(probe(attempt, &target, "free").success(), "{attempt} {target}");
        }
    }
}

#[test]
fn this_system_says_what_it_offers() {
    let offered = confinement();
    assert!(offered.is_confined(), "{offered}");
    assert!(matches!(offered, Confinement::Full | Confinement::WithoutLandlock));
    // It was tried in a thread of its own: this one can still do everything.
    assert!(Command::new("/bin/true").status().expect("it starts").success());
}
