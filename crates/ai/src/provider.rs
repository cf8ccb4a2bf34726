//! The client of one provider: sends a request, and retries while that can help and no text has arrived.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use attestry_net::http::{self, root_cause};
use bytes::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, retry};
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use crate::problem::{Problem, clean};
use crate::{Answer, Error, Failure, Kind, Prompt, Settings, Turn, Wait, request};

/// The maximum number of retries.
const RETRIES: u32 = 2;
/// The maximum delay before a retry; if the provider asks for a longer one, the request fails immediately.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(10);
/// The maximum number of bytes of an error response that are read.
const PROBLEM_LIMIT: usize = 64 * 1024;
/// The maximum number of tokens of a check.
const CHECK_TOKENS: u32 = 16;
/// The maximum of all timeouts, regardless of the settings.
const MAX_TIMEOUT: Duration = Duration::from_hours(24);

/// A provider and its connections. Cheap to clone.
#[derive(Clone)]
pub struct Provider(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    endpoint: Url,
    client: Client,
    headers: HeaderMap,
    /// True if the model requires `max_completion_tokens`. Detected when it rejects `max_tokens`, which all others
    /// support.
    completion_tokens: AtomicBool,
}

impl Provider {
    pub fn new(mut settings: Settings) -> Result<Self, Error> {
        if settings.model.trim().is_empty() {
            return Err(Error::Model);
        }
        if settings.max_tokens == 0 {
            return Err(Error::MaxTokens);
        }
        for time in [
            &mut settings.connect_timeout,
            &mut settings.first_byte_timeout,
            &mut settings.idle_timeout,
            &mut settings.total_timeout,
        ] {
            *time = (*time).min(MAX_TIMEOUT);
        }
        let (endpoint, headers) = (request::endpoint(&settings)?, request::headers(&settings)?);
        let client = http::client(&endpoint)
            .connect_timeout(settings.connect_timeout)
            // One connection per answer: closing it stops the answer, and no answer waits for another.
            .http1_only()
            // Retries are decided here.
            .retry(retry::never())
            .build()
            .map_err(|error| Error::Client(root_cause(error).unwrap_or_default()))?;
        let completion_tokens = AtomicBool::new(false);
        Ok(Self(Arc::new(Shared { settings, endpoint, client, headers, completion_tokens })))
    }

    pub fn kind(&self) -> Kind {
        self.0.settings.kind
    }

    /// The configured model.
    pub fn model(&self) -> &str {
        &self.0.settings.model
    }

    /// Sends a prompt and waits for the first event of the answer. Until then, a request that failed for a transient
    /// reason is retried; afterwards never. Dropping the future cancels the request.
    pub async fn ask(&self, prompt: &Prompt) -> Result<Answer, Failure> {
        self.0.ask(prompt, self.0.settings.max_tokens).await
    }

    /// Requests a one-word answer and returns the name of the model. For the operator.
    pub async fn check(&self) -> Result<String, Failure> {
        let prompt = Prompt { system: String::new(), turns: vec![Turn::user("Answer with the word OK.")] };
        let configured = || self.model().to_owned();
        let mut answer = match self.0.ask(&prompt, CHECK_TOKENS).await {
            // A reasoning model has used up its few tokens by thinking, which proves as much.
            Err(Failure::TooLong | Failure::Empty) => return Ok(configured()),
            answer => answer?,
        };
        while let Some(text) = answer.next().await {
            match text {
                Ok(_) | Err(Failure::TooLong | Failure::Empty) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(answer.model().map_or_else(configured, str::to_owned))
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.0.settings).finish()
    }
}

impl Shared {
    async fn ask(self: &Arc<Self>, prompt: &Prompt, max_tokens: u32) -> Result<Answer, Failure> {
        let begun = Instant::now();
        let deadline = begun + self.settings.total_timeout;
        let first_byte = begun + self.settings.first_byte_timeout;
        let body = |completion_tokens| {
            Bytes::from(request::body(&self.settings, prompt, max_tokens, completion_tokens))
        };
        let mut completion_tokens = self.completion_tokens.load(Ordering::Relaxed);
        let (mut question, mut attempt) = (body(completion_tokens), 0);
        loop {
            let failure = match self.attempt(question.clone(), first_byte, deadline).await {
                Ok(answer) => {
                    self.completion_tokens.store(completion_tokens, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            if !completion_tokens && self.wants_completion_tokens(&failure) {
                completion_tokens = true;
                question = body(true);
                continue;
            }
            let pause = failure.retry_after().unwrap_or(self.settings.retry_pause * 2_u32.pow(attempt));
            if attempt == RETRIES
                || !failure.is_passing()
                || pause > MAX_RETRY_PAUSE
                || Instant::now() + pause >= deadline.min(first_byte)
            {
                return Err(failure);
            }
            tracing::debug!(%failure, attempt, "asking the AI provider again");
            attempt += 1;
            sleep(pause).await;
        }
    }

    /// Detects OpenAI's "Unsupported parameter: 'max_tokens' is not supported with this model. Use
    /// 'max_completion_tokens' instead."
    fn wants_completion_tokens(&self, failure: &Failure) -> bool {
        self.settings.kind == Kind::OpenAi
            && matches!(failure, Failure::Refused { status: Some(400), message: Some(message) }
                if message.contains("max_completion_tokens"))
    }

    async fn attempt(
        self: &Arc<Self>,
        question: Bytes,
        first_byte: Instant,
        deadline: Instant,
    ) -> Result<Answer, Failure> {
        let (until, wait) =
            if deadline < first_byte { (deadline, Wait::Total) } else { (first_byte, Wait::FirstByte) };
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone()).body(question);
        let response = match timeout_at(until, request.send()).await {
            Err(_) => return Err(self.timed_out(wait)),
            Ok(Err(error)) => return Err(self.unsent(error)),
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        if status != 200 {
            let retry_after = retry_after(response.headers());
            let body = read_some(response, until).await;
            return Err(Problem::read(&body, self.settings.key.as_ref()).with_status(status, retry_after));
        }
        if is_compressed(&response) {
            return Err(Failure::Malformed("it is compressed"));
        }
        let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type =
            media_type.and_then(|value| value.split(';').next()).map(|value| value.trim().to_lowercase());
        let answer = Answer::new(Arc::clone(self), response, first_byte, deadline);
        match media_type.as_deref() {
            None | Some("text/event-stream") => answer.begin().await,
            Some("application/json") => answer.read_whole().await,
            Some(_) => Err(Failure::Malformed("it is neither a stream of events nor JSON")),
        }
    }

    fn unsent(&self, error: reqwest::Error) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return self.timed_out(Wait::Connect);
        }
        let reason = root_cause(error).and_then(|reason| clean(&reason, self.settings.key.as_ref()));
        Failure::Unreachable { host: http::host(&self.endpoint), reason }
    }

    pub(crate) fn timed_out(&self, wait: Wait) -> Failure {
        let after = match wait {
            Wait::Connect => self.settings.connect_timeout,
            Wait::FirstByte => self.settings.first_byte_timeout,
            Wait::Idle => self.settings.idle_timeout,
            Wait::Total => self.settings.total_timeout,
        };
        Failure::TimedOut { wait, after }
    }
}

fn is_compressed(response: &Response) -> bool {
    response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// Reads the start of a body, as much as arrives in time.
async fn read_some(mut response: Response, until: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    if is_compressed(&response) {
        return body;
    }
    while let Ok(Ok(Some(bytes))) = timeout_at(until, response.chunk()).await {
        body.extend_from_slice(&bytes);
        if body.len() >= PROBLEM_LIMIT {
            body.truncate(PROBLEM_LIMIT);
            break;
        }
    }
    body
}

/// Parses the retry delay, in seconds or in OpenAI's milliseconds. A date is not supported and counts as none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
