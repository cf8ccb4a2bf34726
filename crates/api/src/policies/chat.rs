//! `POST /v1/policies/{id}/ai-chat`: the assistant's response as a stream, in the framing of the AI SDK's UI
//! messages.

use std::convert::Infallible;

use attestry_ai::{Role, Turn};
use attestry_app::policies::chat::{self, AnswerPart, Conversation, Question};
use attestry_domain::access::grant;
use attestry_domain::content::markdown;
use attestry_domain::id::kind;
use attestry_domain::text::Text;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::streams::{self, done};
use attestry_http::document::schemas::schema;
use attestry_http::request::caller::GrantedForLong;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::PathId;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

const MAX_TURNS: usize = 100;
const MAX_HISTORY_CHARS: usize = 200_000;
const FRAMING: HeaderName = HeaderName::from_static("x-vercel-ai-ui-message-stream");

attestry_domain::words! {
    /// The author of a message.
    Speaker {
        User = "user",
        Assistant = "assistant",
    }
}

/// Text without NUL characters.
#[derive(Clone, Debug)]
pub(crate) struct Anything(String);

impl FromJson for Anything {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let text = json.text()?;
        match text.contains('\0') {
            true => Err("must not contain the character NUL".to_owned()),
            false => Ok(Self(text.into_owned())),
        }
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "string"}))
    }
}

body! {
    /// An earlier message.
    ChatTurn {
        role "role": required Speaker = "The author of the message.",
        content "content": required Anything = "The text of the message.",
    }
    example json!({"role": "user", "content": "Who approves exceptions?"})
}

/// The earlier messages.
#[derive(Clone, Debug)]
pub(crate) struct History(Vec<ChatTurn>);

impl FromJson for History {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let turns: Vec<ChatTurn> = json.each_body(MAX_TURNS)?;
        let length: usize = turns.iter().map(|turn| turn.content.0.chars().count()).sum();
        match length <= MAX_HISTORY_CHARS {
            true => Ok(Self(turns)),
            false => Err(format!("must have at most {MAX_HISTORY_CHARS} characters in all; it has {length}")),
        }
    }

    fn schema() -> RefOr<Schema> {
        let turn = json!(ChatTurn::schema());
        schema(json!({"type": "array", "maxItems": MAX_TURNS, "items": turn}))
    }
}

body! {
    /// A request to the assistant.
    AskAboutPolicy (Large) {
        instructions "instructions": required Text<1, 10_000> = "The change to make, or a question.",
        chat_history "chatHistory": optional History = "The earlier messages, oldest first; at most 200,000 characters in all.",
    }
    example json!({
        "instructions": "Rename the Security Lead to CISO.",
        "chatHistory": [{"role": "user", "content": "Who approves exceptions?"}, {"role": "assistant", "content": "The Security Lead."}]
    })
}

/// An event of the stream.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Piece<'a> {
    Start,
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    DataPolicy {
        data: Value,
    },
    Error {
        #[serde(rename = "errorText")]
        error_text: &'a str,
    },
    Finish,
}

/// The id of the only text of a response.
const TEXT: &str = "0";

fn event(piece: &Piece<'_>) -> Event {
    // Serialization cannot fail: every field is text.
    Event::default().data(serde_json::to_string(piece).unwrap_or_default())
}

/// The state of a response.
enum Stage {
    Text,
    /// The text has ended, because a policy or an error arrived.
    Closed,
    Over,
}

fn events(conversation: Conversation) -> impl Stream<Item = Result<Event, Infallible>> {
    let opening = [event(&Piece::Start), event(&Piece::TextStart { id: TEXT })];
    let rest = stream::unfold((conversation, Stage::Text), |(mut conversation, mut stage)| async move {
        let mut events = Vec::new();
        match (conversation.next().await, &stage) {
            (_, Stage::Over) => return None,
            (Some(Ok(AnswerPart::Text(delta))), Stage::Text) => {
                events.push(event(&Piece::TextDelta { id: TEXT, delta: &delta }));
            }
            // Text after a policy is dropped.
            (Some(Ok(AnswerPart::Text(_))), Stage::Closed) => {}
            (Some(Ok(AnswerPart::Policy(content))), _) => {
                close(&mut stage, &mut events);
                let data = json!({"markdown": markdown::write(&content), "content": content});
                events.push(event(&Piece::DataPolicy { data }));
            }
            (Some(Err(error_text)), _) => {
                close(&mut stage, &mut events);
                events.extend([event(&Piece::Error { error_text: &error_text }), done()]);
                stage = Stage::Over;
            }
            (None, _) => {
                close(&mut stage, &mut events);
                events.extend([event(&Piece::Finish), done()]);
                stage = Stage::Over;
            }
        }
        Some((stream::iter(events), (conversation, stage)))
    });
    stream::iter(opening).chain(rest.flatten()).fuse().map(Ok)
}

fn close(stage: &mut Stage, events: &mut Vec<Event>) {
    if matches!(stage, Stage::Text) {
        events.push(event(&Piece::TextEnd { id: TEXT }));
        *stage = Stage::Closed;
    }
}

/// Asks the assistant about a policy, and streams its response
///
/// A stream of server-sent events in the framing of the AI SDK's UI messages: `start`, `text-start`, `text-delta` …,
/// `text-end`, then `data-policy` with `markdown` and `content` if the response has a whole new policy, `finish`, and
/// `[DONE]`. A failure in the middle is an `error` event. Nothing is saved: apply a proposal with `PATCH`, or part of
/// it with `POST /v1/policies/{id}/diff`.
#[utoipa::path(
    post, path = "/v1/policies/{id}/ai-chat", tag = "Policies", request_body = AskAboutPolicy,
    responses(
        (status = 200, content_type = "text/event-stream", body = String, description = "The answer, as it comes.",
         example = json!("data: {\"type\":\"start\"}\n\ndata: {\"type\":\"text-start\",\"id\":\"0\"}\n\ndata: {\"type\":\"text-delta\",\"id\":\"0\",\"delta\":\"I renamed it.\"}\n\ndata: {\"type\":\"text-end\",\"id\":\"0\"}\n\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n")),
        (status = 502, description = "The AI provider failed before it began to answer."),
        (status = 503, description = "No AI provider is configured, or it takes no more requests for now."),
    )
)]
pub(crate) async fn ask_about_policy(
    api: State<Api>,
    caller: GrantedForLong<grant::PolicyUpdate>,
    id: PathId<kind::Policy>,
    body: Valid<AskAboutPolicy>,
) -> Result<Response, Problem> {
    let AskAboutPolicy { instructions, chat_history } = body.0;
    let turn = |ChatTurn { role, content: Anything(content) }| Turn {
        role: match role {
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
        },
        content,
    };
    let history =
        chat_history.map(|History(turns)| turns.into_iter().map(turn).collect()).unwrap_or_default();
    let question = Question { instructions: instructions.as_str().to_owned(), history };
    let conversation = chat::ask(&api.ctx, caller.lasting(), id.found()?, question).await?;
    let framing = [(FRAMING, HeaderValue::from_static("v1"))];
    Ok((framing, streams::stream(&api, events(conversation))).into_response())
}
