//! Shared code of this crate: naming statements, converting domain values to parameters and columns to domain values,
//! keyset pagination, and the table that maps constraints to conflicts.

use attestry_db::{Constraint, Error, Row, RowValues, Tx, Value};
use attestry_domain::id::{Id, Kind};
use attestry_domain::page::{After, Key, MAX_PAGE_BYTES, Page};
use attestry_domain::{Parse, Time};

/// Names the statements of a file and lists them for the test that prepares them all: those written out, tables with
/// selects of their rows, those built in another way, and pages of lists. The keys of a table are `org_id` and `id`, unless
/// another one follows `by`; columns that are not part of the row follow `+`.
macro_rules! statements {
    (
        $($name:ident = $sql:expr;)*
        $(; tables $($table:ident: $row:ty = $from:literal $(by $by:literal)? $(+ $($other:literal)+)? {
            $($selected:ident = $rest:expr;)*
        })*)?
        $(; built $($built:ident = $text:expr;)*)?
        $(; pages $($pages:ident = ($select:expr, $id:literal, $key:expr);)*)?
    ) => {
        $(const $name: &str = $sql;)*
        $($(
            static $table: std::sync::LazyLock<$crate::table::Table<$row>> =
                std::sync::LazyLock::new(|| {
                    $crate::table::Table::new($from, &[$($by)?], &[$($($other),+)?])
                });
            $(static $selected: std::sync::LazyLock<&'static str> =
                std::sync::LazyLock::new(|| $table.select($rest));)*
        )*)?
        $($(static $built: std::sync::LazyLock<&'static str> = std::sync::LazyLock::new(|| $text);)*)?
        $($(static $pages: std::sync::LazyLock<$crate::text::Pages> =
            std::sync::LazyLock::new(|| $crate::text::Pages::of($select, $id, $key));)*)?

        pub(crate) fn statements() -> Vec<&'static str> {
            #[allow(unused_mut, clippy::allow_attributes, reason = "only a file with built statements adds to them")]
            let mut all = vec![$($name),*];
            $($(all.extend($table.texts()); $(all.push(*$selected);)*)*)?
            $($(all.push(*$built);)*)?
            $($(all.extend($pages.texts());)*)?
            all
        }
    };
}

/// Adds the parameters of a page to those of the filter. The limit is one row more than requested, to detect whether
/// more follow.
pub(crate) fn page_params<'a>(params: &mut Vec<Value<'a>>, limit: u16, after: Option<&'a After>) {
    params.push(Value::Int(i64::from(limit) + 1));
    if let Some(After { key, id }) = after {
        params.push(Value::from(id));
        match key {
            Key::Text(text) => params.push(Value::from(text)),
            Key::Number(number) => params.push(Value::Int(*number)),
            Key::Id => {}
        }
    }
}

pub(crate) async fn read_page<T>(
    t: &Tx<'_>,
    sql: &'static str,
    params: &[Value<'_>],
    limit: u16,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
    place: impl FnOnce(&T) -> After,
) -> Result<Page<T>, Error> {
    let (items, is_cut) = t.bounded(sql, params, MAX_PAGE_BYTES, read).await?;
    Ok(Page::cut_early(items, limit, is_cut, place))
}

/// The cursor of a row in a list that is sorted by id.
pub(crate) fn by_id(id: impl std::fmt::Display) -> After {
    After { key: Key::Id, id: id.to_string() }
}

pub(crate) fn id<K: Kind>(id: Id<K>) -> Value<'static> {
    Value::from(id.to_string())
}

pub(crate) fn opt_id<K: Kind>(value: Option<Id<K>>) -> Value<'static> {
    value.map_or(Value::Null, id)
}

pub(crate) fn time(time: Time) -> Value<'static> {
    Value::Int(time.as_millis())
}

pub(crate) fn opt_time(value: Option<Time>) -> Value<'static> {
    value.map_or(Value::Null, time)
}

/// Parses a JSON column.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, Error> {
    serde_json::from_str(row.str(column)?)
        .map_err(|error| Error::Column { column, message: error.to_string() })
}

pub(crate) fn to_json(column: usize, value: &impl serde::Serialize) -> Result<Value<'static>, Error> {
    let text = serde_json::to_string(value);
    text.map(Value::from).map_err(|error| Error::Column { column, message: error.to_string() })
}

/// Returns a `LIKE` pattern for "contains", with the pattern's own characters escaped.
pub(crate) fn contains(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.to_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// Reads domain values from a row.
pub(crate) trait Columns {
    fn parse<T: Parse>(&self, column: usize) -> Result<T, Error>;
    fn opt_parse<T: Parse>(&self, column: usize) -> Result<Option<T>, Error>;
    fn time(&self, column: usize) -> Result<Time, Error>;
    fn opt_time(&self, column: usize) -> Result<Option<Time>, Error>;
    fn hash(&self, column: usize) -> Result<[u8; 32], Error>;
    fn opt_hash(&self, column: usize) -> Result<Option<[u8; 32]>, Error>;
}

fn exact(column: usize, bytes: &[u8]) -> Result<[u8; 32], Error> {
    bytes.try_into().map_err(|_| Error::Column { column, message: "not 32 bytes".to_owned() })
}

impl Columns for Row<'_> {
    fn parse<T: Parse>(&self, column: usize) -> Result<T, Error> {
        T::parse(self.str(column)?).map_err(|message| Error::Column { column, message })
    }

    fn opt_parse<T: Parse>(&self, column: usize) -> Result<Option<T>, Error> {
        self.opt_str(column)?
            .map(|text| T::parse(text).map_err(|message| Error::Column { column, message }))
            .transpose()
    }

    fn time(&self, column: usize) -> Result<Time, Error> {
        self.int(column).map(Time::from_millis)
    }

    fn opt_time(&self, column: usize) -> Result<Option<Time>, Error> {
        Ok(self.opt_int(column)?.map(Time::from_millis))
    }

    fn hash(&self, column: usize) -> Result<[u8; 32], Error> {
        exact(column, &self.bytes(column)?)
    }

    fn opt_hash(&self, column: usize) -> Result<Option<[u8; 32]>, Error> {
        self.opt_bytes(column)?.map(|bytes| exact(column, &bytes)).transpose()
    }
}

/// Converts values to owned ones.
pub(crate) fn owned(values: Vec<Value<'_>>) -> RowValues {
    values.into_iter().map(Value::into_owned).collect()
}

/// The meaning of a violated constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    AlreadyMember,
    EmailTaken,
    FriendlyUrlTaken,
    DomainTaken,
    PasskeyKnown,
    IdentityLinked,
}

/// PostgreSQL's constraint name, SQLite's columns, the meaning.
const CONFLICTS: &[(&str, &str, Conflict)] = &[
    ("members_org_user", "members.org_id, members.user_id", Conflict::AlreadyMember),
    ("users_email_key", "users.email_key", Conflict::EmailTaken),
    ("portals_friendly_url", "portals.friendly_url", Conflict::FriendlyUrlTaken),
    ("portals_domain", "portals.domain", Conflict::DomainTaken),
    ("passkeys_credential", "passkeys.credential_id", Conflict::PasskeyKnown),
    ("mail_domains_name", "mail_domains.name", Conflict::DomainTaken),
    (
        "sso_identities_subject",
        "sso_identities.connection_id, sso_identities.subject",
        Conflict::IdentityLinked,
    ),
    ("sso_identities_user", "sso_identities.connection_id, sso_identities.user_id", Conflict::IdentityLinked),
];

impl Conflict {
    pub fn of(error: &Error) -> Option<Self> {
        let Error::Constraint { kind: Constraint::Unique, name } = error else { return None };
        CONFLICTS
            .iter()
            .find(|(postgres, sqlite, _)| name == postgres || name == sqlite)
            .map(|(_, _, what)| *what)
    }
}
