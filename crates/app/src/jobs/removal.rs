//! Removes stored files whose rows are gone: enqueued with the deletion, so that no crash in between
//! leaves them behind.

use std::time::Duration;

use attestry_blobs::Key;
use attestry_domain::id::OrganizationId;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};
use crate::backups;
use crate::change::Change;
use crate::context::Ctx;
use crate::error::Error;

pub(super) const KIND: &str = "removal";

/// How long to wait while a backup needs the files.
const WAIT: Duration = Duration::from_secs(30);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Payload {
    Files(Vec<String>),
    /// Everything an organization has.
    Organization(OrganizationId),
}

pub(crate) async fn enqueue(c: &Change<'_>, keys: &[Key]) -> Result<(), Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let payload = serde_json::to_vec(&Payload::Files(keys.iter().map(ToString::to_string).collect()))?;
    c.put_job(KIND, Some(c.organization()), &payload, None).await
}

pub(crate) async fn enqueue_all(c: &Change<'_>) -> Result<(), Error> {
    let payload = serde_json::to_vec(&Payload::Organization(c.organization()))?;
    c.put_job(KIND, Some(c.organization()), &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let now = ctx.now();
    if ctx.db.read(async move |t| backups::running(t, now).await).await?.is_some() {
        return Ok(Outcome::Again(now.plus(WAIT)));
    }
    let payload = serde_json::from_slice(payload)
        .map_err(|error| Failure::Fail(format!("not a list of files: {error}")))?;
    let mut keys = match payload {
        Payload::Files(keys) => {
            stream::iter(keys).map(Ok).try_filter_map(async |key| Ok(Key::read(&key))).boxed()
        }
        Payload::Organization(organization) => ctx.blobs.list(Some(organization)),
    };
    // One that cannot be removed does not keep the others.
    let mut failed = None;
    while let Some(key) = keys.try_next().await? {
        failed = ctx.blobs.delete(&key).await.err().or(failed);
    }
    match failed {
        None => Ok(Outcome::Done),
        Some(error) => Err(error.into()),
    }
}
