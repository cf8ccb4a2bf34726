//! Settings of the operator: the provider, its URL, and the timeouts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use attestry_net::Secret;
use url::Url;

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Chat completions: OpenAI, Azure, vLLM, Ollama and many more.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl Kind {
    /// The default base URL.
    const fn home(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            _ => Err(Error::Kind(name.to_owned())),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        })
    }
}

#[derive(Clone)]
pub struct Settings {
    pub kind: Kind,
    /// The URL without the last part of the path: `https://api.openai.com/v1`, `https://api.anthropic.com`,
    /// `http://localhost:11434/v1`, or an Azure deployment such as
    /// `https://NAME.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21`. A query is preserved.
    pub base_url: Url,
    /// The API key; `None` for a provider that needs none, such as Ollama and vLLM.
    pub key: Option<Secret>,
    pub model: String,
    /// The maximum number of tokens of an answer.
    pub max_tokens: u32,
    pub connect_timeout: Duration,
    /// The timeout from first sending the request to the first byte of the response body, including retries and
    /// pauses.
    pub first_byte_timeout: Duration,
    /// The timeout between two bytes of an answer.
    pub idle_timeout: Duration,
    /// The timeout for everything: retries, pauses and the whole answer.
    pub total_timeout: Duration,
    /// The pause before the first retry, unless the provider specifies one. It doubles with each retry.
    pub retry_pause: Duration,
}

impl Settings {
    /// Settings with the provider's default URL, no key, and common timeouts.
    pub fn new(kind: Kind, model: impl Into<String>) -> Result<Self, Error> {
        Ok(Self {
            kind,
            base_url: Url::parse(kind.home()).map_err(|_| Error::BaseUrl)?,
            key: None,
            model: model.into(),
            max_tokens: 8192,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(10),
            retry_pause: Duration::from_millis(500),
        })
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some gateways expect a key in the query.
        let mut base_url = self.base_url.clone();
        base_url.set_query(None);
        f.debug_struct("Settings")
            .field("kind", &self.kind)
            .field("base_url", &base_url.as_str())
            .field("key", &self.key)
            .field("model", &self.model)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}

/// An error that prevents all requests. For the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{0:?} is not an AI provider; use \"openai\" or \"anthropic\"")]
    Kind(String),
    #[error("the AI base URL must be an http or https address such as https://api.openai.com/v1")]
    BaseUrl,
    #[error("the AI base URL must not have a user name or password; set the API key instead")]
    Credentials,
    #[error("the AI API key must be one word of ASCII characters")]
    Key,
    #[error("the AI model must be named")]
    Model,
    #[error("the most tokens of an answer must be at least 1")]
    MaxTokens,
    #[error(
        "the HTTP client cannot be set up: {0}; are certificate authorities installed (ca-certificates)?"
    )]
    Client(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in [Kind::OpenAi, Kind::Anthropic] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!("azure".parse::<Kind>(), Err(Error::Kind("azure".to_owned())));
    }

    #[test]
    fn settings_hide_the_key_and_the_query() {
        let mut settings = Settings::new(Kind::OpenAi, "gpt-4o").unwrap();
        settings.key = Some(Secret::new("sk-secret"));
        settings.base_url = Url::parse("https://ai.example.com/v1?subscription-key=sk-secret").unwrap();
        assert_eq!(
            format!("{settings:?}"),
            r#"Settings { kind: OpenAi, base_url: "https://ai.example.com/v1", key: Some(Secret(hidden)), model: "gpt-4o", max_tokens: 8192, .. }"#
        );
    }
}
