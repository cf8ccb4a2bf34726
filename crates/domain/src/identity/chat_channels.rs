//! Channels of a chat service: incoming webhooks of Slack or Teams that hear of an organization's notifications.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::automations::hosts::{AllowedHost, AllowedHosts};
use crate::id::{ChatChannelId, OrganizationId};
use crate::identity::notices::Notice;
use crate::json::JsonSchema;
use crate::row::Row;
use crate::text::{Name, Parse};
use crate::time::Time;

crate::words! {
    /// The message format of a channel.
    ChatKind {
        /// Slack, and services that accept its format, such as Mattermost.
        Slack = "slack",
        /// Microsoft Teams.
        Teams = "teams",
    }
}

/// The address of an incoming webhook, which is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(url::Url);

impl std::fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookUrl(…)")
    }
}

impl WebhookUrl {
    const MAX: usize = 2000;
    /// The number of last characters that a hint shows.
    const HINT: usize = 4;

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The scheme, the host and the port, as the only entry of a list of allowed hosts.
    pub fn hosts(&self) -> Result<AllowedHosts, String> {
        let host = self.0.host_str().unwrap_or_default();
        let port = self.0.port().map_or_else(String::new, |port| format!(":{port}"));
        let host = AllowedHost::parse(&format!("{}://{host}{port}", self.0.scheme()))?;
        AllowedHosts::new([host])
    }

    /// The host and the last characters, to tell addresses apart without revealing them.
    pub fn hint(&self) -> String {
        let path = &self.0[url::Position::BeforePath..];
        let chars: Vec<char> = path.chars().collect();
        // A short path is hidden as a whole.
        let shown = if chars.len() > 4 * Self::HINT { Self::HINT } else { 0 };
        let last: String = chars[chars.len() - shown..].iter().collect();
        format!("{}/…{last}", self.0.host_str().unwrap_or_default())
    }
}

impl Parse for WebhookUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be the address of an incoming webhook: https://…".to_owned();
        let url = url::Url::parse(text.trim()).map_err(|_| wrong())?;
        let is_web =
            matches!(url.scheme(), "https" | "http") && url.host_str().is_some_and(|h| !h.is_empty());
        if !is_web || text.len() > Self::MAX {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or a password".to_owned());
        }
        let url = Self(url);
        // The check of each delivery, so that no address is accepted to which nothing can be delivered.
        if !url.hosts().is_ok_and(|hosts| hosts.permits_url(&url.0)) {
            return Err(
                "must have the name or IP address of a host, and a port from 1 to 65535 if any".to_owned()
            );
        }
        Ok(url)
    }
}

impl JsonSchema for WebhookUrl {
    fn json_schema() -> Value {
        json!({
            "type": "string", "format": "uri", "maxLength": Self::MAX,
            "examples": ["https://hooks.slack.com/services/T000/B000/abcdefghijklmnop"]
        })
    }
}

/// The outcome of the last delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub at: Time,
    pub is_delivered: bool,
    /// The reason of a failure.
    pub detail: Option<String>,
}

/// The state of sending to a channel, which its messages share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendingState {
    /// The end of the lease of the message in flight.
    pub leased_until: Option<Time>,
    /// The time before which messages wait, because of a transient failure.
    pub paused_until: Option<Time>,
    /// The number of consecutive transient failures.
    pub failures: u32,
}

/// A channel that hears of an organization's notifications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct ChatChannel {
    pub id: ChatChannelId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub name: Name,
    pub kind: ChatKind,
    pub url_hint: String,
    /// The kinds of notifications that it hears of.
    #[row(json)]
    pub notices: Vec<Notice>,
    pub is_active: bool,
    #[serde(skip)]
    #[row(skip)]
    pub last_delivery: Option<Delivery>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// The kinds of notifications that a channel can hear of. Mentions are between people.
pub const CHANNEL_NOTICES: &[Notice] = &[
    Notice::Assigned,
    Notice::DueSoon,
    Notice::Overdue,
    Notice::Automations,
    Notice::Policies,
    Notice::Portal,
];

crate::given_as_text!(WebhookUrl);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_hinted_at_but_not_shown() {
        let slack =
            WebhookUrl::parse("https://hooks.slack.com/services/T000/B000/abcdefghwXyZ").expect("fine");
        assert_eq!(slack.hint(), "hooks.slack.com/…wXyZ");
        assert_eq!(format!("{slack:?}"), "WebhookUrl(…)");
        let local = WebhookUrl::parse("http://127.0.0.1:8065/hooks/x").expect("fine");
        assert_eq!(local.hint(), "127.0.0.1/…");
        let hosts = |url: &WebhookUrl| {
            url.hosts().expect("one host").iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            (hosts(&slack), hosts(&local)),
            (vec!["hooks.slack.com".to_owned()], vec!["http://127.0.0.1:8065".to_owned()])
        );
    }

    #[test]
    fn only_addresses_of_the_web_are_taken() {
        for bad in ["", "hooks.slack.com/x", "ftp://a/b", "https://u:p@a/b", "javascript:1", "https://"] {
            assert!(WebhookUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn address_without_a_deliverable_host_is_rejected() {
        let long = format!("https://{}.example.com/x", "a".repeat(64));
        for bad in [
            "https://*.example.com/x",
            "https://a.*.example.com/x",
            "https://example.com:0/x",
            "https://a..b.com/x",
            "https://.example.com/x",
            "https://exam!ple.com/x",
            &long,
        ] {
            assert!(WebhookUrl::parse(bad).is_err(), "{bad}");
        }
        for good in [
            "https://hooks.slack.com./x",
            "https://Bücher.example/x",
            "https://[2001:db8::1]:8443/x",
            "http://localhost:8065/hooks/x",
            "https://prod-01.westeurope.logic.azure.com:443/workflows/x?sig=y",
        ] {
            assert!(WebhookUrl::parse(good).is_ok(), "{good}");
        }
    }
}
