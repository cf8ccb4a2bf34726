//! The frameworks that an organization added.

use std::sync::Arc;

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::frameworks::Framework;
use attestry_domain::id::FrameworkId;

use crate::sql::{id, time};

statements! {
    INSERT = "INSERT INTO frameworks (org_id, id, alias, content, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)";
    UPDATE = "UPDATE frameworks SET alias = $3, content = $4, updated_at = $5 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM frameworks WHERE org_id = $1 AND id = $2";
    ALL = "SELECT content FROM frameworks WHERE org_id = $1 ORDER BY id";
    BY_ID = "SELECT content FROM frameworks WHERE org_id = $1 AND id = $2";
    BY_ALIAS = "SELECT content FROM frameworks WHERE org_id = $1 AND alias = $2";
    LOCK = "SELECT content FROM frameworks WHERE org_id = $1 AND id = $2 FOR UPDATE";
}

fn read(row: &Row<'_>) -> Result<Arc<Framework>, Error> {
    let wrong = |error: serde_json::Error| Error::Column { column: 0, message: error.to_string() };
    serde_json::from_str(row.str(0)?).map(Arc::new).map_err(wrong)
}

fn params(scope: &Scope, framework: &Framework, at: Time) -> Result<[Value<'static>; 5], Error> {
    let content = serde_json::to_string(framework).map_err(|error| Error::Other(error.to_string()))?;
    Ok([id(scope.organization()), id(framework.id), framework.alias.clone().into(), content.into(), time(at)])
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, framework: &Framework, at: Time) -> Result<(), Error> {
    t.execute(INSERT, &params(scope, framework, at)?).await.map(|_| ())
}

pub async fn update(t: &Tx<'_>, scope: &Scope, framework: &Framework, at: Time) -> Result<(), Error> {
    t.execute(UPDATE, &params(scope, framework, at)?).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, framework: FrameworkId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(framework)]).await.map(|_| ())
}

/// Returns all frameworks of an organization, ordered by id.
pub async fn all(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Arc<Framework>>, Error> {
    t.all(ALL, &[id(scope.organization())], read).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, framework: FrameworkId) -> Result<Option<Arc<Framework>>, Error> {
    t.opt(BY_ID, &[id(scope.organization()), id(framework)], read).await
}

pub async fn by_alias(t: &Tx<'_>, scope: &Scope, alias: &str) -> Result<Option<Arc<Framework>>, Error> {
    t.opt(BY_ALIAS, &[id(scope.organization()), alias.into()], read).await
}

pub async fn lock(
    t: &Tx<'_>,
    scope: &Scope,
    framework: FrameworkId,
) -> Result<Option<Arc<Framework>>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(framework)], read).await
}
