//! Tables: lists exported as CSV or XLSX while they are read, and the escaping of formulas in cells.

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

/// Characters that spreadsheets interpret as the start of a formula, including their full-width forms.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Returns true for a formula, and for one that is already escaped.
pub fn is_risky(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA)
}

/// Escapes a text that a spreadsheet would interpret as a formula.
pub fn harmless(cell: &str) -> String {
    if is_risky(cell) { format!("'{cell}") } else { cell.to_owned() }
}

/// Reverts the escaping of an export.
pub fn as_meant(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_risky(rest)).unwrap_or(cell)
}
