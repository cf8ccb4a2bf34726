//! Parses chat completions streamed by OpenAI and compatible providers. Chunks may have no choices, and deltas no
//! text; reasoning (`reasoning_content` and the like) is not part of the answer.

use attestry_net::Secret;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Failure;
use crate::answer::{End, Step};
use crate::problem::{Problem, clean};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Part<'a>>,
    /// Replaces `delta` when the answer is not streamed.
    #[serde(borrow)]
    message: Option<Part<'a>>,
    finish_reason: Option<Finish>,
}

#[derive(Deserialize)]
struct Part<'a> {
    /// A string; with Mistral's reasoning models a list of parts.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finish {
    Length,
    ContentFilter,
    /// Some providers send this instead of null.
    #[serde(rename = "")]
    NotYet,
    #[serde(other)]
    Other,
}

/// Parses the data of one event.
pub(crate) fn read(data: &[u8], key: Option<&Secret>) -> Step {
    if data == b"[DONE]" {
        return Step::ended(End::Complete);
    }
    let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else {
        return Step::failed(Failure::Malformed("it holds something that is not a chat completion"));
    };
    if chunk.error.is_some() {
        return Step::failed(Problem::read(data, key).within_stream());
    }
    let Some(choices) = chunk.choices else {
        // An error without an envelope, or an unexpected message.
        let problem = Problem::read(data, key);
        return match problem.message {
            Some(_) => Step::failed(problem.within_stream()),
            None => Step::default(),
        };
    };
    // Only one choice is ever requested.
    choices.into_iter().next().map_or_else(Step::default, |choice| step(choice, key))
}

/// Parses an answer that was not streamed although streaming was requested.
pub(crate) fn whole(body: &[u8], key: Option<&Secret>) -> Step {
    let is_answer =
        |chunk: Chunk<'_>| chunk.error.is_some() || chunk.choices.is_some_and(|choices| !choices.is_empty());
    if serde_json::from_slice(body).is_ok_and(is_answer) {
        read(body, key).whole()
    } else {
        Step::failed(Failure::Malformed("it is not a chat completion"))
    }
}

fn step(choice: Choice<'_>, key: Option<&Secret>) -> Step {
    let part = choice.delta.or(choice.message);
    let (content, refusal) = part.map_or((None, None), |part| (part.content, part.refusal));
    if let Some(refusal) = refusal.filter(|refusal| !refusal.is_empty()) {
        return Step::failed(Failure::Filtered { message: clean(&refusal, key) });
    }
    let Some(text) = content.map_or_else(|| Some(String::new()), text) else {
        return Step::failed(Failure::Malformed("its text is neither a string nor a list of parts"));
    };
    let end = choice.finish_reason.and_then(|finish| match finish {
        Finish::Length => Some(End::Failed(Failure::TooLong)),
        Finish::ContentFilter => Some(End::Failed(Failure::Filtered { message: None })),
        Finish::NotYet => None,
        Finish::Other => Some(End::Soon),
    });
    Step { text, end }
}

fn text(content: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Piece {
        #[serde(rename = "type")]
        kind: String,
        text: Option<String>,
    }
    if content.get().starts_with('"') {
        return serde_json::from_str(content.get()).ok();
    }
    let pieces: Vec<Piece> = serde_json::from_str(content.get()).ok()?;
    Some(pieces.into_iter().filter(|piece| piece.kind == "text").filter_map(|piece| piece.text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(data: &str) -> String {
        let step = read(data.as_bytes(), None);
        assert!(step.end.is_none(), "{data}: {:?}", step.end);
        step.text
    }

    fn end_of(data: &str) -> Option<End> {
        read(data.as_bytes(), None).end
    }

    #[test]
    fn only_text_counts() {
        for (data, text) in [
            (
                r#"{"choices":[{"index":0,"delta":{"content":"a\n\u00fc\ud83d\ude00"},"finish_reason":null}]}"#,
                "a\nü😀",
            ),
            (r#"{"id":"x","choices":[{"delta":{"role":"assistant","content":null}}]}"#, ""),
            (
                r#"{"choices":[{"delta":{"reasoning_content":"hmm","reasoning":"hmm"},"finish_reason":""}]}"#,
                "",
            ),
            (r#"{"choices":[{"delta":null}]}"#, ""),
            (r#"{"choices":[],"prompt_filter_results":[]}"#, ""),
            (r#"{"choices":[],"usage":{"total_tokens":7},"error":null}"#, ""),
            (r#"{"choices":null}"#, ""),
            (
                r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"b"}]}}]}"#,
                "b",
            ),
        ] {
            assert_eq!(text_of(data), text, "{data}");
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let finished =
            |reason: &str| end_of(&format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#));
        assert_eq!(end_of("[DONE]"), Some(End::Complete));
        assert_eq!(finished("stop"), Some(End::Soon));
        assert_eq!(finished("length"), Some(End::Failed(Failure::TooLong)));
        assert_eq!(finished("content_filter"), Some(End::Failed(Failure::Filtered { message: None })));
        assert_eq!(
            end_of(r#"{"choices":[{"delta":{"refusal":"I cannot."}}]}"#),
            Some(End::Failed(Failure::Filtered { message: Some("I cannot".to_owned()) }))
        );
        assert_eq!(
            end_of(r#"{"object":"error","message":"Gone.","code":500}"#),
            Some(End::Failed(Failure::Overloaded { status: None, message: Some("Gone".to_owned()) }))
        );
        for data in ["", "{", "hello", "[1]", r#"{"choices":7}"#, r#"{"choices":[{"delta":{"content":7}}]}"#]
        {
            assert!(matches!(end_of(data), Some(End::Failed(Failure::Malformed(_)))), "{data}");
        }
    }

    #[test]
    fn a_whole_answer_is_read_at_once() {
        let body =
            br#"{"choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}"#;
        assert_eq!(whole(body, None), Step { text: "Hello.".to_owned(), end: Some(End::Complete) });
        for body in ["{}", r#"{"choices":[]}"#, "null", "<html>"] {
            assert!(
                matches!(whole(body.as_bytes(), None).end, Some(End::Failed(Failure::Malformed(_)))),
                "{body}"
            );
        }
    }
}
