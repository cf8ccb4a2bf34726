//! The answer while it arrives. Whatever is known so far is kept in it, and nothing in a future: a caller may stop
//! waiting for the next text at any time and go on later, and no time limit begins anew by that.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};

use crate::events::{Events, TooLarge};
use crate::provider::Shared;
use crate::{Failure, Kind, Wait, anthropic, openai};

/// The most bytes of text in one answer, far more than any model gives.
const TEXT_LIMIT: usize = 8 * 1024 * 1024;
/// The most bytes that are read of one answer, with everything around its text: names of events, comments, JSON.
const WHOLE_LIMIT: usize = 4 * TEXT_LIMIT;
/// How long an OpenAI-compatible provider may take to add `[DONE]` after it has told why it stopped.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What one event brought.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) end: Option<End>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum End {
    /// The provider has told why it stopped, and may have something to add.
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

    /// The same when nothing can follow.
    pub(crate) fn whole(mut self) -> Self {
        if !matches!(self.end, Some(End::Failed(_))) {
            self.end = Some(End::Complete);
        }
        self
    }
}

/// An answer that has begun. Dropping it closes the connection to the provider at once, and so stops the model.
pub struct Answer {
    shared: Arc<Shared>,
    /// None once everything is said.
    response: Option<reqwest::Response>,
    events: Events,
    model: Option<String>,
    /// Not given out yet.
    text: String,
    /// Bytes of text so far, and bytes received for them.
    length: usize,
    received: usize,
    /// Set by the first text that is more than white space.
    has_text: bool,
    end: Option<End>,
    /// By when the next bytes must be here. None while nobody waits for them.
    patience: Option<(Instant, Wait)>,
    /// By when everything must be here.
    deadline: Instant,
}

impl Answer {
    /// The beginning of an answer. The first bytes must be here by `first_byte`.
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

    /// The next piece of text, never empty. None after the provider has said that the answer is complete, or after
    /// a failure. May be cancelled and called again; nothing is lost by that.
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

    /// The model that answers, as the provider names it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Reads the first event. A failure in place of any text is one of the whole question.
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

    /// Reads until one more event was understood, or until there is none.
    async fn read_event(&mut self) {
        loop {
            match self.events.next() {
                // Keeps the connection awake.
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

    /// The next bytes, or none after the last.
    async fn receive(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(response) = &mut self.response else { return Ok(None) };
        let idle = match self.end {
            Some(End::Soon) => LAST_WORDS,
            _ => self.shared.settings.idle_timeout,
        };
        // Begins when somebody waits, so that a slow reader is not taken for a slow provider.
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
            // Whatever follows the reason to stop does not take it back.
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

    /// Reads what is left after the end, which is next to nothing, beside the caller: only then can the connection
    /// serve the next question.
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

/// The model's name in an OpenAI chunk, in the beginning of an Anthropic message, or in a whole answer.
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
