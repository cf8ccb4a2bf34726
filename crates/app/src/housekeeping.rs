//! Every hour: what has expired is removed, and the database looks after itself.

use std::time::Duration;

use attestry_storage::{idempotency, jobs, password_resets, portals, sessions, sign_ins, trust_access};

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::idempotency::REMEMBERED;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::identity::organizations;

const EVERY: Duration = Duration::from_hours(1);
/// How long failed jobs can be looked at.
const FAILED_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long a subscription waits to be confirmed.
const UNCONFIRMED_KEPT: Duration = Duration::from_hours(7 * 24);
/// How long a link to what has ended still says so.
const DEAD_LINKS_KEPT: Duration = Duration::from_hours(90 * 24);

#[derive(Serialize, Deserialize)]
pub(crate) struct Housekeeping;

impl Job for Housekeeping {
    const KIND: &'static str = "housekeeping";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        tidy_up(ctx).await
    }
}

async fn tidy_up(ctx: &Ctx) -> Result<Outcome, Failure> {
    let now = ctx.now();
    let idle_since = now.minus(ctx.settings.session_idle);
    ctx.db
        .write(async move |t| {
            sessions::delete_expired(t, now, idle_since).await?;
            password_resets::delete_expired(t, now).await?;
            sign_ins::delete_expired(t, now.minus(EVERY)).await?;
            idempotency::delete_expired(t, now.minus(REMEMBERED)).await?;
            jobs::delete_failed(t, now.minus(FAILED_KEPT)).await?;
            portals::delete_unconfirmed(t, now.minus(UNCONFIRMED_KEPT)).await?;
            trust_access::delete_dead_tokens(t, now.minus(DEAD_LINKS_KEPT)).await?;
            Ok::<_, Failure>(())
        })
        .await?;
    organizations::remove_deleted(ctx).await?;
    ctx.db.maintain().await?;
    Ok(Outcome::Again(now.plus(EVERY)))
}
