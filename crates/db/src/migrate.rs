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

/// What was applied, as `refinery` notes it down. Asking it would read and hash the whole schema first.
const APPLIED: &str = "SELECT version, name FROM refinery_schema_history ORDER BY version";

/// A step that was applied: its number and name.
type Applied = (i32, String);

fn compare(migrations: &[Migration], applied: &[Applied]) -> Pending {
    let is_applied =
        |step: &Migration| applied.iter().any(|(number, _)| i32::try_from(step.number) == Ok(*number));
    let is_known = |number: i32| migrations.iter().any(|step| i32::try_from(step.number) == Ok(number));
    Pending {
        missing: migrations
            .iter()
            .filter(|step| !is_applied(step))
            .map(|step| format!("{:04}_{}", step.number, step.name))
            .collect(),
        unknown: applied
            .iter()
            .filter(|(number, _)| !is_known(*number))
            .map(|(number, name)| format!("{number:04}_{name}"))
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
    connection: &rusqlite::Connection,
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
    let mut statement = connection.prepare(APPLIED)?;
    let applied = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(compare(migrations, &applied.collect::<Result<Vec<Applied>, _>>()?))
}

pub(crate) async fn postgres(client: &mut Client, migrations: &[Migration]) -> Result<usize, Error> {
    let report =
        runner(migrations, |step| step.postgres)?.run_async(client).await.map_err(|error| failed(&error))?;
    Ok(report.applied_migrations().len())
}

pub(crate) async fn postgres_pending(client: &Client, migrations: &[Migration]) -> Result<Pending, Error> {
    let known = client.query_one("SELECT to_regclass('refinery_schema_history') IS NOT NULL", &[]).await?;
    if !known.get::<_, bool>(0) {
        return Ok(compare(migrations, &[]));
    }
    let rows = client.query(APPLIED, &[]).await?;
    let applied = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    Ok(compare(migrations, &applied.collect::<Result<Vec<Applied>, Error>>()?))
}
