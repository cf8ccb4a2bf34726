//! Releases: the records that were taken from members who left.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, ReleaseId};
use attestry_domain::identity::releases::Release;
use attestry_domain::page::{After, Order, Page};

use crate::sql::{by_id, id, opt_id, page_params, read_page};
use crate::table::read;

statements! {
    DELETE = "DELETE FROM releases WHERE org_id = $1 AND id = $2";
    DELETE_OF = "DELETE FROM releases WHERE org_id = $1 AND member_id = $2 AND entity_id = $3";
    HAND = "UPDATE releases SET handed_to = $3 WHERE org_id = $1 AND id = $2";
    ;
    tables
    RELEASES: Release = "releases" {
        OF_MEMBER = " WHERE org_id = $1 AND member_id = $2 ORDER BY id FOR UPDATE";
    }
    ;
    pages
    LIST = (RELEASES.select(" WHERE org_id = $1 AND member_id = $2"), "id", None);
}

/// Stores a release, instead of an earlier one of the same record.
pub async fn put(t: &Tx<'_>, scope: &Scope, release: &Release) -> Result<(), Error> {
    let own = [id(scope.organization()), id(release.member_id), Value::from(release.entity_id.as_str())];
    t.execute(DELETE_OF, &own).await?;
    RELEASES.insert(t, scope, release).await
}

/// Locks and returns what a member left behind.
pub async fn lock_of(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<Release>, Error> {
    t.all(*OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Release>, Error> {
    let mut params = vec![id(scope.organization()), id(member)];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Ascending, after.is_some());
    read_page(t, sql, &params, limit, read, |release: &Release| by_id(release.id)).await
}

/// Records who has a released record now.
pub async fn hand_to(
    t: &Tx<'_>,
    scope: &Scope,
    release: ReleaseId,
    member: Option<MemberId>,
) -> Result<(), Error> {
    t.execute(HAND, &[id(scope.organization()), id(release), opt_id(member)]).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, release: ReleaseId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(release)]).await.map(|_| ())
}
