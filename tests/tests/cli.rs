//! The real binary: its commands, its start and stop, and its state after `kill -9`.

#![expect(clippy::expect_used, reason = "test code")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use attestry_domain::clock::{Clock, SystemClock};
use attestry_tests::authenticator::code_at;
use attestry_tests::binary::{Server, bootstrap, command, run, succeed, wait_until};
use attestry_tests::database::Database;
use attestry_tests::provider::{CLIENT, IdentityProvider, SECRET};
use attestry_tests::{Engine, PASSWORD};
use reqwest::Response;
use serde_json::{Value, json};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

/// Creates a database and returns the flags that select it.
async fn database(engine: Engine) -> (Database, Vec<String>) {
    let database = Database::create(engine).await;
    let flags = match database.config() {
        attestry_db::Config::Sqlite { .. } => Vec::new(),
        attestry_db::Config::Postgres { url, .. } => vec!["--database-url".to_owned(), url],
    };
    (database, flags)
}

fn words(flags: &[String]) -> Vec<&str> {
    flags.iter().map(String::as_str).collect()
}

async fn get(server: &Server, path: &str, key: &str) -> Value {
    let reply =
        reqwest::Client::new().get(format!("{}{path}", server.url)).header("x-api-key", key).send().await;
    reply.expect("an answer").json().await.expect("JSON")
}

#[tokio::test]
async fn it_serves_drains_and_stops() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let token =
        server.said.iter().find_map(|line| line.split_once("/setup?token=")).expect("a token").1.to_owned();
    let health: Value = reqwest::get(format!("{}/v1/health", server.url))
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(health["status"], "ok");
    let body = json!({"token": token, "organization": "Acme", "email": "ada@example.com", "password": "correct horse battery"});
    let made = reqwest::Client::new()
        .post(format!("{}/v1/setup", server.url))
        .json(&body)
        .send()
        .await
        .expect("an answer");
    assert_eq!(made.status().as_u16(), 201);
    assert!(server.stop(), "it ends cleanly");
    let again = Server::start(data.path(), &[]);
    assert_eq!(again.said.len(), 1, "a set-up installation prints one line: {:?}", again.said);
    assert!(again.stop());
}

#[tokio::test]
async fn commands_work_beside_a_running_server() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let (data, (database, flags)) = (folder(), database(engine).await);
        let flags = words(&flags);
        let server = Server::start(data.path(), &flags);
        let made = bootstrap(data.path(), &flags);
        let key = made["apiKey"].as_str().expect("a key");
        assert_eq!(get(&server, "/v1/people", key).await["count"], 1);
        let organization = made["organizationId"].as_str().expect("an id");
        let mut more = vec![
            "admin",
            "create-api-key",
            "--organization",
            organization,
            "--email",
            "ada@example.com",
            "--scopes",
            "member:read",
            "--json",
        ];
        more.extend(&flags);
        let second: Value = serde_json::from_str(&succeed(data.path(), &more)).expect("JSON");
        assert_eq!(get(&server, "/v1/people", second["apiKey"].as_str().expect("a key")).await["count"], 1);
        let mut reset =
            vec!["admin", "reset-password", "--email", "ada@example.com", "--password", "quite another one"];
        reset.extend(&flags);
        succeed(data.path(), &reset);
        let login = json!({"email": "ada@example.com", "password": "quite another one"});
        let reply = reqwest::Client::new()
            .post(format!("{}/v1/auth/login", server.url))
            .json(&login)
            .send()
            .await
            .expect("an answer");
        assert_eq!(reply.status().as_u16(), 200);
        let mut verify = vec!["audit", "verify"];
        verify.extend(&flags);
        assert!(succeed(data.path(), &verify).contains("intact"));
        let mut doctor = vec!["doctor"];
        doctor.extend(&flags);
        let report = succeed(data.path(), &doctor);
        assert!(report.lines().all(|line| line.starts_with("ok")), "{report}");
        assert!(server.stop());
        database.remove().await;
    }
}

#[test]
fn flags_stand_before_or_after_the_words() {
    let data = folder();
    let path = data.path().to_str().expect("a path");
    for words in [
        vec!["--data-dir", path, "config", "show"],
        vec!["config", "--data-dir", path, "show"],
        vec!["config", "show", "--data-dir", path],
    ] {
        let output = std::process::Command::new(attestry_tests::binary::path())
            .args(&words)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("data_dir = \"{path}\"  # flag --data-dir")), "{text}");
    }
}

#[test]
fn settings_come_from_file_environment_and_flags_in_that_order() {
    let data = folder();
    let file = data.path().join("attestry.toml");
    std::fs::write(&file, "listen = \"127.0.0.1:1\"\nsecret_key = \"0123456789012345678901234567890123456789\"\n[log]\nlevel = \"warn\"\n").expect("written");
    let mut show = command(data.path(), &["config", "show", "--config", file.to_str().expect("a path")]);
    let output = show.env("ATTESTRY_LISTEN", "127.0.0.1:2").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("listen = \"127.0.0.1:2\"  # environment ATTESTRY_LISTEN"), "{text}");
    assert!(text.contains("log.level = \"warn\"  # file"), "{text}");
    assert!(text.contains("secret_key = (hidden)  # file") && !text.contains("01234567890"), "{text}");
    assert!(text.contains("log.format = \"text\"  # default"), "{text}");
}

#[test]
fn a_wrong_setting_stops_the_start() {
    let data = folder();
    for (name, value, part) in [
        ("ATTESTRY_LISTEN", "nowhere", "listen"),
        ("ATTESTRY_NONSENSE", "1", "ATTESTRY_NONSENSE"),
        ("ATTESTRY_SMTP_URL", "gopher://x", "SMTP"),
    ] {
        let output = command(data.path(), &["serve"]).env(name, value).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{error}");
    }
    let file = data.path().join("attestry.toml");
    std::fs::write(&file, "[http]\nport = 80\n").expect("written");
    let output = run(data.path(), &["config", "check", "--config", file.to_str().expect("a path")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("http.port"));
}

#[test]
fn bad_input_to_bootstrap_is_named() {
    let data = folder();
    for (flag, value) in [("--email", "ada"), ("--password", "short"), ("--organization", " ")] {
        let mut words = vec!["admin", "bootstrap"];
        for (name, good) in [
            ("--organization", "Acme"),
            ("--email", "ada@example.com"),
            ("--password", "correct horse battery"),
        ] {
            words.extend([name, if name == flag { value } else { good }]);
        }
        let output = run(data.path(), &words);
        assert!(!output.status.success());
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(flag),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn the_key_file_is_private_and_another_one_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let data = folder();
    bootstrap(data.path(), &[]);
    let key = data.path().join("attestry.key");
    assert_eq!(std::fs::metadata(&key).expect("a file").permissions().mode() & 0o777, 0o600);
    std::fs::remove_file(&key).expect("removed");
    let output = run(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("another secret key"));
    succeed(data.path(), &["admin", "adopt-secret-key"]);
    assert!(Server::start(data.path(), &[]).stop());
}

#[test]
fn a_command_that_only_looks_makes_nothing() {
    let data = folder();
    let missing = data.path().join("mistyped");
    for words in [
        vec!["audit", "verify"],
        vec!["backup", "--to", "/tmp/never.tar"],
        vec!["admin", "list"],
        vec!["admin", "create-api-key", "--organization", "Acme", "--email", "ada@example.com"],
        vec!["admin", "reset-password", "--email", "ada@example.com", "--password", "quite another one"],
        vec!["admin", "restore-organization", "Acme"],
        vec!["worker"],
    ] {
        let output = run(&missing, &words);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no database"), "{output:?}");
    }
    for words in [vec!["migrate", "--check"], vec!["doctor"], vec!["config", "check"]] {
        run(&missing, &words);
    }
    assert!(!missing.exists());
}

#[test]
fn it_says_its_version() {
    assert_eq!(succeed(folder().path(), &["--version"]), "attestry 0.1.0\n");
}

#[tokio::test]
async fn it_listens_on_a_host_name() {
    let data = folder();
    let server = Server::from(command(data.path(), &["serve", "--listen", "localhost:0"]));
    assert!(server.url.starts_with("http://localhost:"), "{}", server.url);
    let health = reqwest::get(format!("{}/v1/health", server.url)).await.expect("an answer");
    assert_eq!(health.status().as_u16(), 200);
}

#[test]
fn organizations_are_named_added_and_brought_back() {
    let data = folder();
    let first = bootstrap(data.path(), &[]);
    let failure = |words: &[&str], part: &str| {
        let output = run(data.path(), words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{words:?}: {error}");
        assert!(!error.contains("correct horse"), "a password is echoed: {error}");
    };
    let again = ["admin", "bootstrap", "--organization", "Beta", "--email", "ada@example.com"];
    failure(&again, "--another");
    let mut with_password = again.to_vec();
    with_password.extend(["--another", "--password", "correct horse battery"]);
    failure(&with_password, "leave --password out");
    let mut another = again.to_vec();
    another.extend(["--another", "--json"]);
    succeed(data.path(), &another);
    let list = succeed(data.path(), &["admin", "list"]);
    assert!(
        list.contains("Acme (org_") && list.contains("Beta (org_") && list.contains("ada@example.com"),
        "{list}"
    );
    let list: Value =
        serde_json::from_str(&succeed(data.path(), &["admin", "list", "--json"])).expect("JSON");
    assert_eq!(list[0]["id"], first["organizationId"]);
    let key = ["admin", "create-api-key", "--organization", "acme", "--email", "ada@example.com"];
    assert!(succeed(data.path(), &key).contains("atk_"));
    failure(&["audit", "verify", "--organization", "Gamma"], "admin list");
    let proof = succeed(data.path(), &["audit", "verify", "--organization", "Beta"]);
    assert!(proof.starts_with("Beta (org_") && proof.contains("intact"), "{proof}");
    failure(&["admin", "restore-organization", "Acme"], "no deleted organization");
    let db = rusqlite::Connection::open(data.path().join("attestry.db")).expect("a database");
    db.execute("UPDATE organizations SET deleted_at = 1 WHERE name = 'Acme'", []).expect("deleted");
    assert!(succeed(data.path(), &["admin", "list"]).contains("deleted"));
    assert!(succeed(data.path(), &["admin", "restore-organization", "Acme"]).contains("Acme is back"));
}

#[test]
fn a_damaged_database_is_noticed() {
    let data = folder();
    bootstrap(data.path(), &[]);
    assert!(succeed(data.path(), &["doctor"]).contains("integrity"));
    let file = data.path().join("attestry.db");
    rusqlite::Connection::open(&file)
        .expect("a database")
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("a checkpoint");
    let mut bytes = std::fs::read(&file).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3000].fill(0x5a);
    std::fs::write(&file, bytes).expect("damaged");
    let output = run(data.path(), &["doctor"]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && report.contains("FAIL"), "{report}");
}

#[test]
fn migrations_are_checked_and_applied() {
    let data = folder();
    let output = run(data.path(), &["migrate", "--check"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("0001_accounts"));
    succeed(data.path(), &["migrate"]);
    succeed(data.path(), &["migrate", "--check"]);
}

#[test]
fn a_schema_of_another_version_is_refused() {
    for change in [
        "UPDATE refinery_schema_history SET name = 'identity' WHERE version = 1",
        "INSERT INTO refinery_schema_history (version, name) VALUES (9999, 'later')",
    ] {
        let data = folder();
        succeed(data.path(), &["migrate"]);
        let db = rusqlite::Connection::open(data.path().join("attestry.db")).expect("a database");
        db.execute(change, []).expect("changed");
        for words in [&["migrate"][..], &["serve"], &["admin", "list"]] {
            let output = run(data.path(), words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains("of another version"), "{words:?}: {said}");
        }
        let report = run(data.path(), &["doctor"]);
        assert!(String::from_utf8_lossy(&report.stdout).contains("of another version"), "{report:?}");
    }
}

#[test]
fn the_document_is_printed() {
    let text = succeed(folder().path(), &["openapi"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["openapi"], "3.1.0");
}

#[test]
fn a_tampered_journal_is_reported_and_exits_1() {
    let data = folder();
    bootstrap(data.path(), &[]);
    let db = rusqlite::Connection::open(data.path().join("attestry.db")).expect("a database");
    db.execute("UPDATE journal SET action = 'nothing.happened' WHERE sequence = 2", []).expect("tampered");
    let output = run(data.path(), &["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("BROKEN at entry 2"));
}

#[tokio::test]
async fn a_backup_restores_into_either_database() {
    let (from, archive) = (folder(), folder());
    let file = archive.path().join("backup.tar");
    let to = file.to_str().expect("a path");
    let server = Server::start(from.path(), &[]);
    let made = bootstrap(from.path(), &[]);
    succeed(from.path(), &["backup", "--to", to]);
    assert!(server.stop());
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let (data, (database, flags)) = (folder(), database(engine).await);
        let flags = words(&flags);
        let mut restore = vec!["restore", "--from", to];
        restore.extend(&flags);
        // A folder in which a server was started before, and which has its own key already.
        let mut migrate = vec!["migrate"];
        migrate.extend(&flags);
        succeed(data.path(), &migrate);
        succeed(data.path(), &restore);
        let mut verify = vec!["audit", "verify"];
        verify.extend(&flags);
        assert!(succeed(data.path(), &verify).contains("3 entries, intact"));
        let server = Server::start(data.path(), &flags);
        assert_eq!(get(&server, "/v1/people", made["apiKey"].as_str().expect("a key")).await["count"], 1);
        assert!(server.stop());
        assert!(!run(data.path(), &restore).status.success(), "a database that is not empty is left alone");
        database.remove().await;
    }
}

#[test]
fn a_restore_that_was_cut_off_is_noticed_and_can_be_repeated() {
    let (from, archive, data) = (folder(), folder(), folder());
    bootstrap(from.path(), &[]);
    let (whole, cut) = (archive.path().join("whole.tar"), archive.path().join("cut.tar"));
    let restore = |file: &Path| run(data.path(), &["restore", "--from", file.to_str().expect("a path")]);
    succeed(from.path(), &["backup", "--to", whole.to_str().expect("a path")]);
    let bytes = std::fs::read(&whole).expect("an archive");
    std::fs::write(&cut, b"not an archive at all").expect("written");
    assert!(String::from_utf8_lossy(&restore(&cut).stderr).contains("is not an archive"));
    assert!(!data.path().join("attestry.db").exists(), "nothing was touched");
    // In the middle of the journal's table.
    let journal = bytes.windows(15).position(|w| w == b"\"action\":\"organ").expect("an entry");
    std::fs::write(&cut, &bytes[..journal]).expect("written");
    assert!(!restore(&cut).status.success());
    let words = [
        "admin",
        "bootstrap",
        "--organization",
        "B",
        "--email",
        "b@example.com",
        "--password",
        "correct horse battery",
    ];
    let refused = run(data.path(), &words);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("was interrupted"), "{refused:?}");
    assert!(restore(&whole).status.success());
    assert!(succeed(data.path(), &["audit", "verify"]).contains("intact"));
}

/// Writes from several clients until the server is killed; every acknowledged write must exist after the restart, and
/// the chain must be intact.
async fn crash(engine: Engine) {
    let (data, (database, flags)) = (folder(), database(engine).await);
    let flags = words(&flags);
    let made = bootstrap(data.path(), &flags);
    let key: Arc<str> = made["apiKey"].as_str().expect("a key").into();
    let mut acknowledged = 0;
    for round in 0..3 {
        let server = Server::start(data.path(), &flags);
        let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let (url, key) = (format!("{}/v1/organization/api-keys", server.url), Arc::clone(&key));
                let (stop, count) = (Arc::clone(&stop), Arc::clone(&count));
                tokio::spawn(async move {
                    let (http, mut names) = (reqwest::Client::new(), Vec::new());
                    for number in 0.. {
                        let name = format!("r{round} c{client} n{number}");
                        let body = json!({"name": name, "scopes": ["member:read"]});
                        match http.post(&url).header("x-api-key", &*key).json(&body).send().await {
                            Ok(reply) if reply.status().as_u16() == 201 => {
                                count.fetch_add(1, Ordering::SeqCst);
                                names.push(name);
                            }
                            _ if stop.load(Ordering::SeqCst) => break,
                            other => assert!(other.is_err(), "{other:?}"),
                        }
                    }
                    names
                })
            })
            .collect();
        while count.load(Ordering::SeqCst) < 150 {
            tokio::task::yield_now().await;
        }
        stop.store(true, Ordering::SeqCst);
        server.kill();
        let mut names = Vec::new();
        for client in clients {
            names.extend(client.await.expect("a client"));
        }
        acknowledged += names.len();
        let server = Server::start(data.path(), &flags);
        let found = all_names(&server, &key).await;
        for name in &names {
            assert!(found.contains(name), "{name} was acknowledged and is lost");
        }
        assert!(server.stop());
        let mut verify = vec!["audit", "verify"];
        verify.extend(&flags);
        assert!(succeed(data.path(), &verify).contains("intact"));
    }
    assert!(acknowledged >= 450);
    database.remove().await;
}

async fn all_names(server: &Server, key: &str) -> Vec<String> {
    let (mut names, mut path) = (Vec::new(), "/v1/organization/api-keys?limit=1000".to_owned());
    loop {
        let page = get(server, &path, key).await;
        let data = page["data"].as_array().expect("data");
        names.extend(data.iter().map(|item| item["name"].as_str().expect("a name").to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => path = format!("/v1/organization/api-keys?limit=1000&cursor={next}"),
            None => return names,
        }
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_by_a_kill_on_sqlite() {
    crash(Engine::Sqlite).await;
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_by_a_kill_on_postgres() {
    crash(Engine::Postgres).await;
}

/// Every documented form of the SMTP setting passes the check and works with other commands.
#[test]
fn smtp_settings_are_checked() {
    let data = folder();
    bootstrap(data.path(), &[]);
    for url in [
        "smtp://localhost",
        "smtps://user:password@mail.example.com",
        "smtp://mail.example.com:587?tls=required",
    ] {
        for words in [&["config", "check"][..], &["admin", "list"][..]] {
            let output = command(data.path(), words).env("ATTESTRY_SMTP_URL", url).output().expect("it runs");
            assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let output = command(data.path(), &["config", "check"]).env("ATTESTRY_SMTP_URL", "gopher://x").output();
    assert!(!output.expect("it runs").status.success());
}

/// A head is proof only if the server signed it and its organization exists.
#[tokio::test]
async fn an_exported_head_is_proof() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let key = made["apiKey"].as_str().expect("a key").to_owned();
    let server = Server::start(data.path(), &[]);
    let head = get(&server, "/v1/audit-logs/head", &key).await;
    assert!(server.stop());
    let verify = |head: &serde_json::Value, more: &[&str]| {
        let file = data.path().join("head.json");
        std::fs::write(&file, head.to_string()).expect("a file");
        let mut words = vec!["audit", "verify", "--head", file.to_str().expect("a path")];
        words.extend(more);
        let output = run(data.path(), &words);
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (fine, text) = verify(&head, &[]);
    assert!(fine && text.contains("contains the exported head"), "{text}");
    for (field, value) in
        [("sequence", json!(9999)), ("signature", json!("AAAA")), ("keyId", json!("0000000000000000"))]
    {
        let mut forged = head.clone();
        forged[field] = value;
        let (fine, text) = verify(&forged, &[]);
        assert!(!fine && text.contains("head.json") && text.contains("sign"), "{field}: {text}");
    }
    bootstrap_another(data.path());
    let (fine, text) = verify(&head, &["--organization", "Second"]);
    assert!(!fine && text.contains("not among what was checked"), "{text}");
}

fn bootstrap_another(data: &Path) {
    let words = [
        "admin",
        "bootstrap",
        "--another",
        "--organization",
        "Second",
        "--email",
        "ada@example.com",
        "--json",
    ];
    succeed(data, &words);
}

/// Signs in at a server with the password.
async fn log_in(server: &Server, email: &str) -> Response {
    let call = reqwest::Client::new().post(format!("{}/v1/auth/login", server.url));
    call.json(&json!({"email": email, "password": PASSWORD})).send().await.expect("an answer")
}

/// The token of a sign-in that must succeed.
async fn token_of(reply: Response) -> String {
    assert_eq!(reply.status().as_u16(), 200);
    let session: Value = reply.json().await.expect("JSON");
    session["token"].as_str().expect("a token").to_owned()
}

/// Reads something of the organization as a session; returns the status and the body.
async fn read_as(server: &Server, token: &str, organization: &str) -> (u16, Value) {
    let call = reqwest::Client::new().get(format!("{}/v1/tasks", server.url)).bearer_auth(token);
    let reply = call.header("x-organization-id", organization).send().await.expect("an answer");
    (reply.status().as_u16(), reply.json().await.expect("JSON"))
}

/// Runs the doctor, which may ask providers on this machine; returns true if all is well, and the report.
fn doctor(data: &Path) -> (bool, String) {
    let mut command = command(data, &["doctor"]);
    let output = command.env(PRIVATE_PROVIDERS, "true").output().expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

const PRIVATE_PROVIDERS: &str = "ATTESTRY_IDENTITY_ALLOW_PRIVATE_NETWORKS";

/// Requires single sign-on of the only organization, although nobody can use it.
fn require_sso(data: &Path) {
    let db = rusqlite::Connection::open(data.join("attestry.db")).expect("a database");
    let sql = "INSERT INTO sign_in_policies (org_id, mfa, grace_days, sso, version) SELECT id, 'optional', 14, 'required', 1 FROM organizations";
    assert_eq!(db.execute(sql, []).expect("required"), 1);
}

#[tokio::test]
async fn disable_sso_lets_people_in_again() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let (key, organization) = (made["apiKey"].as_str(), made["organizationId"].as_str());
    let (key, organization) = (key.expect("a key"), organization.expect("an id"));
    require_sso(data.path());
    let (is_well, report) = doctor(data.path());
    let fault = "FAIL  sso        Acme requires single sign-on and has no exempt owner";
    assert!(!is_well && report.contains(fault), "{report}");
    let server = Server::start(data.path(), &[]);
    let token = token_of(log_in(&server, "ada@example.com").await).await;
    let (status, problem) = read_as(&server, &token, organization).await;
    assert_eq!((status, &problem["code"]), (403, &json!("reauthentication_required")));
    assert_eq!(problem["reason"], "sso_required");
    let disable = |of: &str| run(data.path(), &["admin", "disable-sso", "--organization", of]);
    let unknown = disable("Gamma");
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("admin list"), "{unknown:?}");
    assert_eq!(read_as(&server, &token, organization).await.0, 403);
    let done = disable("acme");
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(said, "Acme no longer requires single sign-on; its owners are told.\n");
    assert_eq!(read_as(&server, &token, organization).await.0, 200);
    let again = String::from_utf8_lossy(&disable(organization).stdout).into_owned();
    assert_eq!(again, "Acme did not require single sign-on.\n");
    let log = get(&server, "/v1/audit-logs?action=sign_in_policy.updated", key).await;
    assert_eq!(log["count"], 1);
    // The server's worker sends the mail that the command enqueued.
    let mail = data.path().join("mail");
    wait_until(async || count_files(&mail) == 1).await;
    assert!(server.stop());
    let file = std::fs::read_dir(&mail).expect("a folder").next().expect("a file").expect("a file").path();
    let text = std::fs::read_to_string(file).expect("text");
    assert!(text.contains("Single sign-on is no longer required"), "{text}");
    let (is_well, report) = doctor(data.path());
    assert!(is_well && report.contains("ok    sso        not used\n"), "{report}");
}

#[tokio::test]
async fn verify_domain_needs_no_record() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let verify = |organization: &str, domain: &str| {
        run(data.path(), &["admin", "verify-domain", "--organization", organization, "--domain", domain])
    };
    for _ in 0..2 {
        let done = verify("Acme", "ACME.example");
        assert!(done.status.success(), "{done:?}");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(said, "acme.example is a verified domain of Acme.\n");
    }
    bootstrap_another(data.path());
    for (organization, domain, part) in [
        ("Acme", "https://acme.example", "--domain"),
        ("Acme", "localhost", "--domain"),
        ("Gamma", "acme.example", "admin list"),
        ("Second", "acme.example", "Another organization has verified this domain"),
    ] {
        let output = verify(organization, domain);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{organization} {domain}: {error}");
    }
    let server = Server::start(data.path(), &[]);
    let key = made["apiKey"].as_str().expect("a key");
    let domains = get(&server, "/v1/organization/domains", key).await;
    let domain = &domains["data"][0];
    assert_eq!((&domain["name"], &domain["state"]), (&json!("acme.example"), &json!("verified")));
    assert_eq!(domains["data"][1], Value::Null);
    let log = get(&server, "/v1/audit-logs?entityType=mail_domain&order=asc", key).await;
    let actions: Vec<&str> = log["data"]
        .as_array()
        .expect("entries")
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions, ["mail_domain.added", "mail_domain.verified"]);
    assert!(server.stop());
}

#[tokio::test]
async fn reset_second_factor_asks_for_no_code_any_more() {
    let data = folder();
    bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    let token = token_of(log_in(&server, "ada@example.com").await).await;
    let client = reqwest::Client::new();
    let call = |path: &str| client.post(format!("{}{path}", server.url)).bearer_auth(&token);
    let started = call("/v1/auth/totp").send().await.expect("an answer");
    assert_eq!(started.status().as_u16(), 201);
    let started: Value = started.json().await.expect("JSON");
    let code = code_at(started["secret"].as_str().expect("a secret"), SystemClock.now());
    let active = call("/v1/auth/totp/activate").json(&json!({"code": code})).send().await;
    assert_eq!(active.expect("an answer").status().as_u16(), 200);
    let asked = log_in(&server, "ada@example.com").await;
    assert_eq!(asked.status().as_u16(), 401);
    let asked: Value = asked.json().await.expect("JSON");
    assert_eq!(asked["code"], "second_factor_required");
    let reset = |email: &str| run(data.path(), &["admin", "reset-second-factor", "--email", email]);
    for (email, part) in
        [("nobody@example.com", "there is no user with this e-mail address"), ("ada", "--email")]
    {
        let output = reset(email);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{email}: {error}");
    }
    let done = reset("ada@example.com");
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(said, "The second factors of ada@example.com are removed; their sessions have ended.\n");
    let opened = log_in(&server, "ada@example.com").await;
    assert_eq!(opened.status().as_u16(), 200);
    let opened: Value = opened.json().await.expect("JSON");
    assert_eq!(opened["secondFactor"], Value::Null);
    // The server has forgotten the old session within seconds.
    wait_until(async || {
        let call = client.get(format!("{}/v1/auth/session", server.url)).bearer_auth(&token);
        call.send().await.expect("an answer").status().as_u16() == 401
    })
    .await;
    assert!(server.stop());
}

/// The provider runs in this process, so it needs a thread of its own while a command is awaited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_asks_identity_providers() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let (is_well, report) = doctor(data.path());
    assert!(is_well && report.contains("ok    sso        not used\n"), "{report}");
    let idp = IdentityProvider::start().await;
    let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env(PRIVATE_PROVIDERS, "true");
    let server = Server::from(serve);
    let add = async |name: &str, is_enabled: bool| {
        let body = json!({
            "name": name, "issuer": idp.issuer, "clientId": CLIENT, "clientSecret": SECRET, "isEnabled": is_enabled
        });
        let call = reqwest::Client::new().post(format!("{}/v1/organization/sso-connections", server.url));
        let call = call.header("x-api-key", made["apiKey"].as_str().expect("a key")).json(&body);
        assert_eq!(call.send().await.expect("an answer").status().as_u16(), 201);
    };
    add("Login", true).await;
    add("Not in use", false).await;
    assert!(server.stop());
    let (is_well, report) = doctor(data.path());
    assert!(is_well && report.contains("ok    sso        connections that work: 1\n"), "{report}");
    let fault = |report: &str| {
        let mut lines = report.lines();
        lines.find_map(|line| line.strip_prefix("FAIL  sso        ").map(str::to_owned))
    };
    // It answers with an error.
    idp.set_down(true);
    let (is_well, report) = doctor(data.path());
    let found = fault(&report).expect("a fault");
    assert!(!is_well && found.starts_with("Acme, Login: discovery: ") && found.contains("503"), "{report}");
    assert!(found.contains("attestry admin disable-sso"), "{report}");
    // It does not answer at all.
    let _port = idp.stop().await;
    let (is_well, report) = doctor(data.path());
    let found = fault(&report).expect("a fault");
    assert!(
        !is_well && found.starts_with("Acme, Login: discovery: 127.0.0.1 cannot be reached."),
        "{report}"
    );
    // Without the setting it must not even be asked.
    let plain = run(data.path(), &["doctor"]);
    let report = String::from_utf8_lossy(&plain.stdout).into_owned();
    let found = fault(&report).expect("a fault");
    assert!(!plain.status.success() && found.contains("https://"), "{report}");
}

/// A worker alone runs the jobs that a command enqueued.
#[tokio::test]
async fn a_worker_runs_the_jobs() {
    let data = folder();
    bootstrap(data.path(), &[]);
    succeed(
        data.path(),
        &["admin", "reset-password", "--email", "ada@example.com", "--password", "quite another one"],
    );
    let database = rusqlite::Connection::open(data.path().join("attestry.db")).expect("the database");
    let recorded = || {
        let sql = "SELECT COUNT(*) FROM journal WHERE action = 'user.password_changed'";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a count")
    };
    assert_eq!(recorded(), 0, "the entry is a job's business");
    let mut worker = command(data.path(), &["worker"]).spawn().expect("a worker");
    wait_until(async || recorded() == 1).await;
    let asked = std::process::Command::new("kill").args(["-TERM", &worker.id().to_string()]).status();
    assert!(asked.expect("kill runs").success());
    assert!(worker.wait().expect("it ends").success());
    assert_eq!(recorded(), 1);
}

/// Two servers on one PostgreSQL see each other's changes.
#[tokio::test]
async fn several_processes_share_one_database() {
    let (data, (database, flags)) = (folder(), database(Engine::Postgres).await);
    let flags = words(&flags);
    let made = bootstrap(data.path(), &flags);
    let key = made["apiKey"].as_str().expect("a key");
    let (one, two) = (Server::start(data.path(), &flags), Server::start(data.path(), &flags));
    let body = json!({"email": "grace@example.com", "role": "employee"});
    let client = reqwest::Client::new();
    let invited = client
        .post(format!("{}/v1/people/invite", one.url))
        .header("x-api-key", key)
        .json(&body)
        .send()
        .await
        .expect("an answer");
    assert_eq!(invited.status().as_u16(), 201);
    assert_eq!(get(&two, "/v1/people?isActive=false", key).await["count"], 1);
    // One of them sends the mail; there is exactly one file.
    let mail = data.path().join("mail");
    wait_until(async || count_files(&mail) == 1).await;
    let link = one.url.clone();
    assert!(one.stop() && two.stop());
    assert_eq!(count_files(&mail), 1);
    let file = std::fs::read_dir(&mail).expect("a folder").next().expect("a file").expect("a file").path();
    let text = std::fs::read_to_string(file).expect("text");
    assert!(text.contains(&format!("{link}/accept-invitation?token=")), "{text}");
    database.remove().await;
}

fn count_files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Clients disconnect in the middle of a write; the others get one effect per response.
#[tokio::test]
async fn a_client_that_hangs_up_harms_nobody() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let (data, (database, flags)) = (folder(), database(engine).await);
        let flags = words(&flags);
        let made = bootstrap(data.path(), &flags);
        let key: Arc<str> = made["apiKey"].as_str().expect("a key").into();
        let server = Server::start(data.path(), &flags);
        let url: Arc<str> = format!("{}/v1/organization/api-keys", server.url).into();
        let post = |name: String| {
            let (url, key) = (Arc::clone(&url), Arc::clone(&key));
            let body = json!({"name": name, "scopes": ["member:read"]});
            async move { reqwest::Client::new().post(&*url).header("x-api-key", &*key).json(&body).send().await }
        };
        let staying = (0..6).map(|client| async move {
            for number in 0..40 {
                let reply = post(format!("stays {client} {number}")).await.expect("an answer");
                assert_eq!(reply.status().as_u16(), 201);
            }
        });
        let leaving = (0..4).map(|client| async move {
            for number in 0..60 {
                let soon = std::time::Duration::from_micros(300 + 170 * number);
                let _ = tokio::time::timeout(soon, post(format!("leaves {client} {number}"))).await;
            }
        });
        futures_util::join!(futures_util::future::join_all(staying), futures_util::future::join_all(leaving));
        let mut names: Vec<String> =
            all_names(&server, &key).await.into_iter().filter(|name| name.starts_with("stays")).collect();
        names.sort();
        let total = names.len();
        names.dedup();
        assert_eq!((names.len(), total), (240, 240), "each once");
        assert!(server.stop());
        database.remove().await;
    }
}

/// Returns the owners of all files below a folder.
fn owners(folder: &Path) -> std::collections::BTreeSet<u32> {
    use std::os::unix::fs::MetadataExt;
    let mut owners = std::collections::BTreeSet::from([std::fs::metadata(folder).expect("a folder").uid()]);
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => owners.extend(self::owners(&path)),
            false => drop(owners.insert(std::fs::metadata(&path).expect("a file").uid())),
        }
    }
    owners
}

#[test]
fn commands_of_root_leave_no_file_of_root_behind() {
    const SERVICE: u32 = 10_001;
    let outer = folder();
    let data = outer.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    if std::os::unix::fs::chown(&data, Some(SERVICE), Some(SERVICE)).is_err() {
        {
            eprintln!("skipped: only root can try this");
        }
        return;
    }
    std::os::unix::fs::chown(outer.path(), Some(SERVICE), Some(SERVICE)).expect("a folder of the service");
    bootstrap(&data, &[]);
    assert!(succeed(&data, &["doctor"]).contains("ok    mail"));
    let archive = outer.path().join("backup.tar");
    succeed(&data, &["backup", "--to", archive.to_str().expect("a path")]);
    assert_eq!(owners(outer.path()), [SERVICE].into());
    // The command reports a path that the owner of the data cannot write.
    let refused = run(&data, &["backup", "--to", "/root/attestry-backup.tar"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot be written"), "{refused:?}");
}
