//! The assistant of the real binary, called through the AI SDK's own client.

#![expect(clippy::expect_used, reason = "test code")]

use std::process::Command;

use attestry_ai::Kind;
use attestry_ai::fake::{FakeProvider, KEY, MODEL, Reply};
use attestry_tests::binary::{Server, bootstrap, command, run};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Sends a request through the SDK and returns the message that it received.
fn ask(policy: &str, key: &str, instructions: &str) -> Value {
    let packages = std::env::var("TEST_NODE").expect("TEST_NODE is not set: run `make test`");
    let script = "node/ai-sdk.mjs";
    let ran = Command::new("node")
        .args([script, policy, key, instructions])
        .env("TEST_NODE", packages)
        .output()
        .expect("node runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("a message")
}

async fn made(server: &Server, key: &str) -> String {
    let client = reqwest::Client::new();
    let body = json!({"name": "Access", "contentMarkdown": "The Security Lead decides."}).to_string();
    let request = client.post(format!("{}/v1/policies", server.url)).header("x-api-key", key);
    let answer =
        request.header("content-type", "application/json").body(body).send().await.expect("an answer");
    let policy: Value = serde_json::from_str(&answer.text().await.expect("text")).expect("JSON");
    format!("{}/v1/policies/{}", server.url, policy["id"].as_str().expect("an id"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ai_sdk_reads_the_stream() {
    let data = TempDir::new().expect("a folder");
    let key = bootstrap(data.path(), &[])["apiKey"].as_str().expect("a key").to_owned();
    let mut rules = command(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
    rules.env("ATTESTRY_AI_PROVIDER", "rules");
    let server = Server::from(rules);
    let message = ask(&made(&server, &key).await, &key, "Rename Security Lead to CISO");
    assert_eq!(message["role"], "assistant");
    assert_eq!(message["parts"][0]["type"], "text");
    assert!(message["parts"][0]["text"].as_str().expect("text").starts_with("Rule-based assistant"));
    assert_eq!(message["parts"][1]["type"], "data-policy");
    assert_eq!(message["parts"][1]["data"]["markdown"], "The CISO decides.\n");
    drop(server);

    let fake = FakeProvider::start(Kind::OpenAi, [Reply::text(["Hel", "lo."])]).await.expect("a provider");
    let configured = |words: &[&str]| {
        let mut command = command(data.path(), words);
        command
            .env("ATTESTRY_AI_PROVIDER", "openai")
            .env("ATTESTRY_AI_BASE_URL", fake.base_url())
            .env("ATTESTRY_AI_API_KEY", KEY)
            .env("ATTESTRY_AI_MODEL", MODEL);
        command
    };
    let server = Server::from(configured(&["serve", "--listen", "127.0.0.1:0"]));
    let message = ask(&made(&server, &key).await, &key, "Hello?");
    assert_eq!(message["parts"], json!([{"type": "text", "text": "Hello.", "state": "done"}]));
    drop(server);

    let told = configured(&["doctor"]).output().expect("it runs");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("ok    assistant  openai answers as"), "{told}");
    let shown = configured(&["config"]).output().expect("it runs");
    assert!(!String::from_utf8_lossy(&shown.stdout).contains(KEY), "the key is not shown");
    fake.play([Reply::status(401, json!({"error": {"message": "bad key"}}).to_string())]);
    let told = configured(&["doctor"]).output().expect("it runs");
    assert!(!told.status.success());
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("FAIL  assistant") && told.contains("ai.*"), "{told}");
}

#[test]
fn half_a_configuration_is_refused_with_what_is_missing() {
    let data = TempDir::new().expect("a folder");
    for (variables, said) in [
        (vec![("ATTESTRY_AI_PROVIDER", "openai")], "ai.model"),
        (vec![("ATTESTRY_AI_PROVIDER", "gpt")], "ai.provider"),
        (
            vec![
                ("ATTESTRY_AI_PROVIDER", "anthropic"),
                ("ATTESTRY_AI_MODEL", "m"),
                ("ATTESTRY_AI_BASE_URL", "ftp://x"),
            ],
            "ai.base_url",
        ),
    ] {
        let mut command = command(data.path(), &["doctor"]);
        let ran = command.envs(variables).output().expect("it runs");
        assert!(!ran.status.success());
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(told.contains(said), "{told}");
    }
    bootstrap(data.path(), &[]);
    let ran = run(data.path(), &["doctor"]);
    assert!(String::from_utf8_lossy(&ran.stdout).contains("not configured; set ATTESTRY_AI_PROVIDER"));
}
