//! Sends one digest a day to each member, in the morning of their organization.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Held, Job, Outcome};
use crate::notices;

/// Hours begin on a quarter of an hour, wherever one is.
const EVERY: Duration = Duration::from_mins(15);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Digests;

impl Job for Digests {
    const KIND: &'static str = "digests";
    const TRIES: i64 = i64::MAX;
    const AT_ONCE: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &Held) -> Result<Outcome, Failure> {
        for (organization, today) in notices::due_digests(ctx).await? {
            notices::digest(ctx, organization, today).await?;
        }
        Ok(Outcome::Again(ctx.now().next(EVERY)))
    }
}
