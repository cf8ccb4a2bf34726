//! The trust portal: previews of agreements, uploads and downloads of certificates, a repeated domain check, and
//! their effect on other requests.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use attestry_hosting::testing::NameServer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::try_join_all;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::report::at;
use crate::{Cli, process, seed};

const PAGES: usize = 50;
const FILE: usize = 5 << 20;
const CLIENTS: usize = 16;
const TARGET: &str = "compliance.example.com";
const DOMAIN: &str = "trust.customer.example";

struct Desk<'a> {
    client: &'a Client,
    url: &'a str,
    key: &'a str,
    organization: String,
}

impl Desk<'_> {
    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Vec<u8>> {
        let call = self.client.request(method, format!("{}{path}", self.url)).header("x-api-key", self.key);
        let call = match body {
            Some(body) => call.json(body),
            None => call,
        };
        let reply = call.send().await?;
        let status = reply.status();
        let bytes = reply.bytes().await?.to_vec();
        ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&bytes));
        Ok(bytes)
    }

    async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(method, path, body).await?)?)
    }

    /// Returns the durations of `count` sequential calls.
    async fn time(
        &self,
        count: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = Instant::now();
            self.send(method.clone(), path, body).await?;
            times.push(began.elapsed());
        }
        Ok(times)
    }

    /// Requests access, approves and signs; returns the request's id and the token that opens the documents.
    async fn access(&self, mails: &std::path::Path) -> Result<(String, String)> {
        let public = format!("/v1/trust-access/{}/requests", self.organization);
        let ask =
            json!({"name": "Grace Hopper", "email": "grace@customer.example", "company": "Customer Inc."});
        let request = self.json(Method::POST, &public, Some(&ask)).await?;
        let request = request["id"].as_str().context("an id")?.to_owned();
        let approve = format!("/v1/trust-access/admin/requests/{request}/approve");
        self.send(Method::POST, &approve, None).await?;
        let nda = token(mails, "/trust/nda?token=").await?;
        let sign = json!({"name": "Grace Hopper", "email": "grace@customer.example", "accept": true});
        let signed =
            self.json(Method::POST, &format!("/v1/trust-access/nda/{nda}/sign"), Some(&sign)).await?;
        let portal = signed["portalUrl"].as_str().context("a link")?;
        let (_, token) = portal.split_once("token=").context("a token")?;
        Ok((request, token.to_owned()))
    }
}

/// The token of a link in a mail that is written to a folder.
async fn token(mails: &std::path::Path, before: &str) -> Result<String> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        for entry in std::fs::read_dir(mails).into_iter().flatten().flatten() {
            // Quoted-printable: long lines are broken with `=`, and `=` is written `=3D`.
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let text = text.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
            if let Some((_, rest)) = text.split_once(before) {
                return Ok(rest.chars().take_while(|c| c.is_alphanumeric() || "-_".contains(*c)).collect());
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    anyhow::bail!("no mail came")
}

/// Builds a PDF with many pages of drawings.
fn pdf(pages: usize, size: usize) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    let mut put = |file: &mut Vec<u8>, object: &str| {
        places.push(file.len());
        let number = places.len();
        file.extend(format!("{number} 0 obj\n{object}\nendobj\n").into_bytes());
    };
    put(&mut file, "<</Type/Catalog/Pages 2 0 R>>");
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 3 + 2 * page)).collect();
    put(&mut file, &format!("<</Type/Pages/Kids[{}]/Count {pages}>>", kids.join(" ")));
    let mut seed = 1_u64;
    for page in 0..pages {
        let contents = 4 + 2 * page;
        put(
            &mut file,
            &format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<<>>/Contents {contents} 0 R>>"
            ),
        );
        let mut drawing = String::new();
        while drawing.len() < size / pages {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = writeln!(
                drawing,
                "{} {} m {} {} l S",
                (seed >> 33) % 595,
                (seed >> 40) % 842,
                seed % 595,
                seed % 842
            );
        }
        put(&mut file, &format!("<</Length {}>>\nstream\n{drawing}\nendstream", drawing.len()));
    }
    let (table, size) = (file.len(), places.len() + 1);
    file.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").into_bytes());
    file.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
    file.extend(format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").into_bytes());
    file
}

pub(crate) async fn run(cli: &Cli, engine: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let names = NameServer::start(&["customer.example", "example.com"]).await?;
    names.set("example.com", "compliance 60 A 192.0.2.1\n").await?;
    let servers = names.address().to_string();
    let settings = [
        ("ATTESTRY_DNS_SERVERS", servers.as_str()),
        ("ATTESTRY_DOMAINS_TARGET", TARGET),
        ("ATTESTRY_RATE_LIMIT_PUBLIC_PER_SECOND", "0"),
    ];
    let server = process::Server::start_with(data.path(), database.as_deref(), &settings)?;
    let client = Client::builder().no_proxy().build()?;
    let desk = Desk {
        client: &client,
        url: &server.url,
        key: &home.key,
        organization: home.organization.to_string(),
    };
    desk.send(Method::PATCH, "/v1/trust-portal/settings", Some(&json!({"status": "published"}))).await?;
    let (request, token) = desk.access(&data.path().join("mail")).await?;

    let preview = format!("/v1/trust-access/admin/requests/{request}/preview-nda");
    let download = format!("/v1/trust-access/access/{token}/compliance-resources/iso_27001");
    previews(&desk, engine, &preview).await?;
    certificates(&desk, engine, &server, &download).await?;
    domains(&desk, engine, &names).await?;
    beside(&desk, engine, cli, &preview, &download).await
}

async fn previews(desk: &Desk<'_>, engine: &str, preview: &str) -> Result<()> {
    let mut first = desk.time(1, Method::POST, preview, None).await?;
    let mut times = desk.time(50, Method::POST, preview, None).await?;
    println!(
        "{engine}: preview-nda: the first {:.0} ms, then p50 {:.1} ms, p99 {:.1} ms (limit 60 ms p50)",
        at(&mut first, 50),
        at(&mut times, 50),
        at(&mut times, 99)
    );
    Ok(())
}

async fn certificates(desk: &Desk<'_>, engine: &str, server: &process::Server, download: &str) -> Result<()> {
    let file = pdf(PAGES, FILE);
    let upload = json!({
        "organizationId": desk.organization, "framework": "iso_27001", "fileName": "certificate.pdf",
        "fileType": "application/pdf", "fileData": STANDARD.encode(&file)
    });
    let path = "/v1/trust-portal/compliance-resources/upload";
    let mut times = desk.time(20, Method::POST, path, Some(&upload)).await?;
    println!(
        "{engine}: upload of a certificate of {:.1} MiB: p50 {:.0} ms, p99 {:.0} ms",
        mib(file.len()),
        at(&mut times, 50),
        at(&mut times, 99)
    );

    desk.send(Method::GET, download, None).await?;
    let before = server.forget_peak()?;
    let mut times = desk.time(20, Method::GET, download, None).await?;
    println!(
        "{engine}: marked download of {PAGES} pages, {:.1} MiB: p50 {:.0} ms, p99 {:.0} ms, {} MB extra at its peak (limits 400 ms, 64 MB)",
        mib(file.len()),
        at(&mut times, 50),
        at(&mut times, 99),
        server.peak_mb().saturating_sub(before)
    );
    Ok(())
}

async fn domains(desk: &Desk<'_>, engine: &str, names: &NameServer) -> Result<()> {
    let status = format!("/v1/trust-portal/domain/status?domain={DOMAIN}");
    let found = desk.json(Method::GET, &status, None).await?;
    let records = found["verification"].as_array().context("records")?;
    let challenge = records.iter().find(|one| one["type"] == "TXT").context("a challenge")?;
    let value = challenge["value"].as_str().context("a value")?;
    names
        .set(
            "customer.example",
            &format!("trust 60 CNAME {TARGET}.\n_attestry-challenge.trust 60 TXT \"{value}\"\n"),
        )
        .await?;
    ensure!(desk.json(Method::GET, &status, None).await?["verified"] == true, "the domain is verified");
    let mut times = desk.time(200, Method::GET, &status, None).await?;
    println!(
        "{engine}: domain status, warm: p50 {:.2} ms, p99 {:.2} ms",
        at(&mut times, 50),
        at(&mut times, 99)
    );
    Ok(())
}

/// Measures `/v1/health` while other clients send slow requests.
async fn beside(desk: &Desk<'_>, engine: &str, cli: &Cli, preview: &str, download: &str) -> Result<()> {
    let mut quiet = health(desk, 500, None).await?;
    let over = AtomicBool::new(false);
    let ask = async {
        let busy = (0..CLIENTS).map(|client| {
            let over = &over;
            async move {
                let mut done = 0;
                while !over.load(Ordering::Relaxed) {
                    match client % 2 {
                        0 => drop(desk.send(Method::POST, preview, None).await?),
                        _ => drop(desk.send(Method::GET, download, None).await?),
                    }
                    done += 1;
                }
                Ok::<usize, anyhow::Error>(done)
            }
        });
        try_join_all(busy).await
    };
    let window = Duration::from_secs(u64::from(cli.seconds) * 2);
    let watch = async {
        let watched = health(desk, usize::MAX, Some(window)).await;
        over.store(true, Ordering::Relaxed);
        watched
    };
    let (done, watched) = futures_util::join!(ask, watch);
    let mut times = watched?;
    println!(
        "{engine}: /v1/health beside {CLIENTS} clients that ask for previews and downloads ({} answered in {} s): p50 {:.2} ms, \
         p99 {:.2} ms (alone p99 {:.2} ms; limit 20 ms)",
        done?.iter().sum::<usize>(),
        window.as_secs(),
        at(&mut times, 50),
        at(&mut times, 99),
        at(&mut quiet, 99)
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Calls `/v1/health` repeatedly and returns the latencies.
async fn health(desk: &Desk<'_>, most: usize, until: Option<Duration>) -> Result<Vec<Duration>> {
    let (began, mut times) = (Instant::now(), Vec::new());
    while times.len() < most && until.is_none_or(|until| began.elapsed() < until) {
        let asked = Instant::now();
        desk.send(Method::GET, "/v1/health", None).await?;
        times.push(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(times)
}
