//! The database becomes unreachable without closing its connections, and recovers: the real binary, PostgreSQL behind
//! a proxy.

#![expect(clippy::expect_used, reason = "test code")]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use attestry_tests::Engine;
use attestry_tests::binary::{Server, bootstrap, command, wait_until};
use attestry_tests::database::Database;
use attestry_tests::proxy::{Commits, Proxy};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server whose database is behind a proxy.
struct RowFacts {
    server: Server,
    proxy: Proxy,
    key: String,
    database: Database,
    data: TempDir,
    log: Arc<Mutex<Vec<String>>>,
}

impl RowFacts {
    async fn start() -> Self {
        Self::start_at(Proxy::url).await
    }

    /// Starts with a URL that is built from the proxy and the name of the database.
    async fn start_at(url: impl Fn(&Proxy, &str) -> String) -> Self {
        let (data, proxy) = (TempDir::new().expect("a folder"), Proxy::start().await);
        let database = Database::create(Engine::Postgres).await;
        let Database::Postgres { name } = &database else { unreachable!("it is PostgreSQL") };
        let direct = attestry_tests::database::postgres_url(name);
        let made = bootstrap(data.path(), &["--database-url", &direct]);
        let url = url(&proxy, name);
        let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0", "--database-url", &url]);
        serve.env("ATTESTRY_LOG_FORMAT", "text");
        let (server, stderr) = Server::with_log(serve);
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().expect("not poisoned").push(line);
            }
        });
        let key = made["apiKey"].as_str().expect("a key").to_owned();
        Self { server, proxy, key, database, data, log }
    }

    fn call(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let client = Client::builder().timeout(Duration::from_secs(45)).build().expect("a client");
        client.request(method, format!("{}{path}", self.server.url)).header("x-api-key", &self.key)
    }

    /// Creates a risk and returns the status and the body.
    async fn write(&self, key: Option<&str>) -> (u16, Value) {
        let body = json!({"title": "A", "description": "B", "category": "other"});
        let mut call = self.call(Method::POST, "/v1/risks").json(&body);
        if let Some(key) = key {
            call = call.header("idempotency-key", key);
        }
        let reply = call.send().await.expect("a response");
        (reply.status().as_u16(), reply.json().await.expect("JSON"))
    }

    async fn read(&self) -> u16 {
        self.call(Method::GET, "/v1/risks?limit=1").send().await.expect("a response").status().as_u16()
    }

    async fn risks(&self) -> i64 {
        let reply = self.call(Method::GET, "/v1/risks?limit=1&total=true").send().await.expect("a response");
        reply.json::<Value>().await.expect("JSON")["total"].as_i64().expect("a number")
    }

    async fn stop(self) {
        drop(self.server);
        self.database.remove().await;
    }
}

/// Repeats an action until it succeeds and returns the elapsed time.
async fn until(began: Instant, succeeds: impl AsyncFn() -> bool) -> Duration {
    wait_until(succeeds).await;
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_vanishes_is_left_within_15_seconds() {
    let behind = RowFacts::start().await;
    for _ in 0..4 {
        assert_eq!((behind.write(None).await.0, behind.read().await), (201, 200));
    }
    behind.proxy.silence();
    let began = Instant::now();
    let (written, read, session) = tokio::join!(
        until(began, async || behind.write(None).await.0 == 201),
        until(began, async || behind.read().await == 200),
        // Also for requests without an organization.
        until(began, async || {
            let body = json!({"email": "ada@example.com", "password": "correct horse battery"});
            let login = behind.call(Method::POST, "/v1/auth/login").json(&body).send().await;
            login.expect("a response").status() == 200
        }),
    );
    for took in [written, read, session] {
        assert!(took < Duration::from_secs(15), "it took {took:?}");
    }
    // A write that was sent during the outage may have been committed in the end, so this is a lower bound.
    assert!(behind.risks().await >= 5);
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_reported_as_unknown() {
    let behind = RowFacts::start().await;
    behind.write(None).await;
    for (how, repeated) in [(Commits::LoseAnswer, 409), (Commits::Lose, 201)] {
        let (key, before) = (format!("{how:?}"), behind.risks().await);
        behind.proxy.treat_commits(how);
        let (status, problem) = behind.write(Some(&key)).await;
        behind.proxy.treat_commits(Commits::Pass);
        assert_eq!((status, &problem["code"]), (503, &json!("outcome_unknown")), "{problem}");
        wait_until(async || behind.read().await == 200).await;
        let (status, reply) = loop {
            let (status, reply) = behind.write(Some(&key)).await;
            if reply["code"] != "idempotency_in_progress" {
                break (status, reply);
            }
        };
        assert_eq!(status, repeated, "{how:?}: {reply}");
        if repeated == 409 {
            assert_eq!(reply["code"], "idempotency_answer_lost");
        }
        assert_eq!(behind.risks().await, before + 1, "{how:?}: once");
    }
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_503_and_a_line_in_the_log() {
    let behind = RowFacts::start().await;
    behind.write(None).await;
    behind.proxy.go_down(true);
    // Longer than a credential is cached.
    let (began, mut refused) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(8) || refused < 200 {
        let replies = (0..8).map(|_| behind.call(Method::GET, "/v1/risks?limit=1").send());
        for reply in futures_util::future::join_all(replies).await {
            let reply = reply.expect("a response");
            assert_eq!(reply.status(), 503, "{:?}", reply.text().await);
            assert_eq!(reply.headers()["retry-after"], "2");
            refused += 1;
        }
        assert_eq!(behind.call(Method::GET, "/v1/health").send().await.expect("a response").status(), 200);
    }
    behind.proxy.go_down(false);
    wait_until(async || behind.read().await == 200).await;
    let served = || behind.log.lock().expect("not poisoned").iter().any(|line| line.contains("served again"));
    wait_until(async || served()).await;
    let lines = behind.log.lock().expect("not poisoned").clone();
    let warnings: Vec<&String> = lines.iter().filter(|line| line.contains("WARN")).collect();
    // One line when it begins, and one every 30 seconds while it lasts.
    let most = 1 + usize::try_from(began.elapsed().as_secs() / 30).expect("a number");
    assert!((1..=most).contains(&warnings.len()), "{warnings:#?}");
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_free_connection_requests_and_commands_end() {
    let behind = RowFacts::start().await;
    behind.write(None).await;
    behind.proxy.silence();
    behind.proxy.hold_new(true);
    let began = Instant::now();
    // Requests with a connection wait for its response, the others for a connection.
    let replies = futures_util::future::join_all((0..24).map(|_| behind.read())).await;
    assert!(replies.iter().all(|status| *status == 503), "{replies:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let began = Instant::now();
    assert_eq!(behind.read().await, 503);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let Database::Postgres { name } = &behind.database else { unreachable!("it is PostgreSQL") };
    let url = behind.proxy.url(name);
    let began = Instant::now();
    let all = [&["doctor"][..], &["audit", "verify"], &["migrate", "--check"], &["admin", "list"]];
    let all = all.map(|words| {
        let mut command = command(behind.data.path(), words);
        command.args(["--database-url", &url]).stdout(Stdio::piped()).stderr(Stdio::piped());
        (words, command.spawn().expect("it starts"))
    });
    for (words, child) in all {
        let output = child.wait_with_output().expect("it ends");
        assert!(!output.status.success(), "{words:?}");
        assert!(began.elapsed() < Duration::from_secs(30), "{words:?}: {:?}", began.elapsed());
        let said = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("no connection was"), "{words:?}");
    }
    behind.proxy.hold_new(false);
    wait_until(async || behind.read().await == 200).await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_host_of_a_url_is_used_when_the_first_is_away() {
    let behind = RowFacts::start_at(|proxy, name| {
        format!("postgres://attestry@127.0.0.1:1,{}/{name}?sslmode=disable", proxy.address())
    })
    .await;
    assert_eq!((behind.write(None).await.0, behind.read().await), (201, 200));
    behind.stop().await;
}

/// A row of the queue.
#[derive(Debug)]
struct Queued {
    run_at: i64,
    lease_until: Option<i64>,
}

/// The job of this kind in a database.
async fn queued(database: &Database, kind: &'static str) -> Option<Queued> {
    let sql = "SELECT run_at, lease_until FROM jobs WHERE kind = $1";
    let db = database.open();
    let read = db.read(async move |t| {
        t.opt(sql, &[kind.into()], |row| Ok(Queued { run_at: row.int(0)?, lease_until: row.opt_int(1)? }))
            .await
    });
    read.await.expect("the queue can be read")
}

fn now() -> i64 {
    use attestry_domain::clock::Clock;
    attestry_domain::clock::SystemClock.now().as_millis()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_a_clock_ahead_has_put_off_run_again() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let database = Database::create(engine).await;
        let data = match &database {
            Database::Sqlite { dir } => dir.path().to_owned(),
            Database::Postgres { .. } => TempDir::new().expect("a folder").keep(),
        };
        let url = match database.config() {
            attestry_db::Config::Sqlite { .. } => String::new(),
            attestry_db::Config::Postgres { url, .. } => url,
        };
        let flags: &[&str] = if url.is_empty() { &[] } else { &["--database-url", &url] };
        bootstrap(&data, flags);
        let server = Server::start(&data, flags);
        wait_until(async || {
            queued(&database, "sweep")
                .await
                .is_some_and(|job| job.lease_until.is_none() && job.run_at > now())
        })
        .await;
        assert!(server.stop());
        // The state that a server with a clock two days ahead leaves.
        let sql = "UPDATE jobs SET run_at = run_at + 172800000";
        database.open().write(async move |t| t.execute(sql, &[]).await).await.expect("a statement");
        let ahead = queued(&database, "sweep").await.expect("a job").run_at;
        let server = Server::start(&data, flags);
        wait_until(async || queued(&database, "sweep").await.is_some_and(|job| job.run_at < ahead)).await;
        assert!(queued(&database, "schedules").await.expect("a job").run_at < now() + 120_000);
        assert!(server.stop());
        database.remove().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_clock_is_wrong_leaves_jobs_to_others() {
    let database = Database::create(Engine::Postgres).await;
    let Database::Postgres { name } = &database else { unreachable!("it is PostgreSQL") };
    let (data, url) = (TempDir::new().expect("a folder"), attestry_tests::database::postgres_url(name));
    let made = bootstrap(data.path(), &["--database-url", &url]);
    let db = database.open();
    for sql in [
        "CREATE SCHEMA ahead",
        "CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$",
    ] {
        db.write(async move |t| t.execute(sql, &[]).await).await.expect("a statement");
    }
    // Every connection of this server sees the database an hour ahead.
    let skewed = format!("{url}&options=-c%20search_path%3Dahead%2Cpublic%2Cpg_catalog");
    let words = ["serve", "--listen", "127.0.0.1:0", "--database-url", &skewed];
    let (server, stderr) = Server::with_log(command(data.path(), &words));
    let invite = Client::new().post(format!("{}/v1/people/invite", server.url));
    let invite = invite.header("x-api-key", made["apiKey"].as_str().expect("a key"));
    let body = json!({"email": "eve@example.com", "role": "employee"});
    assert_eq!(invite.json(&body).send().await.expect("a response").status(), 201);
    let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("clock differs")), "it says so");
    assert!(queued(&database, "mail").await.is_some_and(|job| job.lease_until.is_none()));
    let doctor = command(data.path(), &["doctor", "--database-url", &skewed]).output().expect("it runs");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("FAIL  clock") && said.contains("3600 s behind"), "{said}");
    // Another server with the correct time sends the mail.
    let right = Server::start(data.path(), &["--database-url", &url]);
    wait_until(async || queued(&database, "mail").await.is_none()).await;
    assert!(right.stop());
    drop((server, db));
    database.remove().await;
}
