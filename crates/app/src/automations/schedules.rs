//! Starts the automations whose schedule is due. One process at a time does it, and several missed times start one
//! run.

use std::time::Duration;

use attestry_storage::automations;
use serde::{Deserialize, Serialize};

use crate::automations::runs;
use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// Schedules have a resolution of one minute.
const EVERY: Duration = Duration::from_mins(1);
const BATCH: i64 = 200;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Schedules;

impl Job for Schedules {
    const KIND: &'static str = "schedules";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        let (now, mut after) = (ctx.now(), String::new());
        loop {
            let from = after.clone();
            let due = ctx.db.read(async move |t| automations::due(t, now, &from, BATCH).await).await?;
            let Some((_, last)) = due.last() else { return Ok(Outcome::Again(now.next(EVERY))) };
            after = last.to_string();
            for (organization, automation) in due {
                match runs::start_scheduled(ctx, organization, automation).await {
                    // The database is unavailable, so the rest would fail, too.
                    Err(error) if error.is_outage() => return Err(error.into()),
                    Err(error) => tracing::error!(%automation, %error, "a schedule was not followed"),
                    Ok(()) => {}
                }
            }
        }
    }
}
