//! Channels of chat services, and the messages that they are sent.

use std::collections::BTreeMap;

use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::{AllowedHost, AllowedHosts};
use attestry_domain::id::{ChatChannelId, OrganizationId};
use attestry_domain::identity::chat_channels::{ChatChannel, ChatKind, Delivery, WebhookUrl};
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
/// The maximum number of characters of an answer that is shown as the reason of a failure.
const MAX_DETAIL_CHARS: usize = 200;

const CHANNEL: &str = "chat_channel";
const MISSING: Error = Error::NotFound("chat channel");
const PURPOSE: &str = "chat channel";

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
        c.record("chat_channel.created", CHANNEL, channel.id, &channel)?;
        let sealed = SealedChannel { channel, sealed: sealed.clone() };
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
            && url_of(c.ctx, &before)? != *url
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
        c.record("chat_channel.updated", CHANNEL, id, &after.channel)?;
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
        c.enqueue(&ChatMessage { organization: c.organization(), channel: id, message, is_test: true })
            .await?;
        c.record("chat_channel.tested", CHANNEL, id, &found.channel)?;
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
            let (organization, channel) = (c.organization(), channel.id);
            c.enqueue(&ChatMessage { organization, channel, message, is_test: false }).await?;
        }
    }
    Ok(())
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    title: String,
    lines: Vec<String>,
}

impl Message {
    /// The body in the format of the service. No text is read as markup.
    fn body(&self, kind: ChatKind, link: &str) -> Value {
        let cut = |line: &String| line.chars().take(MAX_LINE_CHARS).collect::<String>();
        match kind {
            ChatKind::Slack => {
                let escape =
                    |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let lines: Vec<String> =
                    self.lines.iter().map(|line| format!("• {}", escape(&cut(line)))).collect();
                let text = |text: String| json!({"type": "plain_text", "text": text, "emoji": false});
                json!({
                    // What notifications and old clients show.
                    "text": format!("{}: {}", escape(&self.title), self.lines.first().map(|one| escape(&cut(one))).unwrap_or_default()),
                    "mrkdwn": false,
                    "blocks": [
                        {"type": "header", "text": text(self.title.clone())},
                        {"type": "section", "text": text(lines.join("\n").chars().take(2900).collect())},
                        {"type": "actions", "elements": [
                            {"type": "button", "text": text("Open Attestry".to_owned()), "url": link}
                        ]}
                    ]
                })
            }
            ChatKind::Teams => {
                let run = |text: String, weight: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]});
                let mut body = vec![run(self.title.clone(), "bolder")];
                body.extend(self.lines.iter().map(|line| run(format!("• {}", cut(line)), "default")));
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChatMessage {
    organization: OrganizationId,
    channel: ChatChannelId,
    message: Message,
    is_test: bool,
}

impl Job for ChatMessage {
    const KIND: &'static str = "chat_message";
    const MAX_CONCURRENT: usize = 4;
    const MAX_CONCURRENT_PER_ORGANIZATION: i64 = 2;

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "chat-message");
        let (own, id) = (scope.clone(), self.channel);
        let found = ctx.db.read(async move |t| chat_channels::get(t, &own, id).await).await?;
        // Deleted or switched off meanwhile.
        let Some(found) = found.filter(|found| found.channel.is_active || self.is_test) else {
            return Ok(Outcome::Done);
        };
        let url = url_of(ctx, &found)?;
        let sent = post(ctx, &url, &self.message.body(found.channel.kind, &ctx.link("/inbox"))).await;
        let delivery = Delivery {
            at: ctx.now(),
            is_delivered: sent.is_ok(),
            detail: sent.as_ref().err().map(|failure| match failure {
                Failure::Retry(detail) | Failure::Fail(detail) => detail.clone(),
            }),
        };
        remember(ctx, scope, id, delivery).await?;
        match sent {
            Ok(()) => Ok(Outcome::Done),
            // Somebody waits for the result of a test, and sends another one.
            Err(_) if self.is_test => Ok(Outcome::Done),
            Err(failure) => Err(failure),
        }
    }
}

async fn remember(
    ctx: &Ctx,
    scope: Scope,
    channel: ChatChannelId,
    delivery: Delivery,
) -> Result<(), Failure> {
    let stored =
        ctx.db.write(async move |t| chat_channels::delivered(t, &scope, channel, &delivery).await).await;
    Ok(stored?)
}

/// Decrypts the address of a channel.
fn url_of(ctx: &Ctx, found: &SealedChannel) -> Result<WebhookUrl, Error> {
    let plain = ctx.keys.open(PURPOSE, &found.sealed)?;
    let text = String::from_utf8(plain).map_err(Error::internal)?;
    WebhookUrl::parse(&text).map_err(Error::internal)
}

const REDIRECTED: &str = "answered with a redirect; enter the address it leads to";

/// Posts a body to an address. Private networks are refused, unless the operator allows them.
async fn post(ctx: &Ctx, url: &WebhookUrl, body: &Value) -> Result<(), Failure> {
    let egress = ctx.runner().egress().map_err(Failure::Retry)?;
    let host = AllowedHost::parse(&url.host()).map_err(Failure::Fail)?;
    let hosts = AllowedHosts::new(vec![host]).map_err(Failure::Fail)?;
    let request = Request {
        url: url.as_str().to_owned(),
        method: "POST".to_owned(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("user-agent".to_owned(), concat!("Attestry/", env!("CARGO_PKG_VERSION")).to_owned()),
        ],
        body: Some(serde_json::to_vec(body).map_err(Error::from)?),
    };
    let answer = egress.fetch(&hosts, request).await.map_err(|refusal| {
        let detail = match &refusal {
            Refusal::Host(_) | Refusal::Port { .. } | Refusal::PlainHttp(_) => REDIRECTED.to_owned(),
            other => other.to_string(),
        };
        if refusal.is_transient() { Failure::Retry(detail) } else { Failure::Fail(detail) }
    })?;
    if answer.redirected {
        return Err(Failure::Fail(REDIRECTED.to_owned()));
    }
    match answer.status {
        200..=299 => Ok(()),
        status => {
            let text = String::from_utf8_lossy(&answer.body);
            let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_DETAIL_CHARS).collect();
            let detail = format!("answered {status}{}{text}", if text.is_empty() { "" } else { ": " });
            match status {
                429 | 500..=599 => Err(Failure::Retry(detail)),
                _ => Err(Failure::Fail(detail)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_read_as_markup() {
        let message = Message { title: "Assigned".into(), lines: vec!["<!channel> *T-1* [x](y)".into()] };
        let slack = message.body(ChatKind::Slack, "https://a.example/inbox");
        assert_eq!(slack["text"], "Assigned: &lt;!channel&gt; *T-1* [x](y)");
        assert_eq!(slack["blocks"][1]["text"]["type"], "plain_text");
        let teams = message.body(ChatKind::Teams, "https://a.example/inbox");
        let body = &teams["attachments"][0]["content"]["body"];
        assert_eq!(body[1]["inlines"][0]["text"], "• <!channel> *T-1* [x](y)");
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
