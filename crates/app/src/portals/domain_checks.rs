//! Checks every hour that the domains of portals still point to this server.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::portals::domains;

const EVERY: Duration = Duration::from_hours(1);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DomainChecks;

impl Job for DomainChecks {
    const KIND: &'static str = "domain_checks";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        let now = ctx.now();
        for portal in domains::all(ctx).await? {
            // A failed check does not stop the others.
            if let Err(error) = domains::check_again(ctx, &portal).await {
                tracing::warn!(organization = %portal.organization_id, %error, "a domain could not be checked");
            }
        }
        Ok(Outcome::Again(now.plus(EVERY)))
    }
}
