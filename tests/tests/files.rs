//! Files, with the real binary: in the data folder and in a bucket, through a crash, and through a backup.

#![expect(clippy::expect_used, reason = "test code")]

use std::path::Path;

use attestry_tests::binary::{Server, bootstrap, command, run, succeed, wait_until};
use attestry_tests::s3::S3;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

/// An API client.
struct Client {
    url: String,
    key: String,
    http: reqwest::Client,
}

impl Client {
    fn new(server: &Server, made: &Value) -> Self {
        let key = made["apiKey"].as_str().expect("a key").to_owned();
        Self { url: server.url.clone(), key, http: reqwest::Client::new() }
    }

    fn call(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).header("x-api-key", &self.key)
    }

    async fn get(&self, path: &str) -> Value {
        let reply = self.call(reqwest::Method::GET, path).send().await.expect("an answer");
        assert_eq!(reply.status(), 200, "{path}");
        reply.json().await.expect("JSON")
    }

    async fn delete(&self, path: &str) {
        let reply = self.call(reqwest::Method::DELETE, path).send().await.expect("an answer");
        assert_eq!(reply.status(), 200, "{path}");
    }

    async fn risk(&self) -> String {
        let body = json!({"title": "A", "description": "B", "category": "other"});
        let reply =
            self.call(reqwest::Method::POST, "/v1/risks").json(&body).send().await.expect("an answer");
        let made: Value = reply.json().await.expect("JSON");
        format!("/v1/risks/{}", made["id"].as_str().expect("an id"))
    }

    /// Attaches a file with a form and returns its path.
    async fn attach(&self, to: &str, content: Vec<u8>) -> String {
        let file = Part::bytes(content).file_name("log.txt").mime_str("text/plain").expect("a type");
        let path = format!("{to}/attachments");
        let form = Form::new().text("description", "A log").part("file", file);
        let reply = self.call(reqwest::Method::POST, &path).multipart(form).send().await.expect("an answer");
        assert_eq!(reply.status(), 201);
        let made: Value = reply.json().await.expect("JSON");
        format!("{path}/{}", made["id"].as_str().expect("an id"))
    }

    async fn link(&self, attachment: &str) -> String {
        let link = self.get(&format!("{attachment}/download")).await;
        link["downloadUrl"].as_str().expect("a link").to_owned()
    }
}

async fn fetch(link: &str) -> (u16, Vec<u8>) {
    let reply = reqwest::get(link).await.expect("an answer");
    (reply.status().as_u16(), reply.bytes().await.expect("a body").to_vec())
}

/// Counts the files below a folder.
fn count(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| if path.is_dir() { count(&path) } else { 1 })
        .sum()
}

/// Returns content larger than one upload part.
fn large() -> Vec<u8> {
    b"all is well\n".repeat(800_000)
}

#[tokio::test]
async fn a_file_outlives_a_kill_and_goes_with_its_risk() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    let client = Client::new(&server, &made);
    let risk = client.risk().await;
    let attachment = client.attach(&risk, large()).await;
    server.kill();
    let server = Server::start(data.path(), &[]);
    let client = Client::new(&server, &made);
    assert!(fetch(&client.link(&attachment).await).await == (200, large()), "what was acknowledged is there");
    assert_eq!(count(&data.path().join("blobs")), 1);
    client.delete(&risk).await;
    wait_until(async || count(&data.path().join("blobs")) == 0).await;
    assert!(server.stop());
}

#[tokio::test]
async fn files_go_into_a_bucket_and_out_again() {
    let (s3, data) = (S3::start(), folder());
    let made = bootstrap(data.path(), &[]);
    let in_bucket = |words: &[&str]| {
        let mut command = command(data.path(), words);
        command.env("ATTESTRY_BLOBS_URL", s3.url()).envs(s3.variables());
        command
    };
    let server = Server::from(in_bucket(&["serve", "--listen", "127.0.0.1:0"]));
    let client = Client::new(&server, &made);
    let risk = client.risk().await;
    let attachment = client.attach(&risk, large()).await;
    let small = client.attach(&risk, b"hello".to_vec()).await;
    let link = client.link(&attachment).await;
    assert!(!link.starts_with(&server.url), "the bucket's own link");
    assert!(fetch(&link).await == (200, large()));
    assert_eq!(count(&data.path().join("blobs")), 0, "nothing is kept here");
    let doctor = in_bucket(&["doctor"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("ok    files") && said.contains("s3://attestry/files/of-ours"), "{said}");
    // A backup includes the files, and a restore writes them to the new store.
    let archive = folder();
    let archive = archive.path().join("backup.tar");
    let archive = archive.to_str().expect("a path");
    let backup = in_bucket(&["backup", "--to", archive]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&backup.stdout).contains("2 files"), "{backup:?}");
    let gone = client.link(&small).await;
    client.delete(&risk).await;
    wait_until(async || fetch(&gone).await.0 == 404).await;
    assert!(server.stop());
    let home = folder();
    assert!(succeed(home.path(), &["restore", "--from", archive]).contains("2 files"));
    let server = Server::start(home.path(), &[]);
    let client = Client::new(&server, &made);
    let link = client.link(&attachment).await;
    assert!(link.starts_with(&server.url));
    assert!(fetch(&link).await == (200, large()));
    assert_eq!(fetch(&client.link(&small).await).await, (200, b"hello".to_vec()));
    assert!(server.stop());
}

#[tokio::test]
async fn a_file_that_was_changed_or_lost_is_named() {
    let data = folder();
    let made = bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    let client = Client::new(&server, &made);
    let risk = client.risk().await;
    let (changed, lost) =
        (client.attach(&risk, large()).await, client.attach(&risk, b"hello".to_vec()).await);
    assert!(succeed(data.path(), &["audit", "verify", "--files"]).contains("2 files, all intact"));
    let blobs =
        data.path().join("blobs").join(made["organizationId"].as_str().expect("an id")).join("attachments");
    let name = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    let file = blobs.join(name(&changed));
    let mut content = std::fs::read(&file).expect("a file");
    content[5_000_000] ^= 1;
    std::fs::write(&file, content).expect("written");
    std::fs::remove_file(blobs.join(name(&lost))).expect("removed");
    let found = command(data.path(), &["audit", "verify", "--files"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(!found.status.success());
    assert!(said.contains(&format!("BROKEN {}: its file was changed", name(&changed))), "{said}");
    assert!(said.contains(&format!("BROKEN {}: its file is missing", name(&lost))), "{said}");
    // If an attacker changes the row to match the file, or deletes it, the journal still shows it.
    assert!(server.stop());
    let database = rusqlite::Connection::open(data.path().join("attestry.db")).expect("a database");
    database.execute("DELETE FROM attachments", []).expect("deleted");
    drop(database);
    let found = command(data.path(), &["audit", "verify", "--files"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&found.stdout).contains("2 files, 2 BROKEN"), "{found:?}");
    // A backup of this state is broken, too, and the restore reports it.
    let archive = folder();
    let archive = archive.path().join("backup.tar");
    let archive = archive.to_str().expect("a path");
    succeed(data.path(), &["backup", "--to", archive]);
    let restored = command(folder().path(), &["restore", "--from", archive]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&restored.stdout).contains("2 files, 2 BROKEN"), "{restored:?}");
    assert!(!restored.status.success());
}

#[tokio::test]
async fn a_bucket_that_is_away_is_said_so_and_loses_nothing() {
    let (s3, data) = (S3::start(), folder());
    let made = bootstrap(data.path(), &[]);
    let variables = s3.variables();
    let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::from({
        serve.env("ATTESTRY_BLOBS_URL", s3.url()).envs(variables.clone());
        serve
    });
    let client = Client::new(&server, &made);
    let risk = client.risk().await;
    drop(s3);
    let body = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let path = format!("{risk}/attachments");
    let reply = client.call(reqwest::Method::POST, &path).json(&body).send().await.expect("an answer");
    assert_eq!(reply.status(), 503);
    assert!(reply.headers().contains_key("retry-after"));
    assert_eq!(client.get(&path).await["count"], 0);
    assert!(server.stop());
    let mut doctor = command(data.path(), &["doctor"]);
    let doctor = doctor.env("ATTESTRY_BLOBS_URL", "s3://attestry").envs(variables).output().expect("it runs");
    assert!(!doctor.status.success());
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("FAIL  files"), "{doctor:?}");
}

#[tokio::test]
async fn a_backup_while_files_are_deleted_can_be_restored() {
    let (data, archives) = (folder(), folder());
    let made = bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    let client = Client::new(&server, &made);
    for round in 0..4 {
        let mut attached = Vec::new();
        let risk = client.risk().await;
        for number in 0..12 {
            attached.push(client.attach(&risk, format!("file {number}\n").repeat(20_000).into_bytes()).await);
        }
        let archive = archives.path().join(format!("{round}.tar"));
        let to = archive.to_str().expect("a path");
        let mut backup = command(data.path(), &["backup", "--to", to]).spawn().expect("the backup starts");
        // Delete the files while the backup runs, at an arbitrary moment.
        for attachment in &attached {
            client.delete(attachment).await;
        }
        assert!(backup.wait().expect("it ends").success());
        let restored = folder();
        succeed(restored.path(), &["restore", "--from", to]);
    }
    assert!(server.stop());
}

#[tokio::test]
async fn a_backup_that_lacks_a_file_says_so_and_overwrites_nothing() {
    let (data, archives) = (folder(), folder());
    let made = bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    let client = Client::new(&server, &made);
    let attachment = client.attach(&client.risk().await, b"evidence".to_vec()).await;
    let archive = archives.path().join("backup.tar");
    let to = archive.to_str().expect("a path");
    succeed(data.path(), &["backup", "--to", to]);
    let first = std::fs::read(&archive).expect("an archive");
    let again = run(data.path(), &["backup", "--to", to]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("--overwrite"), "{again:?}");
    assert_eq!(std::fs::read(&archive).expect("an archive"), first);
    succeed(data.path(), &["backup", "--to", to, "--overwrite"]);
    let id = attachment.rsplit('/').next().expect("an id");
    let blobs = data.path().join("blobs").join(made["organizationId"].as_str().expect("an id"));
    std::fs::remove_file(blobs.join("attachments").join(id)).expect("removed behind the server's back");
    let lacking = run(data.path(), &["backup", "--to", to, "--overwrite"]);
    assert_eq!(lacking.status.code(), Some(1));
    let said = String::from_utf8_lossy(&lacking.stdout).into_owned();
    assert!(said.contains("INCOMPLETE") && said.contains(id), "{said}");
    assert_eq!(
        std::fs::read_dir(archives.path()).expect("a folder").count(),
        1,
        "nothing else is left behind"
    );
    assert!(server.stop());
}
