//! Facts about this installation: which secret key it was made with, whether it was set up.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::BackupId;

use crate::sql::Columns;

statements! {
    GET = "SELECT value FROM instance WHERE name = $1";
    PUT = "INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2";
    PUT_NEW = "INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    DELETE = "DELETE FROM instance WHERE name = $1";
    BACKUPS = "SELECT value FROM instance WHERE name >= 'backup:' AND name < 'backup;'";
    DELETE_BACKUPS = "DELETE FROM instance WHERE name >= 'backup:' AND name < 'backup;'";
    PING = "SELECT 1";
}

pub async fn get(t: &Tx<'_>, name: &str) -> Result<Option<String>, Error> {
    t.opt(GET, &[Value::from(name)], |row| row.text(0)).await
}

pub async fn put(t: &Tx<'_>, name: &str, value: &str) -> Result<(), Error> {
    t.execute(PUT, &[Value::from(name), Value::from(value)]).await.map(|_| ())
}

/// Sets a fact unless it is set; two processes that start at once agree on the first.
pub async fn put_new(t: &Tx<'_>, name: &str, value: &str) -> Result<(), Error> {
    t.execute(PUT_NEW, &[Value::from(name), Value::from(value)]).await.map(|_| ())
}

/// Removes a fact; `true` when it was there.
pub async fn delete(t: &Tx<'_>, name: &str) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[Value::from(name)]).await? > 0)
}

/// Whether the database answers at all.
pub async fn ping(t: &Tx<'_>) -> Result<(), Error> {
    t.opt(PING, &[], |_| Ok(())).await.map(|_| ())
}

/// Until when each backup that runs, or died, has asked that no file be removed.
pub async fn backups(t: &Tx<'_>) -> Result<Vec<Time>, Error> {
    t.all(BACKUPS, &[], |row| row.parse(0)).await
}

pub async fn put_backup(t: &Tx<'_>, id: BackupId, until: Time) -> Result<(), Error> {
    put(t, &format!("backup:{id}"), &until.to_string()).await
}

pub async fn delete_backup(t: &Tx<'_>, id: BackupId) -> Result<(), Error> {
    delete(t, &format!("backup:{id}")).await.map(|_| ())
}

/// Forgets what was asked when an archive was made.
pub async fn delete_backups(t: &Tx<'_>) -> Result<(), Error> {
    t.execute(DELETE_BACKUPS, &[]).await.map(|_| ())
}
