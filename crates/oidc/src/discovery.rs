//! The metadata and the keys of a provider.

use std::pin::Pin;

use attestry_domain::Parse;
use attestry_domain::automations::hosts::{AllowedHost, AllowedHosts};
use attestry_egress::{Refusal, Request};
use http::header::{CONTENT_TYPE, USER_AGENT};
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
    CoreJwsSigningAlgorithm, CoreResponseMode, CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{
    AdditionalProviderMetadata, AsyncHttpClient, DiscoveryError, HttpRequest, HttpResponse, IssuerUrl,
    ProviderMetadata,
};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Failure, Oidc};

const AGENT: &str = concat!("Attestry/", env!("CARGO_PKG_VERSION"));

/// The algorithms of tokens that are accepted: signatures with a key of the provider.
pub(crate) const ALGORITHMS: &[CoreJwsSigningAlgorithm] = &[
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Metadata that other specifications define.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Extensions {
    /// RFC 9207.
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    end_session_endpoint: Option<Url>,
    #[serde(default)]
    backchannel_logout_supported: bool,
}

impl AdditionalProviderMetadata for Extensions {}

pub(crate) type Metadata = ProviderMetadata<
    Extensions,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// A provider as its metadata describes it, with its keys.
#[derive(Clone, Debug)]
pub struct Provider {
    pub(crate) metadata: Metadata,
}

impl Provider {
    /// The issuer, as the provider's own document has it.
    pub fn issuer(&self) -> &str {
        self.metadata.issuer().as_str()
    }

    /// True if answers of the authorization endpoint name the issuer (RFC 9207).
    pub fn sends_issuer(&self) -> bool {
        self.metadata.additional_metadata().authorization_response_iss_parameter_supported
    }

    /// The address at which browsers sign out. Another scheme could be a script.
    pub fn end_session_endpoint(&self) -> Option<&Url> {
        let url = self.metadata.additional_metadata().end_session_endpoint.as_ref();
        url.filter(|url| matches!(url.scheme(), "https" | "http"))
    }

    pub fn has_back_channel_logout(&self) -> bool {
        self.metadata.additional_metadata().backchannel_logout_supported
    }

    pub fn key_count(&self) -> usize {
        self.metadata.jwks().keys().len()
    }

    pub(crate) fn has_keys_of(&self, other: &Self) -> bool {
        self.metadata.jwks() == other.metadata.jwks()
    }

    pub(crate) fn with_keys(&self, keys: CoreJsonWebKeySet) -> Self {
        Self { metadata: self.metadata.clone().set_jwks(keys) }
    }

    /// The accepted algorithms that the provider signs with, by name.
    pub fn algorithms(&self) -> Vec<String> {
        let offered = self.metadata.id_token_signing_alg_values_supported();
        let name = |algorithm: &CoreJwsSigningAlgorithm| match serde_json::to_value(algorithm) {
            Ok(serde_json::Value::String(name)) => Some(name),
            _ => None,
        };
        ALGORITHMS.iter().filter(|algorithm| offered.contains(algorithm)).filter_map(name).collect()
    }

    /// True if the client's secret is sent in the body, because the provider offers nothing else.
    pub(crate) fn takes_secret_in_body(&self) -> bool {
        let methods = self.metadata.token_endpoint_auth_methods_supported();
        methods.is_some_and(|methods| {
            methods.contains(&CoreClientAuthMethod::ClientSecretPost)
                && !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
        })
    }
}

/// The other way to write an issuer: with or without the slash at its end.
fn other_spelling(issuer: &str) -> String {
    issuer.strip_suffix('/').map_or_else(|| format!("{issuer}/"), str::to_owned)
}

/// The multi-tenant addresses of Entra ID, whose tokens are of any tenant.
const ANY_TENANT: &[&str] = &["/common", "/organizations", "/consumers"];

/// Reads an issuer as an owner types it.
fn issuer_of(text: &str, allow_private_networks: bool) -> Result<IssuerUrl, Failure> {
    let wrong = |message: &str| Failure::Answer(message.to_owned());
    if text.contains(['{', '}']) {
        return Err(wrong("The address has a placeholder. Enter the one of your own tenant."));
    }
    let url = Url::parse(text).map_err(|_| wrong("The issuer must be an address: https://…"))?;
    let is_plain = url.scheme() == "http" && allow_private_networks;
    if url.scheme() != "https" && !is_plain {
        return Err(wrong("The issuer must be an address that begins with https://."));
    }
    if url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return Err(wrong("The issuer must be an address without a query, a fragment or a user name."));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v2.0").unwrap_or(path);
    if ANY_TENANT.iter().any(|tenant| path.ends_with(tenant)) {
        return Err(wrong(
            "This address lets in the people of any tenant. Enter the one with the id of your own tenant.",
        ));
    }
    IssuerUrl::new(text.to_owned()).map_err(|_| wrong("The issuer must be an address: https://…"))
}

fn failed(error: DiscoveryError<Refusal>) -> Failure {
    match error {
        DiscoveryError::Request(refusal) => refusal.into(),
        DiscoveryError::Validation(message) => {
            Failure::Issuer(format!("The provider's document names another issuer: {message}."))
        }
        DiscoveryError::Response(status, _, message) => Failure::Answer(format!(
            "The provider's document cannot be used: {message} ({}).",
            status.as_u16()
        )),
        DiscoveryError::Parse(error) => {
            Failure::Answer(format!("The provider's document cannot be read: {error}."))
        }
        other => Failure::Answer(format!("The provider's document cannot be used: {other}.")),
    }
}

/// The hosts of one request: its own.
fn hosts_of(url: &Url) -> Result<AllowedHosts, Refusal> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    AllowedHost::parse(&format!("{}://{host}{port}", url.scheme()))
        .and_then(|host| AllowedHosts::new([host]))
        .map_err(|_| Refusal::Url)
}

/// The HTTP client of the protocol.
pub(crate) struct Http(pub(crate) Oidc);

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = Refusal;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Refusal>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.0.send(request))
    }
}

impl Oidc {
    /// Fetches a provider's metadata and keys. The issuer in the document may differ from the typed one by a slash at its
    /// end.
    pub async fn discover(&self, issuer: &str) -> Result<Provider, Failure> {
        match self.discover_exactly(issuer).await {
            Err(Failure::Issuer(message)) => {
                self.discover_exactly(&other_spelling(issuer)).await.map_err(|_| Failure::Issuer(message))
            }
            other => other,
        }
    }

    pub(crate) async fn discover_exactly(&self, issuer: &str) -> Result<Provider, Failure> {
        let issuer = issuer_of(issuer, self.0.allow_private_networks)?;
        let http = Http(self.clone());
        let metadata = Metadata::discover_async(issuer, &http).await.map_err(failed)?;
        let provider = Provider { metadata };
        if provider.metadata.token_endpoint().is_none() {
            return Err(Failure::Answer("The provider's document names no token endpoint.".to_owned()));
        }
        let authorization = provider.metadata.authorization_endpoint().url();
        if !self.may_ask(authorization) {
            return Err(Failure::Answer("The authorization endpoint must be an https address.".to_owned()));
        }
        if provider.algorithms().is_empty() {
            let message = "The provider signs with none of RS256, PS256, ES256, ES384 and EdDSA.";
            return Err(Failure::Answer(message.to_owned()));
        }
        Ok(provider)
    }

    pub(crate) async fn fetch_keys(&self, provider: &Provider) -> Result<CoreJsonWebKeySet, Failure> {
        let http = Http(self.clone());
        CoreJsonWebKeySet::fetch_async(provider.metadata.jwks_uri(), &http).await.map_err(failed)
    }

    /// True for https, and for plain HTTP in a network of one's own: secrets and tokens go there.
    fn may_ask(&self, url: &Url) -> bool {
        url.scheme() == "https" || (url.scheme() == "http" && self.0.allow_private_networks)
    }

    /// Sends one request; a redirect is refused.
    pub(crate) async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Refusal> {
        let url = Url::parse(&request.uri().to_string()).map_err(|_| Refusal::Url)?;
        if !self.may_ask(&url) {
            return Err(Refusal::Url);
        }
        let text = |value: &http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let mut headers: Vec<(String, String)> =
            request.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        headers.push((USER_AGENT.as_str().to_owned(), AGENT.to_owned()));
        let (method, body) = (request.method().as_str().to_owned(), request.into_body());
        let body = (!body.is_empty()).then_some(body);
        let asked = Request { url: url.to_string(), method, headers, body };
        let answer = self.0.egress.fetch_once(&hosts_of(&url)?, asked).await?;
        let mut response = http::Response::builder().status(answer.status);
        for (name, value) in answer.headers.iter().filter(|(name, _)| name == CONTENT_TYPE.as_str()) {
            response = response.header(name, value);
        }
        response
            .body(answer.body)
            .map_err(|_| Refusal::NotHttp(url.host_str().unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_of_any_tenant_and_placeholders_are_refused() {
        for wrong in [
            "",
            "login.example.com",
            "http://login.example.com",
            "https://login.example.com/?x=1",
            "https://login.example.com/#x",
            "https://ada:secret@login.example.com",
            "https://login.microsoftonline.com/{tenantid}/v2.0",
            "https://login.microsoftonline.com/common/v2.0",
            "https://login.microsoftonline.com/organizations/v2.0/",
            "https://login.microsoftonline.com/consumers",
        ] {
            assert!(issuer_of(wrong, false).is_err(), "{wrong}");
        }
        for good in
            ["https://accounts.google.com", "https://acme.okta.example/", "https://sso.example/realms/acme"]
        {
            assert!(issuer_of(good, false).is_ok(), "{good}");
        }
        assert!(issuer_of("http://127.0.0.1:8080", true).is_ok());
    }

    #[test]
    fn spellings_differ_by_a_slash() {
        assert_eq!(other_spelling("https://a.example"), "https://a.example/");
        assert_eq!(other_spelling("https://a.example/"), "https://a.example");
    }
}
