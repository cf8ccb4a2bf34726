//! Sends a link for a new password to whoever forgot theirs. A job, so that asking takes the same time whether or not
//! there is such an account.

use attestry_domain::access::Origin;
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};
use crate::change::Work;
use crate::context::Ctx;
use crate::error::Error;
use crate::passwords;

pub(super) const KIND: &str = "password_reset";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub(crate) email: String,
    pub(crate) origin: Origin,
}

pub(crate) async fn enqueue(work: &Work<'_>, payload: &Payload) -> Result<(), Error> {
    let payload = work.ctx.keys.seal(KIND, &serde_json::to_vec(payload)?)?;
    work.put_job(KIND, None, &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let Payload { email, origin } = super::unseal(ctx, KIND, payload)?;
    passwords::send_link(ctx, email, origin).await?;
    Ok(Outcome::Done)
}
