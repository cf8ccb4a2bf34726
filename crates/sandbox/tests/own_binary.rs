//! A program that is its own sandbox, like the server: with its allocator, and restarted through the default
//! settings.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "test code")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use attestry_sandbox::{Code, Host, Limits, Sandbox, Script, Settings, Verdict};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Returns the argument of each call.
struct Echo;

impl Host for Echo {
    fn call(
        &self,
        _operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>> {
        std::future::ready(Ok(argument)).boxed()
    }

    fn log(&self, _line: String) {}
}

fn main() {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("sandbox-child") {
        attestry_sandbox::child();
    }
    let runtime = tokio::runtime::Runtime::new().expect("it starts");
    runtime.block_on(scripts_run());
    runtime.block_on(bombs_end());
    if argument.as_deref() == Some("measure") {
        runtime.block_on(measure());
    }
    println!("a program that is its own sandbox: ok");
}

fn script(source: &str) -> Script {
    Script { source: source.to_owned(), context: RawValue::from_string("{}".to_owned()).expect("it is JSON") }
}

async fn scripts_run() {
    let sandbox = Sandbox::new(Settings::default());
    for _ in 0..20 {
        let source = "export default async (ctx) => ({ status: 'pass', summary: await ctx.secret('it') })";
        let outcome = sandbox.run(script(source), Arc::new(Echo)).await.expect("it passes");
        assert_eq!((outcome.verdict, outcome.summary.as_str()), (Verdict::Pass, "it"));
    }
}

async fn bombs_end() {
    let sandbox = Sandbox::new(Settings::default());
    for source in [
        "export default () => { const a = []; for (;;) a.push(new Array(1000).fill(a.length)) }",
        "export default () => { globalThis.keep = []; for (;;) keep.push(new ArrayBuffer(1e6)) }",
        "export default () => 'a'.repeat(2 ** 28).split('')",
    ] {
        let failure = sandbox.run(script(source), Arc::new(Echo)).await.expect_err(source);
        assert_eq!(failure.code, Code::MemoryLimit, "{failure}: {source}");
    }
    let most = "export default () => ({ status: 'pass', summary: String(new Uint8Array(60e6).length) })";
    sandbox.run(script(most), Arc::new(Echo)).await.expect("there is as much memory as promised");
}

/// `cargo test --release -p attestry-sandbox --test own_binary -- measure`
async fn measure() {
    const SOURCE: &str =
        "export default async (ctx) => ({ status: 'pass', summary: await ctx.secret('it') })";
    let cold = Sandbox::new(Settings { ready: 0, ..Settings::default() });
    let mut took = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        cold.run(script(SOURCE), Arc::new(Echo)).await.expect("it passes");
        took.push(started.elapsed());
    }
    println!("cold, spawn to result: {}", spread(&mut took));

    let warm = Sandbox::new(Settings { ready: 4, limits: Limits::default(), ..Settings::default() });
    let mut took = Vec::new();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let started = Instant::now();
        warm.run(script(SOURCE), Arc::new(Echo)).await.expect("it passes");
        took.push(started.elapsed());
    }
    println!("warm at 50 runs/s, with one call: {}", spread(&mut took));

    let mut took = Vec::new();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let started = Instant::now();
        warm.check(SOURCE).await.expect("it runs").expect("it is a script");
        took.push(started.elapsed());
    }
    println!("warm check: {}", spread(&mut took));

    let started = Instant::now();
    let lanes = (0..8).map(|_| {
        let warm = warm.clone();
        tokio::spawn(async move {
            for _ in 0..125 {
                warm.run(script(SOURCE), Arc::new(Echo)).await.expect("it passes");
            }
        })
    });
    futures_util::future::join_all(lanes.collect::<Vec<_>>()).await;
    println!("8 at once: {:.0} runs/s", 1000.0 / started.elapsed().as_secs_f64());
}

fn spread(took: &mut [Duration]) -> String {
    took.sort_unstable();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    format!("p50 {:?}, p99 {:?}", at(50), at(99))
}
