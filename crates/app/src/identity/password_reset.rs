//! Sends a password reset link. It is a job, so that a request takes the same time whether or not the account exists.

use attestry_domain::access::Origin;
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::identity::passwords;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PasswordReset {
    pub(crate) email: String,
    pub(crate) origin: Origin,
}

impl Job for PasswordReset {
    const KIND: &'static str = "password_reset";

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        passwords::send_link(ctx, self.email, self.origin).await?;
        Ok(Outcome::Done)
    }
}
