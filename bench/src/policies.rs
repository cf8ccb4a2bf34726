//! Policies: the cost of the assistant's streamed response compared with the provider's own, many open streams, and
//! PDF.

use std::convert::Infallible;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::response::sse::{Event, Sse};
use axum::routing::post;
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::report::at;
use crate::{Cli, process, seed};

/// The number of pieces in a response, and the provider's pause between two.
const PIECES: usize = 400;
const PAUSE: Duration = Duration::from_millis(5);
/// The number of streams that are open at the same time.
const STREAMS: usize = 200;

/// The start of the clock. Both ends are in this process, so a piece can contain the time at which it was sent.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u128 {
    BEGAN.elapsed().as_micros()
}

/// Starts a provider that streams the current time; slowly, when the prompt says so.
async fn provider() -> Result<String> {
    let answer = async |body: String| {
        let (pieces, pause) = match body.contains("hold on") {
            true => (20_000, Duration::from_millis(500)),
            false => (PIECES, PAUSE),
        };
        Sse::new(times(pieces, pause))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    tokio::spawn(async move {
        axum::serve(listener, Router::new().route("/v1/chat/completions", post(answer))).await
    });
    Ok(url)
}

fn times(pieces: usize, pause: Duration) -> impl Stream<Item = Result<Event, Infallible>> {
    let piece = |delta: Value, reason: Value| {
        let chunk = json!({
            "id": "1", "object": "chat.completion.chunk", "model": "clock",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]
        });
        Event::default().data(chunk.to_string())
    };
    let said = stream::iter(0..pieces).then(move |_| async move {
        tokio::time::sleep(pause).await;
        piece(json!({"content": format!("at {} ", now())}), Value::Null)
    });
    let end = [piece(json!({}), json!("stop")), Event::default().data("[DONE]")];
    said.chain(stream::iter(end)).map(Ok)
}

/// Returns the latency of each piece.
async fn on_its_way(reply: Response) -> Result<Vec<Duration>> {
    ensure!(reply.status().is_success(), "{}", reply.text().await?);
    let (mut reply, mut text, mut times) = (reply, String::new(), Vec::new());
    while let Some(bytes) = reply.chunk().await? {
        let arrived = now();
        text.push_str(&String::from_utf8_lossy(&bytes));
        while let Some(at) = text.find("at ") {
            let Some(length) = text[at + 3..].find(' ') else { break };
            let sent: u128 = text[at + 3..at + 3 + length].parse().unwrap_or(arrived);
            times.push(Duration::from_micros(u64::try_from(arrived.saturating_sub(sent))?));
            text.drain(..at + 3 + length);
        }
    }
    Ok(times)
}

pub(crate) async fn run(cli: &Cli, engine: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let provider = provider().await?;
    let assistant = [
        ("ATTESTRY_AI_PROVIDER", "openai"),
        ("ATTESTRY_AI_BASE_URL", &provider),
        ("ATTESTRY_AI_MODEL", "clock"),
    ];
    let server = process::Server::start_with(data.path(), database.as_deref(), &assistant)?;
    println!("{engine}: idle: {} MB resident", server.resident_mb());
    let client = Client::builder().no_proxy().build()?;
    let call = |method, path: &str| {
        client.request(method, format!("{}{path}", server.url)).header("x-api-key", &home.key)
    };
    let templates: Value =
        call(reqwest::Method::GET, "/v1/policy-templates?limit=100").send().await?.json().await?;
    let template = templates["data"][1]["id"].as_str().context("a template")?;
    let made =
        call(reqwest::Method::POST, "/v1/policies/from-template").json(&json!({"templateId": template}));
    let policy: Value = made.send().await?.json().await?;
    let policy = format!("/v1/policies/{}", policy["id"].as_str().context("an id")?);
    let chat = format!("{policy}/ai-chat");
    let ask = |words: &str| call(reqwest::Method::POST, &chat).json(&json!({"instructions": words}));

    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for _ in 0..cli.windows {
        let asked = client.post(format!("{provider}/chat/completions")).body("{}").send().await?;
        direct.extend(on_its_way(asked).await?);
        through.extend(on_its_way(ask("what time is it?").send().await?).await?);
    }
    ensure!(through.len() == direct.len(), "no piece is lost");
    println!(
        "{engine}: a piece on its way: p50 {:.2} ms, p99 {:.2} ms; from the provider alone {:.2} and {:.2} ms",
        at(&mut through, 50),
        at(&mut through, 99),
        at(&mut direct, 50),
        at(&mut direct, 99)
    );

    let reads = async || -> Result<Vec<Duration>> {
        let mut times = Vec::new();
        for _ in 0..1000 {
            let began = Instant::now();
            call(reqwest::Method::GET, &policy).send().await?.bytes().await?;
            times.push(began.elapsed());
        }
        Ok(times)
    };
    let mut alone = reads().await?;
    let before = server.resident_mb();
    let mut held = Vec::new();
    for _ in 0..STREAMS {
        let mut reply = ask("hold on").send().await?;
        reply.chunk().await?.context("it begins")?;
        held.push(tokio::spawn(async move { while let Ok(Some(_)) = reply.chunk().await {} }));
    }
    let mut beside = reads().await?;
    println!(
        "{engine}: {STREAMS} streams open: {} MB more resident; GET /v1/policies/{{id}} p99 {:.2} ms, alone {:.2} ms",
        server.resident_mb().saturating_sub(before),
        at(&mut beside, 99),
        at(&mut alone, 99)
    );
    for one in held {
        one.abort();
    }

    let mut printed = Vec::new();
    for round in 0..20 {
        let text = json!({"description": format!("Round {round}")});
        call(reqwest::Method::PATCH, &policy).json(&text).send().await?.error_for_status()?;
        let began = Instant::now();
        let reply = call(reqwest::Method::GET, &format!("{policy}/pdf")).send().await?.error_for_status()?;
        reply.bytes().await?;
        printed.push(began.elapsed());
    }
    let first = printed.remove(0).as_secs_f64() * 1000.0;
    println!(
        "{engine}: PDF of a policy from a template: the first {first:.0} ms, then p50 {:.0} ms, p99 {:.0} ms",
        at(&mut printed, 50),
        at(&mut printed, 99)
    );
    Ok(())
}
