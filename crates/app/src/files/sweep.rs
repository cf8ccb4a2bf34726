//! The daily sweep: removes stored files without a row, which are left when a process dies between storing a file and
//! inserting its row. Files of organizations that this database never had are not touched: it may be the wrong
//! database, or an empty one before its restore.

use std::time::Duration;

use attestry_blobs::{Folder, Key};
use attestry_domain::Time;
use attestry_domain::id::{Id, Kind, kind};
use attestry_storage::organizations;
use futures_util::TryStreamExt;

use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::files::backups;
use crate::files::file_checks::is_known;

const EVERY: Duration = Duration::from_hours(24);
/// The minimum age of a swept file: by then its upload is over, and its row inserted or never to be.
const AGE: Duration = Duration::from_hours(24);
/// The number of files per look-up.
const BATCH: usize = 500;

#[derive(Serialize, Deserialize)]
pub(crate) struct Sweep;

impl Job for Sweep {
    const KIND: &'static str = "sweep";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        sweep(ctx).await
    }
}

async fn sweep(ctx: &Ctx) -> Result<Outcome, Failure> {
    let now = ctx.now();
    let before = now.minus(AGE);
    let mut failed = ctx.blobs.tidy(before).await.err();
    let known = ctx.db.read(async |t| organizations::all(t).await).await?;
    let (mut swept, mut strange, mut batch) = (0, 0, Vec::new());
    let mut keys = ctx.blobs.list(None);
    loop {
        let key = keys.try_next().await?;
        let is_last = key.is_none();
        let old = key.and_then(|key| old_enough(key, before));
        match old {
            Some(key) if known.binary_search_by_key(&key.organization(), |known| known.id).is_err() => {
                strange += 1;
            }
            old => batch.extend(old),
        }
        if batch.len() == BATCH || is_last {
            for key in orphans(ctx, std::mem::take(&mut batch)).await? {
                // A file that cannot be removed does not block the others.
                match ctx.blobs.delete(&key).await {
                    Ok(()) => swept += 1,
                    Err(error) => failed = Some(error),
                }
            }
        }
        if is_last {
            break;
        }
    }
    if swept > 0 {
        tracing::info!(swept, "files that nothing refers to were removed");
    }
    if strange > 0 {
        tracing::warn!(
            strange,
            "the object storage holds files of organizations that are not in this database"
        );
    }
    if let Some(error) = failed {
        tracing::warn!(%error, "the sweep could not remove everything; it tries again tomorrow");
    }
    Ok(Outcome::Again(now.plus(EVERY)))
}

/// Returns a file that is old enough for its upload to be over.
fn old_enough(key: Key, before: Time) -> Option<Key> {
    fn made_at<K: Kind>(key: &Key) -> Option<Time> {
        Id::<K>::read(key.id()).map(Id::made_at)
    }
    let made_at = match key.folder() {
        Folder::Attachments => made_at::<kind::Attachment>(&key),
        Folder::Certificates => made_at::<kind::Certificate>(&key),
        Folder::Agreements => made_at::<kind::NdaFile>(&key),
        Folder::Previews => made_at::<kind::NdaPreview>(&key),
    };
    made_at.is_some_and(|at| at < before).then_some(key)
}

/// Returns the files without a row; none while a backup runs, whose copied rows may still refer to them.
async fn orphans(ctx: &Ctx, batch: Vec<Key>) -> Result<Vec<Key>, Failure> {
    let now = ctx.now();
    ctx.db
        .read(async move |t| {
            let mut orphans = Vec::new();
            for key in &batch {
                if !is_known(t, key).await? {
                    orphans.push(key.clone());
                }
            }
            // Checked last: a backup that begins later does not copy rows that are already deleted.
            if backups::running(t, now).await?.is_some() {
                orphans.clear();
            }
            Ok(orphans)
        })
        .await
}

#[cfg(test)]
mod tests {
    use attestry_domain::id::{OrganizationId, RiskId};

    use super::*;

    #[test]
    fn only_files_from_before_the_limit_are_old() {
        let (organization, made_at) = (OrganizationId::from_u128(1), Time::from_millis(1000));
        let key = Key::new(organization, Folder::Attachments, Id::<kind::Attachment>::derived(made_at, b""));
        assert_eq!(old_enough(key.clone(), Time::from_millis(1001)), Some(key.clone()));
        assert_eq!(old_enough(key, made_at), None);
    }

    #[test]
    fn files_with_foreign_ids_are_never_old() {
        let organization = OrganizationId::from_u128(1);
        for key in [
            Key::new(organization, Folder::Attachments, RiskId::from_u128(0)),
            Key::named(organization, Folder::Agreements, "nonsense"),
        ] {
            assert_eq!(old_enough(key, Time::from_millis(i64::MAX)), None);
        }
    }
}
