//! Saved views of lists.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, ViewId};
use attestry_domain::registers::views::{View, ViewList, ViewParameters};

use crate::sql::{Columns, from_json, id, time, to_json};

macro_rules! view {
    ($where:literal) => {
        concat!("SELECT id, org_id, member_id, list, name, parameters, is_shared, created_at, updated_at, version FROM views WHERE org_id = $1", $where)
    };
}

statements! {
    LIST = view!(" AND (is_shared = TRUE OR member_id = $2) AND (CAST($3 AS TEXT) IS NULL OR list = $3) ORDER BY id");
    COUNT = "SELECT COUNT(*) FROM views WHERE org_id = $1 AND member_id = $2";
    GET = view!(" AND id = $2");
    LOCK = view!(" AND id = $2 FOR UPDATE");
    INSERT = "INSERT INTO views (org_id, id, member_id, list, name, parameters, is_shared, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    UPDATE = "UPDATE views SET name = $3, parameters = $4, is_shared = $5, updated_at = $6, version = $7 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM views WHERE org_id = $1 AND id = $2";
}

fn read(row: &Row<'_>) -> Result<View, Error> {
    let wrong = |message: String| Error::Column { column: 5, message };
    Ok(View {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        member_id: row.parse(2)?,
        list: row.parse(3)?,
        name: row.parse(4)?,
        parameters: ViewParameters::new(from_json(row, 5)?).map_err(wrong)?,
        is_shared: row.bool(6)?,
        created_at: row.time(7)?,
        updated_at: row.time(8)?,
        version: row.int(9)?,
    })
}

/// Returns a member's own views and the shared ones, oldest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    list: Option<ViewList>,
) -> Result<Vec<View>, Error> {
    let list = list.map_or(Value::Null, |list| Value::from(list.as_str()));
    t.all(LIST, &[id(scope.organization()), id(member), list], read).await
}

/// Counts the views that a member has created.
pub async fn count(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization()), id(member)], |row| row.int(0)).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<Option<View>, Error> {
    t.opt(GET, &[id(scope.organization()), id(view)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<Option<View>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(view)], read).await
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, view: &View) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(view.id),
        id(view.member_id),
        Value::from(view.list.as_str()),
        Value::from(view.name.as_str()),
        to_json(5, &view.parameters)?,
        Value::Bool(view.is_shared),
        time(view.created_at),
        time(view.updated_at),
        Value::Int(view.version),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn update(t: &Tx<'_>, scope: &Scope, view: &View) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(view.id),
        Value::from(view.name.as_str()),
        to_json(5, &view.parameters)?,
        Value::Bool(view.is_shared),
        time(view.updated_at),
        Value::Int(view.version),
    ];
    t.execute(UPDATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(view)]).await.map(|_| ())
}
