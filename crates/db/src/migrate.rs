//! Migrations: numbered SQL texts, the same numbers and names for both databases, applied in order
//! by `refinery`, which also refuses a text that changed after it was applied.

use refinery::Runner;
use tokio_postgres::Client;

use crate::error::Error;

/// One step of the schema, in both dialects.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub number: u32,
    pub name: &'static str,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

/// How the schema of a database compares with this version of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Steps this version would apply.
    pub missing: Vec<String>,
    /// Steps that only a newer version knows.
    pub unknown: Vec<String>,
}

fn runner(migrations: &[Migration], text: impl Fn(&Migration) -> &'static str) -> Result<Runner, Error> {
    let steps = migrations
        .iter()
        .map(|step| refinery::Migration::unapplied(&format!("V{}__{}", step.number, step.name), text(step)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Error::Other(error.to_string()))?;
    Ok(Runner::new(&steps).set_abort_missing(false))
}

fn failed(error: &refinery::Error) -> Error {
    Error::Other(format!("migration failed: {error}"))
}

fn compare(migrations: &[Migration], applied: &[refinery::Migration]) -> Pending {
    let title = |number: u32, name: &str| format!("{number:04}_{name}");
    let is_applied =
        |step: &Migration| applied.iter().any(|a| a.version() == i32::try_from(step.number).unwrap_or(-1));
    let is_known =
        |a: &refinery::Migration| migrations.iter().any(|step| i32::try_from(step.number) == Ok(a.version()));
    Pending {
        missing: migrations
            .iter()
            .filter(|step| !is_applied(step))
            .map(|step| title(step.number, step.name))
            .collect(),
        unknown: applied
            .iter()
            .filter(|a| !is_known(a))
            .map(|a| title(u32::try_from(a.version()).unwrap_or(0), a.name()))
            .collect(),
    }
}

pub(crate) fn sqlite(
    connection: &mut rusqlite::Connection,
    migrations: &[Migration],
) -> Result<usize, Error> {
    let report = runner(migrations, |step| step.sqlite)?.run(connection).map_err(|error| failed(&error))?;
    Ok(report.applied_migrations().len())
}

pub(crate) fn sqlite_pending(
    connection: &mut rusqlite::Connection,
    migrations: &[Migration],
) -> Result<Pending, Error> {
    let known: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_master WHERE name = 'refinery_schema_history'",
        [],
        |row| row.get(0),
    )?;
    if known == 0 {
        return Ok(compare(migrations, &[]));
    }
    let applied = runner(migrations, |step| step.sqlite)?
        .get_applied_migrations(connection)
        .map_err(|error| failed(&error))?;
    Ok(compare(migrations, &applied))
}

pub(crate) async fn postgres(client: &mut Client, migrations: &[Migration]) -> Result<usize, Error> {
    let report =
        runner(migrations, |step| step.postgres)?.run_async(client).await.map_err(|error| failed(&error))?;
    Ok(report.applied_migrations().len())
}

pub(crate) async fn postgres_pending(
    client: &mut Client,
    migrations: &[Migration],
) -> Result<Pending, Error> {
    let known = client.query_one("SELECT to_regclass('refinery_schema_history') IS NOT NULL", &[]).await?;
    if !known.get::<_, bool>(0) {
        return Ok(compare(migrations, &[]));
    }
    let applied = runner(migrations, |step| step.postgres)?
        .get_applied_migrations_async(client)
        .await
        .map_err(|error| failed(&error))?;
    Ok(compare(migrations, &applied))
}
