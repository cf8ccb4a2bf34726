//! Attempts of scripts that must fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Peer, evidence, limits, run, run_within, sandbox, script};
use attestry_sandbox::{Code, Limits};
use serde_json::json;

/// Runs a function body and asserts that it ends long before the wall time limit.
async fn ends(body: &str, code: Code, message: &str) {
    ends_within(limits(), body, code, message).await;
}

async fn ends_within(limits: Limits, body: &str, code: Code, message: &str) {
    let source = format!("export default async function (ctx) {{ {body} }}");
    let started = Instant::now();
    let wall = limits.wall;
    let failure = run_within(limits, &source).await.expect_err(body);
    assert_eq!(failure.code, code, "{body}: {failure}");
    assert!(failure.message.contains(message), "{body}: {failure}");
    assert!(started.elapsed() < wall, "{body}: {:?}", started.elapsed());
}

#[tokio::test]
async fn endless_scripts_end_by_processor_time() {
    let message = "The script used more than 500 ms of processor time.";
    for body in [
        "for (;;);",
        "for (;;) try { for (;;); } catch {} finally { continue }",
        "for (;;) await null;",
        "const again = () => Promise.resolve().then(again); await again();",
        "/(a+)+$/.test('a'.repeat(40) + '!');",
        "return { status: 'pass', summary: '', get evidence() { for (;;); } }",
        "return { status: 'pass', summary: '', evidence: { toJSON() { for (;;); } } }",
        "return { then() { for (;;); } }",
        "const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
        "return new Proxy({}, { ownKeys() { for (;;); } })",
        "JSON.parse('[' + '1,'.repeat(9) + '1]', function () { for (;;); })",
        "eval('for (;;);')",
        "new Function('for (;;);')()",
        "function* f() { for (;;) yield 1 } for (const x of f());",
        "[1, 2, 3].sort(() => { for (;;); })",
    ] {
        ends(body, Code::CpuTimeLimit, message).await;
    }
}

#[tokio::test]
async fn endless_modules_end_too() {
    let failure = run("for (;;); export default 1").await.unwrap_err();
    assert_eq!(failure.code, Code::CpuTimeLimit);
}

#[tokio::test]
async fn what_the_engine_cannot_interrupt_ends_by_the_kernel_or_the_wall() {
    let fill =
        "export default () => { const a = new Uint8Array(3e7); for (let i = 0; i < 1e9; i++) a.fill(i) }";
    let join =
        "export default () => { const a = []; a.length = 4e9; return a.indexOf(1) + a.join('').length }";
    let short = Limits { wall: Duration::from_millis(700), cpu: Duration::from_mins(1), ..Limits::default() };
    for source in [fill, join] {
        let started = Instant::now();
        let failure = run_within(short.clone(), source).await.unwrap_err();
        assert_eq!(failure.code, Code::WallTimeLimit, "{failure}");
        assert_eq!(failure.message, "The script took more than 700 ms.");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
    let join = "export default () => { const a = []; a.length = 4e9; a.join('') }";
    let failure = run(join).await.unwrap_err();
    assert_eq!(failure.code, Code::CpuTimeLimit, "{failure}");
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_by_the_wall() {
    let short = Limits { wall: Duration::from_millis(300), ..Limits::default() };
    let failure =
        run_within(short, "export default (ctx) => ctx.fetch('https://waits.example/')").await.unwrap_err();
    assert_eq!(failure.code, Code::WallTimeLimit);
}

#[tokio::test]
async fn bombs_end_by_memory() {
    let message = "The script used more than 64 MiB of memory.";
    for body in [
        "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
        "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
        "new Uint8Array(1e9)",
        "new ArrayBuffer(8, { maxByteLength: 1e9 }).resize(1e9)",
        "globalThis.keep = []; for (;;) keep.push(new ArrayBuffer(1e6))",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        "'a'.repeat(2 ** 28).split('')",
        "globalThis.keep = []; for (;;) keep.push(new TextEncoder().encode('a'.repeat(1e6)))",
        "globalThis.keep = []; for (;;) keep.push(() => keep)",
        "const a = []; for (;;) a.push(Promise.resolve(a).then(() => a))",
    ] {
        // Filling the memory takes a while.
        let patient = Limits { cpu: Duration::from_secs(15), ..limits() };
        ends_within(patient, body, Code::MemoryLimit, message).await;
    }
}

#[tokio::test]
async fn an_answer_larger_than_the_memory_is_refused() {
    let narrow = Limits { memory: 8 << 20, ..limits() };
    let source = "export default (ctx) => ctx.fetch('https://large.example/')";
    let failure = run_within(narrow, source).await.unwrap_err();
    assert!(failure.message.starts_with("Error: The answer is larger"), "{failure}");
    let roomy = Limits { memory: 12 << 20, ..limits() };
    let source = "export default async (ctx) => { const r = await ctx.fetch('https://large.example/'); await r.text(); }";
    let failure = run_within(roomy, source).await.unwrap_err();
    assert_eq!(failure.code, Code::MemoryLimit, "{failure}");
}

#[tokio::test]
async fn a_script_goes_on_after_it_caught_a_lack_of_memory() {
    let found =
        evidence("try { new Uint8Array(1e9) } catch { return { status: 'pass', summary: '', evidence: 1 } }");
    assert_eq!(found.await, json!(1));
}

#[tokio::test]
async fn deep_recursion_ends_by_the_stack() {
    for body in [
        "const f = () => f() + 1; f()",
        "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return { status: 'pass', summary: '', evidence: o }",
        "const f = { toString() { return `${f}` } }; `${f}`",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
    ] {
        let source = format!("export default async function (ctx) {{ {body} }}");
        let failure = run(&source).await.expect_err(body);
        let evidence = failure.message.contains("Maximum call stack") || failure.message.contains("nested");
        assert!(failure.code == Code::StackLimit || evidence, "{body}: {failure}");
    }
}

#[tokio::test]
async fn deep_evidence_is_refused() {
    let deep = |levels: usize| {
        format!(
            "let o = 1; for (let i = 0; i < {levels}; i++) o = [o]; return {{ status: 'pass', summary: '', evidence: o }}"
        )
    };
    ends(&deep(101), Code::BadResult, "nested more than 100 levels").await;
    assert!(evidence(&deep(100)).await.is_array());
}

#[tokio::test]
async fn a_promise_that_nothing_settles_is_known_at_once() {
    let message = "The script waits for a promise that nothing will ever settle.";
    ends("await new Promise(() => {})", Code::NeverSettles, message).await;
    ends("return { then() {} }", Code::NeverSettles, message).await;
    let failure = run("await new Promise(() => {}); export default 1").await.unwrap_err();
    assert_eq!(failure.code, Code::NeverSettles);
}

#[tokio::test]
async fn floods_end_at_their_limits() {
    ends("for (;;) ctx.log('a'.repeat(1000))", Code::LogLimit, "The script logged more than 256 KiB.").await;
    let short = Limits { log: 4 << 10, ..limits() };
    ends_within(short, "for (;;) ctx.log('')", Code::LogLimit, "4 KiB").await;
    ends("ctx.log('a'.repeat(1e6))", Code::LogLimit, "256 KiB").await;
    ends("for (;;) try { ctx.log('\\0'.repeat(100)) } catch {}", Code::LogLimit, "256 KiB").await;
    let large = "return { status: 'pass', summary: '', evidence: 'a'.repeat(2e6) }";
    ends(large, Code::OutputLimit, "more than 1 MiB of summary and evidence").await;
    ends("return { status: 'pass', summary: 'a'.repeat(2e6) }", Code::OutputLimit, "1 MiB").await;
    let calls = "for (let i = 0; i < 101; i++) await ctx.secret('a')";
    ends(calls, Code::CallLimit, "The script made more than 100 calls (fetch, secret, dns, tls).").await;
    ends("for (;;) ctx.dns('a', 'A').catch(() => {})", Code::CallLimit, "100 calls").await;
    ends("await ctx.secret('a'.repeat(2e6))", Code::MessageLimit, "more than 1 MiB to one call").await;
    let body = "await ctx.fetch('https://a.example', { method: 'POST', body: new Uint8Array(1e6) })";
    ends(body, Code::MessageLimit, "1 MiB").await;
}

#[tokio::test]
async fn limits_are_reached_and_not_before() {
    let found = evidence(
        "for (let i = 0; i < 100; i++) await ctx.secret('a');
         for (let i = 0; i < 256; i++) ctx.log('a'.repeat(1023));
         return { status: 'pass', summary: '', evidence: 'a'.repeat(2 ** 20 - 2) }",
    );
    assert_eq!(found.await.as_str().map(str::len), Some((1 << 20) - 2));
}

#[tokio::test]
async fn anything_but_a_result_is_told() {
    let expected = "The script must return { status: \"pass\" or \"fail\", summary: a string, evidence: any JSON (optional) }, but ";
    for (value, wrong) in [
        ("undefined", "it returned undefined."),
        ("null", "it returned null."),
        ("7", "it returned a number."),
        ("'pass'", "it returned a string."),
        ("[]", "it returned an array."),
        ("() => 1", "it returned a function."),
        ("{}", "status is undefined."),
        ("{ status: 'passed', summary: '' }", "status is \"passed\"."),
        ("{ status: 'pass' }", "summary is undefined."),
        ("{ status: 'pass', summary: 1 }", "summary is a number."),
        ("{ status: new String('pass'), summary: '' }", "status is an object."),
        ("{ status: 'pass', summary: '', evidnce: 1 }", "it has a field \"evidnce\"."),
        ("{ status: 'pass', summary: '', evidence: () => 1 }", "evidence is a function."),
        ("{ status: 'pass', summary: '', evidence: Symbol() }", "evidence is a symbol."),
        ("{ status: 'pass', summary: '', evidence: 10n }", "evidence cannot be written as JSON: TypeError"),
        (
            "{ status: 'pass', summary: '', evidence: { toJSON() { throw new Error('no') } } }",
            "evidence cannot be written as JSON: Error: no (automation.js:1:",
        ),
        (
            "{ status: 'pass', summary: '', get evidence() { const o = {}; o.o = o; return o } }",
            "evidence cannot be written as JSON: TypeError",
        ),
    ] {
        ends(&format!("return {value}"), Code::BadResult, &format!("{expected}{wrong}")).await;
    }
}

#[tokio::test]
async fn what_is_thrown_is_told_with_its_place() {
    for (body, message) in [
        ("throw new Error('no')", "Error: no (automation.js:1:"),
        ("null.x", "TypeError: cannot read property 'x' of null (automation.js:1:"),
        ("throw 'text'", "The script threw text, which is not an Error."),
        ("throw { a: 1 }", "The script threw {\"a\":1}, which is not an Error."),
        ("throw null", "The script threw null, which is not an Error."),
        ("throw undefined", "which is not an Error."),
        ("throw Symbol('a')", "which is not an Error."),
        ("throw { toJSON() { throw 1 } }", "which is not an Error."),
        ("return { get status() { throw new Error('getter') } }", "Error: getter (automation.js:1:"),
        ("return { get then() { throw new Error('then') } }", "Error: then (automation.js:1:"),
        (
            "const e = new Error('a'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
            "Error",
        ),
        ("const e = new Error('a'); e.stack = 7; e.name = { }; throw e", "a"),
        ("throw new Error('\\ud800\\0')", "Error: \u{fffd}\0 (automation.js:1:"),
        ("await import('fs')", "A script cannot import other modules"),
        (
            "await import('automation.js').then((m) => { throw new Error(typeof m.default) })",
            "Error: function",
        ),
    ] {
        ends(body, Code::ScriptError, message).await;
    }
    let failure = run("export default () => { throw new Error('é'.repeat(1e5)) }").await.unwrap_err();
    assert!(failure.message.len() < 3000, "{}", failure.message.len());
}

#[tokio::test]
async fn no_frames_of_ours_are_shown() {
    let source = "export default (ctx) => {\n  ctx.log({ toString() { throw new Error('mine') }, toJSON() { throw 1 } })\n}";
    let failure = run(source).await.unwrap_err();
    assert!(failure.message.starts_with("Error: mine (automation.js:2:"), "{failure}");
    assert!(!failure.message.contains("sandbox"), "{failure}");
}

#[tokio::test]
async fn a_script_may_spoil_what_is_its_own() {
    for spoil in [
        "globalThis.JSON = null",
        "JSON.stringify = JSON.parse = () => { throw 1 }",
        "Promise.prototype.then = () => { throw 1 }; globalThis.Promise = null",
        "Object.prototype.toString = () => { throw 1 }; Object.freeze = Object.keys = null",
        "Array.prototype.push = () => { throw 1 }",
        "String.prototype.toWellFormed = () => 7; Function.prototype.call = () => 7",
        "Uint8Array.fromBase64 = Uint8Array.prototype.toBase64 = null",
        "globalThis.Error = null; Error.prototype && 0",
        "Object.defineProperty(Object.prototype, 'status', { get() { throw 1 }, configurable: true })",
        "for (const name of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[name] } catch {}",
    ] {
        let source = format!(
            "export default async function (ctx) {{
                 try {{ {spoil} }} catch {{}}
                 return {{ status: 'pass', summary: 'still here', evidence: {{ list: [1] }} }};
             }}"
        );
        let outcome = run(&source).await.unwrap_or_else(|failure| panic!("{failure}: {spoil}"));
        assert_eq!(outcome.summary, "still here", "{spoil}");
        assert_eq!(outcome.evidence.unwrap().get(), r#"{"list":[1]}"#, "{spoil}");
    }
    let polluted =
        "Object.prototype.toJSON = () => 'mine'; return { status: 'pass', summary: '', evidence: {} }";
    assert_eq!(evidence(polluted).await, json!("mine"));
}

#[tokio::test]
async fn thenables_and_proxies_are_read_like_objects() {
    let found =
        evidence("return { then(done) { done({ status: 'pass', summary: '', evidence: 7 }) } }").await;
    assert_eq!(found, json!(7));
    let found = evidence("return new Proxy({ status: 'pass', summary: '', evidence: 8 }, {})").await;
    assert_eq!(found, json!(8));
}

#[tokio::test]
async fn halves_of_surrogates_and_nuls_do_not_break_the_wire() {
    let host = Arc::new(Peer::default());
    let source = "export default async function (ctx) {
        ctx.log('\\ud800');
        const answer = await ctx.secret('\\udfff\\0');
        await ctx.dns('\\ud83d', '\\0');
        return { status: 'pass', summary: '\\ud800x\\0', evidence: { ['\\udc00']: ['\\ud83d\\ude00', '\\\\ud800', '\\ud800', answer] } };
    }";
    let outcome = sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap();
    assert_eq!(outcome.summary, "\u{fffd}x\0");
    let evidence: serde_json::Value = serde_json::from_str(outcome.evidence.unwrap().get()).unwrap();
    assert_eq!(evidence, json!({"\u{fffd}": ["😀", "\\ud800", "\u{fffd}", "the secret \u{fffd}\0"]}));
    assert_eq!(host.lines(), ["\u{fffd}"]);
}

#[tokio::test]
async fn sources_of_all_kinds() {
    let missing =
        "The script must export a function as its default: export default async function (ctx) { … }";
    for (source, code, message) in [
        ("", Code::BadResult, missing),
        ("export const a = 1", Code::BadResult, missing),
        ("export default 7", Code::BadResult, missing),
        (
            "let x = ;",
            Code::ScriptError,
            "SyntaxError: unexpected token in expression: ';' (automation.js:1:9)",
        ),
        (
            "import fs from 'fs'; export default () => 1",
            Code::ScriptError,
            "A script cannot import other modules",
        ),
        ("import './automation.js'; export default () => 1", Code::BadResult, "it returned a number"),
        ("\0", Code::ScriptError, "SyntaxError: a NUL character (automation.js:1:1)"),
        ("throw new Error('top')", Code::ScriptError, "Error: top (automation.js:1:"),
    ] {
        let failure = run(source).await.expect_err(source);
        assert_eq!(failure.code, code, "{source}: {failure}");
        assert!(failure.message.contains(message), "{source}: {failure}");
    }
    let long =
        format!("/* {} */ export default () => ({{ status: 'pass', summary: '1 MB' }})", "é".repeat(500_000));
    assert_eq!(run(&long).await.unwrap().summary, "1 MB");
    let many = format!(
        "let a = 0;\n{}export default () => ({{ status: 'pass', summary: `${{a}}` }})",
        "a = a + 1;\n".repeat(90_000)
    );
    assert_eq!(run(&many).await.unwrap().summary, "90000");
}
