//! An archive of every schema since the first release is restored, by the real binary, into both databases.
//!
//! The archives are in `tests/archives`, each with the API key of its owner. `write_archives` writes the one for the
//! newest schema, with one entity of every kind; an existing archive is never overwritten.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use attestry_db::Config;
use attestry_storage::schema::{MIGRATIONS, TABLES};
use attestry_storage::{Error, archive};
use attestry_tests::TestApp;
use attestry_tests::binary::{Server, command};
use attestry_tests::database::{Database, Engine};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{directory, portal};

/// The schema of the first release.
const FIRST: u32 = 8;
const SECRET: &str = "a secret that only the tests know";

fn folder() -> PathBuf {
    PathBuf::from("archives")
}

fn path(schema: u32) -> PathBuf {
    folder().join(format!("{schema:04}.tar.gz"))
}

/// Returns the path of the file with the owner's API key.
fn key_file(schema: u32) -> PathBuf {
    folder().join(format!("{schema:04}.key"))
}

fn newest() -> u32 {
    MIGRATIONS.last().expect("a migration").number
}

fn append(tar: &mut tar::Builder<GzEncoder<Vec<u8>>>, name: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, content).expect("an entry");
}

/// Creates one entity of every kind.
async fn fill(app: &TestApp) {
    let post = async |path: &str, body: Value| {
        let made = app.post(path, &body).send().await;
        assert!(made.status.is_success(), "{}", made.text());
        made.json()["id"].as_str().unwrap_or_default().to_owned()
    };
    app.member(&app.home, "eve@example.com", "employee").await;
    app.sign_in("eve@example.com").await;
    post("/v1/organization/api-keys", json!({"name": "spare", "scopes": ["member:read"]})).await;
    post("/v1/people/invite", json!({"email": "bob@example.com", "role": "auditor"})).await;
    let account = json!({"name": "Import", "role": "admin", "ownerId": app.home.member});
    let account = post("/v1/organization/service-accounts", account).await;
    post(&format!("/v1/organization/service-accounts/{account}/api-keys"), json!({"name": "A"})).await;

    let risk = json!({"title": "A", "description": "B", "category": "other", "likelihood": "likely"});
    let risk = post("/v1/risks", risk).await;
    post("/v1/vendors", json!({"name": "A", "description": "B", "inherentProbability": "likely"})).await;
    post("/v1/comments", json!({"content": "Hm.", "entityId": risk, "entityType": "risk"})).await;
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    post(&format!("/v1/risks/{risk}/attachments"), file).await;
    post("/v1/views", json!({"list": "risks", "name": "A", "parameters": {"status": "open"}})).await;
    let channel =
        json!({"name": "A", "kind": "slack", "url": "http://127.0.0.1:9/x", "notices": ["dueSoon"]});
    post("/v1/chat-channels", channel).await;
    app.call("PUT", "/v1/risk-criteria")
        .key(&app.home.key)
        .json(&json!({"appetite": 9}))
        .send()
        .await
        .expect(200);
    let rated = json!({"assigneeId": app.home.member, "residualLikelihood": "likely"});
    app.patch(&format!("/v1/risks/{risk}"), &rated).send().await.expect(200);
    let token = app.sign_in(&app.home.email).await;
    let accept = app.call("POST", &format!("/v1/risks/{risk}/acceptance"));
    let accept = accept.session(&token, &app.home.organization);
    accept.json(&json!({"until": "2027-06-30", "reason": "A"})).send().await.expect(200);
    post("/v1/risks/bulk", json!({"filter": {}, "change": {"department": "it"}})).await;

    let task = post("/v1/tasks", json!({"title": "A", "frequency": "monthly", "status": "done"})).await;
    let script = "export default () => ({ status: 'pass', summary: 'x', evidence: [1] })";
    let automations = format!("/v1/tasks/{task}/automations");
    let made = post(&automations, json!({"name": "A", "script": script, "schedule": "0 6 * * *"})).await;
    post(&format!("{automations}/{made}/runs"), json!({})).await;
    let secret = app.call("PUT", "/v1/organization/secrets/TOKEN").key(&app.home.key);
    secret.json(&json!({"value": "swordfish"})).send().await.expect(200);

    let policy = post("/v1/policies", json!({"name": "A", "contentMarkdown": "B"})).await;
    let ask = json!({"approverId": app.home.member});
    post(&format!("/v1/policies/{policy}/submit-for-approval"), ask).await;
    let approve = app.call("POST", &format!("/v1/policies/{policy}/approve"));
    approve.key(&app.home.key).send().await.expect(200);

    post("/v1/controls", json!({"name": "A"})).await;
    post("/v1/context", json!({"question": "A?", "answer": "B."})).await;
    let body = json!({"organizationId": app.home.organization, "frameworkId": "iso_27001"});
    let soa = app.post("/v1/soa/ensure-setup", &body).send().await.expect(200);
    let question = &soa["configuration"]["questions"][0]["id"];
    let answer = json!({
        "organizationId": app.home.organization, "documentId": soa["document"]["id"], "questionId": question,
        "isApplicable": true, "justification": "A"
    });
    app.post("/v1/soa/save-answer", &answer).send().await.expect(200);
    post("/v1/frameworks", json!({"name": "A", "requirements": [{"code": "1", "title": "A"}]})).await;
    let hosts = app.call("PUT", "/v1/organization/automation-hosts").key(&app.home.key);
    hosts.json(&json!({"hosts": ["api.example.com"]})).send().await.expect(200);
    let owners = json!({"security_lead": app.home.member});
    post("/v1/programme", json!({"frameworkIds": ["gdpr"], "owners": owners, "scope": {"offices": 1}})).await;

    portal::publish(app, &app.home).await;
    portal::granted(app, &app.home, "grace@customer.example").await;
    post("/v1/trust-portal/posts", json!({"kind": "update", "title": "A"})).await;
    directory::fill(app, &risk).await;
    app.mails().await;
}

/// Builds an archive of the whole database.
async fn archive_of(app: &TestApp) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let manifest = json!({"format": 2, "version": "0.1.0", "schema": newest()});
    append(&mut tar, "manifest.json", manifest.to_string().as_bytes());
    append(&mut tar, "attestry.key", format!("{SECRET}\n").as_bytes());
    for table in TABLES.iter().map(|table| table.name) {
        let rows = app.ctx.db.snapshot(async move |t| {
            let columns = archive::columns(t, attestry_db::Engine::Sqlite, table).await?;
            let lines = Mutex::new(Vec::new());
            let mut out = Lines(&lines);
            archive::dump(t, table, &columns, &mut out).await?;
            Ok::<_, Error>(lines.into_inner().expect("not poisoned"))
        });
        append(&mut tar, &format!("tables/{table}.jsonl"), &rows.await.expect("rows"));
    }
    let mut keys = app.ctx.blobs.list(None);
    while let Some(key) = keys.try_next().await.expect("files") {
        let content = app.ctx.blobs.read(&key, None).await.expect("a file");
        let content: Vec<bytes::Bytes> = content.try_collect().await.expect("a file");
        append(&mut tar, &format!("files/{key}"), &content.concat());
    }
    tar.into_inner().expect("an archive").finish().expect("packed")
}

#[test]
#[ignore = "writes tests/archives"]
fn write_archives() {
    attestry_tests::run(Engine::Sqlite, async |app| {
        std::fs::create_dir_all(folder()).expect("a folder");
        assert!(!path(newest()).exists(), "an archive that is there is never written again");
        std::fs::write(key_file(newest()), &app.home.key).expect("written");
        fill(app).await;
        std::fs::write(path(newest()), archive_of(app).await).expect("written");
    });
}

/// A writer for the lines of one table.
struct Lines<'a>(&'a Mutex<Vec<u8>>);

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Restores an archive and checks the result.
async fn restore(schema: u32, engine: Engine) {
    let (data, database) = (TempDir::new().expect("a folder"), Database::create(engine).await);
    let flags = match database.config() {
        Config::Sqlite { .. } => Vec::new(),
        Config::Postgres { url, .. } => vec!["--database-url".to_owned(), url],
    };
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut unpacked = Vec::new();
    let packed = std::fs::read(path(schema)).expect("an archive");
    GzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).expect("unpacked");
    let archive = data.path().join("backup.tar");
    std::fs::write(&archive, unpacked).expect("written");
    let home = data.path().join("data");
    // A server that was started once leaves a schema; the restore still begins with that of the archive.
    if schema.is_multiple_of(2) {
        assert!(command(&home, &["migrate"]).args(&flags).status().expect("it runs").success());
    }
    let words = ["restore", "--from", archive.to_str().expect("a path")];
    let output = command(&home, &words).args(&flags).output().expect("it runs");
    assert!(output.status.success(), "{schema} on {engine:?}: {output:?}");
    let verified = command(&home, &["audit", "verify"]).args(&flags).output().expect("it runs");
    assert!(verified.status.success(), "{schema} on {engine:?}: {verified:?}");
    let server = Server::start(&home, &flags);
    let key = std::fs::read_to_string(key_file(schema)).expect("a key");
    let get = async |path: &str| {
        let reply =
            reqwest::Client::new().get(format!("{}{path}", server.url)).header("x-api-key", key.trim());
        let reply = reply.send().await.expect("a response");
        assert_eq!(reply.status(), 200, "{schema} on {engine:?}: {path}");
        reply.json::<Value>().await.expect("JSON")
    };
    assert!(get("/v1/people").await["count"].as_u64().expect("a number") >= 2);
    let risks = get("/v1/risks?order=asc").await;
    assert_eq!(risks["data"][0]["reference"], "R-1", "{schema} on {engine:?}");
    get("/v1/tasks").await;
    get("/v1/policies").await;
    drop(server);
    database.remove().await;
}

macro_rules! restores {
    ($($name:ident $schema:literal)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                restore($schema, Engine::Sqlite).await;
                restore($schema, Engine::Postgres).await;
            }
        )*

        #[test]
        fn every_schema_has_an_archive() {
            let all = [$($schema),*];
            assert_eq!(all.to_vec(), (FIRST..=newest()).collect::<Vec<u32>>(), "run `make archives`, and list it here");
            assert!(all.iter().all(|schema| path(*schema).exists()));
        }
    };
}

restores! {
    schema_8_is_restored 8
    schema_9_is_restored 9
    schema_10_is_restored 10
    schema_11_is_restored 11
    schema_12_is_restored 12
    schema_13_is_restored 13
    schema_14_is_restored 14
}
