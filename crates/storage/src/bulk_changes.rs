//! Bulk changes that can still be undone.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::BulkChangeId;

use crate::sql::{from_json, id, time, to_json};

statements! {
    INSERT = "INSERT INTO bulk_changes (org_id, id, register, actor_id, made_at, changed) VALUES ($1, $2, $3, $4, $5, $6)";
    FORGET = "DELETE FROM bulk_changes WHERE org_id = $1 AND made_at < $2";
    TAKE = "DELETE FROM bulk_changes WHERE org_id = $1 AND id = $2 AND register = $3 AND actor_id = $4 AND made_at >= $5 RETURNING changed";
}

/// Stores the changed rows, each with its new version, and deletes changes made before `since`.
pub async fn insert(
    t: &Tx<'_>,
    scope: &Scope,
    change: BulkChangeId,
    register: &str,
    (now, since): (Time, Time),
    changed: &[(String, i64)],
) -> Result<(), Error> {
    let own = id(scope.organization());
    t.execute(FORGET, &[own.clone(), time(since)]).await?;
    let (_, actor) = scope.actor();
    let params =
        [own, id(change), Value::from(register), Value::from(actor), time(now), to_json(5, &changed)?];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Removes and returns a change of the same actor since a time, to undo it; a second call finds none.
pub async fn take(
    t: &Tx<'_>,
    scope: &Scope,
    change: BulkChangeId,
    register: &str,
    since: Time,
) -> Result<Option<Vec<(String, i64)>>, Error> {
    let (_, actor) = scope.actor();
    let own = id(scope.organization());
    let params = [own, id(change), Value::from(register), Value::from(actor), time(since)];
    Ok(t.returning(TAKE, &params, |row| from_json(row, 0)).await?.pop())
}
