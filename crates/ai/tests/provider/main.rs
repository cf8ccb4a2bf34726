//! Tests against a local fake provider with the real protocols, which misbehaves as real ones do. Each test uses both
//! kinds of provider.

#![expect(clippy::expect_used, clippy::panic, reason = "test code")]

mod answers;
mod endings;
mod requests;
mod retries;
mod secrets;
mod tls;
mod waiting;

use std::time::Duration;

use attestry_ai::fake::{FakeProvider, Reply};
use attestry_ai::{Answer, Failure, Kind, Prompt, Provider, Settings, Turn};

pub(crate) const KINDS: [Kind; 2] = [Kind::OpenAi, Kind::Anthropic];

/// Starts a fake provider and a client for it, with very short pauses.
pub(crate) async fn meet(kind: Kind, script: impl Into<Vec<Reply>>) -> (FakeProvider, Provider) {
    meet_with(kind, script, |_| {}).await
}

pub(crate) async fn meet_with(
    kind: Kind,
    script: impl Into<Vec<Reply>>,
    change: impl FnOnce(&mut Settings),
) -> (FakeProvider, Provider) {
    let fake = FakeProvider::start(kind, script).await.expect("a free port");
    let mut settings = fake.settings().expect("settings");
    settings.retry_pause = Duration::from_millis(1);
    change(&mut settings);
    (fake, Provider::new(settings).expect("a provider"))
}

pub(crate) fn question() -> Prompt {
    Prompt { system: "Be brief.".to_owned(), turns: vec![Turn::user("Hello?")] }
}

/// Returns the texts of an answer, and its failure if it has one.
pub(crate) async fn read(answer: &mut Answer) -> (Vec<String>, Option<Failure>) {
    let mut texts = Vec::new();
    while let Some(next) = answer.next().await {
        match next {
            Ok(text) => texts.push(text),
            Err(failure) => {
                assert!(answer.next().await.is_none(), "nothing follows a failure");
                return (texts, Some(failure));
            }
        }
    }
    assert!(answer.next().await.is_none(), "nothing follows the end");
    (texts, None)
}

/// Sends a prompt and reads the whole answer.
pub(crate) async fn ask(provider: &Provider) -> (Vec<String>, Option<Failure>) {
    match provider.ask(&question()).await {
        Ok(mut answer) => read(&mut answer).await,
        Err(failure) => (Vec::new(), Some(failure)),
    }
}

/// Sends a prompt and expects a failure before any text.
pub(crate) async fn refused(provider: &Provider) -> Failure {
    match provider.ask(&question()).await {
        Ok(answer) => panic!("an answer: {answer:?}"),
        Err(failure) => failure,
    }
}
