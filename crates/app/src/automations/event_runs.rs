//! Starts the automations that listen for the entries of a very large commit, one batch at a time.

use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::Entry;
use attestry_storage::{automations, journal, organizations};
use serde::{Deserialize, Serialize};

use crate::automations::events::{matches, run_of};
use crate::automations::runs::{self, ACTOR};
use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};

/// The maximum number of entries that one transaction processes.
const PORTION: i64 = 20;

/// A range of an organization's journal entries, both ends included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventRuns {
    pub(crate) organization: OrganizationId,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Job for EventRuns {
    const KIND: &'static str = "event_runs";
    const MAX_ATTEMPTS: i64 = 100;

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, &format!("{ACTOR}events"));
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            lease.complete(c.t).await?;
            if organizations::get(c.t, c.scope).await?.is_none() {
                return Ok(());
            }
            let listeners = automations::listeners(c.t, c.organization()).await?;
            let entries = journal::walk(c.t, c.organization(), self.from - 1, PORTION).await?;
            let entries: Vec<Entry> = entries.into_iter().filter(|entry| entry.sequence <= self.to).collect();
            for (entry, one) in matches(&entries, &listeners) {
                runs::add(c, &run_of(c.next_id(), c.organization(), entry, one)).await?;
            }
            match entries.last() {
                Some(last) if last.sequence < self.to => {
                    c.enqueue(&Self { from: last.sequence + 1, ..self.clone() }).await
                }
                _ => Ok(()),
            }
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
