//! Sends a link for a new password to whoever forgot theirs. A job, so that asking takes the same time whether or not
//! there is such an account.

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
