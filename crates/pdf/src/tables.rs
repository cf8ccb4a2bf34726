//! Tables: how the width of the page is shared among the columns.

use attestry_domain::content::{Cell, Inline};
use serde::Serialize;

use crate::blocks::{self, Span};
use crate::text::{self, Text};

/// Between the margins, in points: of a page, and of one on its side.
const PAGE_WIDTH: f64 = 470.0;
const WIDE_PAGE_WIDTH: f64 = 716.0;
/// What a level of a list takes of it.
const INDENT: f64 = 20.0;
/// The width of a letter, in parts of its height.
const LETTER: f64 = 0.57;
/// Columns with a lot of text share what is left; more than this does not make one wider.
const WIDEST: usize = 60;
/// Words up to this length are kept whole if the page is wide enough.
const WHOLE_WORD: usize = 16;
/// A longer row of headings is printed once and not on every page, where it would leave no room for the rows.
const LONGEST_HEAD: usize = 300;
/// Rows with as many lines are not kept together on one page.
const TALL_ROW: f64 = 15.0;
/// More than fits any page, and any document.
const MOST_LETTERS: f64 = 1_000.0;
const MOST_LINES: f64 = 1_000_000.0;

#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub rtl: bool,
    /// Whether its words fit only on a page that lies on its side.
    #[serde(skip)]
    pub wide: bool,
    /// The height of letters and the room on each side of a cell, in points.
    size: f64,
    inset: f64,
    /// The share of each column.
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

/// Nothing, if the table has no columns.
pub(crate) fn table(
    head: Option<&Vec<Cell>>,
    rows: &[Vec<Cell>],
    depth: usize,
    text: &mut Text,
) -> Option<Table> {
    Some(Measure::new(head, rows, depth)?.table(head, rows, text))
}

/// A table for a page that lies on its side, with columns of these widths in points. Its text is in few of the
/// columns, so it takes more room than its size.
pub(crate) fn fixed(columns: &[f64], head: &Vec<Cell>, rows: &[Vec<Cell>], text: &mut Text) -> Table {
    let measure = Measure::fixed(columns);
    for row in rows {
        let size = row.iter().map(|cell| width(cell).0).sum();
        text.lines(whole(measure.lines(row), MOST_LINES), size);
    }
    measure.table(Some(head), rows, text)
}

/// The measures of a table: the look and the width of each column.
struct Measure {
    wide: bool,
    size: f64,
    inset: f64,
    /// The width of each column in letters, and how much of it the room between columns takes.
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
                .is_some_and(|head| head.iter().map(|cell| width(cell).0).sum::<usize>() <= LONGEST_HEAD),
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
                let (rtl, text) = blocks::spans(cell, whole(letters - self.beside, MOST_LETTERS), text);
                Field { rtl, text }
            })
            .collect();
        fields.resize_with(self.columns.len(), Field::default);
        fields
    }

    /// About how many lines the row has.
    fn lines(&self, cells: &[Cell]) -> f64 {
        let lines = cells.iter().zip(&self.columns).map(|(cell, letters)| {
            let breaks = cell.iter().filter(|part| matches!(part, Inline::Break)).count();
            as_f64(breaks) + as_f64(width(cell).0) / (letters - self.beside).max(1.0)
        });
        lines.fold(0.0, f64::max)
    }
}

/// The height of letters and the room on each side of a cell, for so many columns.
fn look(columns: usize) -> (f64, f64) {
    match columns {
        ..=5 => (9.0, 5.0),
        6..=8 => (8.0, 4.0),
        9..=14 => (7.0, 3.0),
        _ => (6.0, 2.0),
    }
}

/// The room between columns, in letters.
fn beside(inset: f64, letter: f64) -> f64 {
    // A letter more, since bold ones are wider.
    1.0 + 2.0 * inset / letter
}

/// Shares the room among columns: each gets what its longest word needs, then those that want more share the rest.
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
