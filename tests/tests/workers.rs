//! Two workers share the runs of automations: each run is executed once, even when a worker is killed during it.

#![expect(clippy::expect_used, reason = "test code")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use attestry_app::Ctx;
use attestry_app::automations::{self, AutomationSource};
use attestry_app::identity::setup::{self, NewInstallation};
use attestry_app::registers::{self, Imported};
use attestry_domain::Parse;
use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::{AutomationPatch, Event};
use attestry_domain::registers::vendors::{Vendor, VendorPatch};
use attestry_domain::tasks::{Task, TaskPatch};
use attestry_tests::binary::command;
use attestry_tests::database::{Database, Engine};
use tempfile::TempDir;

const SECRET: &str = "a secret that these workers share: 0123456789";
const RUNS: usize = 200;

/// Starts a server that counts the requests for each path.
fn counting() -> (String, Arc<Mutex<HashMap<String, usize>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let hits = Arc::new(Mutex::new(HashMap::new()));
    let counted = Arc::clone(&hits);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            std::thread::spawn(move || {
                let (mut stream, mut head, mut byte) = (stream, Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let path = String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned();
                *counted.lock().expect("counted").entry(path).or_default() += 1;
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
            });
        }
    });
    (address, hits)
}

struct Worker(Child);

impl Worker {
    fn start(database: &Database, data: &TempDir) -> Self {
        let attestry_db::Config::Postgres { url, .. } = database.config() else { unreachable!("PostgreSQL") };
        let mut worker = command(data.path(), &["worker", "--database-url", &url]);
        worker.env("ATTESTRY_SECRET_KEY", SECRET).env("ATTESTRY_AUTOMATIONS_ALLOW_PRIVATE_NETWORKS", "true");
        let mut child = worker.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
        assert!(line.contains("ready"), "{line}");
        Self(child)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the number of runs per status.
async fn counts(ctx: &Ctx) -> HashMap<String, i64> {
    let sql = "SELECT status, COUNT(*) FROM automation_runs GROUP BY status";
    let rows = ctx.db.read(async |t| t.all(sql, &[], |row| Ok((row.text(0)?, row.int(1)?))).await).await;
    rows.expect("counted").into_iter().collect()
}

/// Waits until this many runs have ended.
async fn until_over(ctx: &Ctx, wanted: i64) -> HashMap<String, i64> {
    let began = Instant::now();
    loop {
        let counts = counts(ctx).await;
        let open: i64 = ["PENDING", "RUNNING"].iter().filter_map(|status| counts.get(*status)).sum();
        if counts.values().sum::<i64>() - open >= wanted {
            return counts;
        }
        assert!(began.elapsed() < Duration::from_mins(3), "the queue is not drained: {counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn each_run_is_carried_out_once_also_when_a_worker_dies() {
    let database = Database::create(Engine::Postgres).await;
    let ctx = database.context(SECRET).await;
    let new = NewInstallation {
        organization: Parse::parse("Acme").expect("a name"),
        email: Parse::parse("ada@example.com").expect("an address"),
        password: Some(Parse::parse("correct horse battery").expect("a password")),
        name: None,
    };
    let (founded, _) = setup::by_operator(&ctx, new).await.expect("an organization");
    let scope = Scope::system(founded.organization, "test");
    let (address, hits) = counting();
    let hosts = AllowedHosts::parse([format!("http://{address}")]).expect("hosts");
    let precondition = attestry_app::core::precondition::Precondition::default();
    automations::set_hosts(&ctx, &scope, hosts, precondition).await.expect("set");
    let given = TaskPatch { title: Some(Parse::parse("Task").expect("a title")), ..TaskPatch::default() };
    let task = registers::create::<Task>(&ctx, &scope, given).await.expect("a task");
    let script = format!(
        "export default async (ctx) => {{
            await ctx.fetch(`http://{address}/${{ctx.event.entityId}}`);
            return {{ status: 'pass', summary: 'x' }};
        }}"
    );
    let patch = AutomationPatch {
        name: Some(Parse::parse("Test").expect("a name")),
        events: Some(vec![Event::parse("vendor.created").expect("an event")]),
        ..AutomationPatch::default()
    };
    let does = AutomationSource::Script(Parse::parse(&script).expect("a script"));
    automations::create(&ctx, &scope, task.id, does, patch).await.expect("an automation");
    let vendor = || VendorPatch {
        name: Some(Parse::parse("Cloudy").expect("a name")),
        description: Some(Parse::parse("Hosts.").expect("a text")),
        ..VendorPatch::default()
    };
    let rows = (1..=RUNS).map(|row| (row, Ok(vendor()))).collect();
    let made = registers::import::<Vendor>(&ctx, &scope, rows, false).await.expect("imported");
    assert!(matches!(made, Imported::Made(made) if made.len() == RUNS));
    let (one, two) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    let (dying, living) = (Worker::start(&database, &one), Worker::start(&database, &two));
    until_over(&ctx, 40).await;
    drop(dying);
    let all = i64::try_from(RUNS).expect("a number");
    let counts = until_over(&ctx, all).await;
    drop(living);
    let completed = counts.get("COMPLETED").copied().unwrap_or(0);
    let interrupted = counts.get("FAILED").copied().unwrap_or(0);
    assert_eq!(completed + interrupted, all, "{counts:?}");
    assert!(interrupted <= 16, "no more than were running: {counts:?}");
    {
        let hits = hits.lock().expect("counted");
        let twice: Vec<_> = hits.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "carried out twice: {twice:?}");
        assert!(i64::try_from(hits.len()).expect("a number") >= completed);
    }
    let verdict =
        attestry_app::core::verification::verify(&ctx, founded.organization, &[]).await.expect("a verdict");
    assert!(matches!(verdict, attestry_app::core::verification::Verdict::Intact { .. }), "{verdict:?}");
    drop(ctx);
    database.remove().await;
}
