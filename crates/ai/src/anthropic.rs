//! Parses Anthropic's streamed messages. Each event has a type, and new types may appear at any time; only text is
//! read, so thinking and tool use are skipped.

use attestry_net::Secret;
use serde::Deserialize;

use crate::Failure;
use crate::answer::{End, Step};
use crate::problem::Problem;

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    ContentBlockDelta,
    MessageDelta,
    MessageStop,
    Error,
    /// A complete answer.
    Message,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct BlockDelta {
    delta: Block,
}

/// A delta of a block, or a block of a complete answer.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: BlockKind,
    text: Option<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum BlockKind {
    Text,
    TextDelta,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageDelta {
    delta: Stop,
}

#[derive(Deserialize)]
struct Stop {
    stop_reason: Option<StopReason>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StopReason {
    MaxTokens,
    ModelContextWindowExceeded,
    Refusal,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Block>,
    stop_reason: Option<StopReason>,
}

/// Parses the data of one event.
pub(crate) fn read(data: &[u8], key: Option<&Secret>) -> Step {
    let step = serde_json::from_slice::<Head>(data).and_then(|head| match head.kind {
        Kind::ContentBlockDelta => {
            let block = serde_json::from_slice::<BlockDelta>(data)?.delta;
            let text = block.text.filter(|_| block.kind == BlockKind::TextDelta).unwrap_or_default();
            Ok(Step { text, end: None })
        }
        Kind::MessageDelta => {
            let stop = serde_json::from_slice::<MessageDelta>(data)?.delta;
            Ok(Step { text: String::new(), end: cut_short(stop.stop_reason) })
        }
        Kind::MessageStop => Ok(Step::ended(End::Complete)),
        Kind::Error => Ok(Step::failed(Problem::read(data, key).within_stream())),
        Kind::Message | Kind::Other => Ok(Step::default()),
    });
    step.unwrap_or_else(|_| {
        Step::failed(Failure::Malformed("it holds something that is not an event of a message"))
    })
}

/// Parses an answer that was not streamed although streaming was requested.
pub(crate) fn whole(body: &[u8], key: Option<&Secret>) -> Step {
    let step = serde_json::from_slice::<Head>(body).and_then(|head| match head.kind {
        Kind::Message => {
            let message = serde_json::from_slice::<Message>(body)?;
            let texts = message.content.into_iter().filter(|block| block.kind == BlockKind::Text);
            Ok(Some(Step {
                text: texts.filter_map(|block| block.text).collect(),
                end: cut_short(message.stop_reason),
            }))
        }
        Kind::Error => Ok(Some(Step::failed(Problem::read(body, key).within_stream()))),
        _ => Ok(None),
    });
    let malformed = || Step::failed(Failure::Malformed("it is not a message"));
    step.ok().flatten().unwrap_or_else(malformed).whole()
}

fn cut_short(reason: Option<StopReason>) -> Option<End> {
    match reason? {
        StopReason::MaxTokens | StopReason::ModelContextWindowExceeded => Some(End::Failed(Failure::TooLong)),
        StopReason::Refusal => Some(End::Failed(Failure::Filtered { message: None })),
        StopReason::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_counts() {
        for (data, text) in [
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\nü"}}"#,
                "a\nü",
            ),
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}"#,
                "",
            ),
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
                "",
            ),
            (r#"{"type":"content_block_delta","delta":{"type":"new_delta","text":"no"}}"#, ""),
            (r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#, ""),
            (r#"{"type":"message_start","message":{"model":"claude","content":[]}}"#, ""),
            (
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{}}"#,
                "",
            ),
            (r#"{"type":"something_new","delta":"?"}"#, ""),
            (r#"{"type": "ping"}"#, ""),
        ] {
            assert_eq!(read(data.as_bytes(), None), Step { text: text.to_owned(), end: None }, "{data}");
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let end_of = |data: &str| read(data.as_bytes(), None).end;
        let stopped =
            |reason| end_of(&format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#));
        assert_eq!(end_of(r#"{"type":"message_stop"}"#), Some(End::Complete));
        assert_eq!(stopped("end_turn"), None);
        assert_eq!(stopped("max_tokens"), Some(End::Failed(Failure::TooLong)));
        assert_eq!(stopped("refusal"), Some(End::Failed(Failure::Filtered { message: None })));
        for data in ["", "{}", "[DONE]", r#"{"type":"content_block_delta"}"#, r#"{"type":7}"#] {
            assert!(matches!(end_of(data), Some(End::Failed(Failure::Malformed(_)))), "{data}");
        }
    }

    #[test]
    fn a_whole_answer_is_read_at_once() {
        let body = br#"{"type":"message","content":[{"type":"thinking","thinking":"hmm"},{"type":"text","text":"Hel"},
            {"type":"text","text":"lo."}],"stop_reason":"end_turn"}"#;
        assert_eq!(whole(body, None), Step { text: "Hello.".to_owned(), end: Some(End::Complete) });
        for body in ["{}", r#"{"type":"ping"}"#, "<html>"] {
            assert!(
                matches!(whole(body.as_bytes(), None).end, Some(End::Failed(Failure::Malformed(_)))),
                "{body}"
            );
        }
    }
}
