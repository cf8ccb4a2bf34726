//! Settings of this installation, such as its secret key's fingerprint and its setup state.

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

/// Sets a value unless it is set; of two processes that start at the same time, the first wins.
pub async fn put_new(t: &Tx<'_>, name: &str, value: &str) -> Result<(), Error> {
    t.execute(PUT_NEW, &[Value::from(name), Value::from(value)]).await.map(|_| ())
}

/// Removes a value; `true` when it existed.
pub async fn delete(t: &Tx<'_>, name: &str) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[Value::from(name)]).await? > 0)
}

/// Checks that the database responds.
pub async fn ping(t: &Tx<'_>) -> Result<(), Error> {
    t.opt(PING, &[], |_| Ok(())).await.map(|_| ())
}

/// Returns the time until which each running or dead backup asks to keep all files.
pub async fn backups(t: &Tx<'_>) -> Result<Vec<Time>, Error> {
    t.all(BACKUPS, &[], |row| row.parse(0)).await
}

pub async fn put_backup(t: &Tx<'_>, id: BackupId, until: Time) -> Result<(), Error> {
    put(t, &format!("backup:{id}"), &until.to_string()).await
}

pub async fn delete_backup(t: &Tx<'_>, id: BackupId) -> Result<(), Error> {
    delete(t, &format!("backup:{id}")).await.map(|_| ())
}

/// Deletes the backup markers that were restored from an archive.
pub async fn delete_backups(t: &Tx<'_>) -> Result<(), Error> {
    t.execute(DELETE_BACKUPS, &[]).await.map(|_| ())
}
