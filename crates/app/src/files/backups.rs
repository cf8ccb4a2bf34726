//! Backup leases: while a backup runs, no stored file is removed, because the rows it has copied refer to them. The
//! lease is a row in the database that the backup renews, so that it expires when the backup dies.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::id::BackupId;
use attestry_storage::{Error as DbError, Tx, instance};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// The duration of a backup lease.
const LEASE: Duration = Duration::from_mins(5);
/// The interval at which a backup renews its lease.
const RENEW: Duration = Duration::from_mins(1);

/// A running backup. Files are not removed until it ends or its lease expires.
#[derive(Debug)]
pub struct Backup {
    ctx: Ctx,
    id: BackupId,
    renewing: tokio::task::JoinHandle<()>,
}

impl Backup {
    /// Begins a backup. Must be called before anything is copied, so that files deleted later are not removed.
    pub async fn begin(ctx: &Ctx) -> Result<Self, Error> {
        let id = ctx.ids.next();
        ask(ctx, id).await?;
        let renewed = ctx.clone();
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(RENEW).await;
                if let Err(error) = ask(&renewed, id).await {
                    tracing::warn!(%error, "the database was not told that the backup still runs");
                }
            }
        });
        Ok(Self { ctx: ctx.clone(), id, renewing })
    }

    pub async fn end(self) -> Result<(), Error> {
        let id = self.id;
        Ok(self.ctx.db.write(async move |t| instance::delete_backup(t, id).await).await?)
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

async fn ask(ctx: &Ctx, id: BackupId) -> Result<(), DbError> {
    let until = ctx.now().plus(LEASE);
    ctx.db.write(async move |t| instance::put_backup(t, id, until).await).await
}

/// Returns the time until which files must not be removed, if a backup runs.
pub(crate) async fn running(t: &Tx<'_>, now: Time) -> Result<Option<Time>, DbError> {
    Ok(instance::backups(t).await?.into_iter().filter(|until| *until > now).max())
}
