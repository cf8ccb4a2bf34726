//! The data of a statement of applicability.

use std::collections::HashMap;

use attestry_domain::content::{Cell, Inline, Marks};
use serde::Serialize;

use crate::document::{Approval, SoaReport, StatementRow};
use crate::input::{Mark, Meta, TITLE_WORD, WORD};
use crate::tables::{self, Table};
use crate::text::{self, Line, Text};

const TITLE: &str = "Statement of Applicability";

const HEAD: [&str; 6] = ["Number", "Title", "Applicable", "Justification", "Status", "Owner"];
/// The width of each column, in points; their sum is the width of a landscape page.
const COLUMNS: [f64; 6] = [54.0, 150.0, 60.0, 284.0, 80.0, 88.0];

/// The heading of rows without a theme.
const NO_THEME: &str = "Controls";
const HEADING_WORD: usize = 40;

#[derive(Debug, Serialize)]
pub(crate) struct StatementInput {
    meta: Meta,
    organization: Line,
    title: Line,
    title_length: usize,
    framework: Line,
    status: Line,
    version: u32,
    date: Line,
    prepared_by: Option<Line>,
    approval: Option<Mark>,
    attribution: Line,
    counts: Counts,
    themes: Vec<Theme>,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    total: usize,
    applicable: usize,
    not_applicable: usize,
    unanswered: usize,
    proposed: usize,
}

#[derive(Debug, Serialize)]
struct Theme {
    name: Line,
    table: Table,
}

impl StatementInput {
    pub(crate) fn new(statement: &SoaReport, text: &mut Text) -> Self {
        let SoaReport { organization, framework, status, version, date, .. } = statement;
        let SoaReport { prepared_by, approval, attribution, rows, .. } = statement;
        Self {
            meta: Meta::of_version(TITLE, organization, *version, text),
            organization: text.line(organization, TITLE_WORD),
            title: text.line(TITLE, TITLE_WORD),
            title_length: text::width(TITLE),
            framework: text.line(framework, WORD),
            status: text.line(status, WORD),
            version: *version,
            date: text.line(date, WORD),
            prepared_by: prepared_by.as_deref().map(|name| text.line(name, WORD)),
            approval: approval.as_ref().map(|Approval { by, at }| Mark::new(by, at, text)),
            attribution: text.line(attribution, WORD),
            counts: Counts::new(rows),
            themes: themes(rows, text),
        }
    }
}

impl Counts {
    fn new(rows: &[StatementRow]) -> Self {
        let mut counts = Self { total: rows.len(), ..Self::default() };
        for row in rows {
            match row.is_applicable {
                Some(true) => counts.applicable += 1,
                Some(false) => counts.not_applicable += 1,
                None => counts.unanswered += 1,
            }
            counts.proposed += usize::from(row.is_proposed);
        }
        counts
    }
}

fn themes(rows: &[StatementRow], text: &mut Text) -> Vec<Theme> {
    let mut places = HashMap::new();
    let mut themes: Vec<(&str, Vec<Vec<Cell>>)> = Vec::new();
    for row in rows {
        let name = row.theme.trim();
        let place = *places.entry(name).or_insert(themes.len());
        if place == themes.len() {
            themes.push((name, Vec::new()));
        }
        if let Some((_, rows)) = themes.get_mut(place) {
            rows.push(cells(row));
        }
    }
    let head: Vec<_> = HEAD.map(|name| vec![plain(name)]).into();
    themes
        .into_iter()
        .map(|(name, rows)| {
            text.block();
            Theme {
                name: text.line(if name.is_empty() { NO_THEME } else { name }, HEADING_WORD),
                table: tables::fixed(&COLUMNS, &head, &rows, text),
            }
        })
        .collect()
}

fn cells(row: &StatementRow) -> Vec<Cell> {
    let mut applicable = vec![plain(match row.is_applicable {
        Some(true) => "Yes",
        Some(false) => "No",
        None => "Open",
    })];
    if row.is_proposed {
        let marks = Marks { italic: true, ..Marks::default() };
        applicable.extend([Inline::Break, Inline::Text { text: "(proposed)".into(), marks }]);
    }
    vec![
        vec![plain(&row.code)],
        vec![plain(&row.title)],
        applicable,
        lines(&row.justification),
        vec![plain(&row.status)],
        vec![plain(row.owner.as_deref().unwrap_or_default())],
    ]
}

/// Preserves the line breaks of a text, at most two in a row.
fn lines(text: &str) -> Cell {
    let mut cell = Vec::new();
    let mut was_empty = false;
    for line in text.trim().lines().map(str::trim) {
        if line.is_empty() && was_empty {
            continue;
        }
        was_empty = line.is_empty();
        if !cell.is_empty() {
            cell.push(Inline::Break);
        }
        cell.push(plain(line));
    }
    cell
}

fn plain(text: &str) -> Inline {
    Inline::Text { text: text.into(), marks: Marks::default() }
}
