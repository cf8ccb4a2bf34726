//! Saved views of lists.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, ViewId};
use attestry_domain::registers::views::{View, ViewList};

use crate::sql::id;
use crate::table::read;

statements! {
    COUNT = "SELECT COUNT(*) FROM views WHERE org_id = $1 AND member_id = $2";
    ;
    tables
    VIEWS: View = "views" {
        LIST = " WHERE org_id = $1 AND (is_shared = TRUE OR member_id = $2) AND (CAST($3 AS TEXT) IS NULL OR list = $3) ORDER BY id";
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
    }
}

/// Returns a member's own views and the shared ones, oldest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    list: Option<ViewList>,
) -> Result<Vec<View>, Error> {
    let list = list.map_or(Value::Null, |list| Value::from(list.as_str()));
    t.all(*LIST, &[id(scope.organization()), id(member), list], read).await
}

/// Counts the views that a member has created.
pub async fn count(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization()), id(member)], |row| row.int(0)).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<Option<View>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(view)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<Option<View>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(view)], read).await
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, view: &View) -> Result<(), Error> {
    VIEWS.insert(t, scope, view).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, view: &View) -> Result<(), Error> {
    VIEWS.update(t, scope, view).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, view: ViewId) -> Result<(), Error> {
    VIEWS.delete(t, [id(scope.organization()), id(view)]).await
}
