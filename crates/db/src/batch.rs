//! Queued row changes, and statements that change many rows at once.

use crate::value::Value;

/// A statement with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub sql: &'static str,
    pub params: Vec<Value<'static>>,
}

/// The batch sizes for which a change has a statement, largest first. The last is one row, so that any number of rows
/// splits into a few statements.
pub const SIZES: [usize; 6] = [32, 16, 8, 4, 2, 1];

/// The parameters of one row.
pub type RowValues = Vec<Value<'static>>;

/// A statement that changes a row.
#[derive(Clone, Copy, Debug)]
pub enum RowChange {
    /// One row at a time.
    Single(&'static str),
    /// Many rows at a time: a statement for each of [`SIZES`].
    Batched([&'static str; SIZES.len()]),
}

impl RowChange {
    /// The statement for one row.
    pub fn single(self) -> &'static str {
        match self {
            Self::Single(sql) | Self::Batched([.., sql]) => sql,
        }
    }

    /// Splits a number of rows into statements, each with its batch size.
    fn split(self, mut rows: usize) -> Vec<(usize, &'static str)> {
        let Self::Batched(texts) = self else { return vec![(1, self.single()); rows] };
        let mut parts = Vec::new();
        for (size, sql) in SIZES.into_iter().zip(texts) {
            while rows >= size {
                parts.push((size, sql));
                rows -= size;
            }
        }
        parts
    }

    /// Returns the statements that apply the change to these rows, in order.
    pub fn statements(self, mut rows: impl ExactSizeIterator<Item = RowValues>) -> Vec<Statement> {
        let parts = self.split(rows.len()).into_iter();
        parts
            .map(|(size, sql)| Statement { sql, params: rows.by_ref().take(size).flatten().collect() })
            .collect()
    }
}

/// Pending changes, in order.
#[derive(Debug, Default)]
pub(crate) struct Queue(Vec<(RowChange, Vec<RowValues>)>);

impl Queue {
    /// Adds a change; adjacent changes of the same kind are batched.
    pub(crate) fn push(&mut self, change: RowChange, row: RowValues) {
        match self.0.last_mut() {
            Some((last, rows)) if std::ptr::eq(last.single(), change.single()) => rows.push(row),
            _ => self.0.push((change, vec![row])),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the SQL of the statements that the pending changes need.
    pub(crate) fn texts(&self) -> Vec<&'static str> {
        let parts = self.0.iter().flat_map(|(change, rows)| change.split(rows.len()));
        parts.map(|(_, sql)| sql).collect()
    }

    /// Drains the queue into statements.
    pub(crate) fn take(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.0)
            .into_iter()
            .flat_map(|(change, rows)| change.statements(rows.into_iter()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSERT: RowChange = RowChange::Batched(["i32", "i16", "i8", "i4", "i2", "i1"]);
    const UPDATE: RowChange = RowChange::Single("u");

    #[test]
    fn any_number_of_rows_is_a_few_statements() {
        let rows = (0..47).map(|number| vec![Value::Int(number), Value::Null]);
        let statements = INSERT.statements(rows.collect::<Vec<_>>().into_iter());
        let texts: Vec<_> = statements.iter().map(|one| one.sql).collect();
        assert_eq!(texts, ["i32", "i8", "i4", "i2", "i1"]);
        let numbers = statements.iter().flat_map(|one| one.params.iter().step_by(2).cloned());
        assert_eq!(numbers.collect::<Vec<_>>(), (0..47).map(Value::Int).collect::<Vec<_>>());
        assert!(INSERT.statements(Vec::new().into_iter()).is_empty());
    }

    #[test]
    fn only_neighbours_are_made_together() {
        let mut queue = Queue::default();
        for change in [INSERT, INSERT, UPDATE, UPDATE, INSERT] {
            queue.push(change, Vec::new());
        }
        assert_eq!(queue.texts(), ["i2", "u", "u", "i1"]);
        assert_eq!(queue.take().iter().map(|one| one.sql).collect::<Vec<_>>(), ["i2", "u", "u", "i1"]);
        assert!(queue.is_empty());
    }
}
