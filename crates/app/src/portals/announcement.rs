//! Mails a new post to the subscribers of a portal, one batch at a time.

use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, PortalPostId};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::portals::subscribers;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Announcement {
    pub(crate) organization: OrganizationId,
    pub(crate) post: PortalPostId,
    /// The last subscriber of the previous batch.
    pub(crate) after: String,
}

impl Job for Announcement {
    const KIND: &'static str = "announcement";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "announcement");
        let lease = lease.clone();
        // Each subscriber gets one mail: the mails, the next job and the end of this one are committed together.
        ctx.change(&scope, async move |c| {
            if let Some(next) = subscribers::announce(c, self.post, &self.after).await? {
                c.enqueue(&next).await?;
            }
            lease.complete(c.t).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
