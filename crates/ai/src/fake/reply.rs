//! Scripted replies to a request.

use std::time::Duration;

use serde_json::{Value, json};

use super::MODEL;
use crate::Kind;

/// One reply. Built from its steps, in order; a reply that neither hangs nor breaks off ends the body properly.
#[derive(Clone, Debug)]
pub struct Reply {
    /// `None` if not even the head is sent.
    pub(super) head: Option<Head>,
    pub(super) acts: Vec<Act>,
    /// Sends each byte separately.
    pub(super) slowly: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Begin,
    Text(String),
    Finish(Option<&'static str>),
    Error(String, String),
    Raw(Vec<u8>),
    Pause(Duration),
    Wait,
    Hang,
    BreakOff,
}

impl Reply {
    /// A complete answer in pieces, streamed like a provider does.
    pub fn text<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        pieces.into_iter().fold(Self::stream().begins(), Self::says).ends()
    }

    /// The head of an event stream without events.
    pub fn stream() -> Self {
        Self::with(200, "text/event-stream; charset=utf-8", Vec::new())
    }

    /// A JSON body that is not streamed.
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::with(status, "application/json", vec![Act::Raw(body.into())])
    }

    /// An HTML page, as sent by web servers that are not a provider.
    pub fn page(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::with(status, "text/html", vec![Act::Raw(body.into())])
    }

    /// Accepts the request and never responds.
    pub fn silence() -> Self {
        Self { head: None, acts: vec![Act::Hang], slowly: false }
    }

    /// Accepts the request and closes the connection.
    pub fn no_answer() -> Self {
        Self { head: None, acts: vec![Act::BreakOff], slowly: false }
    }

    fn with(status: u16, content_type: &str, acts: Vec<Act>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { head: Some(Head { status, headers }), acts, slowly: false }
    }

    /// Adds or replaces a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(head) = &mut self.head {
            head.headers.retain(|(header, _)| header != name);
            head.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sends the events before any text.
    #[must_use]
    pub fn begins(self) -> Self {
        self.then(Act::Begin)
    }

    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.then(Act::Text(text.to_owned()))
    }

    /// Sends the events after the last text.
    #[must_use]
    pub fn ends(self) -> Self {
        self.then(Act::Finish(None))
    }

    /// Sends the events after the last text, with the provider's own name of another finish reason.
    #[must_use]
    pub fn ends_because(self, reason: &'static str) -> Self {
        self.then(Act::Finish(Some(reason)))
    }

    /// Sends an error within the stream.
    #[must_use]
    pub fn errs(self, name: &str, message: &str) -> Self {
        self.then(Act::Error(name.to_owned(), message.to_owned()))
    }

    /// Sends these bytes verbatim.
    #[must_use]
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Act::Raw(bytes.into()))
    }

    #[must_use]
    pub fn pauses(self, pause: Duration) -> Self {
        self.then(Act::Pause(pause))
    }

    /// Waits for [`super::FakeProvider::cue`].
    #[must_use]
    pub fn waits(self) -> Self {
        self.then(Act::Wait)
    }

    /// Sends no more and leaves the connection open.
    #[must_use]
    pub fn hangs(self) -> Self {
        self.then(Act::Hang)
    }

    /// Closes the connection without ending the body.
    #[must_use]
    pub fn breaks_off(self) -> Self {
        self.then(Act::BreakOff)
    }

    /// Sends each byte separately.
    #[must_use]
    pub fn slowly(mut self) -> Self {
        self.slowly = true;
        self
    }

    fn then(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}

impl Act {
    /// The bytes that this step sends, if any.
    pub(super) fn bytes(&self, kind: Kind) -> Option<Vec<u8>> {
        let events = match (kind, self) {
            (_, Self::Raw(bytes)) => return Some(bytes.clone()),
            (Kind::OpenAi, Self::Begin) => chunk(&json!({ "role": "assistant", "content": "" }), None),
            (Kind::OpenAi, Self::Text(text)) => chunk(&json!({ "content": text }), None),
            (Kind::OpenAi, Self::Finish(reason)) => {
                chunk(&json!({}), Some(reason.unwrap_or("stop"))) + "data: [DONE]\n\n"
            }
            (Kind::OpenAi, Self::Error(name, message)) => {
                let error =
                    json!({ "error": { "message": message, "type": name, "param": null, "code": null } });
                format!("data: {error}\n\n")
            }
            (Kind::Anthropic, Self::Begin) => {
                let message = json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
                    "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 }
                });
                let block = json!({ "type": "text", "text": "" });
                event("message_start", &json!({ "message": message }))
                    + &event("content_block_start", &json!({ "index": 0, "content_block": block }))
                    + &event("ping", &json!({}))
            }
            (Kind::Anthropic, Self::Text(text)) => event(
                "content_block_delta",
                &json!({ "index": 0, "delta": { "type": "text_delta", "text": text } }),
            ),
            (Kind::Anthropic, Self::Finish(reason)) => {
                let delta = json!({ "stop_reason": reason.unwrap_or("end_turn"), "stop_sequence": null });
                event("content_block_stop", &json!({ "index": 0 }))
                    + &event("message_delta", &json!({ "delta": delta, "usage": { "output_tokens": 7 } }))
                    + &event("message_stop", &json!({}))
            }
            (Kind::Anthropic, Self::Error(name, message)) => {
                event("error", &json!({ "error": { "type": name, "message": message } }))
            }
            (_, Self::Pause(_) | Self::Wait | Self::Hang | Self::BreakOff) => return None,
        };
        Some(events.into_bytes())
    }
}

fn chunk(delta: &Value, finish_reason: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": MODEL,
        "choices": [choice]
    });
    format!("data: {chunk}\n\n")
}

fn event(name: &str, data: &Value) -> String {
    let mut data = data.clone();
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}
