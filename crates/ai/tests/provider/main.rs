//! Against a provider on this machine that speaks the real protocols and misbehaves as real ones do. Each test
//! asks both kinds of provider.

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

/// A fake provider and the way to it, with pauses too short to notice.
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

/// The texts of an answer, and how it ended.
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

/// Asks and reads everything.
pub(crate) async fn ask(provider: &Provider) -> (Vec<String>, Option<Failure>) {
    match provider.ask(&question()).await {
        Ok(mut answer) => read(&mut answer).await,
        Err(failure) => (Vec::new(), Some(failure)),
    }
}

/// Asks, and is told before any text that it failed.
pub(crate) async fn refused(provider: &Provider) -> Failure {
    match provider.ask(&question()).await {
        Ok(answer) => panic!("an answer: {answer:?}"),
        Err(failure) => failure,
    }
}
