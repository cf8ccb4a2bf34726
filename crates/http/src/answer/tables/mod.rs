//! Tables in and out: a list as CSV or XLSX, written while it is read, and tables whose rows are creations.

use std::borrow::Cow;

use attestry_domain::plain::Plain;

pub mod export;

pub const CSV: &str = "text/csv";
pub const CSV_UTF8: &str = "text/csv; charset=utf-8";
pub const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A value of a table.
pub type Cell = Plain<'static>;

pub fn text(text: impl Into<String>) -> Cell {
    Plain::Text(Cow::Owned(text.into()))
}

/// Characters that spreadsheets take for the beginning of a formula, their full-width forms included.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Whether this is a formula, or looks like one that was made harmless.
pub fn is_risky(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA)
}

/// A text that a spreadsheet would take for a formula is made plain text.
pub fn harmless(cell: &str) -> String {
    if is_risky(cell) { format!("'{cell}") } else { cell.to_owned() }
}

/// The text as it was before an export made it harmless.
pub fn as_meant(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_risky(rest)).unwrap_or(cell)
}
