//! Child processes: started in advance, used once, never leaked.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "test code")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attestry_sandbox::{Code, Host, Limits, Sandbox, Script, Settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::value::RawValue;
use tokio::sync::{Mutex, MutexGuard};

/// These tests inspect all children of this process, so they run one at a time.
static TURN: Mutex<()> = Mutex::const_new(());

/// Waits for the lock, and until the processes of the previous test are gone.
async fn turn() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().await;
    eventually("none is left of the test before", || templates().is_empty()).await;
    turn
}

/// Handles `dns` and nothing else.
#[derive(Default)]
struct Peer {
    called: AtomicBool,
}

impl Host for Peer {
    fn call(
        &self,
        operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>> {
        self.called.store(true, Ordering::SeqCst);
        match operation.as_str() {
            "dns" => std::future::ready(Ok(argument)).boxed(),
            _ => std::future::pending().boxed(),
        }
    }

    fn log(&self, _line: String) {}
}

/// Running processes with one of these parents.
fn started_by(parents: &BTreeSet<i32>) -> BTreeSet<i32> {
    let processes = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    processes
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let mut fields = stat.rsplit_once(") ")?.1.split(' ');
            let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
            (parents.contains(&parent) && state != "Z").then(|| entry.file_name().to_str()?.parse().ok())?
        })
        .collect()
}

/// The template processes.
fn templates() -> BTreeSet<i32> {
    started_by(&BTreeSet::from([std::process::id().cast_signed()]))
}

fn children() -> BTreeSet<i32> {
    started_by(&templates())
}

/// Returns true if the processes have ended, even if they were not waited for.
fn are_gone(processes: &BTreeSet<i32>) -> bool {
    processes.iter().all(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    })
}

/// Polls until the condition holds.
async fn eventually(what: &str, so: impl Fn() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn settings(ready: usize) -> Settings {
    let program = env!("CARGO_BIN_EXE_sandbox-child").into();
    let limits = Limits { cpu: Duration::from_mins(1), wall: Duration::from_secs(30), ..Limits::default() };
    Settings { program, arguments: Vec::new(), ready, limits }
}

fn waiting(ready: usize) -> Sandbox {
    Sandbox::new(settings(ready))
}

fn script(source: &str) -> Script {
    Script { source: source.to_owned(), context: RawValue::from_string("{}".to_owned()).expect("it is JSON") }
}

const WAITS: &str = "export default (ctx) => ctx.fetch('https://waits.example/')";
const PASSES: &str = "export default () => ({ status: 'pass', summary: '' })";

#[tokio::test]
async fn a_run_that_is_dropped_leaves_no_process() {
    let _turn = turn().await;
    for source in [WAITS, "export default async (ctx) => { await ctx.dns('a'); for (;;); }"] {
        let sandbox = waiting(0);
        let host = Arc::new(Peer::default());
        let run = tokio::spawn({
            let (sandbox, host) = (sandbox.clone(), Arc::clone(&host));
            async move { sandbox.run(script(source), host).await }
        });
        eventually("the script calls", || host.called.load(Ordering::SeqCst)).await;
        let running = children();
        assert_eq!(running.len(), 1);
        run.abort();
        assert!(run.await.is_err_and(|error| error.is_cancelled()));
        eventually("the child is gone", || are_gone(&running)).await;
    }
}

#[tokio::test]
async fn children_wait_and_end_with_the_sandbox() {
    let _turn = turn().await;
    let sandbox = waiting(3);
    eventually("three wait", || children().len() == 3).await;
    let before = children();
    sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
    eventually("one is replaced", || children().len() == 3 && children().intersection(&before).count() == 2)
        .await;

    let clone = sandbox.clone();
    drop(sandbox);
    clone.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
    eventually("three wait again", || children().len() == 3).await;
    let (template, waiting) = (templates(), children());
    assert_eq!(template.len(), 1);
    drop(clone);
    eventually("none is left", || are_gone(&template) && are_gone(&waiting)).await;
}

#[tokio::test]
async fn a_child_that_waits_is_confined() {
    let _turn = turn().await;
    let sandbox = waiting(1);
    eventually("it waits", || children().len() == 1).await;
    let child = children().pop_first().expect("it waits");
    let of = |name: &str| std::fs::read_to_string(format!("/proc/{child}/{name}")).expect("it waits");
    eventually("it has closed itself in", || of("status").contains("Seccomp_filters:\t2")).await;
    let (status, limits) = (of("status"), of("limits"));
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Threads:\t1"] {
        assert!(status.lines().any(|found| found == line), "{line} in {status}");
    }
    for name in ["Max processes", "Max file size", "Max core file size"] {
        let line = limits.lines().find(|line| line.starts_with(name)).expect(name);
        assert_eq!(line[name.len()..].split_whitespace().take(2).collect::<Vec<_>>(), ["0", "0"], "{line}");
    }
    drop(sandbox);
}

#[tokio::test]
async fn children_that_were_killed_are_replaced() {
    let _turn = turn().await;
    let sandbox = waiting(2);
    eventually("two wait", || children().len() == 2).await;
    for pid in children() {
        kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it is ours");
    }
    eventually("they are dead", || children().is_empty()).await;
    sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
}

#[tokio::test]
async fn children_die_with_their_template_and_another_takes_over() {
    let _turn = turn().await;
    let sandbox = waiting(4);
    let host = Arc::new(Peer::default());
    let run = tokio::spawn({
        let (sandbox, host) = (sandbox.clone(), Arc::clone(&host));
        let source = "export default async (ctx) => { await ctx.dns('a'); for (;;); }";
        async move { sandbox.run(script(source), host).await }
    });
    eventually("it runs", || host.called.load(Ordering::SeqCst) && children().len() == 5).await;
    let (template, forked) = (templates(), children());
    for pid in &template {
        kill(Pid::from_raw(*pid), Signal::SIGKILL).expect("it is ours");
    }
    eventually("all are gone", || are_gone(&forked)).await;
    assert_eq!(run.await.expect("it ends").unwrap_err().code, Code::Unavailable);
    sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
    assert!(templates().is_disjoint(&template));
}

#[tokio::test]
async fn a_script_that_did_nothing_yet_outlives_its_template() {
    let _turn = turn().await;
    let sandbox = waiting(0);
    let run = tokio::spawn({
        let sandbox = sandbox.clone();
        let source =
            "export default () => { for (let i = 0; i < 2e7; i++); return { status: 'pass', summary: '' }; }";
        async move { sandbox.run(script(source), Arc::new(Peer::default())).await }
    });
    eventually("it runs", || children().len() == 1).await;
    for pid in templates() {
        kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it is ours");
    }
    run.await.expect("it ends").expect("another process runs it");
}

#[tokio::test]
async fn a_template_does_not_serve_forever() {
    let _turn = turn().await;
    let sandbox = waiting(1);
    let mut seen = BTreeSet::new();
    for _ in 0..600 {
        sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
        seen.extend(templates());
    }
    assert!(seen.len() >= 3, "{seen:?}");
    eventually("those that are used up have ended", || templates().len() == 1).await;
}

#[tokio::test]
async fn a_child_killed_from_outside_is_nobodys_fault() {
    let _turn = turn().await;
    for (signal, code) in [
        (Signal::SIGKILL, Code::Unavailable),
        (Signal::SIGSYS, Code::Confinement),
        (Signal::SIGXCPU, Code::CpuTimeLimit),
        (Signal::SIGABRT, Code::MemoryLimit),
        (Signal::SIGILL, Code::ScriptError),
    ] {
        let sandbox = waiting(0);
        let host = Arc::new(Peer::default());
        let run = tokio::spawn({
            let host = Arc::clone(&host);
            async move { sandbox.run(script(WAITS), host).await }
        });
        eventually("the script calls", || host.called.load(Ordering::SeqCst)).await;
        for pid in children() {
            kill(Pid::from_raw(pid), signal).expect("it is ours");
        }
        let failure = run.await.expect("it ends").unwrap_err();
        assert_eq!(failure.code, code, "{signal}: {failure}");
    }
}

#[tokio::test]
async fn another_template_takes_over_after_a_crash() {
    let _turn = turn().await;
    let sandbox = waiting(1);
    let host = Arc::new(Peer::default());
    let run = tokio::spawn({
        let (sandbox, host) = (sandbox.clone(), Arc::clone(&host));
        async move { sandbox.run(script(WAITS), host).await }
    });
    eventually("it runs", || host.called.load(Ordering::SeqCst) && children().len() == 2).await;
    let before = templates();
    for pid in children() {
        kill(Pid::from_raw(pid), Signal::SIGILL).expect("it is ours");
    }
    assert_eq!(run.await.expect("it ends").unwrap_err().code, Code::ScriptError);
    sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
    eventually("another has taken over", || templates().len() == 1 && templates().is_disjoint(&before)).await;
}

#[tokio::test]
async fn a_template_that_is_stuck_is_replaced() {
    let _turn = turn().await;
    let sandbox = waiting(1);
    eventually("it waits", || children().len() == 1).await;
    let before = templates();
    for pid in &before {
        kill(Pid::from_raw(*pid), Signal::SIGSTOP).expect("it is ours");
    }
    // One child waits already; the next cannot be forked, and after some seconds comes from another template.
    for _ in 0..2 {
        sandbox.run(script(PASSES), Arc::new(Peer::default())).await.expect("it passes");
    }
    eventually("it was killed", || are_gone(&before)).await;
}

#[tokio::test]
async fn programs_that_are_no_sandbox_are_unavailable() {
    let _turn = turn().await;
    for (program, arguments) in
        [("/does/not/exist", &[][..]), ("/bin/true", &[]), ("/bin/echo", &["what is this, and why so long"])]
    {
        let sandbox = Sandbox::new(Settings {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            ..settings(1)
        });
        let failure = sandbox.run(script(PASSES), Arc::new(Peer::default())).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable, "{program}");
        assert!(!failure.message.contains(program), "{failure}");
    }
}

#[tokio::test]
async fn a_child_is_not_believed() {
    let _turn = turn().await;
    for (said, missing, code) in [
        ("no", 0, Code::Confinement),
        (r#""Ready""#, 0, Code::Confinement),
        (r#"{"Log":"\ud800"}"#, 0, Code::Confinement),
        (r#"{"Failed":["unavailable","x"]}"#, 0, Code::Confinement),
        (r#"{"Exceeded":"wall_time_limit"}"#, 0, Code::Confinement),
        (r#"{"Checked":null}"#, 0, Code::Confinement),
        // Longer than any message, and truncated in the middle of one.
        ("", u32::MAX, Code::Confinement),
        (r#"{"Exceeded""#, 7, Code::ScriptError),
    ] {
        let program = env!("CARGO_BIN_EXE_sandbox-impostor").into();
        let arguments = vec![said.into(), missing.to_string().into()];
        let sandbox = Sandbox::new(Settings { program, arguments, ..settings(0) });
        let run = sandbox.run(script(PASSES), Arc::new(Peer::default()));
        let failure = run.await.expect_err(said);
        assert_eq!(failure.code, code, "{said}: {failure}");
    }
}

#[tokio::test]
async fn a_child_without_limits_refuses() {
    let _turn = turn().await;
    let output =
        tokio::process::Command::new(env!("CARGO_BIN_EXE_sandbox-child")).output().await.expect("it starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Refused"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_sandbox_may_be_made_before_there_is_a_runtime() {
    let sandbox = waiting(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    let _turn = runtime.block_on(turn());
    runtime.block_on(sandbox.run(script(PASSES), Arc::new(Peer::default()))).expect("it passes");
}
