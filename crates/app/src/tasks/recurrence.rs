//! Reopens recurring tasks whose period has passed.

use std::collections::BTreeMap;
use std::time::Duration;

use attestry_domain::id::{OrganizationId, TaskId};
use attestry_storage::tasks;
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// In every time zone, days start at a multiple of 15 minutes UTC.
const EVERY: Duration = Duration::from_mins(15);
const BATCH: i64 = 500;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recurrence;

impl Job for Recurrence {
    const KIND: &'static str = "recurrence";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _held: &JobLease) -> Result<Outcome, Failure> {
        let now = ctx.now();
        let mut after = String::new();
        loop {
            let from = after.clone();
            let found = ctx.db.read(async move |t| tasks::reopening(t, now, &from, BATCH).await).await?;
            let Some((_, last)) = found.last() else { break };
            after = last.to_string();
            let mut by_organization: BTreeMap<OrganizationId, Vec<TaskId>> = BTreeMap::new();
            for (organization, task) in found {
                by_organization.entry(organization).or_default().push(task);
            }
            for (organization, ids) in by_organization {
                crate::tasks::reopen(ctx, organization, ids).await?;
            }
        }
        Ok(Outcome::Again(now.next(EVERY)))
    }
}
