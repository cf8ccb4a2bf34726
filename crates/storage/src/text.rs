//! SQL built from lists, with generated parameter numbers. A statement is built on first use and lives as long as the
//! program.

use attestry_domain::page::Order;

/// Leaks a statement, because statements are cached by their address.
pub(crate) fn kept(sql: String) -> &'static str {
    sql.leak()
}

/// Returns the placeholders of several rows: `($1, $2), ($3, $4)`.
pub(crate) fn rows(columns: usize, rows: usize) -> String {
    let row = |row: usize| {
        let parameters: Vec<String> =
            (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", parameters.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Builds an insert of `count` rows.
pub(crate) fn insert(table: &str, columns: &[&str], count: usize) -> String {
    format!("INSERT INTO {table} ({}) VALUES {}", columns.join(", "), rows(columns.len(), count))
}

/// The four statements of a sorted list: first page or a later one, ascending or descending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages([&'static str; 4]);

impl Pages {
    /// Builds the pages of `select`, sorted by an expression and the id, or by the id alone. The limit and the cursor
    /// are the parameters after those of `select`: see [`crate::sql::page_params`].
    pub(crate) fn of(select: &str, id: &str, key: Option<&str>) -> Self {
        let limit = last_parameter(select) + 1;
        let after = |than: &str| match key {
            None => format!(" AND {id} {than} ${}", limit + 1),
            Some(key) => format!(" AND ({key}, {id}) {than} (${}, ${})", limit + 2, limit + 1),
        };
        let page = |after: &str, order: &str| {
            let key = key.map_or_else(String::new, |key| format!("{key} {order}, "));
            kept(format!("{select}{after} ORDER BY {key}{id} {order} LIMIT ${limit}"))
        };
        Self([page("", "ASC"), page("", "DESC"), page(&after(">"), "ASC"), page(&after("<"), "DESC")])
    }

    pub(crate) fn pick(&self, order: Order, later: bool) -> &'static str {
        let descending = usize::from(order == Order::Descending);
        self.0[usize::from(later) * 2 + descending]
    }

    pub(crate) fn texts(&self) -> [&'static str; 4] {
        self.0
    }
}

/// The highest number among the parameters of a statement.
fn last_parameter(sql: &str) -> usize {
    let digits = |rest: &str| rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    sql.split('$').skip(1).filter_map(|rest| rest[..digits(rest)].parse().ok()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(insert("t", &["a", "b"], 2), "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)");
    }

    #[test]
    fn pages_follow_their_select() {
        let by_id = Pages::of("SELECT a FROM t WHERE b = $1", "id", None);
        let pages = Pages::of("SELECT a FROM t WHERE b = $1 AND c = $12", "id", Some("k"));
        assert_eq!(
            pages.pick(Order::Ascending, true),
            "SELECT a FROM t WHERE b = $1 AND c = $12 AND (k, id) > ($15, $14) ORDER BY k ASC, id ASC LIMIT $13"
        );
        assert_eq!(
            by_id.pick(Order::Descending, true),
            "SELECT a FROM t WHERE b = $1 AND id < $3 ORDER BY id DESC LIMIT $2"
        );
    }
}
