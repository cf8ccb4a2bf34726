//! Sends one digest a day to each member, in the morning by their organization's time zone.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::notices;

/// In every time zone, hours start at a multiple of 15 minutes UTC.
const EVERY: Duration = Duration::from_mins(15);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Digests;

impl Job for Digests {
    const KIND: &'static str = "digests";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        for (organization, today) in notices::due_digests(ctx).await? {
            // One organization's failure must not keep the others waiting; it is tried again the next time.
            if let Err(error) = notices::digest(ctx, organization, today).await {
                tracing::warn!(%organization, %error, "a digest was not sent");
            }
        }
        Ok(Outcome::Again(ctx.now().next(EVERY)))
    }
}
