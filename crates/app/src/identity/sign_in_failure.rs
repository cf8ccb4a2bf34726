//! Records a failed sign-in in the journals of the account's organizations. It is a job, so that an incorrect
//! password takes the same time whether or not the account exists.

use attestry_domain::access::{Origin, Scope};
use attestry_storage::members::Membership;
use attestry_storage::users;
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignInFailure {
    pub(crate) email: String,
    pub(crate) origin: Origin,
}

impl Job for SignInFailure {
    const KIND: &'static str = "sign_in_failure";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let Self { email, origin } = self;
        let found = ctx.db.read(async move |t| users::by_email(t, &email).await).await?;
        let Some((user, _)) = found else { return Ok(Outcome::Done) };
        let (from, lease) = (origin.clone(), lease.clone());
        ctx.change_account(user.id, &origin, async move |a| {
            lease.complete(a.t).await?;
            let scope = |membership: &Membership| {
                Scope::visitor(membership.organization, Some(user.id), from.clone())
            };
            a.record_everywhere(scope, "user.sign_in_failed", "user", user.id, Some(&user)).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
