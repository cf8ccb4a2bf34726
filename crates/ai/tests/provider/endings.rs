//! Answers that fail, and error responses.

use attestry_ai::fake::Reply;
use attestry_ai::{Failure, Kind};

use crate::{KINDS, ask, meet, meet_with, refused};

#[tokio::test]
async fn what_cannot_be_read_is_malformed() {
    for kind in KINDS {
        let begun = || Reply::stream().begins().says("a");
        for reply in [
            begun().raw("data: {\"choices\":[{\n\n"),
            begun().raw("data: Internal Server Error\n\n"),
            begun().raw(b"data: {\"type\":\"content_block_delta\",\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n".to_vec()),
            begun().raw(vec![b'x'; 2 * 1024 * 1024]),
        ] {
            let (_fake, provider) = meet(kind, [reply]).await;
            let (texts, failure) = ask(&provider).await;
            assert_eq!(texts, ["a"]);
            assert!(matches!(failure, Some(Failure::Malformed(_))), "{kind}: {failure:?}");
        }
        for reply in [
            Reply::stream().raw("data: nonsense\n\n"),
            Reply::status(200, "{\"hello\":\"world\"}"),
            Reply::status(200, "{"),
            Reply::page(200, "<html>Welcome</html>"),
            Reply::text(["a"]).header("content-encoding", "gzip"),
        ] {
            let (fake, provider) = meet(kind, [reply]).await;
            let failure = refused(&provider).await;
            assert!(matches!(failure, Failure::Malformed(_)), "{kind}: {failure:?}");
            assert_eq!(fake.requests().len(), 1, "asking again does not help");
        }
    }
}

#[tokio::test]
async fn an_answer_without_its_end_was_closed_early() {
    for kind in KINDS {
        let begun = || Reply::stream().begins().says("a");
        for reply in [begun(), begun().breaks_off(), begun().raw("data: {\"ty").breaks_off()] {
            let (fake, provider) = meet(kind, [reply]).await;
            assert_eq!(ask(&provider).await, (vec!["a".to_owned()], Some(Failure::ClosedEarly)), "{kind}");
            assert_eq!(fake.requests().len(), 1, "what was said is not said twice");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_answer() {
    for kind in KINDS {
        for (name, failure) in [
            ("overloaded_error", Failure::Overloaded { status: None, message: Some("Oh dear".to_owned()) }),
            (
                "rate_limit_error",
                Failure::RateLimited { retry_after: None, message: Some("Oh dear".to_owned()) },
            ),
            ("invalid_request_error", Failure::Refused { status: None, message: Some("Oh dear".to_owned()) }),
        ] {
            let reply = Reply::stream().begins().says("a").errs(name, "Oh dear.").says("b").ends();
            let (fake, provider) = meet(kind, [reply]).await;
            assert_eq!(ask(&provider).await, (vec!["a".to_owned()], Some(failure)), "{kind}");
            assert_eq!(fake.requests().len(), 1, "what was said is not said twice");
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_is_too_long() {
    for (kind, reason) in KINDS.into_iter().zip(["length", "max_tokens"]) {
        let reply = Reply::stream().begins().says("and so on").ends_because(reason);
        let (_fake, provider) = meet(kind, [reply]).await;
        assert_eq!(ask(&provider).await, (vec!["and so on".to_owned()], Some(Failure::TooLong)), "{kind}");
    }
}

#[tokio::test]
async fn an_answer_may_be_declined() {
    for (kind, reason) in KINDS.into_iter().zip(["content_filter", "refusal"]) {
        let reply = Reply::stream().begins().says("I").ends_because(reason);
        let (_fake, provider) = meet(kind, [reply]).await;
        assert_eq!(ask(&provider).await, (vec!["I".to_owned()], Some(Failure::Filtered { message: None })));
    }
    let body = r#"{"error":{"code":"content_filter","message":"The prompt was filtered.","status":400}}"#;
    let (_fake, provider) = meet(Kind::OpenAi, [Reply::status(400, body)]).await;
    assert_eq!(
        refused(&provider).await,
        Failure::Filtered { message: Some("The prompt was filtered".to_owned()) }
    );
}

#[tokio::test]
async fn a_refusal_is_told_in_the_providers_words() {
    for kind in KINDS {
        for (status, body, sentence) in [
            (
                401,
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
                "The AI provider refused the API key (401): invalid x-api-key. Check the AI API key and what it may be used for.",
            ),
            (
                404,
                r#"{"error":{"message":"The model `gpt-9` does not exist","code":"model_not_found"}}"#,
                "The AI provider does not know the address or the model (404): The model `gpt-9` does not exist. Check the AI base URL and the AI model.",
            ),
            (
                400,
                r#"{"error":"prompt is too long"}"#,
                "The AI provider refused the request (400): prompt is too long. Check the AI model, or ask with less text.",
            ),
            (
                307,
                "",
                "The AI provider redirects to another address (307). Set the AI base URL to the address that answers.",
            ),
        ] {
            let (fake, provider) =
                meet(kind, [Reply::status(status, body).header("location", "/elsewhere")]).await;
            assert_eq!(refused(&provider).await.to_string(), sentence);
            assert_eq!(fake.requests().len(), 1, "neither asked again nor redirected");
        }
    }
}

#[tokio::test]
async fn a_wrong_base_url_leads_to_a_page() {
    for kind in KINDS {
        let page = Reply::page(404, "<!doctype html><title>Not found</title>");
        let (_fake, provider) = meet(kind, [page]).await;
        assert_eq!(refused(&provider).await, Failure::Refused { status: Some(404), message: None });
    }
}

#[tokio::test]
async fn only_the_beginning_of_a_refusal_is_read() {
    for kind in KINDS {
        // More bytes than are read, then the connection stays open: a client that kept reading would wait forever.
        let reply = Reply::status(400, vec![b' '; 64 * 1024]).hangs();
        let (fake, provider) = meet(kind, [reply]).await;
        assert_eq!(refused(&provider).await, Failure::Refused { status: Some(400), message: None });
        fake.hung_up(1).await;
    }
}

#[tokio::test]
async fn nobody_listens() {
    for kind in KINDS {
        let (fake, provider) = meet(kind, [Reply::silence()]).await;
        let address = fake.base_url();
        drop(fake);
        // The port closes once the listener is dropped, which happens in another task.
        let failure = loop {
            match refused(&provider).await {
                Failure::Unreachable { reason: Some(reason), .. } if !reason.contains("refused") => {}
                failure => break failure,
            }
        };
        let Failure::Unreachable { host, reason } = failure else { panic!("{failure:?}") };
        assert!(address.contains(&host), "{host}");
        assert!(reason.is_some_and(|reason| reason.starts_with("Connection refused")));
    }
    let (_fake, provider) = meet_with(Kind::OpenAi, [Reply::silence()], |settings| {
        settings.base_url = "http://no-such-host.invalid/v1".parse().expect("a URL");
    })
    .await;
    let failure = refused(&provider).await;
    assert!(
        matches!(&failure, Failure::Unreachable { host, .. } if host == "no-such-host.invalid"),
        "{failure:?}"
    );
}
