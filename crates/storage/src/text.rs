//! SQL put together by the compiler: what is a list in one place becomes static text, its parameters numbered by
//! nobody's hand.

/// Text of up to `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sql<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Sql<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut place = 0;
        while place < text.len() {
            self.bytes[self.length] = text[place];
            self.length += 1;
            place += 1;
        }
        self
    }

    /// `$1`, `$2` …
    pub(crate) const fn parameter(self, number: usize) -> Self {
        self.text("$").digits(number)
    }

    const fn digits(self, number: usize) -> Self {
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

    pub(crate) const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        static TWO: Sql<100> = insert("t", &["a", "b"], 2);
        assert_eq!(TWO.as_str(), "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)");
        assert_eq!(Sql::<20>::new().parameter(120).as_str(), "$120");
    }
}
