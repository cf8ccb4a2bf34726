//! Builds the request for each kind of provider: URL, headers and body.

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use serde::Serialize;
use url::Url;

use crate::{Error, Kind, Prompt, Role, Settings};

/// The version of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Appends the rest of the path to the base URL. A query stays, as Azure needs its `api-version`. A complete URL is
/// accepted too, because Azure shows it for copying.
pub(crate) fn endpoint(settings: &Settings) -> Result<Url, Error> {
    let mut url = settings.base_url.clone();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(Error::BaseUrl);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::Credentials);
    }
    url.set_fragment(None);
    let base = url.path().trim_end_matches('/');
    let rest = match settings.kind {
        Kind::OpenAi if base.ends_with("/chat/completions") => "",
        Kind::OpenAi => "/chat/completions",
        Kind::Anthropic if base.ends_with("/v1/messages") => "",
        Kind::Anthropic if base.ends_with("/v1") => "/messages",
        Kind::Anthropic => "/v1/messages",
    };
    let path = format!("{base}{rest}");
    url.set_path(&path);
    Ok(url)
}

/// Returns true if the key goes into Azure's own header: the host is Azure's, or the base URL has its `api-version`,
/// as it does behind a gateway with another name.
fn is_azure(url: &Url) -> bool {
    const HOSTS: [&str; 3] = [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    url.host_str().is_some_and(|host| HOSTS.iter().any(|azure| host.ends_with(azure)))
        || url.query_pairs().any(|(name, _)| name == "api-version")
}

pub(crate) fn headers(settings: &Settings) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    // A compressed response would be buffered before it is sent.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if settings.kind == Kind::Anthropic {
        let name = HeaderName::from_static("anthropic-version");
        headers.insert(name, HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = &settings.key {
        let (name, prefix) = match settings.kind {
            Kind::OpenAi if is_azure(&settings.base_url) => (HeaderName::from_static("api-key"), ""),
            Kind::OpenAi => (AUTHORIZATION, "Bearer "),
            Kind::Anthropic => (HeaderName::from_static("x-api-key"), ""),
        };
        headers.insert(name, key.header(prefix).ok_or(Error::Key)?);
    }
    Ok(headers)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    messages: Vec<Message<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Speaker,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Speaker {
    System(&'static str),
    Other(Role),
}

/// Serializes the request body. `completion_tokens` selects the parameter name that newer OpenAI models require.
pub(crate) fn body(
    settings: &Settings,
    prompt: &Prompt,
    max_tokens: u32,
    completion_tokens: bool,
) -> Vec<u8> {
    let system = Some(prompt.system.as_str()).filter(|system| !system.is_empty());
    let turns =
        prompt.turns.iter().map(|turn| Message { role: Speaker::Other(turn.role), content: &turn.content });
    let first = system
        .filter(|_| settings.kind == Kind::OpenAi)
        .map(|content| Message { role: Speaker::System("system"), content });
    let body = Body {
        model: &settings.model,
        max_tokens: (!completion_tokens).then_some(max_tokens),
        max_completion_tokens: completion_tokens.then_some(max_tokens),
        system: system.filter(|_| settings.kind == Kind::Anthropic),
        messages: first.into_iter().chain(turns).collect(),
        stream: true,
    };
    // Strings and numbers can always be serialized.
    serde_json::to_vec(&body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use attestry_net::Secret;

    use super::*;

    fn settings(kind: Kind, base_url: &str) -> Settings {
        let mut settings = Settings::new(kind, "a-model").unwrap();
        settings.base_url = Url::parse(base_url).unwrap();
        settings.key = Some(Secret::new("sk-secret"));
        settings
    }

    #[test]
    fn the_endpoint_is_below_the_base_url() {
        const AZURE: &str = "https://x.openai.azure.com/openai/deployments/gpt-4o";
        for (kind, base_url, endpoint_url) in [
            (Kind::OpenAi, "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (Kind::OpenAi, "http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
            (Kind::OpenAi, "http://localhost:8000", "http://localhost:8000/chat/completions"),
            (
                Kind::OpenAi,
                &format!("{AZURE}?api-version=1"),
                &format!("{AZURE}/chat/completions?api-version=1"),
            ),
            (
                Kind::OpenAi,
                &format!("{AZURE}/chat/completions?api-version=1"),
                &format!("{AZURE}/chat/completions?api-version=1"),
            ),
            (Kind::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (Kind::Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
            (
                Kind::Anthropic,
                "https://gate.example.com/a/v1/messages",
                "https://gate.example.com/a/v1/messages",
            ),
        ] {
            assert_eq!(endpoint(&settings(kind, base_url)).unwrap().as_str(), endpoint_url);
        }
        for (base_url, error) in [
            ("ftp://example.com", Error::BaseUrl),
            ("mailto:a@example.com", Error::BaseUrl),
            ("https://user:secret@example.com", Error::Credentials),
        ] {
            assert_eq!(endpoint(&settings(Kind::OpenAi, base_url)), Err(error));
        }
    }

    #[test]
    fn the_key_goes_where_the_provider_looks_for_it() {
        for (kind, base_url, name, value) in [
            (Kind::OpenAi, "https://api.openai.com/v1", "authorization", "Bearer sk-secret"),
            (Kind::OpenAi, "https://x.openai.azure.com/openai/v1", "api-key", "sk-secret"),
            (Kind::OpenAi, "https://ai.example.com/deployments/a?api-version=1", "api-key", "sk-secret"),
            (Kind::OpenAi, "https://openai.azure.com.example.com/v1", "authorization", "Bearer sk-secret"),
            (Kind::Anthropic, "https://api.anthropic.com", "x-api-key", "sk-secret"),
        ] {
            let headers = headers(&settings(kind, base_url)).unwrap();
            let keys = headers.iter().filter(|(_, value)| value.is_sensitive());
            let keys: Vec<_> = keys.map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            assert_eq!(keys, [(name, value.as_bytes())], "{base_url}");
            assert!(!format!("{headers:?}").contains("sk-secret"));
        }
    }
}
