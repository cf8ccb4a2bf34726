//! Features available to scripts.

use std::sync::Arc;
use std::time::Instant;

use crate::common::{Peer, evidence, limits, run, sandbox, script};
use attestry_sandbox::{Code, Verdict};
use serde_json::json;
use tokio::sync::Barrier;

#[tokio::test]
async fn a_script_passes_or_fails() {
    let passed =
        run("export default async function (ctx) { return { status: 'pass', summary: 'All is well' } }");
    let passed = passed.await.unwrap();
    assert_eq!((passed.verdict, passed.summary.as_str()), (Verdict::Pass, "All is well"));
    assert!(passed.evidence.is_none());

    let failed =
        run("export default () => ({ status: 'fail', summary: 'é', evidence: { list: [1, 'a', null] } })");
    let failed = failed.await.unwrap();
    assert_eq!((failed.verdict, failed.summary.as_str()), (Verdict::Fail, "é"));
    assert_eq!(failed.evidence.unwrap().get(), r#"{"list":[1,"a",null]}"#);
}

#[tokio::test]
async fn the_context_is_handed_over_and_frozen() {
    let found = evidence(
        "let error; try { ctx.now = 1 } catch (e) { error = e.name }
         return { status: 'pass', summary: '', evidence:
             [ctx.now, ctx.event, ctx.task, ctx.parameters, error, Object.keys(ctx).join()] }",
    )
    .await;
    let names = "fetch,secret,dns,tls,log,now,event,task,parameters";
    let wanted = json!(["2026-01-02T03:04:05Z", {"kind": "schedule"}, null, {"n": [1]}, "TypeError", names]);
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn fetch_asks_the_host() {
    let host = Arc::new(Peer::default());
    let source = "export default async function (ctx) {
        const r = await ctx.fetch(new URL('https://a.example/é'), {
            method: 'post', headers: { 'X-A': ' 1 ', 'content-type': 'text/plain' }, body: 'é' });
        const bytes = await r.bytes();
        return { status: 'pass', summary: await r.text(), evidence: [
            r.status, r.ok, r.statusText, r.url, r.redirected,
            r.headers.get('CONTENT-type'), r.headers.get('set-cookie'), r.headers.has('nothing'), [...r.headers],
            await r.json(), bytes.length, (await r.arrayBuffer()).byteLength, Object.prototype.toString.call(bytes)] };
    }";
    let outcome = sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap();
    assert_eq!(outcome.summary, r#"{"a":[1,2]}"#);
    let evidence: serde_json::Value = serde_json::from_str(outcome.evidence.unwrap().get()).unwrap();
    let headers = json!([["content-type", "application/json"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
    assert_eq!(
        evidence,
        json!([200, true, "OK", "https://a.example/final", true, "application/json", "a=1, b=2", false, headers,
            {"a": [1, 2]}, 11, 11, "[object Uint8Array]"])
    );
    let request = json!({"url": "https://a.example/%C3%A9", "method": "POST",
        "headers": [["content-type", "text/plain"], ["x-a", "1"]], "body": "w6k="});
    assert_eq!(host.calls(), [("fetch".to_owned(), request)]);
}

#[tokio::test]
async fn fetch_takes_bodies_and_headers_of_several_kinds() {
    let host = Arc::new(Peer::default());
    let source = "export default async function (ctx) {
        const url = 'https://a.example/';
        await ctx.fetch(url);
        await ctx.fetch(url, { method: 'PUT', body: new Uint8Array([1, 2, 3]).subarray(1), headers: [['A', 'b']] });
        await ctx.fetch(url, { method: 'PUT', body: new Uint8Array([255]).buffer, headers: new Headers({ A: 'c' }) });
        await ctx.fetch(url, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) });
        await ctx.fetch(url, { method: 'POST', body: '\\ud800' });
        return { status: 'pass', summary: '' };
    }";
    sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap();
    let sent: Vec<_> =
        host.calls().into_iter().map(|(_, call)| json!([call["headers"], call["body"]])).collect();
    let form = [["content-type", "application/x-www-form-urlencoded;charset=UTF-8"]];
    assert_eq!(
        sent,
        [
            json!([[], null]),
            json!([[["a", "b"]], "AgM="]),
            json!([[["a", "c"]], "/w=="]),
            json!([form, "YT1iK2M="]),
            json!([[], "77+9"])
        ]
    );
}

#[tokio::test]
async fn fetch_says_what_is_wrong_with_its_arguments() {
    let cases = [
        (
            "{ timeout: 1, cache: 2 }",
            "fetch: unknown option timeout, cache; there are method, headers and body",
        ),
        ("{ method: 'POST', body: { a: 1 } }", "for JSON, use JSON.stringify"),
        ("{ body: 'a' }", "a GET request has no body"),
        ("{ headers: { 'a b': '1' } }", "\"a b\" is not a name"),
        ("{ headers: { a: '1\\n2' } }", "has a line break"),
        ("7", "the options must be an object"),
    ];
    for (init, wanted) in cases {
        let source =
            format!("export default async (ctx) => {{\n  await ctx.fetch('https://a.example', {init});\n}}");
        let failure = run(&source).await.unwrap_err();
        assert_eq!(failure.code, Code::ScriptError);
        assert!(failure.message.starts_with("TypeError: "), "{failure}");
        assert!(failure.message.contains(wanted), "{failure}");
        assert!(failure.message.contains("(automation.js:2:"), "{failure}");
    }
}

#[tokio::test]
async fn a_refused_call_is_an_error_of_the_line_that_made_it() {
    let source = "export default async function (ctx) {\n  const é = 1; await ctx.fetch('https://refused.example/');\n}";
    let failure = run(source).await.unwrap_err();
    assert_eq!(failure.code, Code::ScriptError);
    assert_eq!(failure.message, "Error: refused.example is not an allowed host (automation.js:2:26)");

    let caught = evidence(
        "try { await ctx.fetch('https://refused.example/') } catch (e) {
            return { status: 'fail', summary: '', evidence: [e instanceof Error, e.message] } }",
    );
    assert_eq!(caught.await, json!([true, "refused.example is not an allowed host"]));
}

#[tokio::test]
async fn a_host_that_panics_refuses() {
    let failure = run("export default (ctx) => ctx.fetch('https://panics.example/')").await.unwrap_err();
    assert!(failure.message.starts_with("Error: The server could not answer the call."), "{failure}");
}

#[tokio::test]
async fn a_body_that_is_not_json_is_told() {
    let source = "export default async function (ctx) {
        const r = await ctx.fetch('https://text.example/');
        ctx.log(await r.text());
        return await r.json();
    }";
    let host = Arc::new(Peer::default());
    let failure = sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap_err();
    assert!(failure.message.starts_with("SyntaxError: The body is not JSON: "), "{failure}");
    assert!(failure.message.contains("(automation.js:4:"), "{failure}");
    assert_eq!(host.lines(), ["é 😀\u{fffd}"]);
}

#[tokio::test]
async fn secret_dns_and_tls_ask_the_host() {
    let host = Arc::new(Peer::default());
    let source = "export default async function (ctx) {
        return { status: 'pass', summary: await ctx.secret('api key'), evidence: [
            await ctx.dns('a.example', 'MX'), await ctx.tls('a.example'), await ctx.tls('a.example', 8443)] };
    }";
    let outcome = sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap();
    assert_eq!(outcome.summary, "the secret api key");
    let evidence: serde_json::Value = serde_json::from_str(outcome.evidence.unwrap().get()).unwrap();
    let tls = |port| json!({"subject": "a.example", "port": port});
    assert_eq!(evidence, json!([[{"type": "MX", "data": "a.example"}], tls(443), tls(8443)]));
    let calls: Vec<_> = host.calls().into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(calls, ["secret", "dns", "tls", "tls"]);
    assert_eq!(host.calls()[0].1, json!("api key"));
}

#[tokio::test]
async fn calls_are_answered_at_the_same_time() {
    // They meet only if the host handles eight concurrently.
    let host = Arc::new(Peer { meeting: Some(Barrier::new(8)), ..Peer::default() });
    let source = "export default async function (ctx) {
        const names = Array.from({ length: 64 }, (_, i) => `n${i}`);
        const found = await Promise.all(names.map((name) => ctx.dns(name, 'A')));
        return { status: 'pass', summary: found.map(([{ data }]) => data).join() };
    }";
    let outcome = sandbox(limits()).run(script(source), host).await.unwrap();
    let wanted: Vec<_> = (0..64).map(|i| format!("n{i}")).collect();
    assert_eq!(outcome.summary, wanted.join(","));
}

#[tokio::test]
async fn the_log_shows_values_of_all_kinds() {
    let host = Arc::new(Peer::default());
    let source = "export default async function (ctx) {
        const cyclic = {}; cyclic.self = cyclic;
        ctx.log('a', 1, null, undefined, true, 10n, Symbol('s'), [1, { b: 2 }], new TypeError('no'));
        console.log('log'); console.info('info'); console.warn('warn'); console.error('error');
        ctx.log(cyclic); ctx.log(); ctx.log('\\ud800 \\0 \\n'); ctx.log(() => 1);
        return { status: 'pass', summary: '' };
    }";
    sandbox(limits()).run(script(source), Arc::clone(&host)).await.unwrap();
    let wanted = [
        "a 1 null undefined true 10 Symbol(s) [1,{\"b\":2}] TypeError: no",
        "log",
        "info",
        "warn",
        "error",
        "[object Object]",
        "",
        "\u{fffd} \0 \n",
        "() => 1",
    ];
    assert_eq!(host.lines(), wanted);
}

#[tokio::test]
async fn there_are_addresses() {
    let found = evidence(
        "const url = new URL('../b?x=1&y=%20z#h', 'https://user:pw@EXAMPLE.com:8080/a/c');
         const before = [url.href, url.origin, url.protocol, url.username, url.password, url.host, url.hostname,
             url.port, url.pathname, url.search, url.hash, url.searchParams.get('y')];
         url.searchParams.append('é', '&'); url.port = '443'; url.hash = ''; url.hostname = 'a.example';
         url.searchParams.delete('x');
         const query = new URLSearchParams('?a=1&b=2&a=3'); query.set('a', '4'); query.sort();
         return { status: 'pass', summary: '', evidence: [before, String(url), JSON.stringify({ url }),
             URL.canParse('nope'), URL.parse('nope'), query.toString(), [...query], query.size,
             query.has('b', '2'), query.getAll('a'), new URLSearchParams([['a', ' ']]).toString()] }",
    )
    .await;
    let before = json!([
        "https://user:pw@example.com:8080/b?x=1&y=%20z#h",
        "https://example.com:8080",
        "https:",
        "user",
        "pw",
        "example.com:8080",
        "example.com",
        "8080",
        "/b",
        "?x=1&y=%20z",
        "#h",
        " z"
    ]);
    let after = "https://user:pw@a.example/b?y=+z&%C3%A9=%26";
    let json = format!("{{\"url\":\"{after}\"}}");
    let pairs = json!([["a", "4"], ["b", "2"]]);
    assert_eq!(found, json!([before, after, json, false, null, "a=4&b=2", pairs, 2, true, ["4"], "a=+"]));

    let failure = run("export default () => { new URL('nope') }").await.unwrap_err();
    assert!(failure.message.starts_with("TypeError: Invalid URL: nope (automation.js:1:"), "{failure}");
}

#[tokio::test]
async fn there_are_text_bytes_and_hashes() {
    let found = evidence(
        "const hex = (buffer) => new Uint8Array(buffer).toHex();
         const bytes = new TextEncoder().encode('é😀');
         const refused = [];
         for (const attempt of [() => atob('*'), () => btoa('€'), () => new TextDecoder('latin1'),
             () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))])
             try { attempt() } catch (e) { refused.push(e.name) }
         const random = crypto.getRandomValues(new Uint32Array(4));
         return { status: 'pass', summary: '', evidence: [
             [...bytes], new TextDecoder().decode(bytes.subarray(2)), new TextDecoder().decode(new Uint8Array([239, 187, 191, 97, 255])),
             btoa('a\\xff'), atob('YQ'), atob(' Y f 8 = '), refused,
             hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'))),
             (await crypto.subtle.digest({ name: 'sha-512' }, new ArrayBuffer(0))).byteLength,
             /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
             random.some((n) => n > 65536)] }",
    )
    .await;
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let refused = ["TypeError", "TypeError", "RangeError", "TypeError"];
    assert_eq!(
        found,
        json!([
            [195, 169, 240, 159, 152, 128],
            "😀",
            "a\u{fffd}",
            "Yf8=",
            "a",
            "a\u{ff}",
            refused,
            abc,
            64,
            true,
            true
        ])
    );
}

#[tokio::test]
async fn modules_may_wait_at_their_top_and_dates_work() {
    let source = "const late = await Promise.resolve('late');
        const when = new Date('2026-01-02T03:04:05Z');
        export default () => ({ status: 'pass', summary: `${late} ${when.getHours()} ${when.toISOString()}` })";
    assert_eq!(run(source).await.unwrap().summary, "late 3 2026-01-02T03:04:05.000Z");
}

#[tokio::test]
async fn what_is_absent_is_not_defined() {
    for name in ["setTimeout", "require", "process", "fetch", "WebAssembly", "Deno", "std", "os"] {
        let failure = run(&format!("export default () => {{\n  return {name}(1);\n}}")).await.unwrap_err();
        assert_eq!(failure.message, format!("ReferenceError: {name} is not defined (automation.js:2:10)"));
    }
}

#[tokio::test]
async fn two_hundred_scripts_run_eight_at_once() {
    let sandbox = sandbox(limits());
    let host = Arc::new(Peer::default());
    let mut runs = tokio::task::JoinSet::new();
    for lane in 0..8 {
        let (sandbox, host) = (sandbox.clone(), Arc::clone(&host));
        runs.spawn(async move {
            for turn in 0..25 {
                let source = format!(
                    "export default async (ctx) => ({{ status: 'pass', summary: await ctx.secret('{lane} {turn}') }})"
                );
                let outcome = sandbox.run(script(&source), Arc::clone(&host)).await.unwrap();
                assert_eq!(outcome.summary, format!("the secret {lane} {turn}"));
            }
        });
    }
    while let Some(lane) = runs.join_next().await {
        lane.unwrap();
    }
    assert_eq!(host.calls().len(), 200);
}

#[tokio::test]
async fn runs_forked_from_the_same_process_share_neither_randomness_nor_a_clock() {
    let sandbox = sandbox(limits());
    let source = "export default () => ({ status: 'pass', summary: '', evidence: [
        Math.random(), Math.random.name, Math.random.length, crypto.randomUUID(), performance.now()] })";
    let mut seen = Vec::new();
    for _ in 0..3 {
        let started = Instant::now();
        let outcome = sandbox.run(script(source), Arc::new(Peer::default())).await.expect("it passes");
        let took = started.elapsed().as_secs_f64() * 1e3;
        let evidence: serde_json::Value =
            serde_json::from_str(outcome.evidence.expect("it has some").get()).expect("it is JSON");
        let number = evidence[0].as_f64().expect("a number");
        assert!((0.0..1.0).contains(&number), "{evidence}");
        assert_eq!((&evidence[1], &evidence[2]), (&json!("random"), &json!(0)));
        assert!(evidence[4].as_f64().is_some_and(|elapsed| elapsed < took), "{evidence}");
        seen.push((evidence[0].to_string(), evidence[3].to_string()));
    }
    assert!(seen[0].0 != seen[1].0 && seen[1].0 != seen[2].0, "{seen:?}");
    assert!(seen[0].1 != seen[1].1 && seen[1].1 != seen[2].1, "{seen:?}");
    let spread = evidence(
        "let [sum, least, most] = [0, 1, 0];
         for (let i = 0; i < 1e4; i++) { const n = Math.random(); sum += n; least = Math.min(least, n); most = Math.max(most, n) }
         return { status: 'pass', summary: '', evidence: [sum > 4500 && sum < 5500, least < 0.01, most > 0.99 && most < 1] }",
    )
    .await;
    assert_eq!(spread, json!([true, true, true]));
}
