//! Facts about this installation: which secret key it was made with, whether it was set up.

use attestry_db::{Error, Tx, Value};

statements! {
    GET = "SELECT value FROM instance WHERE name = $1";
    PUT = "INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2";
    PUT_NEW = "INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    DELETE = "DELETE FROM instance WHERE name = $1";
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
