//! Functions in confined processes.

#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "test code")]

use std::time::{Duration, Instant};

use attestry_sandbox::{CallError, ConfinedFunction, FunctionLimits, Settings};

fn settings() -> Settings<FunctionLimits> {
    let limits = FunctionLimits {
        memory: 64 << 20,
        cpu: Duration::from_secs(1),
        wall: Duration::from_secs(20),
        output: 1 << 20,
    };
    let program = env!("CARGO_BIN_EXE_sandbox-function").into();
    Settings { program, arguments: Vec::new(), ready: 1, limits }
}

async fn call(attempt: &str) -> Result<Vec<u8>, CallError> {
    ConfinedFunction::new(settings()).call(&[attempt.as_bytes()]).await
}

#[tokio::test]
async fn output_follows_from_input() {
    let function = ConfinedFunction::new(settings());
    for _ in 0..20 {
        assert_eq!(
            function.call(&[b"echo\n", b"here", b" and there"]).await.as_deref(),
            Ok(&b"here and there"[..])
        );
    }
    let large = vec![7; 1 << 20];
    assert_eq!(function.call(&[b"echo\n", &large]).await, Ok(large));
    assert_eq!(function.call(&[]).await, Ok(Vec::new()));
}

#[tokio::test]
async fn limits_of_memory_time_and_output_end_a_call() {
    for (attempt, error) in [
        ("loop", CallError::CpuTimeLimit),
        ("memory", CallError::MemoryLimit),
        ("output", CallError::OutputLimit),
        ("exit", CallError::Crashed),
        // A stack overflow aborts, like an allocation that fails.
        ("recursion", CallError::MemoryLimit),
    ] {
        let started = Instant::now();
        assert_eq!(call(attempt).await, Err(error), "{attempt}");
        assert!(started.elapsed() < settings().limits.wall, "{attempt}: {:?}", started.elapsed());
    }
    let short = FunctionLimits { wall: Duration::from_millis(300), ..settings().limits };
    let function = ConfinedFunction::new(Settings { limits: short, ..settings() });
    assert_eq!(function.call(&[b"sleep"]).await, Err(CallError::WallTimeLimit));
}

#[tokio::test]
async fn a_function_reaches_neither_files_nor_the_network_nor_programs() {
    // Files cannot be opened, which some libraries expect; anything else ends the process.
    assert_eq!(call("read").await, Ok(Vec::new()));
    for attempt in ["listen", "run"] {
        assert_eq!(call(attempt).await, Err(CallError::Crashed), "{attempt}");
    }
}

#[tokio::test]
async fn calls_go_on_after_a_crash() {
    let function = ConfinedFunction::new(settings());
    for _ in 0..3 {
        assert_eq!(function.call(&[b"exit"]).await, Err(CallError::Crashed));
        assert_eq!(function.call(&[b"echo\nhere"]).await.as_deref(), Ok(&b"here"[..]));
    }
}

#[tokio::test]
async fn a_program_that_is_no_function_is_unavailable() {
    for program in ["/does/not/exist", "/bin/true"] {
        let function = ConfinedFunction::new(Settings { program: program.into(), ..settings() });
        assert_eq!(function.call(&[b"echo\n"]).await, Err(CallError::Unavailable), "{program}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_process() {
    let arguments = vec!["ends-when-dropped".into()];
    let function = ConfinedFunction::new(Settings { arguments, ready: 0, ..settings() });
    let call = function.call(&[b"sleep"]);
    tokio::time::timeout(Duration::from_millis(500), call).await.expect_err("it waits");
    let started = Instant::now();
    // The template goes on.
    while processes("ends-when-dropped") > 1 {
        assert!(started.elapsed() < Duration::from_secs(20), "it still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(processes("ends-when-dropped"), 1);
}

/// The number of processes whose command line ends with this argument.
fn processes(argument: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let command = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("cmdline")).ok();
    processes.filter_map(command).filter(|command| command.ends_with(&format!("{argument}\0"))).count()
}
