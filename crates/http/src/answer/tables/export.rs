//! Exports of lists as downloads, written page by page while they are read.

use std::io::Read;

use attestry_domain::Time;
use attestry_domain::page::{After, Page};
use attestry_domain::plain::Plain;
use axum::body::Body as HttpBody;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, Worksheet, XlsxError};
use tokio::sync::mpsc;
use tokio_util::io::ReaderStream;
use utoipa::openapi::path::Parameter;

use super::{CSV_UTF8, Cell, XLSX, harmless};
use crate::answer::lists;
use crate::answer::problem::Problem;
use crate::document::operations::capitalized;
use crate::document::schemas::schema_of;
use crate::request::query::{FromQuery, Query};

attestry_domain::words! {
    /// The file format of a table.
    #[derive(Default)]
    TableFormat {
        #[default]
        Csv = "csv",
        Xlsx = "xlsx",
    }
}

/// The output options of a table.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub format: TableFormat,
    bom: bool,
}

impl FromQuery for Shape {
    fn read(query: &mut Query) -> Self {
        Self { format: query.get("format").unwrap_or_default(), bom: query.get("bom").unwrap_or(false) }
    }
}

impl Shape {
    pub fn parameters() -> [Parameter; 2] {
        [
            lists::parameter("format", schema_of::<TableFormat>(), "`csv` (default) or `xlsx`."),
            lists::parameter(
                "bom",
                lists::flag(),
                "true starts CSV with a byte order mark, which Excel needs to read it as UTF-8.",
            ),
        ]
    }
}

/// A column: its name and its display width.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub width: u16,
}

/// The rows of a table, read page by page by the writer.
type Rows = mpsc::Receiver<Result<Vec<Vec<Cell>>, Problem>>;

/// The number of rows per page, chosen so that a page stays near [`PAGE_BYTES`] regardless of the length of its rows.
const ROWS: std::ops::RangeInclusive<usize> = 10..=500;
const PAGE_BYTES: usize = 128 << 10;
/// The number of rows per page of a past state, where each page in another order than that of creation scans all
/// rows.
const PAST_ROWS: u16 = 2000;

/// Reads the rows of a table page by page, until the end or until the client disconnects.
pub fn all_rows<T, F>(
    as_of: Option<Time>,
    cells: impl Fn(T) -> Vec<Cell> + Send + 'static,
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
            // Read only when the writer is ready, because waiting rows take memory.
            let Ok(place) = send.reserve().await else { return };
            let found = list(after.take(), limit).await;
            after = found.as_ref().ok().and_then(|page| page.next.clone());
            let lines: Result<Vec<Vec<Cell>>, _> =
                found.map(|page| page.items.into_iter().map(&cells).collect()).map_err(Problem::from);
            if let Ok(lines) = &lines
                && as_of.is_none()
                && !lines.is_empty()
            {
                let bytes: usize = lines.iter().flatten().map(length).sum();
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

fn length(cell: &Cell) -> usize {
    if let Plain::Text(text) = cell { text.len() } else { 8 }
}

/// Responds with a table as a download. An error in the first page still becomes a problem.
pub async fn download(
    name: &'static str,
    file_name: &str,
    shape: Shape,
    columns: Vec<Column>,
    mut rows: Rows,
) -> Result<Response, Problem> {
    let first = rows.recv().await.unwrap_or_else(|| Ok(Vec::new()))?;
    let (kind, body) = match shape.format {
        TableFormat::Csv => {
            (CSV_UTF8.to_owned(), HttpBody::from_stream(csv_stream(shape, &columns, &first, rows)))
        }
        TableFormat::Xlsx => {
            (XLSX.to_owned(), HttpBody::from_stream(xlsx_stream(name, columns, first, rows)))
        }
    };
    let disposition = format!("attachment; filename=\"{file_name}.{}\"", shape.format);
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], body).into_response())
}

fn csv_text(cell: &Cell) -> String {
    match cell {
        // A table shows no bytes.
        Plain::Null | Plain::Bytes(_) => String::new(),
        Plain::Text(text) => harmless(text),
        Plain::Bool(value) => value.to_string(),
        Plain::Int(value) => value.to_string(),
        Plain::Date(value) => value.to_string(),
        Plain::Time(value) => value.to_string(),
    }
}

fn csv_lines(lines: &[Vec<Cell>]) -> Result<Bytes, std::io::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line.iter().map(csv_text))?;
    }
    writer.into_inner().map(Bytes::from).map_err(|error| std::io::Error::other(error.to_string()))
}

fn broken(problem: Problem) -> std::io::Error {
    std::io::Error::other(problem.cause.unwrap_or(problem.detail))
}

fn csv_stream(
    shape: Shape,
    columns: &[Column],
    first: &[Vec<Cell>],
    rows: Rows,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + use<> {
    let mark = if shape.bom { "\u{feff}" } else { "" };
    let names: Vec<Cell> = columns.iter().map(|column| super::text(column.name)).collect();
    let rest = stream::unfold(rows, async |mut rows| {
        let page = rows.recv().await?;
        Some((page.map_err(broken).and_then(|page| csv_lines(&page)), rows))
    });
    // Fused, because the compression layer polls again after the end.
    stream::iter([Ok(Bytes::from_static(mark.as_bytes())), csv_lines(&[names]), csv_lines(first)])
        .chain(rest)
        .fuse()
}

/// The maximum length of a spreadsheet cell in characters.
const MAX_CELL_CHARS: usize = 32_767;

struct Formats {
    header: Format,
    date: Format,
    time: Format,
    text: Format,
}

fn write(
    sheet: &mut Worksheet,
    formats: &Formats,
    (row, column): (u32, u16),
    cell: &Cell,
) -> Result<(), XlsxError> {
    match cell {
        // A table shows no bytes.
        Plain::Null | Plain::Bytes(_) => return Ok(()),
        Plain::Text(text) if text.chars().count() > MAX_CELL_CHARS => {
            let start: String = text.chars().take(MAX_CELL_CHARS - 1).chain(['…']).collect();
            sheet.write_string_with_format(row, column, start, &formats.text)?
        }
        Plain::Text(text) => sheet.write_string_with_format(row, column, text.as_ref(), &formats.text)?,
        Plain::Bool(value) => sheet.write_boolean(row, column, *value)?,
        Plain::Int(value) => sheet.write(row, column, *value)?,
        // Spreadsheets cannot represent dates before 1900.
        Plain::Date(value) => match ExcelDateTime::parse_from_str(&value.to_string()) {
            Ok(moment) => sheet.write_datetime_with_format(row, column, moment, &formats.date)?,
            Err(_) => sheet.write_string(row, column, value.to_string())?,
        },
        Plain::Time(value) => match ExcelDateTime::from_timestamp(value.as_millis().div_euclid(1000)) {
            Ok(moment) => sheet.write_datetime_with_format(row, column, moment, &formats.time)?,
            Err(_) => sheet.write_string(row, column, value.to_string())?,
        },
    };
    Ok(())
}

fn write_book(
    name: &str,
    columns: &[Column],
    first: Vec<Vec<Cell>>,
    mut rows: Rows,
) -> Result<std::fs::File, Problem> {
    let wrong = |error: XlsxError| Problem::internal(error);
    let formats = Formats {
        header: Format::new().set_bold(),
        date: Format::new().set_num_format("yyyy-mm-dd"),
        time: Format::new().set_num_format("yyyy-mm-dd hh:mm:ss"),
        text: Format::new().set_num_format("@"),
    };
    let mut book = Workbook::new();
    let sheet = book.add_worksheet_with_constant_memory().map_err(wrong)?;
    sheet.set_name(capitalized(name)).map_err(wrong)?;
    sheet.set_freeze_panes(1, 0).map_err(wrong)?;
    for (place, column) in (0_u16..).zip(columns) {
        sheet.set_column_width(place, column.width).map_err(wrong)?;
        sheet.write_string_with_format(0, place, column.name, &formats.header).map_err(wrong)?;
    }
    let (mut line, mut page) = (0, Some(Ok(first)));
    while let Some(rows_of_page) = page.take() {
        for row in rows_of_page? {
            line += 1;
            for (column, cell) in (0_u16..).zip(&row) {
                write(sheet, &formats, (line, column), cell).map_err(wrong)?;
            }
        }
        page = rows.blocking_recv();
    }
    let last = u16::try_from(columns.len()).unwrap_or(u16::MAX).saturating_sub(1);
    sheet.autofilter(0, 0, line, last).map_err(wrong)?;
    let mut file = tempfile::tempfile().map_err(Problem::internal)?;
    book.save_to_writer(&mut file).map_err(wrong)?;
    std::io::Seek::rewind(&mut file).map_err(Problem::internal)?;
    Ok(file)
}

/// Writes a complete table as a workbook.
pub fn book(name: &str, columns: &[Column], rows: Vec<Vec<Cell>>) -> Result<Vec<u8>, String> {
    let (_, nothing_more) = mpsc::channel(1);
    let wrong = |problem: Problem| problem.cause.unwrap_or(problem.detail);
    let mut file = write_book(name, columns, rows, nothing_more).map_err(wrong)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Writes a complete table as CSV.
pub fn table(columns: &[Column], rows: &[Vec<Cell>]) -> Result<Vec<u8>, std::io::Error> {
    let names: Vec<Cell> = columns.iter().map(|column| super::text(column.name)).collect();
    let mut bytes = csv_lines(&[names])?.to_vec();
    bytes.extend_from_slice(&csv_lines(rows)?);
    Ok(bytes)
}

/// Streams a workbook. It is written to a self-deleting temporary file first, because Excel's format is not
/// sequential.
fn xlsx_stream(
    name: &'static str,
    columns: Vec<Column>,
    first: Vec<Vec<Cell>>,
    rows: Rows,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    let written = tokio::task::spawn_blocking(move || write_book(name, &columns, first, rows));
    let file = async {
        let file = written.await.map_err(std::io::Error::other)?.map_err(broken)?;
        Ok::<_, std::io::Error>(ReaderStream::new(tokio::fs::File::from_std(file)))
    };
    stream::once(file).try_flatten().fuse()
}
