//! Operations denied to a script's process even if the script takes over the engine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::sync::Arc;

use attestry_sandbox::{Code, Confinement, Failure, Limits, Outcome, Sandbox, Settings, confinement};

use crate::common::{Peer, script};

const PROBE: &str = env!("CARGO_BIN_EXE_sandbox-probe");

fn succeeds_when_free(attempt: &str, target: &str) -> bool {
    let probe = Command::new(PROBE).args([attempt, target, "free"]).stderr(Stdio::null()).status();
    probe.expect("the probe starts").success()
}

/// Runs the attempt in a confined child.
async fn confined(attempt: &str, target: &str) -> Result<Outcome, Failure> {
    let arguments = vec![attempt.into(), target.into()];
    let sandbox =
        Sandbox::new(Settings { program: PROBE.into(), arguments, ready: 0, limits: Limits::default() });
    sandbox.run(script(""), Arc::new(Peer::default())).await
}

#[tokio::test]
async fn whatever_a_script_may_not_do_is_refused() {
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
        ("fork", String::new()),
        ("ask_for_parent", String::new()),
        ("signal_parent", String::new()),
        ("memory", String::new()),
        ("rename", path("rename")),
        ("remove", path("remove")),
    ];
    for (attempt, target) in attempts {
        let failure = confined(attempt, &target).await.expect_err(attempt);
        let refused = failure.code == Code::Confinement || failure.message == "refused";
        assert!(refused, "{attempt} {target}: {failure}");
        // The attempt succeeds without confinement, except for this file, which no process can read to its end.
        if target != "/proc/self/mem" {
            assert!(succeeds_when_free(attempt, &target), "{attempt} {target}");
        }
    }
}

#[tokio::test]
async fn a_child_holds_its_socket_and_can_signal_itself_alone() {
    let failure = confined("hold_descriptors", "").await.expect_err("it holds no more than it needs");
    assert_eq!(failure.message, "refused");
    confined("signal_itself", "").await.expect("a process that aborts does so");
    // An engine that aborts has no memory left; this is reported as a memory limit and not as a breakout.
    assert_eq!(confined("abort", "").await.expect_err("it ends").code, Code::MemoryLimit);
}

#[test]
fn this_system_says_what_it_offers() {
    let offered = confinement();
    assert!(offered.is_confined(), "{offered}");
    assert!(matches!(offered, Confinement::Full | Confinement::WithoutLandlock));
    // It was tried in a thread of its own: this one is not restricted.
    assert!(Command::new("/bin/true").status().expect("it starts").success());
}
