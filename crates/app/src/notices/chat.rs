//! Channels of chat services, and the messages that they are sent.

use std::collections::BTreeMap;
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{ChatChannelId, OrganizationId};
use attestry_domain::identity::chat_channels::{ChatChannel, ChatKind, Delivery, SendingState, WebhookUrl};
use attestry_domain::identity::notices::Notice;
use attestry_domain::text::{Name, Parse};
use attestry_egress::{Refusal, Request};
use attestry_storage::chat_channels::{self, SealedChannel};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// The maximum number of channels per organization.
const MAX_CHANNELS: usize = 20;
/// The maximum number of lines in one message.
const MAX_LINES: usize = 20;
/// The maximum number of characters of a line; services cut long messages.
const MAX_LINE_CHARS: usize = 500;
/// The maximum number of bytes of the lines of a message to Slack, after escaping.
const MAX_SLACK_BYTES: usize = 6_000;
/// The maximum number of bytes of the lines of a message to Teams, as JSON. Teams rejects messages above 28 KB.
const MAX_TEAMS_BYTES: usize = 20_000;

/// The timeout of a delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which a delivery whose worker died no longer delays the channel.
const DELIVERY_LEASE: Duration = Duration::from_secs(15);
/// The delay of a message whose channel has another message in flight.
const IN_FLIGHT_DELAY: Duration = Duration::from_secs(1);
/// The maximum pause of a channel, as far as the service asks for none.
const MAX_BACKOFF: Duration = Duration::from_mins(15);
/// The maximum pause that a service can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
/// The age after which a message is not retried.
const MAX_AGE: Duration = Duration::from_hours(8);

const CHANNEL: &str = "chat_channel";
const MISSING: Error = Error::NotFound("chat channel");
const PURPOSE: &str = "chat channel";

/// The journal's state of a channel.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordedChannel<'a> {
    #[serde(flatten)]
    channel: &'a ChatChannel,
    /// Changes with the address. A hash of the ciphertext, which has a random nonce, so that it reveals nothing.
    url_fingerprint: String,
}

fn recorded(sealed: &SealedChannel) -> RecordedChannel<'_> {
    let url_fingerprint = hex(&sha256(&sealed.sealed)[..8]);
    RecordedChannel { channel: &sealed.channel, url_fingerprint }
}

/// A channel to add.
#[derive(Clone, Debug)]
pub struct NewChannel {
    pub name: Name,
    pub kind: ChatKind,
    pub url: WebhookUrl,
    pub notices: Vec<Notice>,
}

/// A change of a channel.
#[derive(Clone, Debug, Default)]
pub struct ChannelPatch {
    pub name: Option<Name>,
    pub kind: Option<ChatKind>,
    pub url: Option<WebhookUrl>,
    pub notices: Option<Vec<Notice>>,
    pub is_active: Option<bool>,
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<ChatChannel>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| chat_channels::list(t, &scope).await).await?)
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewChannel) -> Result<ChatChannel, Error> {
    let sealed = ctx.keys.seal(PURPOSE, new.url.as_str().as_bytes())?;
    ctx.change(scope, async move |c| {
        if chat_channels::list(c.t, c.scope).await?.len() >= MAX_CHANNELS {
            return Err(Error::Conflict {
                code: "too_many_chat_channels",
                message: format!(
                    "An organization has at most {MAX_CHANNELS} chat channels; delete one that is not used."
                ),
            });
        }
        let channel = ChatChannel {
            id: c.next_id(),
            organization_id: c.organization(),
            name: new.name.clone(),
            kind: new.kind,
            url_hint: new.url.hint(),
            notices: new.notices.clone(),
            is_active: true,
            last_delivery: None,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        let sealed = SealedChannel { channel, sealed: sealed.clone(), sending: SendingState::default() };
        c.record("chat_channel.created", CHANNEL, sealed.channel.id, &recorded(&sealed))?;
        chat_channels::put(c.t, c.scope, &sealed).await?;
        Ok(sealed.channel)
    })
    .await
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: ChatChannelId,
    patch: ChannelPatch,
    precondition: Precondition,
) -> Result<ChatChannel, Error> {
    let url = match &patch.url {
        Some(url) => Some((ctx.keys.seal(PURPOSE, url.as_str().as_bytes())?, url.clone())),
        None => None,
    };
    ctx.change(scope, async move |c| {
        let before = chat_channels::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.channel.version])?;
        let mut after = before.clone();
        let ChannelPatch { name, kind, notices, is_active, url: _ } = patch.clone();
        let channel = &mut after.channel;
        channel.name = name.unwrap_or_else(|| before.channel.name.clone());
        channel.kind = kind.unwrap_or(before.channel.kind);
        channel.notices = notices.unwrap_or_else(|| before.channel.notices.clone());
        channel.is_active = is_active.unwrap_or(before.channel.is_active);
        if let Some((sealed, url)) = &url
            && text_of(c.ctx, &before)? != url.as_str()
        {
            channel.url_hint = url.hint();
            after.sealed.clone_from(sealed);
        }
        if after.channel == before.channel && after.sealed == before.sealed {
            return Ok(before.channel);
        }
        after.channel.updated_at = c.now;
        after.channel.version += 1;
        chat_channels::put(c.t, c.scope, &after).await?;
        if after.sealed != before.sealed || after.channel.is_active != before.channel.is_active {
            // The pause was about the previous address.
            let leased_until = before.sending.leased_until;
            after.sending = SendingState { leased_until, ..SendingState::default() };
            chat_channels::put_state(c.t, c.scope, &after).await?;
        }
        c.record("chat_channel.updated", CHANNEL, id, &recorded(&after))?;
        Ok(after.channel)
    })
    .await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: ChatChannelId,
    precondition: Precondition,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let before = chat_channels::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.channel.version])?;
        chat_channels::delete(c.t, c.scope, id).await?;
        c.record_gone("chat_channel.deleted", CHANNEL, id);
        Ok(())
    })
    .await
}

/// Sends a test message, also to a channel that is switched off.
#[boxed]
pub async fn test(ctx: &Ctx, scope: &Scope, id: ChatChannelId) -> Result<ChatChannel, Error> {
    ctx.change(scope, async move |c| {
        let found = chat_channels::get(c.t, c.scope, id).await?.ok_or(MISSING)?;
        let message = Message {
            title: "Test message".to_owned(),
            lines: vec![format!("Notifications for “{}” arrive in this channel.", found.channel.name)],
        };
        let (organization, created_at) = (c.organization(), c.now);
        c.enqueue(&ChatMessage { organization, channel: id, message, is_test: true, created_at }).await?;
        c.record("chat_channel.tested", CHANNEL, id, &recorded(&found))?;
        Ok(found.channel)
    })
    .await
}

/// The lines for channels, by kind of notification: each with the people it is for.
pub(crate) type Heard = BTreeMap<Notice, BTreeMap<String, Vec<String>>>;

/// The maximum number of people that a line names.
const MAX_NAMED: usize = 3;

fn title(notice: Notice) -> &'static str {
    match notice {
        Notice::Assigned => "Assigned",
        Notice::DueSoon => "Due soon",
        Notice::Overdue => "Overdue",
        Notice::Automations => "Automations",
        Notice::Policies => "Policies and statements",
        Notice::Portal => "Trust portal",
        Notice::Mentioned => "Mentioned",
    }
}

fn line((line, people): (&String, &Vec<String>)) -> String {
    let named = people.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match people.len().saturating_sub(MAX_NAMED) {
        _ if people.is_empty() => line.clone(),
        0 => format!("{line} ({named})"),
        more => format!("{line} ({named} and {more} more)"),
    }
}

/// Sends the notifications of a change to the channels that hear of them.
pub(crate) async fn tell(c: &Change<'_>, mut heard: Heard) -> Result<(), Error> {
    heard.remove(&Notice::Mentioned);
    if heard.is_empty() {
        return Ok(());
    }
    let channels = chat_channels::list(c.t, c.scope).await?;
    for channel in channels.iter().filter(|channel| channel.is_active) {
        for (notice, lines) in heard.iter().filter(|(notice, _)| channel.notices.contains(notice)) {
            let mut shown: Vec<String> = lines.iter().take(MAX_LINES).map(line).collect();
            if lines.len() > MAX_LINES {
                shown.push(format!("and {} more", lines.len() - MAX_LINES));
            }
            let message = Message { title: title(*notice).to_owned(), lines: shown };
            let (organization, channel, created_at) = (c.organization(), channel.id, c.now);
            c.enqueue(&ChatMessage { organization, channel, message, is_test: false, created_at }).await?;
        }
    }
    Ok(())
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    title: String,
    lines: Vec<String>,
}

/// Returns the beginning of a line, without control characters.
fn cut(line: &str) -> String {
    let char_of = |c: char| if c.is_control() { ' ' } else { c };
    let mut cut: String = line.chars().map(char_of).take(MAX_LINE_CHARS).collect();
    if line.chars().nth(MAX_LINE_CHARS).is_some() {
        cut.pop();
        cut.push('…');
    }
    cut
}

/// Escapes text for Slack and Mattermost. The zero-width spaces prevent Mattermost's mentions and links.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', "@\u{200b}")
        .replace("](", "]\u{200b}(")
}

/// Keeps the first lines that have at most `limit` bytes together; `ellipsis` replaces the others.
fn fit<T>(lines: Vec<T>, limit: usize, size: impl Fn(&T) -> usize, ellipsis: impl FnOnce() -> T) -> Vec<T> {
    let mut total = 0;
    let fitting = lines.iter().take_while(|line| {
        total += size(line);
        total <= limit
    });
    let (count, all) = (fitting.count(), lines.len());
    let mut lines = lines;
    lines.truncate(count);
    if count < all {
        lines.push(ellipsis());
    }
    lines
}

impl Message {
    /// The body in the format of the service. No text is read as markup.
    fn body(&self, kind: ChatKind, link: &str) -> Value {
        match kind {
            // Everything is in `text`, because Mattermost ignores blocks.
            ChatKind::Slack => {
                let lines = self.lines.iter().map(|line| format!("• {}", escape(&cut(line)))).collect();
                let lines = fit(lines, MAX_SLACK_BYTES, String::len, || "• …".to_owned());
                let text = format!("{}\n{}\n{link}", escape(&self.title), lines.join("\n"));
                json!({"text": text, "mrkdwn": false})
            }
            ChatKind::Teams => {
                let run = |text: String, weight: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]});
                let line = |text: &str| run(format!("• {text}"), "default");
                let lines = self.lines.iter().map(|text| line(&cut(text))).collect();
                let lines = fit(lines, MAX_TEAMS_BYTES, |line: &Value| line.to_string().len(), || line("…"));
                let mut body = vec![run(self.title.clone(), "bolder")];
                body.extend(lines);
                json!({
                    "type": "message",
                    "attachments": [{
                        "contentType": "application/vnd.microsoft.card.adaptive",
                        "content": {
                            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                            "type": "AdaptiveCard", "version": "1.4", "body": body,
                            "actions": [{"type": "Action.OpenUrl", "title": "Open Attestry", "url": link}]
                        }
                    }]
                })
            }
        }
    }
}

/// Sends a message to a channel.
///
/// A channel has one message in flight at a time. After a transient failure the whole channel pauses, so that its
/// messages do not occupy the workers of other channels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChatMessage {
    organization: OrganizationId,
    channel: ChatChannelId,
    message: Message,
    is_test: bool,
    created_at: Time,
}

/// The next step of a message.
enum Step {
    /// The channel was deleted or switched off.
    Drop,
    Wait(Time),
    Expire,
    Send(Box<SealedChannel>),
}

impl Job for ChatMessage {
    const KIND: &'static str = "chat_message";
    const MAX_CONCURRENT: usize = 16;
    const MAX_CONCURRENT_PER_ORGANIZATION: i64 = 4;

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "chat-message");
        let found = match self.begin(ctx, &scope).await? {
            Step::Drop => return Ok(Outcome::Done),
            Step::Wait(until) => return Ok(Outcome::Again(until)),
            Step::Expire => return Err(Failure::Fail("the channel was unavailable for too long".to_owned())),
            Step::Send(found) => found,
        };
        let sent = match url_of(ctx, &found) {
            Ok(url) => post(ctx, &url, &self.message.body(found.channel.kind, &ctx.link("/inbox"))).await,
            Err(_) => Err(Undelivered::permanent("the address cannot be used; enter it again")),
        };
        let (channel, is_test, deadline) = (self.channel, self.is_test, self.created_at.plus(MAX_AGE));
        let paused_until = self.end(ctx, scope, sent.clone()).await?;
        match (sent, paused_until) {
            // The user sees the result of a test and can send another one.
            (Ok(()), _) => Ok(Outcome::Done),
            (Err(_), _) if is_test => Ok(Outcome::Done),
            (Err(failure), Some(until)) if until <= deadline => {
                tracing::warn!(%channel, error = failure.detail, "a chat message will be sent again");
                Ok(Outcome::Again(until))
            }
            (Err(failure), _) => Err(Failure::Fail(failure.detail)),
        }
    }
}

impl ChatMessage {
    /// Leases the channel, if it is free.
    async fn begin(&self, ctx: &Ctx, scope: &Scope) -> Result<Step, Failure> {
        let (scope, channel, is_test, created_at) =
            (scope.clone(), self.channel, self.is_test, self.created_at);
        let now = ctx.now();
        let step = ctx.db.write(async move |t| {
            let found = chat_channels::lock(t, &scope, channel).await?;
            let Some(mut found) = found.filter(|found| found.channel.is_active || is_test) else {
                return Ok(Step::Drop);
            };
            if found.sending.leased_until.is_some_and(|until| until > now) {
                return Ok(Step::Wait(now.plus(IN_FLIGHT_DELAY)));
            }
            match found.sending.paused_until {
                // A test also checks a channel that is paused.
                Some(until) if until > now && !is_test => {
                    let is_expired = now >= created_at.plus(MAX_AGE);
                    return Ok(if is_expired { Step::Expire } else { Step::Wait(until) });
                }
                _ => {}
            }
            found.sending.leased_until = Some(now.plus(DELIVERY_LEASE));
            chat_channels::put_state(t, &scope, &found).await?;
            Ok::<_, attestry_storage::Error>(Step::Send(Box::new(found)))
        });
        Ok(step.await?)
    }

    /// Stores the outcome and returns the lease; returns the end of the pause after a transient failure.
    async fn end(
        &self,
        ctx: &Ctx,
        scope: Scope,
        sent: Result<(), Undelivered>,
    ) -> Result<Option<Time>, Failure> {
        let (channel, is_test, now) = (self.channel, self.is_test, ctx.now());
        let paused_until = ctx.db.write(async move |t| {
            let Some(mut found) = chat_channels::lock(t, &scope, channel).await? else { return Ok(None) };
            let detail = sent.as_ref().err().map(|failure| failure.detail.clone());
            found.channel.last_delivery = Some(Delivery { at: now, is_delivered: sent.is_ok(), detail });
            found.sending.leased_until = None;
            match &sent {
                // A failed test does not delay the other messages.
                Err(_) if is_test => {}
                Err(Undelivered { is_transient: true, retry_after, .. }) => {
                    found.sending.failures = found.sending.failures.saturating_add(1);
                    let pause = pause(found.sending.failures, *retry_after);
                    found.sending.paused_until = Some(now.plus(pause));
                }
                _ => found.sending = SendingState::default(),
            }
            chat_channels::put_state(t, &scope, &found).await?;
            Ok::<_, attestry_storage::Error>(found.sending.paused_until)
        });
        Ok(paused_until.await?)
    }
}

/// The pause of a channel after a number of consecutive transient failures: 2 s, 4 s, 8 s …
fn pause(failures: u32, retry_after: Option<Duration>) -> Duration {
    let backoff = Duration::from_secs(1 << failures.clamp(1, 10)).min(MAX_BACKOFF);
    backoff.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER))
}

/// Decrypts the address of a channel.
fn text_of(ctx: &Ctx, found: &SealedChannel) -> Result<String, Error> {
    String::from_utf8(ctx.keys.open(PURPOSE, &found.sealed)?).map_err(Error::internal)
}

fn url_of(ctx: &Ctx, found: &SealedChannel) -> Result<WebhookUrl, Error> {
    WebhookUrl::parse(&text_of(ctx, found)?).map_err(Error::internal)
}

/// A failed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Undelivered {
    /// The reason. It contains nothing of the answer, which may repeat the address.
    detail: String,
    is_transient: bool,
    /// The wait that the service asks for.
    retry_after: Option<Duration>,
}

impl Undelivered {
    fn permanent(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), is_transient: false, retry_after: None }
    }

    fn transient(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), is_transient: true, retry_after: None }
    }
}

impl From<Refusal> for Undelivered {
    fn from(refusal: Refusal) -> Self {
        match &refusal {
            Refusal::Redirect(_) | Refusal::Redirects(_) => Self::permanent(REDIRECTED),
            // Name servers also give this answer while a zone is broken.
            Refusal::NoAddress(_) => Self::transient(refusal.to_string()),
            _ if refusal.is_transient() => Self::transient(refusal.to_string()),
            _ => Self::permanent(refusal.to_string()),
        }
    }
}

const REDIRECTED: &str = "answered with a redirect; enter the address it leads to";

/// Converts an HTTP status and its `Retry-After`.
fn check(status: u16, retry_after: Option<&str>, now: Time) -> Result<(), Undelivered> {
    let reason = match status {
        200..=299 => return Ok(()),
        300..=399 => return Err(Undelivered::permanent(REDIRECTED)),
        401 | 403 => "the service denies access; check the webhook",
        404 | 410 => "the service does not know the address; check the webhook",
        429 => "the service accepts no more messages for now",
        500..=599 => "the service is unavailable for now",
        _ => "the service rejects the message; check the webhook and its kind",
    };
    let detail = format!("answered {status}: {reason}");
    Err(match status {
        429 | 500..=599 => {
            let retry_after = retry_after.and_then(|value| wait_of(value, now));
            Undelivered { retry_after, ..Undelivered::transient(detail) }
        }
        _ => Undelivered::permanent(detail),
    })
}

/// Parses a `Retry-After`: seconds, or a date such as `Sun, 15 Nov 2026 09:30:00 GMT`.
fn wait_of(value: &str, now: Time) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let parts: Vec<&str> = value.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|name| name == month)? + 1;
    let at = Time::parse(&format!("{year}-{month:02}-{day}T{time}Z")).ok()?;
    Some(at.since(now))
}

/// Posts a body to an address and follows no redirect. Private networks are refused, unless the operator allows them.
async fn post(ctx: &Ctx, url: &WebhookUrl, body: &Value) -> Result<(), Undelivered> {
    let egress = ctx.runner().egress().map_err(Undelivered::transient)?;
    let hosts = url.hosts().map_err(Undelivered::permanent)?;
    let request = Request {
        url: url.as_str().to_owned(),
        method: "POST".to_owned(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("user-agent".to_owned(), concat!("Attestry/", env!("CARGO_PKG_VERSION")).to_owned()),
        ],
        body: Some(body.to_string().into_bytes()),
    };
    let fetched = tokio::time::timeout(DELIVERY_TIMEOUT, egress.fetch_once(&hosts, request)).await;
    let answer = fetched.map_err(|_| {
        Undelivered::transient(format!("did not answer within {} s", DELIVERY_TIMEOUT.as_secs()))
    })??;
    let retry_after = answer.headers.iter().find(|(name, _)| name == "retry-after");
    check(answer.status, retry_after.map(|(_, value)| value.as_str()), ctx.now())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "https://a.example/inbox";

    fn message(lines: Vec<String>) -> Message {
        Message { title: "Assigned".into(), lines }
    }

    fn teams_lines(message: &Message) -> Vec<Value> {
        let body = message.body(ChatKind::Teams, LINK);
        body["attachments"][0]["content"]["body"].as_array().expect("lines").clone()
    }

    #[test]
    fn no_text_is_read_as_markup() {
        let message = message(vec!["<!channel> @all & [x](y)\nz".into()]);
        let slack = message.body(ChatKind::Slack, LINK);
        let text = format!("Assigned\n• &lt;!channel&gt; @\u{200b}all &amp; [x]\u{200b}(y) z\n{LINK}");
        assert_eq!(slack, json!({"text": text, "mrkdwn": false}));
        assert_eq!(teams_lines(&message)[1]["inlines"][0]["text"], "• <!channel> @all & [x](y) z");
    }

    #[test]
    fn slack_message_is_cut_before_escaping() {
        let message = message(vec!["&".repeat(MAX_LINE_CHARS + 1); MAX_LINES]);
        let body = message.body(ChatKind::Slack, LINK);
        let text = body["text"].as_str().expect("a text");
        assert!(text.len() < MAX_SLACK_BYTES + 100, "{}", text.len());
        assert!(text.ends_with(&format!("…\n• …\n{LINK}")), "{text}");
        assert_eq!(text.replace("&amp;", "").matches('&').count(), 0);
        assert_eq!(text.matches("&amp;").count(), 2 * (MAX_LINE_CHARS - 1));
    }

    #[test]
    fn teams_message_stays_below_the_limit_of_the_service() {
        for text in ["🦀", "\"", "\u{1}", "a"] {
            let message = message(vec![text.repeat(MAX_LINE_CHARS); MAX_LINES]);
            let size = message.body(ChatKind::Teams, LINK).to_string().len();
            assert!(size < 28_000, "{text:?}: {size}");
        }
        let message = message(vec!["🦀".repeat(MAX_LINE_CHARS); MAX_LINES]);
        let last = teams_lines(&message).pop().expect("a line");
        assert_eq!(last["inlines"][0]["text"], "• …");
    }

    #[test]
    fn retry_after_is_honoured_up_to_an_hour() {
        let now = Time::parse("2026-11-15T09:30:00.000Z").expect("a time");
        let wait = |value| check(429, Some(value), now).expect_err("a failure").retry_after;
        assert_eq!(wait("120"), Some(Duration::from_mins(2)));
        assert_eq!(wait("Sun, 15 Nov 2026 09:32:00 GMT"), Some(Duration::from_mins(2)));
        assert_eq!(wait("Sun, 15 Nov 2026 09:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        assert_eq!(pause(1, None), Duration::from_secs(2));
        assert_eq!(pause(1, Some(Duration::from_mins(2))), Duration::from_mins(2));
        assert_eq!(pause(1, Some(Duration::from_hours(5))), Duration::from_hours(1));
        assert_eq!(pause(u32::MAX, Some(Duration::ZERO)), MAX_BACKOFF);
    }

    #[test]
    fn transient_failures_are_retried() {
        let now = Time::parse("2026-11-15T09:30:00.000Z").expect("a time");
        for status in [429, 500, 503] {
            assert!(check(status, None, now).expect_err("a failure").is_transient, "{status}");
        }
        for status in [307, 400, 403, 404, 410] {
            assert!(!check(status, None, now).expect_err("a failure").is_transient, "{status}");
        }
        let host = || "hooks.example.com".to_owned();
        assert!(Undelivered::from(Refusal::NoAddress(host())).is_transient);
        assert!(Undelivered::from(Refusal::Unreachable(host())).is_transient);
        assert_eq!(Undelivered::from(Refusal::Redirects(0)), Undelivered::permanent(REDIRECTED));
    }

    #[test]
    fn a_line_names_a_few_people() {
        let people = |count: usize| (0..count).map(|number| format!("P{number}")).collect::<Vec<_>>();
        let say = |count| line((&"Please sign P-1".to_owned(), &people(count)));
        assert_eq!(say(0), "Please sign P-1");
        assert_eq!(say(2), "Please sign P-1 (P0, P1)");
        assert_eq!(say(5), "Please sign P-1 (P0, P1, P2 and 2 more)");
    }
}
