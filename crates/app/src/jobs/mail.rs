//! The outbox: a message waits in the queue, encrypted because it may carry a link that opens
//! something, and is sent after the commit of what it tells of.

use attestry_domain::id::OrganizationId;
use attestry_mail::Message;

use super::{Failure, Outcome};
use crate::change::Work;
use crate::context::Ctx;
use crate::error::Error;

pub(super) const KIND: &str = "mail";

pub(crate) async fn enqueue(
    work: &Work<'_>,
    organization: Option<OrganizationId>,
    message: &Message,
) -> Result<(), Error> {
    let payload = work.ctx.keys.seal(KIND, &serde_json::to_vec(message)?)?;
    work.put_job(KIND, organization, &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let message: Message = super::unseal(ctx, KIND, payload)?;
    match ctx.mailer.send(&message).await {
        Ok(()) => Ok(Outcome::Done),
        Err(attestry_mail::Error::Temporary(error)) => Err(Failure::Retry(error)),
        Err(attestry_mail::Error::Permanent(error)) => Err(Failure::Fail(error)),
    }
}
