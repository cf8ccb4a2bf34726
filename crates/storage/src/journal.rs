//! The journal's rows. Only `app::core::sealing` appends; the only update of an entry is the erasure of its state.

use std::sync::LazyLock;

use attestry_db::{Error, Row, RowChange, RowValues, SIZES, Statement, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::{AuthType, Scope};
use attestry_domain::hash::Hash;
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::journal::{Entry, EntryFilter, Head, ShownEntry};
use attestry_domain::page::{After, Key, Order, Page};

use crate::sql::{Columns, id, opt_id, opt_time, read_page, time};
use crate::table::any_of;
use crate::text::{insert, kept};

macro_rules! columns {
    () => {
        "SELECT j.id, j.org_id, j.sequence, j.at, j.actor_type, j.actor_id, j.member_id, j.auth_type, j.action, j.entity_type, j.entity_id, j.state, j.state_hash, j.request_id, j.ip, j.hash"
    };
}

/// Kinds and actions are compared by `REPLACE`, which tells letters apart by case on both databases.
macro_rules! narrowed {
    ($than:literal) => {
        concat!(
            " WHERE j.org_id = $1 AND j.sequence ",
            $than,
            " $2",
            " AND (CAST($3 AS TEXT) IS NULL OR REPLACE($3, ',' || j.entity_type || ',', '') <> $3)",
            " AND (CAST($4 AS TEXT) IS NULL OR j.entity_id = $4)",
            " AND (CAST($5 AS TEXT) IS NULL OR j.actor_id = $5 OR j.member_id = $5)",
            " AND (CAST($6 AS TEXT) IS NULL OR REPLACE($6, ',' || j.action || ',', '') <> $6)",
            " AND (CAST($7 AS BIGINT) IS NULL OR j.at >= $7)",
            " AND (CAST($8 AS BIGINT) IS NULL OR j.at < $8)"
        )
    };
}

/// Entries with the previous state of their entity, and with the names of who acted.
macro_rules! shown {
    () => {
        concat!(
            columns!(),
            ", p.state, k.name, u.name, su.name FROM journal j",
            " LEFT JOIN api_keys k ON k.org_id = j.org_id AND k.id = j.actor_id",
            " LEFT JOIN members m ON m.org_id = j.org_id AND m.id = j.member_id LEFT JOIN users u ON u.id = m.user_id",
            " LEFT JOIN members s ON s.org_id = j.org_id AND s.id = j.entity_id LEFT JOIN users su ON su.id = s.user_id",
            " LEFT JOIN journal p ON p.org_id = j.org_id AND p.entity_id = j.entity_id AND p.sequence = (SELECT MAX(b.sequence) FROM journal b WHERE b.org_id = j.org_id AND b.entity_id = j.entity_id AND b.entity_type = j.entity_type AND b.sequence < j.sequence)"
        )
    };
}

const COLUMNS: &[&str] = &[
    "id",
    "org_id",
    "sequence",
    "at",
    "actor_type",
    "actor_id",
    "member_id",
    "auth_type",
    "action",
    "entity_type",
    "entity_id",
    "state",
    "state_hash",
    "request_id",
    "ip",
    "hash",
];

/// One statement for each of [`SIZES`].
static INSERT: LazyLock<[&str; SIZES.len()]> =
    LazyLock::new(|| SIZES.map(|rows| kept(insert("journal", COLUMNS, rows))));

statements! {
    LOCK_HEAD = "SELECT sequence, hash, at, listens FROM journal_heads WHERE org_id = $1 FOR UPDATE";
    NEW_HEAD = "INSERT INTO journal_heads (org_id, sequence, hash, at, signing_key, signature) VALUES ($1, $2, $3, $4, $5, $6)";
    SET_HEAD = "UPDATE journal_heads SET sequence = $2, hash = $3, at = $4, signing_key = $5, signature = $6 WHERE org_id = $1";
    GET_HEAD = "SELECT org_id, sequence, hash, at, signing_key, signature FROM journal_heads WHERE org_id = $1";
    WALK = concat!(columns!(), " FROM journal j WHERE j.org_id = $1 AND j.sequence > $2 ORDER BY j.sequence LIMIT $3");
    FOLLOW = "SELECT j.sequence, j.at, j.action, j.entity_type, j.entity_id FROM journal j WHERE j.org_id = $1 AND j.sequence > $2 ORDER BY j.sequence LIMIT $3";
    TWO_STATES = "SELECT j.sequence, j.state FROM journal j WHERE j.org_id = $1 AND j.entity_id = $2 AND j.entity_type = $3 AND j.sequence <= $4 ORDER BY j.sequence DESC LIMIT 2";
    STATE_AT = "SELECT j.state FROM journal j WHERE j.org_id = $1 AND j.entity_id = $2 AND j.at <= $3 ORDER BY j.sequence DESC LIMIT 1";
    NEWEST_FIRST = concat!(shown!(), narrowed!("<"), " ORDER BY j.sequence DESC LIMIT $9");
    OLDEST_FIRST = concat!(shown!(), narrowed!(">"), " ORDER BY j.sequence LIMIT $9");
    COUNT = concat!("SELECT COUNT(*) FROM journal j", narrowed!(">"));
    ;
    pages
    STATES_AT = (
        "SELECT j.entity_id, j.state FROM journal j WHERE j.org_id = $1 AND j.entity_id >= $2 AND j.entity_id < $3 AND j.at <= $4 AND j.state IS NOT NULL AND NOT EXISTS (SELECT 1 FROM journal b WHERE b.org_id = j.org_id AND b.entity_id = j.entity_id AND b.sequence > j.sequence AND b.at <= $4)",
        "j.entity_id",
        None
    );
}

fn read(row: &Row<'_>) -> Result<Entry, Error> {
    Ok(Entry {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        sequence: row.int(2)?,
        at: row.time(3)?,
        actor_type: row.parse(4)?,
        actor_id: row.text(5)?,
        member_id: row.opt_parse::<MemberId>(6)?,
        auth_type: row.opt_parse(7)?,
        action: row.text(8)?,
        entity_type: row.text(9)?,
        entity_id: row.text(10)?,
        state: row.opt_text(11)?,
        state_hash: row.opt_hash(12)?,
        request_id: row.text(13)?,
        ip: row.opt_text(14)?,
        hash: row.hash(15)?,
    })
}

/// A head with the signature over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHead {
    pub head: Head,
    pub signing_key: String,
    pub signature: Vec<u8>,
}

/// The fields of a chain's last entry that the next one needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    pub sequence: i64,
    pub hash: Hash,
    pub at: Time,
    /// True when an automation listens for events of the organization.
    pub listens: bool,
}

/// Locks the head of the chain. This is the one lock on which the writers of an organization serialize.
pub async fn lock_head(t: &Tx<'_>, organization: OrganizationId) -> Result<Option<Last>, Error> {
    t.opt(LOCK_HEAD, &[id(organization)], |row| {
        Ok(Last { sequence: row.int(0)?, hash: row.hash(1)?, at: row.time(2)?, listens: row.bool(3)? })
    })
    .await
}

fn values(entry: Entry) -> RowValues {
    vec![
        id(entry.id),
        id(entry.organization_id),
        Value::Int(entry.sequence),
        time(entry.at),
        Value::from(entry.actor_type.as_str()),
        Value::from(entry.actor_id),
        opt_id(entry.member_id),
        Value::from(entry.auth_type.map(AuthType::as_str)),
        Value::from(entry.action),
        Value::from(entry.entity_type),
        Value::from(entry.entity_id),
        Value::from(entry.state),
        Value::from(entry.state_hash.map(Vec::from)),
        Value::from(entry.request_id),
        Value::from(entry.ip),
        Value::from(Vec::from(entry.hash)),
    ]
}

/// The statements that add entries, for the test that prepares every statement.
pub(crate) fn inserts() -> Vec<&'static str> {
    INSERT.to_vec()
}

/// Returns the statements that append entries and move the head.
pub fn append(entries: Vec<Entry>, head: SignedHead) -> Vec<Statement> {
    let mut statements = RowChange::Batched(*INSERT).statements(entries.into_iter().map(values));
    statements.push(Statement { sql: SET_HEAD, params: head_values(head).into() });
    statements
}

fn head_values(signed: SignedHead) -> [Value<'static>; 6] {
    [
        id(signed.head.organization_id),
        Value::Int(signed.head.sequence),
        Value::from(Vec::from(signed.head.hash)),
        time(signed.head.at),
        Value::from(signed.signing_key),
        Value::from(signed.signature),
    ]
}

/// Starts the chain of a new organization.
pub async fn new_head(t: &Tx<'_>, signed: SignedHead) -> Result<(), Error> {
    t.execute(NEW_HEAD, &head_values(signed)).await.map(drop)
}

pub async fn head(t: &Tx<'_>, organization: OrganizationId) -> Result<Option<SignedHead>, Error> {
    t.opt(GET_HEAD, &[id(organization)], |row| {
        Ok(SignedHead {
            head: Head {
                organization_id: row.parse(0)?,
                sequence: row.int(1)?,
                hash: row.hash(2)?,
                at: row.time(3)?,
            },
            signing_key: row.text(4)?,
            signature: row.bytes(5)?,
        })
    })
    .await
}

/// Returns the entries after a sequence, in order, for walking the chain.
pub async fn walk(
    t: &Tx<'_>,
    organization: OrganizationId,
    after: i64,
    most: i64,
) -> Result<Vec<Entry>, Error> {
    t.all(WALK, &[id(organization), Value::Int(after), Value::Int(most)], read).await
}

/// An event of the journal, without its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySummary {
    pub sequence: i64,
    pub at: Time,
    pub action: String,
    pub entity_type: String,
    pub entity_id: String,
}

/// Returns the events after a sequence, in order.
pub async fn follow(
    t: &Tx<'_>,
    organization: OrganizationId,
    after: i64,
    most: i64,
) -> Result<Vec<EntrySummary>, Error> {
    let read = |row: &Row<'_>| {
        Ok(EntrySummary {
            sequence: row.int(0)?,
            at: row.time(1)?,
            action: row.text(2)?,
            entity_type: row.text(3)?,
            entity_id: row.text(4)?,
        })
    };
    t.all(FOLLOW, &[id(organization), Value::Int(after), Value::Int(most)], read).await
}

/// Returns the states of an entity before and after an event.
pub async fn states_around(
    t: &Tx<'_>,
    scope: &Scope,
    told: &EntrySummary,
) -> Result<(Option<String>, Option<String>), Error> {
    let params = [
        id(scope.organization()),
        Value::from(&told.entity_id),
        Value::from(&told.entity_type),
        Value::Int(told.sequence),
    ];
    let rows = t.all(TWO_STATES, &params, |row| Ok((row.int(0)?, row.opt_text(1)?))).await?;
    let (mut before, mut after) = (None, None);
    for (sequence, state) in rows {
        *(if sequence == told.sequence { &mut after } else { &mut before }) = state;
    }
    Ok((before, after))
}

/// A query for historical states: of one kind, at a time, after an id.
#[derive(Clone, Debug)]
pub struct StatesAt {
    pub prefix: &'static str,
    pub at: Time,
    pub order: Order,
    pub after: Option<String>,
    pub most: i64,
}

/// Returns the last state of each entity of a kind at a time, ordered by id, without those deleted by then.
pub async fn states_at(t: &Tx<'_>, scope: &Scope, wanted: &StatesAt) -> Result<Vec<(String, String)>, Error> {
    let StatesAt { prefix, at, order, after, most } = wanted;
    // All ids of a kind sort between its prefix and the next character.
    let (from, to) = (format!("{prefix}_"), format!("{prefix}`"));
    let mut params =
        vec![id(scope.organization()), Value::from(from), Value::from(to), time(*at), Value::Int(*most)];
    params.extend(after.as_ref().map(Value::from));
    let sql = STATES_AT.pick(*order, after.is_some());
    t.all(sql, &params, |row| Ok((row.text(0)?, row.text(1)?))).await
}

/// Returns the last state of an entity at a time, unless it was deleted by then.
pub async fn state_at(t: &Tx<'_>, scope: &Scope, entity: &str, at: Time) -> Result<Option<String>, Error> {
    let params = [id(scope.organization()), Value::from(entity), time(at)];
    Ok(t.opt(STATE_AT, &params, |row| row.opt_text(0)).await?.flatten())
}

fn conditions<'a>(scope: &Scope, filter: &'a EntryFilter, beyond: i64) -> Vec<Value<'a>> {
    let EntryFilter { entity_type, entity_id, actor, action, from, to } = filter;
    vec![
        id(scope.organization()),
        Value::Int(beyond),
        any_of(entity_type.as_ref()),
        Value::from(entity_id.as_ref()),
        Value::from(actor.as_ref()),
        any_of(action.as_ref()),
        opt_time(*from),
        opt_time(*to),
    ]
}

pub async fn count(t: &Tx<'_>, scope: &Scope, filter: &EntryFilter) -> Result<i64, Error> {
    t.one(COUNT, &conditions(scope, filter, 0), |row| row.int(0)).await
}

/// Returns the entries that follow a sequence in an order, each with the previous state of its entity.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &EntryFilter,
    order: Order,
    limit: u16,
    beyond: Option<i64>,
) -> Result<Page<ShownEntry>, Error> {
    let (sql, start) = match order {
        Order::Descending => (NEWEST_FIRST, i64::MAX),
        Order::Ascending => (OLDEST_FIRST, 0),
    };
    let mut params = conditions(scope, filter, beyond.unwrap_or(start));
    params.push(Value::Int(i64::from(limit) + 1));
    let shown = |row: &Row<'_>| {
        Ok(ShownEntry {
            entry: read(row)?,
            before: row.opt_text(16)?,
            key_name: row.opt_text(17)?,
            member_name: row.opt_text(18)?,
            subject_name: row.opt_text(19)?,
        })
    };
    let place = |ShownEntry { entry, .. }: &ShownEntry| After {
        key: Key::Number(entry.sequence),
        id: entry.id.to_string(),
    };
    read_page(t, sql, &params, limit, shown, place).await
}
