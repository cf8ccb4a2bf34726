//! Imports of rows from a table: CSV, or a sheet of an Excel workbook.

use std::collections::BTreeMap;

use attestry_app::FieldError;
use attestry_app::identity::members;
use attestry_app::registers::{Imported, ReadRow, RowErrors};
use attestry_domain::plain::PlainKind;
use attestry_domain::registers::Field;
use attestry_domain::registers::risks::TreatmentStrategy;
use attestry_domain::registers::scales::{Impact, Likelihood};
use attestry_http::answer::lists;
use attestry_http::answer::problem::{FieldProblem, Problem};
use attestry_http::answer::tables::{CSV, XLSX, as_meant};
use attestry_http::request::bodies::{MediaType, Meter, media_type, must_be};
use attestry_http::request::caller::caller_of;
use attestry_http::request::facts::{Argument, BodyLimit, Facts};
use attestry_http::request::json::Json;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::{Fields, read_request};
use attestry_http::state::Api;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;

use crate::registers::meaning::{Directory, date, fields_of, flag, word};
use crate::registers::workbook::{Cell, Unreadable, Workbook};
use crate::registers::{ASSIGNEE, RegisterApi};

/// The maximum number of rows per import.
const MAX_ROWS: usize = 5000;
const MAX_COLUMNS: usize = 200;
/// The maximum size of all cells of a table.
const MAX_TEXT_BYTES: usize = 16 << 20;
/// The maximum number of errors in the response to a dry run, which may be shown beside all rows.
const MAX_CHECKED_ERRORS: usize = 10_000;
/// The maximum number of errors in a problem.
const MAX_REPORTED_ERRORS: usize = 100;

/// The rows of a table, each parsed as the body of a creation.
#[derive(Debug)]
pub(crate) struct Table<R: RegisterApi> {
    pub(crate) rows: Vec<ReadRow<R::Patch>>,
    pub(crate) is_dry_run: bool,
}

/// A parsed table: the header, and the rows with their numbers. An empty cell is empty text.
pub(crate) struct Lines {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<(usize, Vec<String>)>,
}

impl<R: RegisterApi> Argument for Table<R> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Large;
        facts.takes_query = true;
    }
}

impl<R: RegisterApi> FromRequest<Api> for Table<R> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let ValidQuery(ImportQuery { is_dry_run, sheet }) =
            ValidQuery::from_request_parts(&mut parts, api).await?;
        let request = Request::from_parts(parts, body);
        let (_, organization) = caller_of(&request)?;
        let people = Directory::new(members::directory(&api.ctx, organization).await?.into_iter());
        let rows = read_table(request, api, sheet, move |table| rows_of::<R>(table.lines, &people)).await?;
        Ok(Self { rows, is_dry_run })
    }
}

/// A parsed file with a table.
struct AsWritten {
    sheets: Vec<String>,
    lines: Lines,
}

/// Reads the table of a request under an import permit, because parsing thousands of rows takes time and memory.
async fn read_table<T: Send + 'static>(
    request: Request,
    api: &Api,
    sheet: Option<String>,
    then: impl FnOnce(AsWritten) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let excel = media_type(request.headers(), XLSX) != MediaType::Other;
    if !excel {
        must_be_csv(request.headers())?;
    }
    let (context, organization) = caller_of(&request)?;
    let bytes = read_request(request).await?;
    let read = api.ctx.importing.work(organization, move || {
        let mut meter = Meter::beyond(&context.memory, bytes.len());
        then(match excel {
            true => read_xlsx(bytes, sheet.as_deref(), &mut meter)?,
            false => AsWritten { sheets: Vec::new(), lines: read_csv(&bytes, &mut meter)? },
        })
    });
    read.await?
}

/// The parameters of an import.
#[derive(Debug)]
pub(crate) struct ImportQuery {
    is_dry_run: bool,
    sheet: Option<String>,
}

impl FromQuery for ImportQuery {
    fn read(query: &mut Query) -> Self {
        Self { is_dry_run: query.get("dryRun").unwrap_or(false), sheet: query.raw("sheet") }
    }
}

impl ImportQuery {
    pub(crate) fn parameters() -> [Parameter; 2] {
        let dry_run = lists::parameter("dryRun", lists::flag(), "true checks the table and changes nothing.");
        [dry_run, Self::sheet_parameter()]
    }

    pub(crate) fn sheet_parameter() -> Parameter {
        lists::parameter("sheet", lists::text(), "The sheet of an Excel workbook; the first if left out.")
    }
}

/// A table as an import would read it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "sheets": ["Risks", "Notes"], "columns": ["Risk", "Owner"],
    "rows": [{"row": 1, "cells": ["Laptop stolen", "ada@example.com"]}]
}))]
pub(crate) struct TablePreview {
    /// The sheets of a workbook; empty for CSV.
    sheets: Vec<String>,
    columns: Vec<String>,
    rows: Vec<PreviewRow>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"row": 1, "cells": ["Laptop stolen", "ada@example.com"]}))]
pub(crate) struct PreviewRow {
    /// Its number, counted from 1 below the header.
    row: usize,
    cells: Vec<String>,
}

#[derive(Debug)]
struct SheetQuery(Option<String>);

impl FromQuery for SheetQuery {
    fn read(query: &mut Query) -> Self {
        Self(query.raw("sheet"))
    }
}

impl Argument for TablePreview {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Large;
        facts.takes_query = true;
    }
}

impl FromRequest<Api> for TablePreview {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let ValidQuery(SheetQuery(sheet)) = ValidQuery::from_request_parts(&mut parts, api).await?;
        let read = read_table(Request::from_parts(parts, body), api, sheet, |table| {
            let AsWritten { sheets, lines: Lines { names, rows } } = table;
            let rows = rows.into_iter().map(|(row, cells)| PreviewRow { row, cells }).collect();
            Ok(Self { sheets, columns: names, rows })
        });
        read.await
    }
}

fn must_be_csv(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/x-www-form-urlencoded") {
        let detail = "Send the table as it is, with its type: curl --data-binary @table.csv -H 'Content-Type: text/csv'. \
                      With -d, curl removes the line breaks and sends a form.";
        return Err(Problem::new("unsupported_media_type", detail));
    }
    must_be(headers, CSV).map_err(|problem| Problem {
        detail: format!("Send the table as Content-Type: {CSV} in UTF-8, or as {XLSX}."),
        ..problem
    })
}

fn malformed(detail: impl Into<String>) -> Problem {
    Problem::new("malformed_body", detail)
}

fn too_many_rows() -> Problem {
    malformed(format!("The table has more than {MAX_ROWS} rows; send it in parts."))
}

/// Detects the delimiter: from Excel's `sep=` line, or else the more frequent one in the header. Returns it with the
/// text that follows.
fn delimiter(text: &[u8]) -> (u8, &[u8]) {
    let is_end = |b: &u8| matches!(b, b'\n' | b'\r');
    let first = text.split(is_end).next().unwrap_or_default();
    if let [b's', b'e', b'p', b'=', own] = first {
        return (*own, text.get(first.len()..).unwrap_or_default());
    }
    let (mut commas, mut semicolons, mut is_quoted) = (0, 0, false);
    for byte in first {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => commas += 1,
            b';' if !is_quoted => semicolons += 1,
            _ => {}
        }
    }
    (if semicolons > commas { b';' } else { b',' }, text)
}

fn wrong_csv(error: &csv::Error) -> Problem {
    malformed(match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("Line {line} of the table has {len} cells; the header has {expected_len}.")
        }
        csv::ErrorKind::Utf8 { pos, .. } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("Line {line} of the table is not in UTF-8; save the table as CSV in UTF-8.")
        }
        _ => format!("The table is not CSV: {error}."),
    })
}

pub(crate) fn read_csv(bytes: &Bytes, meter: &mut Meter<'_>) -> Result<Lines, Problem> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let (delimiter, text) = delimiter(text);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(text);
    let names = reader.headers().map_err(|error| wrong_csv(&error))?;
    if names.len() > MAX_COLUMNS {
        return Err(too_many_columns());
    }
    let names = names.iter().map(ToOwned::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        if rows.len() == MAX_ROWS {
            return Err(too_many_rows());
        }
        let cells = record.map_err(|error| wrong_csv(&error))?;
        meter.charge(cells.iter().map(cell_memory).sum())?;
        rows.push((rows.len() + 1, cells.iter().map(|cell| as_meant(cell).to_owned()).collect()));
    }
    Ok(Lines { names, rows })
}

fn too_many_columns() -> Problem {
    malformed(format!("The table has more than {MAX_COLUMNS} columns."))
}

fn read_xlsx(bytes: Bytes, sheet: Option<&str>, meter: &mut Meter<'_>) -> Result<AsWritten, Problem> {
    let book = Workbook::open(bytes)?;
    meter.charge(book.size())?;
    let sheets = book.sheets();
    let mut names: Vec<String> = Vec::new();
    let mut rows: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut room = MAX_TEXT_BYTES;
    book.each_cell(sheet, |cell: Cell| {
        let Cell { row, column, text } = cell;
        if row > MAX_ROWS {
            return Err(too_many_rows());
        }
        if row > 0 && names.get(column).is_none_or(String::is_empty) {
            // A column without a name is ignored.
            return Ok(());
        }
        if column >= MAX_COLUMNS {
            return Err(too_many_columns());
        }
        let name = names.get(column).map_or("", String::as_str);
        let text = text.map_err(|message| {
            Problem::invalid(vec![FieldProblem { row: Some(row), ..FieldProblem::new(name, message) }])
        })?;
        // Shared strings can repeat one text in many cells, so the limit counts each of them.
        room = room.checked_sub(text.len()).ok_or_else(too_much_text)?;
        let line = if row == 0 { &mut names } else { rows.entry(row).or_default() };
        meter.charge(cell_memory(&text) + (column + 1).saturating_sub(line.len()) * size_of::<String>())?;
        if line.len() <= column {
            line.resize(column + 1, String::new());
        }
        line[column] = text;
        Ok(())
    })?;
    rows.retain(|_, line| line.iter().any(|cell| !cell.is_empty()));
    Ok(AsWritten { sheets, lines: Lines { names, rows: rows.into_iter().collect() } })
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Self {
        malformed(unreadable.detail())
    }
}

/// Returns the memory that a cell takes until its row is stored: the cell, the field of the record, and the audit log
/// entry.
fn cell_memory(text: &str) -> usize {
    size_of::<String>() + 3 * text.len()
}

fn too_much_text() -> Problem {
    malformed(format!("The table holds more than {} MiB of text; send it in parts.", MAX_TEXT_BYTES >> 20))
}

/// The meaning of a column.
enum Taken {
    /// A field of a creation, and its values if it is an enum.
    Field(&'static Field, Vec<String>),
    /// A read-only column, ignored so that an export can be imported again.
    Nothing,
}

/// Returns the values of an enum field.
fn words_of(field: &Field) -> Vec<String> {
    match (field.schema)()["enum"].as_array() {
        Some(words) => words.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        None => Vec::new(),
    }
}

/// Matches columns to fields by name, case-insensitively, or by a synonym if no column has the field's name.
fn columns<R: RegisterApi>(names: &[String]) -> Result<Vec<Taken>, Problem> {
    let exported = crate::registers::columns::<R>();
    let exact =
        |name: &str| R::FIELDS.iter().find(|field| field.wire.eq_ignore_ascii_case(name) && field.is_given());
    let mut taken: Vec<&str> = names.iter().filter_map(|name| exact(name)).map(|field| field.wire).collect();
    let (mut columns, mut errors) = (Vec::new(), Vec::new());
    for (place, name) in names.iter().enumerate() {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let mut note = |message: &str| errors.push(FieldProblem::new(name.clone(), message));
        if !name.is_empty() && names[..place].iter().any(|other| is(other)) {
            note("is given more than once");
        }
        let meant = || {
            let meant = fields_of(name, R::NAMES.one, R::NAMED_BY).into_iter().find_map(exact)?;
            (!taken.contains(&meant.wire)).then_some(meant)
        };
        columns.push(match exact(name).or_else(meant) {
            Some(field) => {
                taken.push(field.wire);
                Taken::Field(field, words_of(field))
            }
            None => {
                if !name.is_empty() && !exported.iter().any(|column| is(column.name)) {
                    note("is not a known column");
                }
                Taken::Nothing
            }
        });
    }
    errors.truncate(MAX_REPORTED_ERRORS);
    if errors.is_empty() { Ok(columns) } else { Err(Problem::invalid(errors)) }
}

fn rows_of<R: RegisterApi>(
    Lines { names, rows }: Lines,
    people: &Directory,
) -> Result<Vec<ReadRow<R::Patch>>, Problem> {
    let columns = columns::<R>(&names)?;
    let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let (rated, decided) = (place("isAssessed"), place("treatmentDecidedAt"));
    let mut read = Vec::with_capacity(rows.len());
    for (number, row) in rows {
        // An export contains the lowest rating for an unrated row, and the default strategy for an undecided one.
        let is_unrated =
            rated.and_then(|rated| row.get(rated)).is_some_and(|cell| cell.eq_ignore_ascii_case("false"));
        let is_undecided = decided.and_then(|decided| row.get(decided)).is_some_and(String::is_empty);
        let (mut object, mut errors) = (Map::new(), Vec::new());
        // An empty cell leaves the field out.
        for (cell, column) in row.iter().zip(&columns).filter(|(cell, _)| !cell.is_empty()) {
            if let Taken::Field(field, words) = column
                && !(is_unrated && R::RATINGS.iter().any(|side| side.has(field.column)) && is_lowest(cell))
                && !(is_undecided
                    && field.wire == "treatmentStrategy"
                    && cell == TreatmentStrategy::default().as_str())
            {
                match value(field, cell, words, people) {
                    Ok(value) => drop(object.insert(field.wire.to_owned(), value)),
                    Err(message) => errors.push(FieldError { field: field.wire.to_owned(), message }),
                }
            }
        }
        let row = match (read_row::<R>(object), errors.is_empty()) {
            (row, true) => row,
            (row, false) => {
                // Do not report an invalid field as missing too.
                let more = row.err().unwrap_or_default();
                let more =
                    more.into_iter().filter(|one| !errors.iter().any(|known| known.field == one.field));
                let mut all: Vec<FieldError> = more.chain(errors.iter().cloned()).collect();
                all.sort_by_key(|one| R::FIELDS.iter().position(|field| field.wire == one.field));
                Err(all)
            }
        };
        read.push((number, row));
    }
    if read.is_empty() {
        return Err(malformed(
            "The table has no rows; its first line names the fields. With curl, use --data-binary: -d removes the line breaks.",
        ));
    }
    Ok(read)
}

fn is_lowest(rating: &str) -> bool {
    rating == Likelihood::default().as_str() || rating == Impact::default().as_str()
}

fn read_row<R: RegisterApi>(object: Map<String, Value>) -> Result<R::Patch, Vec<FieldError>> {
    let fields = Fields::of(&Json::from(&Value::Object(object)));
    let fields = fields.map_err(|message| vec![FieldError { field: String::new(), message }])?;
    fields.read_by(|fields| R::given_in(fields, true)).map_err(|errors| {
        errors.into_iter().map(|FieldProblem { field, message, .. }| FieldError { field, message }).collect()
    })
}

/// Converts a cell to the property of a body, or returns its error.
fn value(field: &Field, cell: &str, words: &[String], people: &Directory) -> Result<Value, String> {
    Ok(match field.kind {
        PlainKind::Bool => flag(cell).map_or_else(|| json!(cell), |flag| json!(flag)),
        PlainKind::Int => cell.parse::<i64>().map_or_else(|_| json!(cell), |number| json!(number)),
        PlainKind::Words => {
            json!(cell.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect::<Vec<_>>())
        }
        PlainKind::Date => json!(date(cell)?),
        _ if field.wire == ASSIGNEE => json!(people.find(cell)?),
        _ => json!(word(cell, words).unwrap_or(cell)),
    })
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "dryRun": true, "total": 2, "imported": 0, "ids": [],
    "errors": [{"row": 2, "field": "title", "message": "is required"}], "errorCount": 1
}))]
pub(crate) struct ImportResult {
    dry_run: bool,
    /// The number of rows in the table.
    total: usize,
    /// The number of rows added; 0 in a dry run.
    imported: usize,
    /// The ids of the added rows, in the order of the table.
    ids: Vec<String>,
    /// The first 10,000 errors, by row.
    errors: Vec<FieldProblem>,
    /// The total number of errors.
    error_count: usize,
}

impl ImportResult {
    /// Builds the result of an import. Invalid rows are a problem, unless it is a dry run.
    pub(crate) fn new<R: RegisterApi>(
        dry_run: bool,
        total: usize,
        imported: Imported<R>,
    ) -> Result<Self, Problem> {
        let (ids, wrong) = match imported {
            Imported::Made(records) => {
                (records.iter().map(|record| record.id.to_string()).collect(), Vec::new())
            }
            Imported::Checked(wrong) => (Vec::new(), wrong),
        };
        let of_row = |RowErrors { row, errors }| {
            let errors: Vec<FieldError> = errors;
            errors.into_iter().map(move |error| FieldProblem { row: Some(row), ..error.into() })
        };
        let mut errors: Vec<FieldProblem> = wrong.into_iter().flat_map(of_row).collect();
        let error_count = errors.len();
        errors.truncate(if dry_run { MAX_CHECKED_ERRORS } else { MAX_REPORTED_ERRORS });
        if !dry_run && error_count > 0 {
            return Err(refused(errors, error_count));
        }
        Ok(Self { dry_run, total, imported: ids.len(), ids, errors, error_count })
    }
}

fn refused(errors: Vec<FieldProblem>, count: usize) -> Problem {
    let detail = match (errors.as_slice(), count) {
        ([FieldProblem { field, message, row: Some(row) }], 1) => format!("Row {row}: {field} {message}."),
        (listed, count) if listed.len() < count => {
            format!(
                "The table has {count} errors; the first {} are listed in errors. Nothing was added.",
                listed.len()
            )
        }
        _ => format!("The table has {count} errors; see errors. Nothing was added."),
    };
    Problem { errors, ..Problem::new("validation_failed", detail) }
}
