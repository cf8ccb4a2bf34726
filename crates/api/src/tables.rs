//! Tables in and out: a register as CSV or XLSX, written while it is read, and CSV whose rows are creations.

use attestry_app::members;
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_domain::page::{After, Page};
use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use rust_xlsxwriter::{Format, Workbook, XlsxError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::io::ReaderStream;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::bodies::must_be;
use crate::json::Json as JsonValue;
use crate::lists;
use crate::problem::{FieldProblem, Problem};
use crate::query::{FromQuery, Query};
use crate::state::Api;
use crate::wire::{Body, Fields, read_request};

attestry_domain::words! {
    /// What a table is written as.
    #[derive(Default)]
    TableFormat {
        #[default]
        Csv = "csv",
        Xlsx = "xlsx",
    }
}

pub(crate) fn format_parameter() -> Parameter {
    lists::parameter("format", TableFormat::schema(), "`csv` (default) or `xlsx`.")
}

/// Rows of a table, fetched page by page by whoever writes it.
pub(crate) type Rows = mpsc::Receiver<Result<Vec<Vec<String>>, Problem>>;

/// How many rows are read at a time: few enough that a page stays near [`PAGE_BYTES`], however long its rows are.
const ROWS: std::ops::RangeInclusive<usize> = 10..=500;
const PAGE_BYTES: usize = 128 << 10;
/// The same of the past, where each page in another order than that of creation looks at everything.
const PAST_ROWS: u16 = 2000;

/// Feeds a table page by page, until there is nothing more or whoever downloads it went away.
pub(crate) fn all_rows<T, F>(
    as_of: Option<Time>,
    cells: fn(T) -> Vec<String>,
    list: impl Fn(Option<After>, u16) -> F + Send + 'static,
) -> Rows
where
    T: Send + 'static,
    F: Future<Output = Result<Page<T>, attestry_app::Error>> + Send,
{
    let (send, rows) = mpsc::channel(1);
    tokio::spawn(async move {
        let (mut after, mut limit) = (None, if as_of.is_some() { PAST_ROWS } else { 50 });
        loop {
            // Read only when somebody wants it: what waits takes memory.
            let Ok(place) = send.reserve().await else { return };
            let found = list(after.take(), limit).await;
            after = found.as_ref().ok().and_then(|page| page.next.clone());
            let lines: Result<Vec<Vec<String>>, _> =
                found.map(|page| page.items.into_iter().map(cells).collect()).map_err(Problem::from);
            if let Ok(lines) = &lines
                && as_of.is_none()
                && !lines.is_empty()
            {
                let bytes: usize = lines.iter().flatten().map(String::len).sum();
                let fitting = PAGE_BYTES * lines.len() / bytes.max(1);
                limit = u16::try_from(fitting.clamp(*ROWS.start(), *ROWS.end())).unwrap_or(limit);
            }
            place.send(lines);
            if after.is_none() {
                return;
            }
        }
    });
    rows
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell that a spreadsheet would take for a formula is made plain text.
fn harmless(cell: &str) -> String {
    if cell.starts_with(FORMULA) { format!("'{cell}") } else { cell.to_owned() }
}

/// The cell as it was before an export made it harmless.
fn as_meant(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| rest.starts_with(FORMULA)).unwrap_or(cell)
}

/// A table as a download, written while its rows are read. What goes wrong with the first of them is still a problem.
pub(crate) async fn download(
    name: &str,
    format: TableFormat,
    header: &'static [&'static str],
    mut rows: Rows,
) -> Result<Response, Problem> {
    let first = rows.recv().await.unwrap_or_else(|| Ok(Vec::new()))?;
    let (kind, body) = match format {
        TableFormat::Csv => {
            ("text/csv; charset=utf-8", HttpBody::from_stream(csv_stream(header, &first, rows)))
        }
        TableFormat::Xlsx => (
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            HttpBody::from_stream(xlsx_stream(header, first, rows)),
        ),
    };
    let disposition = format!("attachment; filename=\"{name}.{format}\"");
    Ok(([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, disposition)], body).into_response())
}

fn csv_lines(lines: &[Vec<String>]) -> Result<Bytes, std::io::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line.iter().map(|cell| harmless(cell)))?;
    }
    writer.into_inner().map(Bytes::from).map_err(|error| std::io::Error::other(error.to_string()))
}

fn broken(problem: Problem) -> std::io::Error {
    std::io::Error::other(problem.cause.unwrap_or(problem.detail))
}

fn csv_stream(
    header: &'static [&'static str],
    first: &[Vec<String>],
    rows: Rows,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + use<> {
    let names = vec![header.iter().map(|name| (*name).to_owned()).collect()];
    let rest = stream::unfold(rows, async |mut rows| {
        let page = rows.recv().await?;
        Some((page.map_err(broken).and_then(|page| csv_lines(&page)), rows))
    });
    // Whoever compresses asks again after the end.
    stream::iter([csv_lines(&names), csv_lines(first)]).chain(rest).fuse()
}

/// Excel's format cannot be written front to back: it goes through a file that vanishes by itself.
fn xlsx_stream(
    header: &'static [&'static str],
    first: Vec<Vec<String>>,
    mut rows: Rows,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    let written = tokio::task::spawn_blocking(move || -> Result<std::fs::File, Problem> {
        let wrong = |error: XlsxError| Problem::internal(error);
        let mut book = Workbook::new();
        let sheet = book.add_worksheet_with_constant_memory().map_err(wrong)?;
        for (column, name) in (0_u16..).zip(header) {
            sheet.write_string_with_format(0, column, *name, &Format::new().set_bold()).map_err(wrong)?;
        }
        let (mut line, mut page) = (1, Some(Ok(first)));
        while let Some(rows_of_page) = page.take() {
            for row in rows_of_page? {
                for (column, cell) in (0_u16..).zip(row) {
                    sheet.write_string(line, column, cell).map_err(wrong)?;
                }
                line += 1;
            }
            page = rows.blocking_recv();
        }
        let mut file = tempfile::tempfile().map_err(Problem::internal)?;
        book.save_to_writer(&mut file).map_err(wrong)?;
        std::io::Seek::rewind(&mut file).map_err(Problem::internal)?;
        Ok(file)
    });
    let file = async {
        let file = written.await.map_err(std::io::Error::other)?.map_err(broken)?;
        Ok::<_, std::io::Error>(ReaderStream::new(tokio::fs::File::from_std(file)))
    };
    stream::once(file).try_flatten().fuse()
}

/// The rows of a CSV body, each read as the body of a creation; errors name the row.
#[derive(Debug)]
pub(crate) struct Table<B> {
    rows: Vec<Result<B, Vec<FieldProblem>>>,
}

/// Columns of an export that are not for anybody to set, so that an export can be imported again.
const EXPORTED_ONLY: &[&str] = &["id", "inherentScore", "residualScore", "createdAt", "updatedAt"];

/// How many rows one import takes.
const MOST_ROWS: usize = 5000;

impl<B: Body> FromRequest<Api> for Table<B> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        must_be(request.headers(), "text/csv")?;
        let bytes = read_request(request).await?;
        let malformed = |error: csv::Error| {
            Problem::new("malformed_body", format!("The table is not CSV in UTF-8: {error}."))
        };
        // Spreadsheets of many countries write semicolons.
        let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let delimiter = if first.contains(&b';') && !first.contains(&b',') { b';' } else { b',' };
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(bytes.as_ref());
        let names: Vec<String> = reader
            .headers()
            .map_err(malformed)?
            .iter()
            .map(|name| name.trim_start_matches('\u{feff}').to_owned())
            .collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(malformed)?;
            // An empty cell is a field that is left out; what an export adds to the fields of a creation, too.
            let cells = names
                .iter()
                .zip(record.iter())
                .filter(|(name, cell)| !cell.is_empty() && !EXPORTED_ONLY.contains(&name.as_str()));
            let object: Map<String, Value> =
                cells.map(|(name, cell)| (name.clone(), json!(as_meant(cell)))).collect();
            rows.push(match Fields::of(&JsonValue::from(&Value::Object(object))) {
                Ok(fields) => fields.read(),
                Err(message) => Err(vec![FieldProblem { field: String::new(), message }]),
            });
            if rows.len() > MOST_ROWS {
                return Err(Problem::new(
                    "malformed_body",
                    format!("The table has more than {MOST_ROWS} rows; send it in parts."),
                ));
            }
        }
        if rows.is_empty() {
            return Err(Problem::new(
                "malformed_body",
                "The table has no rows; the first line names the fields.",
            ));
        }
        Ok(Self { rows })
    }
}

/// What is wrong with one row.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"row": 2, "errors": [{"field": "title", "message": "is required"}]}))]
pub(crate) struct RowErrors {
    /// The row's number, the first after the header being 1.
    row: usize,
    errors: Vec<FieldProblem>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"dryRun": true, "total": 2, "imported": 0, "errors": [{"row": 2, "errors": [{"field": "title", "message": "is required"}]}]}))]
pub(crate) struct ImportResult {
    dry_run: bool,
    total: usize,
    /// 0 in a dry run.
    imported: usize,
    errors: Vec<RowErrors>,
}

/// Splits a table into what can be taken and what is wrong; `assignees` says which rows name nobody who
/// could be responsible.
fn sort_out<B>(table: Table<B>, assignees: &[bool]) -> (Vec<B>, Vec<RowErrors>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for (place, row) in table.rows.into_iter().enumerate() {
        let wrong_assignee = assignees.get(place) == Some(&false);
        let assignee = || FieldProblem {
            field: "assigneeId".to_owned(),
            message: attestry_app::members::NO_SUCH_ASSIGNEE.to_owned(),
        };
        match row {
            Ok(body) if !wrong_assignee => good.push(body),
            Ok(_) => bad.push(RowErrors { row: place + 1, errors: vec![assignee()] }),
            Err(errors) => bad.push(RowErrors { row: place + 1, errors }),
        }
    }
    (good, bad)
}

/// Creates what stands in the rows, all of it or nothing; a dry run only tells what is wrong.
pub(crate) async fn import<B, T>(
    api: &Api,
    scope: &Scope,
    DryRun(dry_run): DryRun,
    table: Table<B>,
    assignee: impl Fn(&B) -> Option<MemberId>,
    create: impl AsyncFnOnce(Vec<B>) -> Result<T, attestry_app::Error>,
) -> Result<Json<ImportResult>, Problem> {
    let total = table.rows.len();
    let named = table.rows.iter().map(|row| row.as_ref().ok().and_then(&assignee));
    let assignees = members::are_active(&api.ctx, scope, named.collect()).await?;
    let (good, errors) = sort_out(table, &assignees);
    if dry_run {
        return Ok(Json(ImportResult { dry_run, total, imported: 0, errors }));
    }
    if !errors.is_empty() {
        return Err(refused(errors));
    }
    create(good).await?;
    Ok(Json(ImportResult { dry_run, total, imported: total, errors }))
}

/// All rows or none: what is wrong, with the row in front of the field.
fn refused(errors: Vec<RowErrors>) -> Problem {
    let named = errors.into_iter().flat_map(|RowErrors { row, errors }| {
        errors
            .into_iter()
            .map(move |e| FieldProblem { field: format!("row {row}: {}", e.field), message: e.message })
    });
    Problem::invalid(named.collect())
}

/// `dryRun`.
#[derive(Debug)]
pub(crate) struct DryRun(pub(crate) bool);

impl FromQuery for DryRun {
    fn read(query: &mut Query) -> Self {
        Self(query.flag("dryRun").unwrap_or(false))
    }
}

impl IntoParams for DryRun {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![lists::parameter("dryRun", lists::flag(), "true only tells what is wrong and changes nothing.")]
    }
}
