//! Logout tokens, with which a provider ends sessions (OpenID Connect Back-Channel Logout 1.0).

use std::sync::Arc;
use std::time::Duration;

use attestry_domain::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::core::CoreJwsSigningAlgorithm;
use openidconnect::{JsonWebKey as _, JsonWebKeyId};
use serde::Deserialize;
use serde_json::Value;

use crate::discovery::ALGORITHMS;
use crate::token::payload;
use crate::{Failure, Oidc, Provider};

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
const MAX_TOKEN: usize = 5_000;
/// The maximum difference between the time of a token and now.
const MAX_AGE: Duration = Duration::from_mins(2);

/// The sessions that a logout token ends: those of a subject, or one at the provider.
#[derive(Clone, Debug)]
pub struct LogoutToken {
    /// Its id, which is accepted once.
    pub id: String,
    pub subject: Option<String>,
    pub session: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    alg: CoreJwsSigningAlgorithm,
    kid: Option<String>,
    crit: Option<Value>,
}

fn wrong(message: &str) -> Failure {
    Failure::Token(message.to_owned())
}

/// The signed bytes, the signature and the header of a token.
fn parts(token: &str) -> Option<(&str, Vec<u8>, Header)> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, body) = signed.split_once('.')?;
    if body.contains('.') {
        return None;
    }
    let header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    Some((signed, URL_SAFE_NO_PAD.decode(signature).ok()?, header))
}

/// `None`: no key of the provider fits.
fn is_signed(provider: &Provider, signed: &str, signature: &[u8], header: &Header) -> Option<bool> {
    let kid = header.kid.clone().map(JsonWebKeyId::new);
    let keys = provider.metadata.jwks().keys();
    let mut fitting = keys.iter().filter(|key| kid.is_none() || key.key_id() == kid.as_ref()).peekable();
    fitting.peek()?;
    Some(fitting.any(|key| key.verify_signature(&header.alg, signed.as_bytes(), signature).is_ok()))
}

impl Oidc {
    /// Verifies a logout token.
    pub async fn logout_token(
        &self,
        provider: &Arc<Provider>,
        client_id: &str,
        token: &str,
        now: Time,
    ) -> Result<LogoutToken, Failure> {
        if token.len() > MAX_TOKEN {
            return Err(wrong("The token is too long."));
        }
        let (signed, signature, header) = parts(token).ok_or_else(|| wrong("The token cannot be read."))?;
        if header.crit.is_some() || !ALGORITHMS.contains(&header.alg) {
            return Err(wrong("The token has an algorithm or an extension that is not accepted."));
        }
        let is_signed = match is_signed(provider, signed, &signature, &header) {
            Some(is_signed) => is_signed,
            None => match self.with_new_keys(provider, now).await {
                Some(provider) => is_signed_by(&provider, signed, &signature, &header),
                None => false,
            },
        };
        if !is_signed {
            return Err(wrong("The signature is wrong."));
        }
        let claims = payload(token)?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_for = |audience: &Value| match audience {
            Value::String(one) => one == client_id,
            Value::Array(all) => matches!(all.as_slice(), [Value::String(one)] if one == client_id),
            _ => false,
        };
        if text("iss").as_deref() != Some(provider.issuer()) || !claims.get("aud").is_some_and(is_for) {
            return Err(wrong("The token is of another issuer or for another client."));
        }
        let issued =
            claims.get("iat").and_then(Value::as_i64).map(|at| Time::from_millis(at.saturating_mul(1000)));
        if !issued.is_some_and(|at| now.since(at) <= MAX_AGE && at.since(now) <= MAX_AGE) {
            return Err(wrong("The token is older than two minutes, or from the future."));
        }
        if !claims.get("events").is_some_and(|events| events.get(EVENT).is_some_and(Value::is_object)) {
            return Err(wrong("The token has no logout event."));
        }
        if claims.contains_key("nonce") {
            return Err(wrong("The token has a nonce: it is not a logout token."));
        }
        let (subject, session) = (text("sub"), text("sid"));
        if subject.is_none() && session.is_none() {
            return Err(wrong("The token names neither a subject nor a session."));
        }
        let id = text("jti").ok_or_else(|| wrong("The token has no id."))?;
        Ok(LogoutToken { id, subject, session })
    }
}

fn is_signed_by(provider: &Provider, signed: &str, signature: &[u8], header: &Header) -> bool {
    is_signed(provider, signed, signature, header).unwrap_or(false)
}
