//! Requests as received by the provider.

use attestry_ai::fake::{KEY, MODEL, Reply};
use attestry_ai::{Error, Kind, Prompt, Provider, Settings, Turn};
use attestry_net::Secret;
use serde_json::json;

use crate::{KINDS, meet, meet_with};

fn conversation() -> Prompt {
    Prompt {
        system: "You edit \"policies\".\nBe brief.".to_owned(),
        turns: vec![Turn::user("Hello?"), Turn::assistant("Hi. 🔑"), Turn::user("Shorten it.")],
    }
}

#[tokio::test]
async fn chat_completions() {
    let (fake, provider) = meet(Kind::OpenAi, [Reply::text(["yes"])]).await;
    provider.ask(&conversation()).await.expect("an answer");
    let seen = &fake.requests()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("text/event-stream"));
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    assert_eq!(seen.header("api-key"), None);
    assert_eq!(
        seen.body,
        json!({
            "model": MODEL,
            "max_tokens": 8192,
            "messages": [
                { "role": "system", "content": "You edit \"policies\".\nBe brief." },
                { "role": "user", "content": "Hello?" },
                { "role": "assistant", "content": "Hi. 🔑" },
                { "role": "user", "content": "Shorten it." },
            ],
            "stream": true,
        })
    );
}

#[tokio::test]
async fn messages() {
    let (fake, provider) = meet(Kind::Anthropic, [Reply::text(["yes"])]).await;
    provider.ask(&conversation()).await.expect("an answer");
    let seen = &fake.requests()[0];
    assert_eq!(seen.line, "POST /v1/messages");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(
        seen.body,
        json!({
            "model": MODEL,
            "max_tokens": 8192,
            "system": "You edit \"policies\".\nBe brief.",
            "messages": [
                { "role": "user", "content": "Hello?" },
                { "role": "assistant", "content": "Hi. 🔑" },
                { "role": "user", "content": "Shorten it." },
            ],
            "stream": true,
        })
    );
}

#[tokio::test]
async fn a_provider_without_a_key_gets_none() {
    for kind in KINDS {
        let (fake, provider) = meet_with(kind, [Reply::text(["yes"])], |settings| settings.key = None).await;
        let prompt = Prompt { system: String::new(), turns: vec![Turn::user("Hello?")] };
        provider.ask(&prompt).await.expect("an answer");
        let seen = &fake.requests()[0];
        for name in ["authorization", "x-api-key", "api-key"] {
            assert_eq!(seen.header(name), None);
        }
        assert_eq!(seen.body.get("system"), None, "an empty system prompt is left out");
        assert_eq!(seen.body["messages"], json!([{ "role": "user", "content": "Hello?" }]));
    }
}

#[tokio::test]
async fn azure_gets_its_version_and_its_own_header() {
    let (fake, provider) = meet_with(Kind::OpenAi, [Reply::text(["yes"])], |settings| {
        settings.base_url.set_path("/openai/deployments/gpt-4o/");
        settings.base_url.set_query(Some("api-version=2024-10-21"));
    })
    .await;
    provider.ask(&conversation()).await.expect("an answer");
    let seen = &fake.requests()[0];
    assert_eq!(seen.line, "POST /openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21");
    assert_eq!(seen.header("api-key"), Some(KEY));
    assert_eq!(seen.header("authorization"), None);
}

#[test]
fn wrong_settings_are_told() {
    let refused = |change: fn(&mut Settings)| {
        let mut settings = Settings::new(Kind::OpenAi, "a-model").expect("settings");
        change(&mut settings);
        Provider::new(settings).expect_err("a refusal")
    };
    assert_eq!(refused(|settings| settings.model = " ".to_owned()), Error::Model);
    assert_eq!(refused(|settings| settings.max_tokens = 0), Error::MaxTokens);
    assert_eq!(refused(|settings| settings.key = Some(Secret::new(""))), Error::Key);
    assert_eq!(refused(|settings| settings.key = Some(Secret::new("a b"))), Error::Key);
    assert_eq!(refused(|settings| settings.base_url.set_scheme("ws").expect("a scheme")), Error::BaseUrl);
}
