//! Returns published policies to review when their review is due.

use std::collections::BTreeMap;
use std::time::Duration;

use attestry_domain::date::Date;
use attestry_domain::id::{OrganizationId, PolicyId};
use attestry_storage::policies;
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// In every time zone, days start at a multiple of 15 minutes UTC.
const EVERY: Duration = Duration::from_mins(15);
const BATCH: i64 = 500;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PolicyReviews;

impl Job for PolicyReviews {
    const KIND: &'static str = "policy_reviews";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _held: &JobLease) -> Result<Outcome, Failure> {
        let now = ctx.now();
        // In some time zones it is already tomorrow; each organization's local date decides.
        let by = Date::of(now).plus_days(1);
        let mut after = String::new();
        loop {
            let from = after.clone();
            let found = ctx.db.read(async move |t| policies::due(t, by, &from, BATCH).await).await?;
            let Some((_, last)) = found.last() else { break };
            after = last.to_string();
            let mut by_organization: BTreeMap<OrganizationId, Vec<PolicyId>> = BTreeMap::new();
            for (organization, policy) in found {
                by_organization.entry(organization).or_default().push(policy);
            }
            for (organization, ids) in by_organization {
                crate::policies::review(ctx, organization, ids).await?;
            }
        }
        Ok(Outcome::Again(now.next(EVERY)))
    }
}
