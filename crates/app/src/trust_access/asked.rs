//! Handles requests of portal visitors in a job, so that the response time reveals nothing.

use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{AccessRequestId, OrganizationId};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::portals::{for_the_public, subscribers};
use crate::trust_access::requests;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum VisitorRequest {
    /// A request for access.
    Request { organization: OrganizationId, request: AccessRequestId },
    /// A new link to the documents this address has access to.
    Link { organization: OrganizationId, email: String },
    /// A subscription to news.
    Subscription { organization: OrganizationId, email: String, origin: Origin },
}

impl Job for VisitorRequest {
    const KIND: &'static str = "asked";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = match &self {
            Self::Request { organization, .. } | Self::Link { organization, .. } => {
                for_the_public(*organization)
            }
            Self::Subscription { organization, origin, .. } => {
                Scope::visitor(*organization, None, origin.clone())
            }
        };
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            match &self {
                Self::Request { request, .. } => requests::follow(c, *request).await?,
                Self::Link { email, .. } => requests::send_fresh_link(c, email).await?,
                Self::Subscription { email, .. } => subscribers::add(c, email).await?,
            }
            lease.complete(c.t).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
