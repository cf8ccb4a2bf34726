//! A streamed answer. All its state is in the value and none in a future: a caller may cancel waiting for the next
//! text at any time and continue later, without restarting a timeout.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};

use crate::events::{Events, TooLarge};
use crate::provider::Shared;
use crate::{Failure, Kind, Wait, anthropic, openai};

/// The maximum number of bytes of text in one answer, far more than any model returns.
const TEXT_LIMIT: usize = 8 * 1024 * 1024;
/// The maximum number of bytes read for one answer, including event names, comments and JSON.
const WHOLE_LIMIT: usize = 4 * TEXT_LIMIT;
/// The maximum time for an OpenAI-compatible provider to send `[DONE]` after its finish reason.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The content of one event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) end: Option<End>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum End {
    /// The provider has sent its finish reason, and may send more.
    Soon,
    Complete,
    Failed(Failure),
}

impl Step {
    pub(crate) fn ended(end: End) -> Self {
        Self { text: String::new(), end: Some(end) }
    }

    pub(crate) fn failed(failure: Failure) -> Self {
        Self::ended(End::Failed(failure))
    }

    /// Completes the step, when no event can follow.
    pub(crate) fn whole(mut self) -> Self {
        if !matches!(self.end, Some(End::Failed(_))) {
            self.end = Some(End::Complete);
        }
        self
    }
}

/// An answer that has started. Dropping it closes the connection to the provider immediately, which stops the model.
pub struct Answer {
    shared: Arc<Shared>,
    /// `None` once the answer has ended.
    response: Option<reqwest::Response>,
    events: Events,
    model: Option<String>,
    /// Text not returned yet.
    text: String,
    /// The number of text bytes so far, and of bytes received for them.
    length: usize,
    received: usize,
    /// True after the first text that is more than white space.
    has_text: bool,
    end: Option<End>,
    /// The deadline for the next bytes. `None` while the caller does not wait for them.
    patience: Option<(Instant, Wait)>,
    /// The deadline for the whole answer.
    deadline: Instant,
}

impl Answer {
    /// Wraps a response. Its first bytes must arrive by `first_byte`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        response: reqwest::Response,
        first_byte: Instant,
        deadline: Instant,
    ) -> Self {
        Self {
            shared,
            response: Some(response),
            events: Events::default(),
            model: None,
            text: String::new(),
            length: 0,
            received: 0,
            has_text: false,
            end: None,
            patience: Some((first_byte, Wait::FirstByte)),
            deadline,
        }
    }

    /// Returns the next piece of text, never empty; `None` after the provider has completed the answer, or after a
    /// failure. Cancel-safe: it can be called again without losing text.
    pub async fn next(&mut self) -> Option<Result<String, Failure>> {
        loop {
            if !self.text.is_empty() {
                return Some(Ok(std::mem::take(&mut self.text)));
            }
            match &self.end {
                None | Some(End::Soon) => self.read_event().await,
                Some(End::Complete) => return None,
                Some(End::Failed(_)) => {
                    let Some(End::Failed(failure)) = self.end.replace(End::Complete) else { return None };
                    return Some(Err(failure));
                }
            }
        }
    }

    /// The name of the model, as reported by the provider.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Reads the first event. A failure before any text is a failure of the whole request.
    pub(crate) async fn begin(mut self) -> Result<Self, Failure> {
        self.read_event().await;
        self.begun()
    }

    /// Reads an answer that is not streamed.
    pub(crate) async fn read_whole(mut self) -> Result<Self, Failure> {
        let mut body = Vec::new();
        while let Some(bytes) = self.receive().await? {
            body.extend_from_slice(&bytes);
        }
        self.model = named(&body);
        let key = self.shared.settings.key.as_ref();
        let step = match self.shared.settings.kind {
            Kind::OpenAi => openai::whole(&body, key),
            Kind::Anthropic => anthropic::whole(&body, key),
        };
        self.apply(step);
        self.begun()
    }

    fn begun(mut self) -> Result<Self, Failure> {
        match self.end {
            Some(End::Failed(failure)) if self.text.is_empty() => Err(failure),
            end => {
                self.end = end;
                Ok(self)
            }
        }
    }

    /// Reads until the next event is parsed or the stream ends.
    async fn read_event(&mut self) {
        loop {
            match self.events.next() {
                // A keep-alive.
                Ok(Some([])) => continue,
                Ok(Some(data)) => {
                    self.model = self.model.take().or_else(|| named(data));
                    let key = self.shared.settings.key.as_ref();
                    let step = match self.shared.settings.kind {
                        Kind::OpenAi => openai::read(data, key),
                        Kind::Anthropic => anthropic::read(data, key),
                    };
                    return self.apply(step);
                }
                Ok(None) => {}
                Err(TooLarge) => return self.fail(Failure::Malformed("one of its events is too large")),
            }
            match self.receive().await {
                Ok(Some(bytes)) => self.events.push(bytes),
                Ok(None) | Err(_) if self.end == Some(End::Soon) => {
                    return self.apply(Step::ended(End::Complete));
                }
                Ok(None) => return self.fail(Failure::ClosedEarly),
                Err(failure) => return self.fail(failure),
            }
        }
    }

    /// Receives the next bytes; `None` after the last.
    async fn receive(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(response) = &mut self.response else { return Ok(None) };
        let idle = match self.end {
            Some(End::Soon) => LAST_WORDS,
            _ => self.shared.settings.idle_timeout,
        };
        // Starts when the caller waits, so that a slow reader is not mistaken for a slow provider.
        let (patience, wait) = *self.patience.get_or_insert_with(|| (Instant::now() + idle, Wait::Idle));
        let (until, wait) =
            if self.deadline < patience { (self.deadline, Wait::Total) } else { (patience, wait) };
        let received = timeout_at(until, response.chunk()).await;
        self.patience = None;
        let bytes = match received {
            Ok(bytes) => bytes.map_err(|_| Failure::ClosedEarly)?,
            Err(_) => return Err(self.shared.timed_out(wait)),
        };
        self.received += bytes.as_ref().map_or(0, Bytes::len);
        if self.received > WHOLE_LIMIT {
            return Err(Failure::Malformed("it is too large"));
        }
        Ok(bytes)
    }

    fn apply(&mut self, step: Step) {
        self.length += step.text.len();
        if self.length > TEXT_LIMIT {
            return self.fail(Failure::Malformed("it is too large"));
        }
        self.has_text |= !step.text.trim().is_empty();
        self.text = step.text;
        match step.end {
            // Events after the finish reason do not revoke it.
            None => {}
            Some(End::Soon) => self.end = Some(End::Soon),
            Some(End::Complete) => {
                let is_empty = !self.has_text;
                self.end = Some(if is_empty { End::Failed(Failure::Empty) } else { End::Complete });
                self.give_back();
            }
            Some(End::Failed(failure)) => self.fail(failure),
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.response = None;
        self.end = Some(End::Failed(failure));
    }

    /// Reads the few bytes after the end in a background task, because only then can the connection be reused.
    fn give_back(&mut self) {
        let Some(mut response) = self.response.take() else { return };
        tokio::spawn(async move {
            let rest = async { while matches!(response.chunk().await, Ok(Some(_))) {} };
            drop(timeout(LAST_WORDS, rest).await);
        });
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("model", &self.model).field("end", &self.end).finish_non_exhaustive()
    }
}

/// The model's name in an OpenAI chunk, at the start of an Anthropic message, or in a complete answer.
fn named(data: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
        message: Option<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        model: Option<String>,
    }
    let named: Named = serde_json::from_slice(data).ok()?;
    named.model.or_else(|| named.message?.model).filter(|model| !model.is_empty())
}
