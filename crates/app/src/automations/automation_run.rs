//! Carries out one run of an automation.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::automations::Run;
use attestry_domain::id::{AutomationId, OrganizationId, RunId};
use serde::{Deserialize, Serialize};

use crate::automations::runner::Output;
use crate::automations::runs::{self, Beginning};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// Interval at which a run stores new log lines and checks whether it was cancelled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AutomationRun {
    pub(crate) organization: OrganizationId,
    pub(crate) automation: AutomationId,
    pub(crate) run: RunId,
}

impl AutomationRun {
    pub(crate) fn of(run: &Run) -> Self {
        Self { organization: run.organization_id, automation: run.automation_id, run: run.id }
    }
}

impl Job for AutomationRun {
    const KIND: &'static str = "automation_run";
    const MAX_ATTEMPTS: i64 = 100;
    const MAX_CONCURRENT: usize = 16;
    // Leaves slots for other organizations, however long the scripts of one take.
    const MAX_CONCURRENT_PER_ORGANIZATION: i64 = 6;

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let Self { organization, automation, run } = self;
        let scope = runs::scope_of(organization, automation);
        match Box::pin(carry_out(ctx, &scope, lease, run)).await {
            // A retry would fail again, and the run must not stay unfinished.
            Err(error) if !error.is_outage() => {
                tracing::error!(%run, %error, "a run was given up");
                runs::give_up(ctx, &scope, lease, run, runs::INTERNAL).await?;
                Ok(Outcome::Ended)
            }
            ended => Ok(ended?),
        }
    }
}

async fn carry_out(ctx: &Ctx, scope: &Scope, lease: &JobLease, run: RunId) -> Result<Outcome, Error> {
    let begun = match runs::begin(ctx, scope, run).await? {
        Beginning::Go(begun) => begun,
        Beginning::Interrupted => {
            runs::give_up(ctx, scope, lease, run, runs::INTERRUPTED).await?;
            return Ok(Outcome::Ended);
        }
        Beginning::Nothing => return Ok(Outcome::Done),
    };
    let output = Output::default();
    let cancelled = async {
        let mut kept = 0;
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let written = output.len();
            let goes_on = match written == kept {
                true => runs::is_running(ctx, scope, run).await,
                false => runs::keep_log(ctx, scope, run, &output).await,
            };
            match goes_on {
                Ok(true) => kept = written,
                Ok(false) => break,
                // An unavailable database is no reason to stop the run.
                Err(error) => tracing::debug!(%run, %error, "a run was not looked after"),
            }
        }
    };
    // Dropping the run kills its process.
    let ran = tokio::select! {
        ran = begun.execute(ctx, scope, &output) => ran?,
        () = cancelled => return Ok(Outcome::Done),
    };
    Box::pin(begun.finish(ctx, scope, lease, ran)).await?;
    Ok(Outcome::Ended)
}
