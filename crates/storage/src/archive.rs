//! Tables as JSON Lines, one row per line: the portable form of a whole database. A backup is taken from one snapshot
//! while the server runs; a restore fills an empty database of either engine that has the schema of the archive.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use attestry_db::{Error, Tx, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};

use crate::schema::TABLES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Int,
    Bool,
    Bytes,
}

const SQLITE_COLUMNS: &str = "SELECT name, lower(type) FROM pragma_table_info($1) ORDER BY name";
const POSTGRES_COLUMNS: &str = "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY 1";

/// The columns of a table, sorted by name.
pub async fn columns(t: &Tx<'_>, engine: attestry_db::Engine, table: &str) -> Result<Vec<Column>, Error> {
    let sql = match engine {
        attestry_db::Engine::Sqlite => SQLITE_COLUMNS,
        attestry_db::Engine::Postgres => POSTGRES_COLUMNS,
    };
    let mut columns = t
        .all(sql, &[Value::from(table)], |row| {
            let kind = match row.str(1)? {
                "bigint" => ColumnKind::Int,
                "boolean" => ColumnKind::Bool,
                "blob" | "bytea" => ColumnKind::Bytes,
                _ => ColumnKind::Text,
            };
            Ok(Column { name: row.text(0)?, kind })
        })
        .await?;
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(columns)
}

/// Interns a statement that is built at run time, for the lifetime of the program.
fn keep(sql: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(sql.as_str()) {
        return known;
    }
    let sql: &'static str = Box::leak(sql.into_boxed_str());
    kept.insert(sql);
    sql
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::Other(format!("archive: {error}"))
}

/// Writes all rows of a table and returns their number.
pub async fn dump(t: &Tx<'_>, table: &str, columns: &[Column], out: &mut dyn Write) -> Result<u64, Error> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let sql = keep(format!("SELECT {} FROM {table}", names.join(", ")));
    let mut count = 0;
    t.each(sql, &[], |row| {
        let mut line = Map::new();
        for (place, column) in columns.iter().enumerate() {
            let value = match (row.value(place)?, column.kind) {
                (Value::Null, _) => Json::Null,
                (Value::Int(value), ColumnKind::Bool) => Json::Bool(value != 0),
                (Value::Int(value), _) => Json::from(value),
                (Value::Bool(value), _) => Json::Bool(value),
                (Value::Text(text), _) => Json::String(text.into_owned()),
                (Value::Bytes(bytes), _) => Json::String(STANDARD.encode(bytes)),
            };
            line.insert(column.name.clone(), value);
        }
        serde_json::to_writer(&mut *out, &line).map_err(broken)?;
        out.write_all(b"\n").map_err(broken)?;
        count += 1;
        Ok(())
    })
    .await?;
    Ok(count)
}

/// Inserts rows into a table.
pub async fn load(t: &Tx<'_>, table: &str, columns: &[Column], lines: &[String]) -> Result<(), Error> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let places: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    let sql = keep(format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", ")));
    for line in lines {
        let mut row: Map<String, Json> = serde_json::from_str(line).map_err(broken)?;
        let mut params = Vec::with_capacity(columns.len());
        for column in columns {
            params.push(match (row.remove(&column.name).unwrap_or_default(), column.kind) {
                (Json::Null, _) => Value::Null,
                (Json::Bool(value), ColumnKind::Bool) => Value::Bool(value),
                (Json::Number(number), ColumnKind::Int) => {
                    Value::Int(number.as_i64().ok_or_else(|| broken("not a whole number"))?)
                }
                (Json::String(text), ColumnKind::Text) => Value::from(text),
                (Json::String(text), ColumnKind::Bytes) => {
                    Value::Bytes(STANDARD.decode(text).map_err(broken)?.into())
                }
                _ => return Err(broken(format!("{table}.{} is of another type", column.name))),
            });
        }
        if let Some(unknown) = row.keys().next() {
            return Err(broken(format!(
                "{table} has no column {unknown}: it was written by another version"
            )));
        }
        t.execute(sql, &params).await?;
    }
    Ok(())
}

/// Empties every existing table, including the rows that migrations inserted.
pub async fn clear(t: &Tx<'_>, engine: attestry_db::Engine) -> Result<(), Error> {
    for table in TABLES.iter().rev() {
        // An earlier schema has fewer tables.
        if !columns(t, engine, table.name).await?.is_empty() {
            t.execute(keep(format!("DELETE FROM {}", table.name)), &[]).await?;
        }
    }
    Ok(())
}

/// Drops every table, including the migration history.
pub async fn drop_tables(t: &Tx<'_>) -> Result<(), Error> {
    for table in TABLES.iter().rev() {
        t.execute(keep(format!("DROP TABLE IF EXISTS {}", table.name)), &[]).await?;
    }
    t.execute("DROP TABLE IF EXISTS refinery_schema_history", &[]).await.map(|_| ())
}
