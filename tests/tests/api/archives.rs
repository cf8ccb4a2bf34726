//! Archives of every earlier schema are restored, by the real binary, into both databases.
//!
//! They lie in `tests/archives`, one for each schema. `write_archives` made them: one of everything, with the tables and
//! columns that the schema had. An archive that is there is never written again.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use attestry_db::{Config, Db};
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

use crate::portal;

/// The first schema that was ever backed up.
const FIRST: u32 = 3;
const SECRET: &str = "a secret that only the tests know";
/// The key of the owner in the archives.
const KEY: &str = include_str!("../../archives/api-key.txt");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("archives")
}

fn path(schema: u32) -> PathBuf {
    folder().join(format!("{schema:04}.tar.gz"))
}

fn newest() -> u32 {
    MIGRATIONS.last().expect("a migration").number
}

/// The columns of each table in a schema; none for a table that was not there.
async fn columns_in(schema: u32) -> Vec<(&'static str, Vec<archive::Column>)> {
    let data = TempDir::new().expect("a folder");
    let config = Config::Sqlite { path: data.path().join("attestry.db"), readers: 1, queue: 16 };
    let db = Db::open(&config).expect("a database");
    let known = MIGRATIONS.iter().take_while(|step| step.number <= schema).count();
    db.migrate(&MIGRATIONS[..known]).await.expect("migrated");
    let read = db.read(async |t| {
        let mut all = Vec::new();
        for table in TABLES {
            let columns = archive::columns(t, attestry_db::Engine::Sqlite, table.name).await?;
            all.push((table.name, columns));
        }
        Ok::<_, Error>(all)
    });
    read.await.expect("columns")
}

fn append(tar: &mut tar::Builder<GzEncoder<Vec<u8>>>, name: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, content).expect("an entry");
}

/// Makes what a schema was the first to have, so that the journal of its archive tells of nothing later.
async fn add_what_is_new(app: &TestApp, schema: u32) {
    let post = async |path: &str, body: Value| {
        let made = app.post(path, &body).send().await;
        assert!(made.status.is_success(), "{}", made.text());
        made.json()["id"].as_str().unwrap_or_default().to_owned()
    };
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let first = async |path: &str| {
        let list = app.get(path).send().await.expect(200);
        let first = if list.is_array() { list[0].clone() } else { list["data"][0].clone() };
        first["id"].as_str().expect("an id").to_owned()
    };
    match schema {
        FIRST => {
            app.member(&app.home, "eve@example.com", "employee").await;
            app.sign_in("eve@example.com").await;
            post("/v1/organization/api-keys", json!({"name": "spare", "scopes": ["member:read"]})).await;
        }
        4 => {
            for likelihood in ["very_unlikely", "likely"] {
                let risk =
                    json!({"title": "A", "description": "B", "category": "other", "likelihood": likelihood});
                post("/v1/risks", risk).await;
                post(
                    "/v1/vendors",
                    json!({"name": "A", "description": "B", "inherentProbability": likelihood}),
                )
                .await;
            }
        }
        5 => {
            let risk = first("/v1/risks").await;
            post("/v1/comments", json!({"content": "Hm.", "entityId": risk, "entityType": "risk"})).await;
        }
        6 => {
            let risk = first("/v1/risks").await;
            post(&format!("/v1/risks/{risk}/attachments"), file).await;
        }
        8 => {
            post("/v1/people/invite", json!({"email": "bob@example.com", "role": "auditor"})).await;
        }
        12 => {
            for frequency in [json!("monthly"), Value::Null] {
                post("/v1/tasks", json!({"title": "A", "frequency": frequency, "status": "done"})).await;
            }
        }
        13 => {
            let script = "export default () => ({ status: 'pass', summary: 'x', evidence: [1] })";
            let automations = format!("/v1/tasks/{}/automations", first("/v1/tasks").await);
            let made =
                post(&automations, json!({"name": "A", "script": script, "schedule": "0 6 * * *"})).await;
            post(&format!("{automations}/{made}/runs"), json!({})).await;
            let secret = app.call("PUT", "/v1/organization/secrets/TOKEN").key(&app.home.key);
            secret.json(&json!({"value": "swordfish"})).send().await.expect(200);
        }
        15 => {
            let policy = post("/v1/policies", json!({"name": "A", "contentMarkdown": "B"})).await;
            let ask = json!({"approverId": app.home.member});
            post(&format!("/v1/policies/{policy}/submit-for-approval"), ask).await;
            let approve = app.call("POST", &format!("/v1/policies/{policy}/approve"));
            approve.key(&app.home.key).send().await.expect(200);
        }
        16 => {
            post("/v1/controls", json!({"name": "A"})).await;
            post("/v1/context", json!({"question": "A?", "answer": "B."})).await;
        }
        17 => {
            let body = json!({"organizationId": app.home.organization, "frameworkId": "iso_27001"});
            app.post("/v1/soa/ensure-setup", &body).send().await.expect(200);
        }
        18 => {
            portal::publish(app, &app.home).await;
            portal::granted(app, &app.home, "grace@customer.example").await;
            post("/v1/trust-portal/posts", json!({"kind": "update", "title": "A"})).await;
        }
        21 => {
            post("/v1/views", json!({"list": "risks", "name": "A", "parameters": {"status": "open"}})).await;
            post("/v1/risks/bulk", json!({"filter": {}, "change": {"department": "it"}})).await;
        }
        _ => {}
    }
    app.mails().await;
}

/// The archive of everything there is, as a version with this schema would have written it.
async fn archive_of(app: &TestApp, schema: u32) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let manifest = json!({"format": 1, "version": "0.1.0", "schema": schema});
    append(&mut tar, "manifest.json", manifest.to_string().as_bytes());
    append(&mut tar, "attestry.key", format!("{SECRET}\n").as_bytes());
    for (table, columns) in columns_in(schema).await.into_iter().filter(|(_, columns)| !columns.is_empty()) {
        let rows = app.ctx.db.snapshot(async move |t| {
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
        std::fs::write(folder().join("api-key.txt"), &app.home.key).expect("written");
        for schema in FIRST..newest() {
            add_what_is_new(app, schema).await;
            if !path(schema).exists() {
                std::fs::write(path(schema), archive_of(app, schema).await).expect("written");
            }
        }
    });
}

/// Lines of one table.
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

/// Restores an archive, and looks at what is there.
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
    // A server that was started once leaves a schema behind; the restore begins with that of the archive all the same.
    if schema.is_multiple_of(2) {
        assert!(command(&home, &["migrate"]).args(&flags).status().expect("it runs").success());
    }
    let words = ["restore", "--from", archive.to_str().expect("a path")];
    let output = command(&home, &words).args(&flags).output().expect("it runs");
    assert!(output.status.success(), "{schema} on {engine:?}: {output:?}");
    let verified = command(&home, &["audit", "verify"]).args(&flags).output().expect("it runs");
    assert!(verified.status.success(), "{schema} on {engine:?}: {verified:?}");
    let server = Server::start(&home, &flags);
    let get = async |path: &str| {
        let reply =
            reqwest::Client::new().get(format!("{}{path}", server.url)).header("x-api-key", KEY.trim());
        let reply = reply.send().await.expect("a response");
        assert_eq!(reply.status(), 200, "{schema} on {engine:?}: {path}");
        reply.json::<Value>().await.expect("JSON")
    };
    assert!(get("/v1/people").await["count"].as_u64().expect("a number") >= 2);
    let risks = get("/v1/risks?order=asc").await;
    if schema >= 4 {
        assert_eq!(risks["data"][0]["reference"], "R-1", "{schema} on {engine:?}");
    }
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
        fn every_earlier_schema_has_an_archive() {
            let all = [$($schema),*];
            assert_eq!(all.to_vec(), (FIRST..newest()).collect::<Vec<u32>>(), "run `make archives`, and list it here");
            assert!(all.iter().all(|schema| path(*schema).exists()));
        }
    };
}

restores! {
    schema_3_is_restored 3
    schema_4_is_restored 4
    schema_5_is_restored 5
    schema_6_is_restored 6
    schema_7_is_restored 7
    schema_8_is_restored 8
    schema_9_is_restored 9
    schema_10_is_restored 10
    schema_11_is_restored 11
    schema_12_is_restored 12
    schema_13_is_restored 13
    schema_14_is_restored 14
    schema_15_is_restored 15
    schema_16_is_restored 16
    schema_17_is_restored 17
    schema_18_is_restored 18
    schema_19_is_restored 19
    schema_20_is_restored 20
    schema_21_is_restored 21
}
