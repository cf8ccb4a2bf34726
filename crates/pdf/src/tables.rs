//! Tables: distributes the width of the page among the columns.

use attestry_domain::content::{Cell, Inline};
use serde::Serialize;

use crate::blocks::{self, Span};
use crate::text::{self, Text};

/// The width between the margins, in points: portrait and landscape.
const PAGE_WIDTH: f64 = 470.0;
const WIDE_PAGE_WIDTH: f64 = 716.0;
/// The width of one list indentation, in points.
const INDENT: f64 = 20.0;
/// The average width of a letter, relative to the font size.
const LETTER: f64 = 0.57;
/// The maximum length of text that makes a column wider; columns with more share the remaining width.
const WIDEST: usize = 60;
/// The maximum length of words that are kept whole if the page is wide enough.
const WHOLE_WORD: usize = 16;
/// The maximum length of a header row that is repeated on every page; a longer one would leave no room for the rows.
const MAX_HEAD_CHARS: usize = 300;
/// The minimum number of lines of a row that may be split across pages.
const TALL_ROW: f64 = 15.0;
/// Upper bounds, above what fits on any page or in any document.
const MAX_LETTERS: f64 = 1_000.0;
const MAX_LINES: f64 = 1_000_000.0;

#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub rtl: bool,
    /// True if its words fit only in landscape orientation.
    #[serde(skip)]
    pub wide: bool,
    /// The font size and the horizontal padding of a cell, in points.
    size: f64,
    inset: f64,
    /// The relative width of each column.
    columns: Vec<f64>,
    head: Option<Vec<Field>>,
    repeat: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    breakable: bool,
    fields: Vec<Field>,
}

#[derive(Debug, Default, Serialize)]
struct Field {
    rtl: bool,
    text: Vec<Span>,
}

/// Builds a table; `None` if it has no columns.
pub(crate) fn table(
    head: Option<&Vec<Cell>>,
    rows: &[Vec<Cell>],
    depth: usize,
    text: &mut Text,
) -> Option<Table> {
    Some(Measure::new(head, rows, depth)?.table(head, rows, text))
}

/// Builds a table for a landscape page with columns of these widths in points. The text is concentrated in few
/// columns, so the table takes more room than the size of its text.
pub(crate) fn fixed(columns: &[f64], head: &Vec<Cell>, rows: &[Vec<Cell>], text: &mut Text) -> Table {
    let measure = Measure::fixed(columns);
    for row in rows {
        let size = row.iter().map(|cell| width(cell).0).sum();
        text.lines(whole(measure.lines(row), MAX_LINES), size);
    }
    measure.table(Some(head), rows, text)
}

/// The measurements of a table: font size, padding and column widths.
struct Measure {
    wide: bool,
    size: f64,
    inset: f64,
    /// The width of each column in letters, and the part of it used by padding.
    columns: Vec<f64>,
    beside: f64,
}

impl Measure {
    fn new(head: Option<&Vec<Cell>>, rows: &[Vec<Cell>], depth: usize) -> Option<Self> {
        let count = head.into_iter().chain(rows).map(Vec::len).max().filter(|count| *count > 0)?;
        let (size, inset) = look(count);
        let letter = size * LETTER;
        let beside = beside(inset, letter);
        let mut least = vec![beside + 1.0; count];
        let mut wanted = least.clone();
        for cells in head.into_iter().chain(rows) {
            for ((cell, least), wanted) in cells.iter().zip(&mut least).zip(&mut wanted) {
                let (all, word) = width(cell);
                *least = least.max(as_f64(word.min(WHOLE_WORD)) + beside);
                *wanted = wanted.max(as_f64(all.min(WIDEST)) + beside).max(*least);
            }
        }
        let room = (PAGE_WIDTH - as_f64(depth) * INDENT) / letter;
        let wide = depth == 0 && least.iter().sum::<f64>() > room;
        let columns = share(&least, &wanted, if wide { WIDE_PAGE_WIDTH / letter } else { room });
        Some(Self { wide, size, inset, columns, beside })
    }

    fn fixed(columns: &[f64]) -> Self {
        let (size, inset) = look(columns.len());
        let letter = size * LETTER;
        let columns = columns.iter().map(|points| points / letter).collect();
        Self { wide: true, size, inset, columns, beside: beside(inset, letter) }
    }

    fn table(self, head: Option<&Vec<Cell>>, rows: &[Vec<Cell>], text: &mut Text) -> Table {
        let head_fields = head.map(|cells| self.fields(cells, text));
        let rows: Vec<_> = rows
            .iter()
            .map(|cells| Row { breakable: self.lines(cells) >= TALL_ROW, fields: self.fields(cells, text) })
            .collect();
        let first = head_fields.as_ref().or(rows.first().map(|row| &row.fields));
        Table {
            rtl: first.and_then(|fields| fields.first()).is_some_and(|field| field.rtl),
            wide: self.wide,
            size: self.size,
            inset: self.inset,
            repeat: head
                .is_some_and(|head| head.iter().map(|cell| width(cell).0).sum::<usize>() <= MAX_HEAD_CHARS),
            head: head_fields,
            rows,
            columns: self.columns,
        }
    }

    fn fields(&self, cells: &[Cell], text: &mut Text) -> Vec<Field> {
        text.block();
        let mut fields: Vec<_> = cells
            .iter()
            .zip(&self.columns)
            .map(|(cell, letters)| {
                let (rtl, text) = blocks::spans(cell, whole(letters - self.beside, MAX_LETTERS), text);
                Field { rtl, text }
            })
            .collect();
        fields.resize_with(self.columns.len(), Field::default);
        fields
    }

    /// Estimates the number of lines of a row.
    fn lines(&self, cells: &[Cell]) -> f64 {
        let lines = cells.iter().zip(&self.columns).map(|(cell, letters)| {
            let breaks = cell.iter().filter(|part| matches!(part, Inline::Break)).count();
            as_f64(breaks) + as_f64(width(cell).0) / (letters - self.beside).max(1.0)
        });
        lines.fold(0.0, f64::max)
    }
}

/// Returns the font size and the horizontal padding for a number of columns.
fn look(columns: usize) -> (f64, f64) {
    match columns {
        ..=5 => (9.0, 5.0),
        6..=8 => (8.0, 4.0),
        9..=14 => (7.0, 3.0),
        _ => (6.0, 2.0),
    }
}

/// The padding between columns, in letters.
fn beside(inset: f64, letter: f64) -> f64 {
    // One letter more, since bold letters are wider.
    1.0 + 2.0 * inset / letter
}

/// Distributes the width among columns: each gets enough for its longest word, and the rest in proportion to demand.
fn share(least: &[f64], wanted: &[f64], room: f64) -> Vec<f64> {
    let (least_sum, wanted_sum): (f64, f64) = (least.iter().sum(), wanted.iter().sum());
    if least_sum >= room {
        return least.iter().map(|letters| letters * room / least_sum).collect();
    }
    if wanted_sum <= room {
        return wanted.iter().map(|letters| letters * room / wanted_sum).collect();
    }
    let grow = (room - least_sum) / (wanted_sum - least_sum);
    least.iter().zip(wanted).map(|(least, wanted)| least + (wanted - least) * grow).collect()
}

/// The width of a cell's text, and that of its longest word.
fn width(cell: &Cell) -> (usize, usize) {
    let words = cell.iter().filter_map(|part| match part {
        Inline::Text { text, .. } => Some(text),
        Inline::Break => None,
    });
    words.fold((0, 0), |(all, longest), words| {
        let word = words.split_whitespace().map(text::width).max().unwrap_or(0);
        (all + text::width(words), longest.max(word))
    })
}

#[expect(clippy::cast_precision_loss, reason = "numbers of letters and columns are small")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn whole(number: f64, most: f64) -> usize {
    number.clamp(1.0, most) as usize
}
