//! Sends a link for a new password to whoever forgot theirs. A job, so that asking takes the same time whether or not
//! there is such an account.

use attestry_domain::access::Origin;
use attestry_storage::Tx;
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};
use crate::context::Ctx;
use crate::error::Error;
use crate::passwords;

pub(super) const KIND: &str = "password_reset";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub(crate) email: String,
    pub(crate) origin: Origin,
}

pub(crate) async fn enqueue(ctx: &Ctx, t: &Tx<'_>, payload: &Payload) -> Result<(), Error> {
    let payload = ctx.keys.seal(KIND, &serde_json::to_vec(payload)?)?;
    super::enqueue(ctx, t, KIND, None, &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let Payload { email, origin } = super::unseal(ctx, KIND, payload)?;
    passwords::send_link(ctx, email, origin).await?;
    Ok(Outcome::Done)
}
