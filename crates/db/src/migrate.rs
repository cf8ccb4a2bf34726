//! Migrations: numbered SQL scripts, written once and rendered for each database, applied in order by `refinery`,
//! which also rejects a script that changed after it was applied.

use refinery::Runner;
use tokio_postgres::Client;

use crate::Engine;
use crate::error::Error;

/// The placeholders for column types that differ between the databases: placeholder, SQLite, PostgreSQL. A key is an
/// identifier or a sort key and is compared byte by byte.
const TYPES: [(&str, &str, &str); 2] =
    [("{key}", "TEXT", "TEXT COLLATE \"C\""), ("{bytes}", "BLOB", "BYTEA")];

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub number: u32,
    pub name: &'static str,
    /// SQL with the placeholders `{key}` and `{bytes}` for column types that differ between the databases.
    pub sql: &'static str,
}

impl Migration {
    fn rendered(&self, engine: Engine) -> String {
        TYPES.iter().fold(self.sql.to_owned(), |text, (name, sqlite, postgres)| match engine {
            Engine::Sqlite => text.replace(name, sqlite),
            Engine::Postgres => text.replace(name, postgres),
        })
    }
}

/// The difference between a database's schema and the one of this version of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Steps this version would apply.
    pub missing: Vec<String>,
    /// Steps that only another version knows.
    pub unknown: Vec<String>,
}

fn runner(migrations: &[Migration], engine: Engine) -> Result<Runner, Error> {
    let steps = migrations
        .iter()
        .map(|step| {
            let name = format!("V{}__{}", step.number, step.name);
            refinery::Migration::unapplied(&name, &step.rendered(engine))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Error::Other(error.to_string()))?;
    Ok(Runner::new(&steps).set_abort_missing(false))
}

fn failed(error: &refinery::Error) -> Error {
    Error::Other(format!("migration failed: {error}"))
}

/// Reads the applied migrations from `refinery`'s own table. Asking `refinery` would read and hash the whole schema
/// first.
const APPLIED: &str = "SELECT version, name FROM refinery_schema_history ORDER BY version";

/// A step that was applied: its number and name.
type Applied = (i32, String);

fn compare(migrations: &[Migration], applied: &[Applied]) -> Pending {
    let is_same = |step: &Migration, (number, name): &Applied| {
        i32::try_from(step.number) == Ok(*number) && step.name == name
    };
    Pending {
        missing: migrations
            .iter()
            .filter(|step| !applied.iter().any(|one| is_same(step, one)))
            .map(|step| format!("{:04}_{}", step.number, step.name))
            .collect(),
        unknown: applied
            .iter()
            .filter(|one| !migrations.iter().any(|step| is_same(step, one)))
            .map(|(number, name)| format!("{number:04}_{name}"))
            .collect(),
    }
}

pub(crate) fn sqlite(
    connection: &mut rusqlite::Connection,
    migrations: &[Migration],
) -> Result<usize, Error> {
    let report = runner(migrations, Engine::Sqlite)?.run(connection).map_err(|error| failed(&error))?;
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
        runner(migrations, Engine::Postgres)?.run_async(client).await.map_err(|error| failed(&error))?;
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
