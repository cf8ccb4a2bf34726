//! The checks of an ID token.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use openidconnect::core::{CoreIdToken, CoreIdTokenVerifier};
use openidconnect::{
    AccessToken, AccessTokenHash, ClaimsVerificationError, ClientId, Nonce, SignatureVerificationError,
};
use serde_json::{Map, Value};

use crate::discovery::ALGORITHMS;
use crate::{Client, Failure, Oidc, Provider, Tokens};

/// The maximum number of bytes of a token.
const MAX_TOKEN: usize = 64 * 1024;
/// The maximum age of an ID token.
const MAX_AGE: Duration = Duration::from_mins(10);
const MAX_IDENTIFIER: usize = 255;

/// What an ID token must say beyond its signature, issuer and audience.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    pub nonce: &'a str,
    /// When the sign-in began.
    pub began_at: Time,
    /// True if the user must have authenticated since.
    pub must_be_fresh: bool,
}

/// The claims of a verified ID token.
#[derive(Clone, Debug)]
pub struct Claims {
    pub subject: String,
    /// True if the provider tells that it authenticated the user since the sign-in began.
    pub is_fresh: bool,
    /// The methods of authentication (RFC 8176).
    pub methods: Vec<String>,
    /// The session at the provider.
    pub session: Option<String>,
    pub all: Map<String, Value>,
}

fn chrono_time(time: Time) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(time.as_millis()).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

fn time_of(time: DateTime<Utc>) -> Time {
    Time::from_millis(time.timestamp_millis())
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::Token(message.into())
}

/// True for an id as providers give it to subjects and sessions.
fn is_identifier(text: &str) -> bool {
    (1..=MAX_IDENTIFIER).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Decodes the payload of a token whose signature was verified.
pub(crate) fn payload(token: &str) -> Result<Map<String, Value>, Failure> {
    let part = token.split('.').nth(1).ok_or_else(|| wrong("The token has no payload."))?;
    let bytes =
        URL_SAFE_NO_PAD.decode(part).map_err(|_| wrong("The payload of the token is not base64url."))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("The payload of the token cannot be read: {error}.")))
}

impl Oidc {
    /// Verifies an ID token. Fetches the provider's keys again if the token names an unknown one.
    pub async fn verify(
        &self,
        provider: &Arc<Provider>,
        client: &Client<'_>,
        tokens: &Tokens,
        expected: Expected<'_>,
        now: Time,
    ) -> Result<Claims, Failure> {
        match self.check(provider, client, tokens, expected, now) {
            Err(Rejected::UnknownKey) => {}
            Err(Rejected::For(failure)) => return Err(failure),
            Ok(claims) => return Ok(claims),
        }
        let unknown = || wrong("The token is signed with a key that the provider does not publish.");
        let provider = self.with_new_keys(provider, now).await.ok_or_else(unknown)?;
        match self.check(&provider, client, tokens, expected, now) {
            Ok(claims) => Ok(claims),
            Err(Rejected::UnknownKey) => Err(unknown()),
            Err(Rejected::For(failure)) => Err(failure),
        }
    }

    fn check(
        &self,
        provider: &Provider,
        client: &Client<'_>,
        tokens: &Tokens,
        expected: Expected<'_>,
        now: Time,
    ) -> Result<Claims, Rejected> {
        if tokens.id_token.len() > MAX_TOKEN {
            return Err(wrong("The ID token has more than 64 KiB.").into());
        }
        let token = CoreIdToken::from_str(&tokens.id_token)
            .map_err(|error| wrong(format!("The ID token cannot be read: {error}.")))?;
        let skew = self.0.clock_skew;
        let (earliest, latest) = (chrono_time(now.minus(MAX_AGE)), chrono_time(now.plus(skew)));
        let current = chrono_time(now.minus(skew));
        let verifier = CoreIdTokenVerifier::new_public_client(
            ClientId::new(client.id.to_owned()),
            provider.metadata.issuer().clone(),
            provider.metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS.iter().cloned())
        .allow_all_jose_types()
        .set_time_fn(move || current)
        .set_issue_time_verifier_fn(move |issued| match issued {
            issued if issued > latest => Err("the token was issued in the future".to_owned()),
            issued if issued < earliest => Err("the token was issued more than ten minutes ago".to_owned()),
            _ => Ok(()),
        });
        let nonce = Nonce::new(expected.nonce.to_owned());
        let claims = token.claims(&verifier, &nonce)?;
        if let Some(expected) = claims.access_token_hash() {
            let access_token = AccessToken::new(tokens.access_token.clone());
            let algorithm = token.signing_alg().map_err(rejected)?;
            let actual = AccessTokenHash::from_token(
                &access_token,
                algorithm,
                token.signing_key(&verifier).map_err(rejected)?,
            )
            .map_err(|error| wrong(format!("The access token cannot be checked: {error}.")))?;
            if actual != *expected {
                return Err(wrong("The ID token belongs to another access token.").into());
            }
        }
        let subject = claims.subject().as_str().to_owned();
        if !is_identifier(&subject) {
            return Err(wrong("The subject must have 1 to 255 characters, and no control characters.").into());
        }
        let all = payload(&tokens.id_token)?;
        if all.get("azp").is_some_and(|party| party.as_str() != Some(client.id)) {
            return Err(wrong("The ID token was issued to another client (azp).").into());
        }
        if all.get("nbf").and_then(Value::as_i64).is_some_and(|from| from > latest.timestamp()) {
            return Err(wrong("The ID token is not valid yet.").into());
        }
        let authenticated_at = claims.auth_time().map(time_of);
        let is_since = |at: Time| at >= expected.began_at.minus(skew) && at <= now.plus(skew);
        let is_fresh = authenticated_at.is_some_and(is_since);
        if expected.must_be_fresh && !is_fresh {
            let found = if authenticated_at.is_some() { "too old" } else { "missing" };
            let message = format!("The provider did not authenticate the user again: auth_time is {found}.");
            return Err(Failure::NotFresh(message).into());
        }
        let methods = claims.auth_method_refs().into_iter().flatten();
        Ok(Claims {
            subject,
            is_fresh,
            methods: methods.map(|method| method.as_str().to_owned()).collect(),
            session: all
                .get("sid")
                .and_then(Value::as_str)
                .filter(|sid| is_identifier(sid))
                .map(str::to_owned),
            all,
        })
    }
}

/// The reason why a token is rejected.
enum Rejected {
    /// A key that is not known, or no longer.
    UnknownKey,
    For(Failure),
}

impl From<Failure> for Rejected {
    fn from(failure: Failure) -> Self {
        Self::For(failure)
    }
}

fn rejected(error: SignatureVerificationError) -> Rejected {
    match error {
        SignatureVerificationError::NoMatchingKey => Rejected::UnknownKey,
        other => Rejected::For(wrong(format!("The signature of the ID token is wrong: {other}."))),
    }
}

impl From<ClaimsVerificationError> for Rejected {
    fn from(error: ClaimsVerificationError) -> Self {
        match error {
            ClaimsVerificationError::SignatureVerification(error) => rejected(error),
            other => Self::For(wrong(format!("The ID token is not valid: {other}."))),
        }
    }
}
