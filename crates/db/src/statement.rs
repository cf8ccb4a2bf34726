//! The two differences in SQL between the databases. SQLite numbers `$2` by its first appearance, so parameters are
//! bound by their names; and `FOR UPDATE …` is left out there, because the only writer already locks every row.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Error;
use crate::value::Value;

const LOCK: &str = "FOR UPDATE";

/// Binds the first parameter to `$1`, the second to `$2`, and so on.
pub(crate) fn bind(statement: &mut rusqlite::Statement<'_>, params: &[Value<'_>]) -> Result<(), Error> {
    for index in 1..=statement.parameter_count() {
        let number =
            statement.parameter_name(index).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        let value = number.and_then(|number| params.get(number.checked_sub(1)?));
        let value =
            value.ok_or_else(|| Error::Other(format!("parameter {index} of a statement has no value")))?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

/// Removes the row locks from a portable statement.
fn unlocked(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(start) = rest.find(LOCK) {
        text.push_str(rest[..start].trim_end());
        rest = rest[start + LOCK.len()..].trim_start_matches(' ');
        if let Some(of) = rest.strip_prefix("OF ") {
            rest = of.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start_matches(' ');
        }
        rest = rest.strip_prefix("SKIP LOCKED").unwrap_or(rest);
    }
    text.push_str(rest);
    text
}

thread_local! {
    /// Keyed by address: statements are constants, and a lookup per statement must be cheap.
    static WITHOUT_LOCKS: RefCell<HashMap<(usize, usize), Rc<str>>> = RefCell::default();
}

pub(crate) fn without_locks(sql: &'static str) -> Rc<str> {
    WITHOUT_LOCKS.with_borrow_mut(|known| {
        let key = (sql.as_ptr().addr(), sql.len());
        Rc::clone(known.entry(key).or_insert_with(|| unlocked(sql).into()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Error, Value, bind, unlocked};

    #[test]
    fn parameters_are_bound_by_number() {
        let connection = rusqlite::Connection::open_in_memory().expect("a database");
        let mut statement = connection.prepare("SELECT $2, $1, $2").expect("a statement");
        bind(&mut statement, &[Value::Int(1), Value::Int(2)]).expect("values");
        let mut rows = statement.raw_query();
        let row = rows.next().expect("a row").expect("a row");
        let found: Vec<i64> = (0..3).map(|column| row.get(column).expect("a number")).collect();
        assert_eq!(found, [2, 1, 2]);
        drop(rows);
        assert!(matches!(bind(&mut statement, &[Value::Int(1)]), Err(Error::Other(_))), "$2 has no value");
    }

    #[test]
    fn locks_are_left_out() {
        assert_eq!(
            unlocked("SELECT a FROM t m WHERE b = $1 FOR UPDATE OF m"),
            "SELECT a FROM t m WHERE b = $1"
        );
        assert_eq!(
            unlocked(
                "UPDATE j SET a = 1 WHERE id IN (SELECT id FROM j LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id"
            ),
            "UPDATE j SET a = 1 WHERE id IN (SELECT id FROM j LIMIT $1) RETURNING id"
        );
    }
}
