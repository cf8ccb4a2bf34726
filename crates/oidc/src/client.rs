//! The client that an organization registered with its provider: the authorization request, and the exchange of a code.

use openidconnect::core::{CoreAuthPrompt, CoreAuthenticationFlow, CoreClient};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet, LoginHint,
    Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, TokenResponse as _,
};
use serde_json::{Map, Value};
use url::Url;

use crate::discovery::Http;
use crate::{Failure, Oidc, Provider};

/// The id and the secret of a client; none if it is public.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    pub id: &'a str,
    pub secret: Option<&'a str>,
    pub redirect_uri: &'a str,
}

impl std::fmt::Debug for Client<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

/// An authorization request.
#[derive(Clone, Copy, Debug)]
pub struct Authorization<'a> {
    pub scopes: &'a [String],
    pub state: &'a str,
    pub nonce: &'a str,
    /// The PKCE verifier, of which the request has the hash.
    pub verifier: &'a str,
    pub login_hint: Option<&'a str>,
    /// Asks the provider to authenticate the user anew.
    pub is_fresh: bool,
}

/// The tokens of a sign-in.
#[derive(Clone)]
pub struct Tokens {
    pub id_token: String,
    pub(crate) access_token: String,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(…)")
    }
}

type Configured =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet, EndpointNotSet>;

fn unusable(error: &dyn std::fmt::Display) -> Failure {
    Failure::Answer(format!("The connection cannot be used: {error}."))
}

impl Provider {
    fn client(&self, client: &Client<'_>) -> Result<Configured, Failure> {
        let token_endpoint = self.metadata.token_endpoint().ok_or_else(|| unusable(&"no token endpoint"))?;
        let redirect = RedirectUrl::new(client.redirect_uri.to_owned()).map_err(|error| unusable(&error))?;
        let made = CoreClient::new(
            ClientId::new(client.id.to_owned()),
            self.metadata.issuer().clone(),
            self.metadata.jwks().clone(),
        )
        .set_auth_uri(self.metadata.authorization_endpoint().clone())
        .set_token_uri(token_endpoint.clone())
        .set_redirect_uri(redirect);
        let made = match client.secret {
            Some(secret) => made.set_client_secret(ClientSecret::new(secret.to_owned())),
            None => made,
        };
        Ok(if self.takes_secret_in_body() { made.set_auth_type(AuthType::RequestBody) } else { made })
    }

    /// The address at which the browser asks for a code.
    pub fn authorization_url(
        &self,
        client: &Client<'_>,
        request: &Authorization<'_>,
    ) -> Result<Url, Failure> {
        let configured = self.client(client)?;
        let (state, nonce) = (CsrfToken::new(request.state.to_owned()), Nonce::new(request.nonce.to_owned()));
        let verifier = PkceCodeVerifier::new(request.verifier.to_owned());
        let mut url = configured
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .add_scopes(
                request
                    .scopes
                    .iter()
                    .filter(|scope| *scope != "openid")
                    .map(|scope| Scope::new(scope.clone())),
            );
        if let Some(hint) = request.login_hint {
            url = url.set_login_hint(LoginHint::new(hint.to_owned()));
        }
        if request.is_fresh {
            url = url.add_prompt(CoreAuthPrompt::Login).set_max_age(std::time::Duration::ZERO);
        }
        Ok(url.url().0)
    }
}

impl Oidc {
    /// Exchanges a code for tokens.
    pub async fn exchange(
        &self,
        provider: &Provider,
        client: &Client<'_>,
        code: &str,
        verifier: &str,
    ) -> Result<Tokens, Failure> {
        let configured = provider.client(client)?;
        let http = Http(self.clone());
        let answered = configured
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()))
            .request_async(&http)
            .await;
        let tokens = answered.map_err(|error| match error {
            RequestTokenError::ServerResponse(response) => {
                Failure::Refused(response.error().as_ref().to_owned())
            }
            RequestTokenError::Request(refusal) => refusal.into(),
            RequestTokenError::Parse(error, _) => {
                Failure::Token(format!("The tokens cannot be read: {error}."))
            }
            RequestTokenError::Other(message) => Failure::Answer(format!("No tokens came: {message}.")),
        })?;
        let id_token = tokens.id_token().ok_or_else(|| {
            Failure::Answer(
                "The provider sent no ID token; does the client have the scope openid?".to_owned(),
            )
        })?;
        Ok(Tokens { id_token: id_token.to_string(), access_token: tokens.access_token().secret().clone() })
    }

    /// Asks the token endpoint with a made-up code. `Some(true)`: it knows the client. `None`: it does not say.
    pub async fn knows_client(
        &self,
        provider: &Provider,
        client: &Client<'_>,
    ) -> Result<Option<bool>, Failure> {
        const VERIFIER: &str = "a-code-that-no-provider-issued-so-nothing-is-signed-in";
        match self.exchange(provider, client, "attestry-check", VERIFIER).await {
            Err(Failure::Refused(code)) if code == "invalid_grant" => Ok(Some(true)),
            Err(Failure::Refused(code)) if code == "invalid_client" || code == "unauthorized_client" => {
                Ok(Some(false))
            }
            Err(failure @ Failure::Unreachable(_)) => Err(failure),
            _ => Ok(None),
        }
    }

    /// The claims of the userinfo endpoint, if there is one; they must be of the same subject.
    pub async fn user_info(
        &self,
        provider: &Provider,
        tokens: &Tokens,
        subject: &str,
    ) -> Result<Map<String, Value>, Failure> {
        let Some(url) = provider.metadata.userinfo_endpoint() else { return Ok(Map::new()) };
        let request = http::Request::get(url.as_str())
            .header(http::header::ACCEPT, "application/json")
            .header(http::header::AUTHORIZATION, format!("Bearer {}", tokens.access_token))
            .body(Vec::new())
            .map_err(|error| unusable(&error))?;
        let answer = self.send(request).await?;
        if !answer.status().is_success() {
            return Err(Failure::Answer(format!(
                "The userinfo endpoint answered {}.",
                answer.status().as_u16()
            )));
        }
        let claims: Map<String, Value> = serde_json::from_slice(answer.body()).map_err(|error| {
            Failure::Answer(format!("The answer of the userinfo endpoint cannot be read: {error}."))
        })?;
        if claims.get("sub").and_then(Value::as_str) != Some(subject) {
            return Err(Failure::Answer("The userinfo endpoint answered for another subject.".to_owned()));
        }
        Ok(claims)
    }
}

/// The address at which a browser signs out of a provider.
pub fn sign_out_url(endpoint: &str, client_id: &str, id_token: Option<&str>, return_to: &str) -> Option<Url> {
    let mut url = Url::parse(endpoint).ok()?;
    let mut query = url.query_pairs_mut();
    query.append_pair("client_id", client_id).append_pair("post_logout_redirect_uri", return_to);
    if let Some(token) = id_token {
        query.append_pair("id_token_hint", token);
    }
    drop(query);
    Some(url)
}
