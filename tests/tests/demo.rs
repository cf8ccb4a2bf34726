//! `attestry demo`: the same sample organization on both databases, with an intact journal.

#![expect(clippy::expect_used, reason = "test code")]

use std::path::Path;

use attestry_tests::Engine;
use attestry_tests::binary::{Server, run, succeed};
use attestry_tests::database::Database;
use serde_json::{Value, json};
use tempfile::TempDir;

const PASSWORD: &str = "northwind sample";
const TODAY: &str = "2026-10-01";

async fn get(server: &Server, path: &str, key: &str) -> Value {
    let reply = reqwest::Client::new().get(format!("{}{path}", server.url)).header("x-api-key", key);
    let reply = reply.send().await.expect("an answer");
    assert_eq!(reply.status().as_u16(), 200, "{path}");
    reply.json().await.expect("JSON")
}

/// Returns the ids and names of a list's rows.
async fn named(server: &Server, path: &str, name: &str, key: &str) -> Vec<String> {
    let list = get(server, path, key).await;
    let rows = list["data"].as_array().or(list.as_array()).cloned().unwrap_or_default();
    rows.iter().map(|row| format!("{} {}", row["id"], row[name])).collect()
}

/// Returns true when no mail was sent: the sample's addresses are not real.
fn is_quiet(data: &Path) -> bool {
    std::fs::read_dir(data.join("mail")).map_or(true, |mut files| files.next().is_none())
}

/// Fills a database, checks it, and returns its contents.
async fn filled(engine: Engine) -> Vec<Vec<String>> {
    let (data, database) = (TempDir::new().expect("a folder"), Database::create(engine).await);
    let url = match database.config() {
        attestry_db::Config::Sqlite { .. } => None,
        attestry_db::Config::Postgres { url, .. } => Some(url),
    };
    let flags: Vec<&str> = url.iter().flat_map(|url| ["--database-url", url]).collect();
    let with = |words: &[&'static str]| [words, flags.as_slice()].concat();
    let demo = with(&["demo", "--today", TODAY, "--password", PASSWORD]);
    let said = succeed(data.path(), &demo);
    assert!(said.contains("attestry serve") && said.contains(PASSWORD), "{said}");
    let key = said.split_whitespace().find(|word| word.starts_with("atk_")).expect("a key").to_owned();

    let again = run(data.path(), &demo);
    let error = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && error.contains("already has an organization"), "{error}");
    let proof = succeed(data.path(), &with(&["audit", "verify", "--files"]));
    assert!(proof.contains("Northwind Robotics") && proof.contains("intact"), "{proof}");

    let server = Server::start(data.path(), &flags);
    let mut found = Vec::new();
    for (path, name) in [
        ("/v1/risks?limit=100&sort=createdAt", "title"),
        ("/v1/vendors?limit=100", "name"),
        // Not by status: the server reopens recurring tasks as soon as it runs.
        ("/v1/tasks?limit=100&sort=createdAt", "title"),
        ("/v1/policies?limit=100", "name"),
        ("/v1/controls?limit=200", "name"),
        ("/v1/people?limit=100", "id"),
        ("/v1/risks?limit=100&asOf=2026-04-01", "title"),
        ("/v1/trust-access/admin/requests?limit=100", "status"),
        ("/v1/trust-access/admin/visits?limit=100", "action"),
    ] {
        found.push(named(&server, path, name, &key).await);
    }
    let portal = reqwest::get(format!("{}/trust/northwind", server.url)).await.expect("an answer");
    assert_eq!(portal.status().as_u16(), 200);
    assert!(portal.text().await.expect("text").contains("Northwind Robotics"));
    let login = json!({"email": "tomasz.zielinski@northwind.example", "password": PASSWORD});
    let reply =
        reqwest::Client::new().post(format!("{}/v1/auth/login", server.url)).json(&login).send().await;
    assert_eq!(reply.expect("an answer").status().as_u16(), 200);
    assert!(is_quiet(data.path()), "nothing is mailed");
    assert!(server.stop());
    database.remove().await;
    found
}

#[tokio::test]
async fn a_sample_organization_fills_either_database_the_same_way() {
    let (sqlite, postgres) = (filled(Engine::Sqlite).await, filled(Engine::Postgres).await);
    assert_eq!(sqlite, postgres);
    let [risks, vendors, tasks, policies, controls, people, earlier, requests, visits] =
        sqlite.try_into().expect("nine lists");
    assert_eq!((risks.len(), vendors.len(), people.len()), (60, 40, 20), "people who are active");
    assert!(tasks.len() >= 30 && policies.len() >= 10 && controls.len() >= 60);
    assert!((20..risks.len()).contains(&earlier.len()), "{} risks half a year ago", earlier.len());
    let with = |status: &str| requests.iter().filter(|one| one.contains(status)).count();
    assert_eq!((with("under_review"), with("approved"), with("denied")), (3, 1, 1));
    assert!(visits.iter().any(|visit| visit.contains("downloaded_certificate")), "{visits:?}");
}

#[test]
fn a_day_to_come_and_a_weak_password_are_refused_before_anything_is_made() {
    let data = TempDir::new().expect("a folder");
    for (flag, value) in [("--today", "2999-01-01"), ("--today", "soon"), ("--password", "short")] {
        let output = run(data.path(), &["demo", flag, value]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(flag), "{error}");
    }
    assert!(!data.path().join("attestry.db").exists());
}
