//! The hourly job that deletes expired data and runs the database's maintenance.

use std::time::Duration;

use attestry_storage::{
    idempotency, inbox, jobs, password_resets, portals, second_factors, sessions, sign_ins, tickets,
    trust_access,
};

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::idempotency::RESPONSE_RETENTION;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::identity::organizations;

const EVERY: Duration = Duration::from_hours(1);
/// The retention of failed jobs.
const FAILED_JOB_RETENTION: Duration = Duration::from_hours(30 * 24);
/// The time after which an unconfirmed subscription is deleted.
const UNCONFIRMED_SUBSCRIBER_RETENTION: Duration = Duration::from_hours(7 * 24);
/// The retention of notifications in an inbox.
const INBOX_RETENTION: Duration = Duration::from_hours(365 * 24);
/// The time for which a link to an expired grant still reports that it has expired.
const DEAD_LINK_RETENTION: Duration = Duration::from_hours(90 * 24);

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
            second_factors::delete_pending(t, now.minus(EVERY)).await?;
            tickets::delete_expired(t, now).await?;
            sign_ins::delete_expired(t, now.minus(EVERY)).await?;
            idempotency::delete_expired(t, now.minus(RESPONSE_RETENTION)).await?;
            jobs::delete_failed(t, now.minus(FAILED_JOB_RETENTION)).await?;
            portals::delete_unconfirmed(t, now.minus(UNCONFIRMED_SUBSCRIBER_RETENTION)).await?;
            inbox::delete_old(t, now.minus(INBOX_RETENTION)).await?;
            trust_access::delete_dead_tokens(t, now.minus(DEAD_LINK_RETENTION)).await?;
            Ok::<_, Failure>(())
        })
        .await?;
    organizations::remove_deleted(ctx).await?;
    ctx.db.maintain().await?;
    Ok(Outcome::Again(now.plus(EVERY)))
}
