//! Answers that succeed.

use attestry_ai::Kind;
use attestry_ai::fake::{MODEL, Reply};
use serde_json::json;

use crate::{KINDS, ask, meet, question, read};

const TEXT: &str = "Grüße: 🔑🧑\u{200d}🚒, “quoted”,\n\ta line\u{0}and \\ more";

#[tokio::test]
async fn an_answer_arrives_in_the_pieces_it_was_sent_in() {
    for kind in KINDS {
        let (fake, provider) = meet(kind, [Reply::text(["Hello", "", ", ", "world."])]).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.model(), Some(MODEL));
        assert_eq!(read(&mut answer).await, (vec!["Hello".into(), ", ".into(), "world.".into()], None));
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_piece_is_passed_on_before_the_next_exists() {
    for kind in KINDS {
        let reply = Reply::stream().begins().says("one").waits().says("two").waits().ends();
        let (fake, provider) = meet(kind, [reply]).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.next().await, Some(Ok("one".to_owned())));
        fake.cue();
        assert_eq!(answer.next().await, Some(Ok("two".to_owned())));
        fake.cue();
        assert_eq!(answer.next().await, None);
    }
}

#[tokio::test]
async fn bytes_may_arrive_one_by_one() {
    for kind in KINDS {
        let (_fake, provider) = meet(kind, [Reply::text([TEXT, "end"]).slowly()]).await;
        assert_eq!(ask(&provider).await, (vec![TEXT.to_owned(), "end".to_owned()], None), "{kind}");
    }
}

#[tokio::test]
async fn a_character_may_be_cut_in_two() {
    for kind in KINDS {
        let event = match kind {
            Kind::OpenAi => "data: {\"choices\":[{\"delta\":{\"content\":\"a🔑b\"}}]}\r\n\r\n",
            Kind::Anthropic => {
                "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a🔑b\"}}\r\n\r\n"
            }
        };
        let cut = event.find('🔑').expect("a key") + 2;
        let (left, right) = event.as_bytes().split_at(cut);
        let reply = Reply::stream().begins().raw(left).waits().raw(right).ends();
        let (fake, provider) = meet(kind, [reply]).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        fake.cue();
        assert_eq!(read(&mut answer).await, (vec!["a🔑b".to_owned()], None));
    }
}

#[tokio::test]
async fn what_is_not_text_is_passed_over() {
    let openai = Reply::stream()
        .raw("\u{feff}: PROCESSING\n\ndata: {\"choices\":[],\"prompt_filter_results\":[]}\n\ndata:\n\n")
        .raw("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hmm\"}}]}\r\rid: 3\n\n")
        .says("yes")
        .ends();
    let anthropic = Reply::stream()
        .begins()
        .raw(": hello\n\nevent: ping\ndata: {\"type\":\ndata: \"ping\"}\n\n")
        .raw("data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hmm\"}}\n\n")
        .raw("event: brand_new\ndata: {\"type\":\"brand_new\",\"delta\":7}\n\n")
        .says("yes")
        .ends();
    for (kind, reply) in KINDS.into_iter().zip([openai, anthropic]) {
        let (_fake, provider) = meet(kind, [reply]).await;
        assert_eq!(ask(&provider).await, (vec!["yes".to_owned()], None), "{kind}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_whole() {
    let openai = json!({
        "model": "m", "choices": [{ "message": { "role": "assistant", "content": TEXT }, "finish_reason": "stop" }]
    });
    let anthropic = json!({
        "type": "message", "model": "m", "content": [{ "type": "text", "text": TEXT }], "stop_reason": "end_turn"
    });
    for (kind, body) in KINDS.into_iter().zip([openai, anthropic]) {
        let (_fake, provider) = meet(kind, [Reply::status(200, body.to_string()).slowly()]).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.model(), Some("m"));
        assert_eq!(read(&mut answer).await, (vec![TEXT.to_owned()], None), "{kind}");
    }
}

#[tokio::test]
async fn a_reason_to_stop_is_an_end_without_done() {
    let finish = "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n";
    for reply in [
        Reply::stream().says("a").raw(finish),
        Reply::stream().says("a").raw(finish).breaks_off(),
        Reply::stream().says("a").raw(finish).hangs(),
        // Some providers repeat the finish reason with every chunk.
        Reply::stream().raw(finish.replace("\"b\"", "\"a\"")).raw(finish).raw("data: [DONE]\n\n"),
    ] {
        let (_fake, provider) = meet(Kind::OpenAi, [reply.clone()]).await;
        assert_eq!(ask(&provider).await, (vec!["a".to_owned(), "b".to_owned()], None), "{reply:?}");
    }
}

#[tokio::test]
async fn a_connection_serves_one_answer_after_the_other() {
    for kind in KINDS {
        let (fake, provider) = meet(kind, [Reply::text(["yes"])]).await;
        for _ in 0..20 {
            assert_eq!(ask(&provider).await, (vec!["yes".to_owned()], None));
        }
        // The connection is returned by a background task, so occasionally another one is opened.
        assert_eq!(fake.requests().len(), 20);
        assert!(fake.connections() < 20, "{}", fake.connections());
    }
}

#[tokio::test]
async fn a_check_names_the_model_that_answered() {
    for kind in KINDS {
        let cut = match kind {
            Kind::OpenAi => "length",
            Kind::Anthropic => "max_tokens",
        };
        let script = [
            Reply::text(["OK"]),
            Reply::stream().begins().says("We").ends_because(cut),
            Reply::stream().ends_because(cut),
            Reply::status(401, "{}"),
        ];
        let (fake, provider) = meet(kind, script).await;
        for _ in 0..3 {
            assert_eq!(provider.check().await.as_deref(), Ok(MODEL));
        }
        provider.check().await.expect_err("a refusal");
        assert_eq!(fake.requests()[0].body["max_tokens"], 16);
    }
}
