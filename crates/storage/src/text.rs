//! SQL put together by the compiler: what is a list in one place becomes static text, its parameters numbered by
//! nobody's hand.

#![expect(
    clippy::large_stack_arrays,
    clippy::large_types_passed_by_value,
    reason = "all of this is done by the compiler, not when the program runs"
)]

use attestry_domain::page::Order;

/// Text of up to `N` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sql<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Sql<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let (_, rest) = self.bytes.split_at_mut(self.length);
        let (own, _) = rest.split_at_mut(text.len());
        own.copy_from_slice(text.as_bytes());
        self.length += text.len();
        self
    }

    /// `$1`, `$2` …
    pub(crate) const fn parameter(self, number: usize) -> Self {
        self.text("$").digits(number)
    }

    pub(crate) const fn digits(self, number: usize) -> Self {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let own = if number >= 10 { self.digits(number / 10) } else { self };
        own.text(DIGITS[number % 10])
    }

    /// `a, b, c`, each with something before it.
    pub(crate) const fn names(mut self, before: &str, names: &[&str]) -> Self {
        let mut place = 0;
        while place < names.len() {
            if place > 0 {
                self = self.text(", ");
            }
            self = self.text(before).text(names[place]);
            place += 1;
        }
        self
    }

    /// `($1, $2), ($3, $4)`: so many rows of so many values.
    pub(crate) const fn rows(mut self, columns: usize, rows: usize) -> Self {
        let mut number = 0;
        while number < columns * rows {
            self = self.text(match number {
                0 => "(",
                _ if number % columns == 0 => "), (",
                _ => ", ",
            });
            number += 1;
            self = self.parameter(number);
        }
        self.text(")")
    }

    pub const fn as_str(&self) -> &str {
        as_text(self.bytes.split_at(self.length).0)
    }
}

/// What was put together from texts is text.
const fn as_text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// An insert of so many rows.
pub(crate) const fn insert<const N: usize>(table: &str, columns: &[&str], rows: usize) -> Sql<N> {
    Sql::new()
        .text("INSERT INTO ")
        .text(table)
        .text(" (")
        .names("", columns)
        .text(") VALUES ")
        .rows(columns.len(), rows)
}

/// The four statements of a sorted list: first page or a later one, ascending or descending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    first_up: Sql<6144>,
    first_down: Sql<6144>,
    next_up: Sql<6144>,
    next_down: Sql<6144>,
}

impl Pages {
    /// The pages of `select`, sorted by a column and the id, or by the id alone. The limit and where the page starts are
    /// the parameters after those of `select`: see [`crate::sql::page_params`].
    pub(crate) const fn of(select: &str, id: &str, key: Option<&str>) -> Self {
        let limit = last_parameter(select) + 1;
        Self {
            first_up: ordered(Sql::new().text(select), id, key, " ASC", limit),
            first_down: ordered(Sql::new().text(select), id, key, " DESC", limit),
            next_up: ordered(behind(select, id, key, " > ", limit), id, key, " ASC", limit),
            next_down: ordered(behind(select, id, key, " < ", limit), id, key, " DESC", limit),
        }
    }

    pub(crate) fn pick(&'static self, order: Order, later: bool) -> &'static str {
        [&self.first_up, &self.first_down, &self.next_up, &self.next_down][page_place(order, later)].as_str()
    }

    pub(crate) const fn texts(&self) -> [&str; 4] {
        [self.first_up.as_str(), self.first_down.as_str(), self.next_up.as_str(), self.next_down.as_str()]
    }

    pub(crate) const fn added(&self, sheet: &mut Sheet) -> [&'static str; 4] {
        let [first_up, first_down, next_up, next_down] = self.texts();
        [sheet.add(first_up), sheet.add(first_down), sheet.add(next_up), sheet.add(next_down)]
    }
}

/// Which of [`Pages::texts`] it is.
pub(crate) fn page_place(order: Order, later: bool) -> usize {
    match (order, later) {
        (Order::Ascending, false) => 0,
        (Order::Descending, false) => 1,
        (Order::Ascending, true) => 2,
        (Order::Descending, true) => 3,
    }
}

const fn behind(select: &str, id: &str, key: Option<&str>, than: &str, limit: usize) -> Sql<6144> {
    let sql = Sql::new().text(select).text(" AND ");
    match key {
        None => sql.text(id).text(than).parameter(limit + 1),
        Some(key) => sql
            .text("(")
            .text(key)
            .text(", ")
            .text(id)
            .text(")")
            .text(than)
            .text("(")
            .parameter(limit + 2)
            .text(", ")
            .parameter(limit + 1)
            .text(")"),
    }
}

const fn ordered(sql: Sql<6144>, id: &str, key: Option<&str>, order: &str, limit: usize) -> Sql<6144> {
    let sql = sql.text(" ORDER BY ");
    let sql = match key {
        Some(key) => sql.text(key).text(order).text(", "),
        None => sql,
    };
    sql.text(id).text(order).text(" LIMIT ").parameter(limit)
}

/// How long the texts of a sheet are together at most.
const ROOM: usize = 512 << 10;

/// Texts one after the other, in as many bytes as they need. The compiler adds them twice, by the same function: first to
/// learn what they are, then to find each of them in what is kept.
#[derive(Debug)]
pub(crate) struct Sheet {
    bytes: [u8; ROOM],
    length: usize,
    kept: &'static [u8],
}

impl Sheet {
    /// Nothing is kept yet in the first of the two passes.
    pub(crate) const fn new(kept: &'static [u8]) -> Self {
        Self { bytes: [0; ROOM], length: 0, kept }
    }

    /// Adds a text, and returns it as it is kept.
    pub(crate) const fn add(&mut self, text: &str) -> &'static str {
        let start = self.length;
        self.length += text.len();
        if !self.kept.is_empty() {
            return as_text(self.kept.split_at(self.length).0.split_at(start).1);
        }
        let (_, rest) = self.bytes.split_at_mut(start);
        let (own, _) = rest.split_at_mut(text.len());
        own.copy_from_slice(text.as_bytes());
        ""
    }

    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    /// What is to be kept: all texts, in [`Sheet::length`] bytes.
    pub(crate) const fn bytes<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(self.bytes.split_at(LENGTH).0);
        bytes
    }
}

/// The highest number among the parameters of a statement.
const fn last_parameter(sql: &str) -> usize {
    let sql = sql.as_bytes();
    let (mut last, mut place) = (0, 0);
    while place < sql.len() {
        let mut number = 0;
        if sql[place] == b'$' {
            while place + 1 < sql.len() && sql[place + 1].is_ascii_digit() {
                place += 1;
                number = number * 10 + (sql[place] - b'0') as usize;
            }
        }
        if number > last {
            last = number;
        }
        place += 1;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        static TWO: Sql<100> = insert("t", &["a", "b"], 2);
        assert_eq!(TWO.as_str(), "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)");
        assert_eq!(Sql::<20>::new().parameter(120).as_str(), "$120");
    }

    #[test]
    fn texts_are_found_in_what_is_kept() {
        const fn both(sheet: &mut Sheet) -> [&'static str; 2] {
            [sheet.add("SELECT 1"), sheet.add("SELECT 'é'")]
        }
        const FIRST: Sheet = {
            let mut sheet = Sheet::new(&[]);
            both(&mut sheet);
            sheet
        };
        static KEPT: [u8; FIRST.length()] = FIRST.bytes();
        assert_eq!(KEPT.len(), 19);
        assert_eq!(both(&mut Sheet::new(&KEPT)), ["SELECT 1", "SELECT 'é'"]);
    }

    #[test]
    fn pages_follow_their_select() {
        static BY_ID: Pages = Pages::of("SELECT a FROM t WHERE b = $1", "id", None);
        static PAGES: Pages = Pages::of("SELECT a FROM t WHERE b = $1 AND c = $12", "id", Some("k"));
        assert_eq!(
            PAGES.pick(Order::Ascending, true),
            "SELECT a FROM t WHERE b = $1 AND c = $12 AND (k, id) > ($15, $14) ORDER BY k ASC, id ASC LIMIT $13"
        );
        assert_eq!(
            BY_ID.pick(Order::Descending, true),
            "SELECT a FROM t WHERE b = $1 AND id < $3 ORDER BY id DESC LIMIT $2"
        );
    }
}
