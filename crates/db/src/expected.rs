//! Rows that are going to be locked. A writer who waits for its turn in a lane tells which row it will ask for first;
//! whoever locks one by the same statement before that fetches both in one flight.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::value::Value;

/// A row that is going to be locked, and the statement that does it.
#[derive(Debug)]
pub(crate) struct Lookup {
    sql: &'static str,
    pub(crate) key: Vec<Value<'static>>,
}

impl Lookup {
    pub(crate) fn new(sql: &'static str, key: &[Value<'_>]) -> Self {
        Self { sql, key: key.iter().cloned().map(Value::into_owned).collect() }
    }

    pub(crate) fn is(&self, sql: &str, key: &[Value<'_>]) -> bool {
        self.sql == sql && self.key == key
    }
}

/// What the writers of a lane are going to lock, in the order of their turns.
#[derive(Debug, Default)]
pub(crate) struct Expected(Mutex<Vec<Arc<Lookup>>>);

impl Expected {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Lookup>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a row for as long as its writer waits.
    pub(crate) fn add(&self, lookup: Lookup) -> Expectation<'_> {
        let lookup = Arc::new(lookup);
        self.all().push(Arc::clone(&lookup));
        Expectation { expected: self, lookup }
    }

    /// Takes out at most so many rows that are locked by this statement: each of them once, and not the one with this
    /// key. Those who want the same row are going to change it.
    pub(crate) fn take(&self, sql: &str, key: &[Value<'_>], most: usize) -> Vec<Arc<Lookup>> {
        let mut taken: Vec<Arc<Lookup>> = Vec::new();
        self.all().retain(|lookup| {
            let is_another = || lookup.key != key && taken.iter().all(|other| other.key != lookup.key);
            let fits = taken.len() < most && lookup.sql == sql && is_another();
            if fits {
                taken.push(Arc::clone(lookup));
            }
            !fits
        });
        taken
    }
}

/// A row that a writer who waits is going to lock.
#[derive(Debug)]
pub(crate) struct Expectation<'e> {
    expected: &'e Expected,
    lookup: Arc<Lookup>,
}

impl Expectation<'_> {
    pub(crate) fn lookup(&self) -> &Arc<Lookup> {
        &self.lookup
    }
}

impl Drop for Expectation<'_> {
    fn drop(&mut self) {
        self.expected.all().retain(|other| !Arc::ptr_eq(other, &self.lookup));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RISK: &str = "SELECT risk";
    const VENDOR: &str = "SELECT vendor";

    fn lookup(sql: &'static str, number: i64) -> Lookup {
        Lookup::new(sql, &[Value::Int(number)])
    }

    fn numbers(taken: &[Arc<Lookup>]) -> Vec<Value<'static>> {
        taken.iter().flat_map(|lookup| lookup.key.iter().cloned()).collect()
    }

    #[test]
    fn rows_are_taken_by_statement_and_in_turn() {
        let expected = Expected::default();
        let _all: Vec<_> = (0..6)
            .flat_map(|number| [lookup(RISK, number), lookup(VENDOR, number), lookup(RISK, number)])
            .map(|lookup| expected.add(lookup))
            .collect();
        let take = |sql, most| numbers(&expected.take(sql, &[Value::Int(1)], most));
        assert_eq!(take(RISK, 3), [0, 2, 3].map(Value::Int));
        assert_eq!(take(RISK, 9), [0, 2, 3, 4, 5].map(Value::Int));
        assert_eq!(take(VENDOR, 0), []);
        assert_eq!(take(VENDOR, 9), [0, 2, 3, 4, 5].map(Value::Int));
    }

    #[test]
    fn who_no_longer_waits_expects_nothing() {
        let expected = Expected::default();
        drop(expected.add(lookup(RISK, 1)));
        assert!(expected.take(RISK, &[], 1).is_empty());
    }
}
