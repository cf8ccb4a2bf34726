//! Automations: the throughput of runs, from "run now" to their end, and the cost of a sandbox.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use attestry_domain::id::{AutomationId, Id, Kind, TaskId};
use attestry_sandbox::{Host, Sandbox, Script, Settings};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use reqwest::Client;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{Cli, process, seed, sibling};

const TRIVIAL: &str = "export default async (ctx) => ({ status: 'pass', summary: 'ok' });";
const LATENCIES: usize = 200;
const RUNS: usize = 2000;
const LISTED: usize = 10_000;

/// An automation on a server.
struct Target<'a> {
    client: Client,
    url: &'a str,
    key: &'a str,
    path: String,
}

impl Target<'_> {
    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let url = format!("{}{path}", self.url);
        let reply = self.client.post(url).header("x-api-key", self.key).json(body).send().await?;
        if !reply.status().is_success() {
            bail!("{path}: {}", reply.text().await?);
        }
        Ok(reply.json().await?)
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let url = format!("{}{path}", self.url);
        Ok(self.client.get(url).header("x-api-key", self.key).send().await?.json().await?)
    }

    async fn start(&self) -> Result<String> {
        let run = self.post(&format!("{}/runs", self.path), &json!({})).await?;
        Ok(run["id"].as_str().context("an id")?.to_owned())
    }

    /// Polls until a run has ended.
    async fn end(&self, run: &str, pause: Duration) -> Result<()> {
        loop {
            let seen = self.get(&format!("{}/runs/{run}", self.path)).await?;
            match seen["status"].as_str() {
                Some("COMPLETED") => return Ok(()),
                Some("PENDING" | "RUNNING") => tokio::time::sleep(pause).await,
                _ => bail!("a run went wrong: {seen}"),
            }
        }
    }
}

pub(crate) async fn run(cli: &Cli, engine: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let server = process::Server::start(data.path(), database.as_deref())?;
    let client = Client::builder().no_proxy().build()?;
    let mut target = Target { client, url: &server.url, key: &home.key, path: String::new() };
    let task = target.post("/v1/tasks", &json!({"title": "Trivial"})).await?;
    let automations = format!("/v1/tasks/{}/automations", task["id"].as_str().context("an id")?);
    let made = target.post(&automations, &json!({"name": "Trivial", "script": TRIVIAL})).await?;
    target.path = format!("{automations}/{}", made["id"].as_str().context("an id")?);
    let mut times = Vec::with_capacity(LATENCIES);
    for _ in 0..LATENCIES {
        let began = Instant::now();
        let run = target.start().await?;
        target.end(&run, Duration::from_millis(1)).await?;
        times.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    print("run now → COMPLETED, idle", engine, &mut times);
    let mut best = 0.0_f64;
    for _ in 0..cli.windows {
        let began = Instant::now();
        let started: Vec<String> =
            stream::iter(0..RUNS).map(|_| target.start()).buffer_unordered(16).try_collect().await?;
        let last = started.iter().max().context("a run")?;
        target.end(last, Duration::from_millis(5)).await?;
        for run in started.iter().rev().take(32) {
            target.end(run, Duration::from_millis(5)).await?;
        }
        best = best.max(f64::from(u32::try_from(RUNS)?) / began.elapsed().as_secs_f64());
    }
    println!("{engine}: {RUNS} runs of a trivial script, end to end: {best:.0}/s (best of {})", cli.windows);
    list(&target, &task, &made, (data.path(), database.as_deref()), &home, engine).await?;
    if engine == "sqlite" {
        sandbox().await?;
    }
    Ok(())
}

fn print(what: &str, engine: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    println!("{engine}: {what}: p50 {:.1} ms, p99 {:.1} ms", at(50), at(99));
}

fn id<K: Kind>(value: &Value) -> Result<Id<K>> {
    value["id"].as_str().and_then(Id::read).context("an id")
}

/// Measures the list of a task's runs when there are very many.
async fn list(
    target: &Target<'_>,
    task: &Value,
    automation: &Value,
    (data, database): (&std::path::Path, Option<&str>),
    home: &seed::Home,
    engine: &str,
) -> Result<()> {
    let (task, automation): (TaskId, AutomationId) = (id(task)?, id(automation)?);
    seed::runs(data, database, home.organization, task, automation, LISTED).await?;
    let path = format!("/v1/tasks/{task}/automations/runs");
    let (all, page) = (target.get(&path).await?, format!("{path}?limit=100"));
    anyhow::ensure!(all.as_array().is_some_and(|all| all.len() >= LISTED), "the list is complete");
    for (what, path) in [("all of more than 10,000 runs", &path), ("the first 100 of them", &page)] {
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = Instant::now();
            target.get(path).await?;
            times.push(began.elapsed());
        }
        print(what, engine, &mut times);
    }
    Ok(())
}

/// A host that receives no calls.
struct Silent;

impl Host for Silent {
    fn call(&self, _: String, _: Box<RawValue>) -> BoxFuture<'_, Result<Box<RawValue>, String>> {
        Box::pin(async { Err("nothing is there".to_owned()) })
    }

    fn log(&self, _: String) {}
}

/// Measures the cost of a cold sandbox and of one that was started ahead.
async fn sandbox() -> Result<()> {
    let script = || -> Result<Script> {
        Ok(Script { source: TRIVIAL.to_owned(), context: RawValue::from_string("{}".to_owned())? })
    };
    for (what, ready) in [("a cold sandbox, start to result", 0), ("a waiting sandbox, script to result", 2)]
    {
        let settings = Settings { program: sibling("attestry")?, ready, ..Settings::default() };
        let sandbox = Sandbox::new(settings);
        let mut times = Vec::new();
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(if ready > 0 { 20 } else { 0 })).await;
            let began = Instant::now();
            let outcome = sandbox.run(script()?, std::sync::Arc::new(Silent)).await;
            outcome.map_err(|failure| anyhow::anyhow!("{failure}"))?;
            times.push(began.elapsed());
        }
        print(what, "sandbox", &mut times);
    }
    Ok(())
}
