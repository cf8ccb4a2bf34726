//! Latency of `/v1/health` while one client floods the server with one kind of expensive request: the delay that every
//! other organization notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;
use reqwest::{Client, Method};
use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};

use crate::report::at;
use crate::{Cli, process, seed};

/// The number of lines in a private key, and of numbers that a script returns.
const KEY_LINES: usize = 51;
const NUMBERS: usize = 500_000;
const POLICIES: usize = 100;
const PORTAL: &str = "/trust/bench";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// The limit of `/v1/health` at p99.
const LIMIT: Duration = Duration::from_millis(50);

struct Attacker {
    client: Client,
    url: String,
    key: String,
    automation: String,
    policy: String,
    book: Vec<u8>,
    views: AtomicUsize,
}

impl Attacker {
    async fn json(&self, method: Method, path: &str, body: Value) -> Result<Value> {
        let call = self.client.request(method, format!("{}{path}", self.url)).header("x-api-key", &self.key);
        let reply = call.json(&body).send().await?;
        let (status, text) = (reply.status(), reply.text().await?);
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value> {
        self.json(Method::POST, path, body).await
    }

    /// Creates everything that is attacked later.
    async fn prepare(&mut self) -> Result<()> {
        let id = |value: &Value| value["id"].as_str().map(str::to_owned).context("an id");
        let task = id(&self.post("/v1/tasks", json!({"title": "Numbers"})).await?)?;
        let lines: Vec<String> =
            (0..KEY_LINES).map(|line| format!("{line:02}{}", "kQ7x".repeat(15))).collect();
        let secret = json!({"value": lines.join("\n")});
        self.json(Method::PUT, "/v1/organization/secrets/PRIVATE_KEY", secret).await?;
        let script = format!(
            "export default async (ctx) => {{ await ctx.secret('PRIVATE_KEY'); \
             return {{ status: 'pass', summary: 'ok', evidence: Array.from({{ length: {NUMBERS} }}, (_, i) => i) }}; }};"
        );
        let automations = format!("/v1/tasks/{task}/automations");
        let made = self.post(&automations, json!({"name": "Numbers", "script": script})).await?;
        self.automation = format!("{automations}/{}", id(&made)?);
        let me = self.json(Method::GET, "/v1/people?role=owner&limit=1", json!({})).await?;
        let me = me["data"][0]["id"].as_str().context("a member")?.to_owned();
        let text = "## Rules\n\nEverybody looks after what they were given, and says so.\n\n".repeat(400);
        for number in 0..POLICIES {
            let body = json!({"name": format!("Policy {number}"), "contentMarkdown": text});
            let policy = id(&self.post("/v1/policies", body).await?)?;
            let path = format!("/v1/policies/{policy}");
            self.post(&format!("{path}/submit-for-approval"), json!({"approverId": me})).await?;
            self.post(&format!("{path}/approve"), json!({})).await?;
            self.policy = path;
        }
        let settings = json!({"status": "published", "friendlyUrl": "bench"});
        self.json(Method::PATCH, "/v1/trust-portal/settings", settings).await?;
        let mut book = Workbook::new();
        let sheet = book.add_worksheet();
        for (column, name) in (0_u16..).zip(["name", "description"]) {
            sheet.write(0, column, name)?;
        }
        for row in 1..=5_000_u32 {
            sheet.write(row, 0, format!("Vendor {row}"))?;
            sheet.write(row, 1, "x".repeat(4000))?;
        }
        self.book = book.save_to_buffer()?;
        Ok(())
    }

    async fn get(&self, path: &str) -> Result<u16> {
        // Anonymous views are limited by network, so each comes from another one.
        let number = self.views.fetch_add(1, Ordering::Relaxed);
        let address = format!("198.{}.{}.7", 18 + number / 256 % 2, number % 256);
        let call = self.client.get(format!("{}{path}", self.url)).header("x-forwarded-for", address);
        let call = if path == PORTAL { call } else { call.header("x-api-key", &self.key) };
        let reply = call.send().await?;
        let status = reply.status().as_u16();
        reply.bytes().await?;
        Ok(status)
    }

    async fn mask(&self) -> Result<u16> {
        let run = self.post(&format!("{}/runs", self.automation), json!({})).await?;
        let path = format!("{}/runs/{}", self.automation, run["id"].as_str().context("an id")?);
        loop {
            let seen = self.json(Method::GET, &path, json!({})).await?;
            if !matches!(seen["status"].as_str(), Some("PENDING" | "RUNNING")) {
                return Ok(200);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn import(&self) -> Result<u16> {
        let call = self.client.post(format!("{}/v1/vendors/import?dryRun=true", self.url));
        let call = call.header("x-api-key", &self.key).header("content-type", XLSX);
        let reply = call.body(self.book.clone()).send().await?;
        let status = reply.status().as_u16();
        reply.bytes().await?;
        Ok(status)
    }

    /// Sends guesses without an account, from one of five networks.
    async fn guess(&self, number: usize) -> Result<u16> {
        let (path, body) = match number % 2 {
            0 => (
                "/v1/auth/reset-password",
                json!({"token": "x".repeat(43), "password": "correct horse battery"}),
            ),
            _ => (
                "/v1/auth/login",
                json!({"email": format!("u{number}@example.com"), "password": "correct horse battery"}),
            ),
        };
        let call = self.client.post(format!("{}{path}", self.url));
        let call = call.header("x-forwarded-for", format!("198.51.{}.7", number % 5));
        let reply = call.json(&body).send().await?;
        let status = reply.status().as_u16();
        reply.bytes().await?;
        Ok(status)
    }
}

/// Calls `/v1/health` until `stop` is set, and returns the latencies.
async fn watch(url: String, stop: Arc<AtomicBool>) -> Result<Vec<Duration>> {
    let client = Client::builder().no_proxy().build()?;
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        client.get(format!("{url}/v1/health")).send().await?.bytes().await?;
        times.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(times)
}

pub(crate) async fn run(cli: &Cli, engine: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let settings = [("ATTESTRY_HTTP_TRUSTED_PROXIES", "127.0.0.1"), ("ATTESTRY_RATE_LIMIT_PER_SECOND", "0")];
    let server = process::Server::start_with(data.path(), database.as_deref(), &settings)?;
    let mut attacker = Attacker {
        client: Client::builder().no_proxy().build()?,
        url: server.url.clone(),
        key: home.key.clone(),
        automation: String::new(),
        policy: String::new(),
        book: Vec::new(),
        views: AtomicUsize::new(0),
    };
    attacker.prepare().await?;
    let attacker = Arc::new(attacker);
    println!("{engine}: a table of {} KiB is imported", attacker.book.len() >> 10);
    for (name, clients) in [
        ("nothing", 0),
        ("masking (1)", 2),
        ("XLSX imports (3)", 16),
        ("password guesses (4)", 200),
        ("printing (5)", 64),
        ("portal views (8)", 40),
    ] {
        let before = server.forget_peak()?;
        let stop = Arc::new(AtomicBool::new(false));
        let watched = tokio::spawn(watch(server.url.clone(), Arc::clone(&stop)));
        let end = Instant::now() + Duration::from_secs(u64::from(cli.seconds) * 2);
        let attack = (0..clients).map(|number| {
            let attacker = Arc::clone(&attacker);
            tokio::spawn(async move {
                let mut answers = [0_usize; 2];
                while Instant::now() < end {
                    let status = match name {
                        "masking (1)" => attacker.mask().await,
                        "XLSX imports (3)" => attacker.import().await,
                        "password guesses (4)" => attacker.guess(number).await,
                        "printing (5)" => attacker.get(&format!("{}/pdf", attacker.policy)).await,
                        _ => attacker.get(PORTAL).await,
                    };
                    answers[usize::from(status? >= 400)] += 1;
                }
                Ok::<_, anyhow::Error>(answers)
            })
        });
        let mut answers = [0, 0];
        for done in join_all(attack).await {
            let [good, refused] = done??;
            answers = [answers[0] + good, answers[1] + refused];
        }
        tokio::time::sleep(end.saturating_duration_since(Instant::now())).await;
        stop.store(true, Ordering::Relaxed);
        let mut times = watched.await??;
        let raised = server.peak_mb().saturating_sub(before);
        let (median, p99, worst) = (at(&mut times, 50), at(&mut times, 99), at(&mut times, 100));
        let verdict =
            if times[(times.len() * 99 / 100).min(times.len() - 1)] <= LIMIT { "" } else { "  MISSED" };
        println!(
            "{engine}: during {name}: /v1/health p50 {median:.1} ms, p99 {p99:.1} ms, worst {worst:.1} ms of {}; \
             {} answered, {} refused; memory +{raised} MB{verdict}",
            times.len(),
            answers[0],
            answers[1],
        );
    }
    Ok(())
}
