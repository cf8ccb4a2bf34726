//! Asks members to sign a version of a policy.

use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, OrganizationId, PolicyId, PolicyVersionId};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::policies::signing;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignRequests {
    pub(crate) organization: OrganizationId,
    pub(crate) policy: PolicyId,
    pub(crate) version: PolicyVersionId,
    /// Limits the request to these members among those whose signature is missing.
    #[serde(default)]
    pub(crate) only: Option<Vec<MemberId>>,
}

impl Job for SignRequests {
    const KIND: &'static str = "sign_requests";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "sign-requests");
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            lease.complete(c.t).await?;
            signing::ask(c, self.policy, self.version, self.only.as_deref()).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
