//! Tickets of a sign-in that is under way. They are encrypted and travel with the client, so a stranger causes no rows;
//! a ticket that must work only once is stored when it is redeemed.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::hash::sha256;
use attestry_storage::{Tx, tickets};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// The lifetime of a ticket.
pub(crate) const LIFETIME: Duration = Duration::from_mins(5);

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    expires_at: Time,
    content: T,
}

/// A ticket as the client holds it.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub text: String,
    pub expires_at: Time,
}

pub(crate) fn expired() -> Error {
    Error::Gone { code: "ceremony_expired", message: "This took too long, or was done already. Start again." }
}

pub(crate) fn issue<T: Serialize>(ctx: &Ctx, purpose: &str, content: T) -> Result<Ticket, Error> {
    issue_for(ctx, purpose, content, LIFETIME)
}

/// Issues a ticket with another lifetime.
pub(crate) fn issue_for<T: Serialize>(
    ctx: &Ctx,
    purpose: &str,
    content: T,
    lifetime: Duration,
) -> Result<Ticket, Error> {
    let expires_at = ctx.now().plus(lifetime);
    let text = ctx.keys.ticket(purpose, &Sealed { expires_at, content })?;
    Ok(Ticket { text, expires_at })
}

/// Reads a ticket of this purpose.
pub(crate) fn read<T: DeserializeOwned>(ctx: &Ctx, purpose: &str, text: &str) -> Result<T, Error> {
    let sealed: Sealed<T> = ctx.keys.read_ticket(purpose, text).ok_or_else(expired)?;
    if sealed.expires_at <= ctx.now() { Err(expired()) } else { Ok(sealed.content) }
}

/// Redeems a ticket, which works once.
pub(crate) async fn redeem(t: &Tx<'_>, text: &str, now: Time) -> Result<(), Error> {
    redeem_for(t, text, now, LIFETIME).await
}

/// Redeems a ticket with another lifetime.
pub(crate) async fn redeem_for(t: &Tx<'_>, text: &str, now: Time, lifetime: Duration) -> Result<(), Error> {
    match tickets::redeem(t, &sha256(text.as_bytes()), now.plus(lifetime)).await? {
        true => Ok(()),
        false => Err(expired()),
    }
}
