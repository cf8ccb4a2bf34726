//! What a backup asks of everybody else: that no stored file is removed while it runs, because the rows it has copied
//! name them. It asks by a fact in the database, for a little while at a time, so that one that died asks no longer.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::id::BackupId;
use attestry_storage::{Error as DbError, Tx, instance};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// How long one asks at a time.
const LEASE: Duration = Duration::from_mins(5);
/// How often it is asked anew.
const RENEW: Duration = Duration::from_mins(1);

/// A backup that runs: until it is ended, or the process dies, files stay.
#[derive(Debug)]
pub struct Backup {
    ctx: Ctx,
    id: BackupId,
    renewing: tokio::task::JoinHandle<()>,
}

impl Backup {
    /// Begins before anything is copied: what is deleted afterwards keeps its files.
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

/// Until when files must stay, if a backup runs.
pub(crate) async fn running(t: &Tx<'_>, now: Time) -> Result<Option<Time>, DbError> {
    Ok(instance::backups(t).await?.into_iter().filter(|until| *until > now).max())
}
