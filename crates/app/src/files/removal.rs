//! Removes stored files whose rows were deleted. The job is enqueued with the deletion, so that a crash leaves no
//! files behind.

use std::time::Duration;

use attestry_blobs::Key;
use attestry_domain::id::OrganizationId;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::files::backups;

/// The delay before the next attempt while a backup needs the files.
const WAIT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Removal {
    Files(Vec<String>),
    /// All files of an organization.
    Organization(OrganizationId),
}

impl Job for Removal {
    const KIND: &'static str = "removal";
    const MAX_ATTEMPTS: i64 = 100;

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        remove(ctx, self).await
    }
}

async fn remove(ctx: &Ctx, removal: Removal) -> Result<Outcome, Failure> {
    let now = ctx.now();
    if ctx.db.read(async move |t| backups::running(t, now).await).await?.is_some() {
        return Ok(Outcome::Again(now.plus(WAIT)));
    }
    let mut keys = match removal {
        Removal::Files(keys) => {
            stream::iter(keys).map(Ok).try_filter_map(async |key| Ok(Key::read(&key))).boxed()
        }
        Removal::Organization(organization) => ctx.blobs.list(Some(organization)),
    };
    // A file that cannot be removed does not block the others.
    let mut failed = None;
    while let Some(key) = keys.try_next().await? {
        failed = ctx.blobs.delete(&key).await.err().or(failed);
    }
    match failed {
        None => Ok(Outcome::Done),
        Some(error) => Err(error.into()),
    }
}
