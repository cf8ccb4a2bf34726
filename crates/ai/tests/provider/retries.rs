//! A request is retried until the first event of an answer, and not too often.

use std::time::Duration;

use attestry_ai::fake::Reply;
use attestry_ai::{Failure, Kind};

use crate::{KINDS, ask, meet, meet_with, refused};

fn limited(retry_after: &str) -> Reply {
    Reply::status(429, r#"{"error":{"type":"rate_limit_error","message":"Slow down"}}"#)
        .header("retry-after", retry_after)
}

#[tokio::test]
async fn passing_failures_are_survived() {
    for kind in KINDS {
        for reply in [
            Reply::status(500, "{}"),
            Reply::status(502, "<html>"),
            Reply::status(503, ""),
            Reply::status(
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
            Reply::no_answer(),
            Reply::stream(),
            Reply::stream().breaks_off(),
            Reply::stream().errs("overloaded_error", "Overloaded"),
        ] {
            let (fake, provider) = meet(kind, [reply.clone(), reply, Reply::text(["yes"])]).await;
            assert_eq!(ask(&provider).await, (vec!["yes".to_owned()], None));
            assert_eq!(fake.requests().len(), 3);
        }
    }
}

#[tokio::test]
async fn a_failure_that_stays_is_told_after_two_more_attempts() {
    for kind in KINDS {
        for (reply, failure) in [
            (Reply::status(503, ""), Failure::Overloaded { status: Some(503), message: None }),
            (Reply::stream().breaks_off(), Failure::ClosedEarly),
        ] {
            let (fake, provider) = meet(kind, [reply]).await;
            assert_eq!(refused(&provider).await, failure);
            assert_eq!(fake.requests().len(), 3);
        }
    }
}

#[tokio::test]
async fn other_failures_are_told_at_once() {
    for kind in KINDS {
        for reply in [
            Reply::status(400, "{}"),
            Reply::status(401, "{}"),
            Reply::status(504, "{}"),
            Reply::status(429, r#"{"error":{"type":"insufficient_quota","message":"Pay first"}}"#),
            limited("0"),
            limited("3600"),
        ] {
            let (fake, provider) = meet(kind, [reply]).await;
            refused(&provider).await;
            assert_eq!(fake.requests().len(), 1);
        }
        let (_fake, provider) = meet(kind, [limited("3600")]).await;
        assert_eq!(refused(&provider).await.retry_after(), Some(Duration::from_hours(1)));
    }
}

#[tokio::test]
async fn the_provider_says_how_long_to_wait() {
    for (name, value) in [("retry-after", "0.15"), ("retry-after-ms", "150")] {
        for kind in KINDS {
            let (_fake, provider) = meet(kind, [Reply::status(429, "{}").header(name, value)]).await;
            assert_eq!(refused(&provider).await.retry_after(), Some(Duration::from_millis(150)));
        }
    }
}

#[tokio::test]
async fn pauses_grow_and_end_with_the_total_time() {
    for kind in KINDS {
        let (fake, provider) = meet_with(kind, [Reply::status(503, "")], |settings| {
            settings.retry_pause = Duration::from_millis(50);
        })
        .await;
        let start = tokio::time::Instant::now();
        refused(&provider).await;
        assert!(start.elapsed() >= Duration::from_millis(150));
        assert_eq!(fake.requests().len(), 3);

        let (fake, provider) = meet_with(kind, [Reply::status(503, "")], |settings| {
            settings.retry_pause = Duration::from_secs(5);
            settings.total_timeout = Duration::from_secs(4);
        })
        .await;
        assert!(matches!(refused(&provider).await, Failure::Overloaded { .. }));
        assert_eq!(fake.requests().len(), 1, "there is no time for another attempt");
    }
}

#[tokio::test]
async fn newer_models_get_the_limit_under_its_newer_name() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#;
    let (fake, provider) = meet(Kind::OpenAi, [Reply::status(400, refusal), Reply::text(["yes"])]).await;
    for _ in 0..2 {
        assert_eq!(ask(&provider).await, (vec!["yes".to_owned()], None));
    }
    let limits: Vec<_> = fake
        .requests()
        .iter()
        .map(|seen| (seen.body["max_tokens"].as_u64(), seen.body["max_completion_tokens"].as_u64()))
        .collect();
    assert_eq!(
        limits,
        [(Some(8192), None), (None, Some(8192)), (None, Some(8192))],
        "and that is remembered"
    );

    let (fake, provider) = meet(Kind::OpenAi, [Reply::status(400, refusal)]).await;
    refused(&provider).await;
    assert_eq!(fake.requests().len(), 2);
}
