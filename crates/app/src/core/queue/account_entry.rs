//! Records an action of a user on their own account (a sign-in, a password change) in one organization. Each of their
//! organizations gets its own job, so that no transaction locks the journals of several.

use attestry_domain::access::Scope;
use serde::{Deserialize, Serialize};

use super::{Failure, Job, JobLease, Outcome};
use crate::core::context::Ctx;
use crate::core::journal::Entry;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccountEntry(pub(crate) Entry);

impl Job for AccountEntry {
    const KIND: &'static str = "account_entry";
    const MAX_ATTEMPTS: i64 = 100;
    const MAX_CONCURRENT: usize = 4;

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.0.author.organization, "an entry about an account");
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            lease.complete(c.t).await?;
            c.append(self.0.clone());
            Ok(())
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
