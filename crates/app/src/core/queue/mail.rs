//! The outbox: a message waits in the queue and is sent after the commit of the change it is about.

use attestry_mail::Message;
use serde::{Deserialize, Serialize};

use super::{Failure, Job, JobLease, Outcome};
use crate::core::context::Ctx;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mail(pub(crate) Message);

impl Job for Mail {
    const KIND: &'static str = "mail";
    const MAX_CONCURRENT: usize = 4;

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        match ctx.mailer.send(&self.0).await {
            Ok(()) => Ok(Outcome::Done),
            Err(attestry_mail::Error::Temporary(error)) => Err(Failure::Retry(error)),
            Err(attestry_mail::Error::Permanent(error)) => Err(Failure::Fail(error)),
        }
    }
}
