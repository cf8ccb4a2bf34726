//! The one difference in SQL between the databases. SQLite reads `$1` as a *name* and numbers it by first appearance,
//! so it becomes `?1`; and `FOR UPDATE …` is removed there, because the only writer already locks every row.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

const LOCK: &str = "FOR UPDATE";

/// Translates a portable statement to SQLite's SQL.
pub fn sqlite_text(sql: &str) -> String {
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
    text.replace('$', "?")
}

thread_local! {
    /// Keyed by address: statements are constants, and a lookup per statement must be cheap.
    static REWRITTEN: RefCell<HashMap<(usize, usize), Rc<str>>> = RefCell::default();
}

pub(crate) fn rewritten(sql: &'static str) -> Rc<str> {
    REWRITTEN.with_borrow_mut(|known| {
        let key = (sql.as_ptr().addr(), sql.len());
        Rc::clone(known.entry(key).or_insert_with(|| sqlite_text(sql).into()))
    })
}

#[cfg(test)]
mod tests {
    use super::sqlite_text;

    #[test]
    fn parameters_and_locks() {
        assert_eq!(
            sqlite_text("SELECT a FROM t WHERE b = $2 AND c = $1"),
            "SELECT a FROM t WHERE b = ?2 AND c = ?1"
        );
        assert_eq!(
            sqlite_text("SELECT a FROM t m WHERE b = $1 FOR UPDATE OF m"),
            "SELECT a FROM t m WHERE b = ?1"
        );
        assert_eq!(
            sqlite_text(
                "UPDATE j SET a = 1 WHERE id IN (SELECT id FROM j LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id"
            ),
            "UPDATE j SET a = 1 WHERE id IN (SELECT id FROM j LIMIT ?1) RETURNING id"
        );
    }
}
