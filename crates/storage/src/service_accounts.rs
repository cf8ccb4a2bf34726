//! Service accounts.

use attestry_db::{Error, Tx};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, OrganizationId, ServiceAccountId};
use attestry_domain::identity::service_accounts::{NamedAccount, ServiceAccount};

use crate::sql::{Columns, id, time};
use crate::table::{read, select};

/// Selects accounts with their names and roles.
macro_rules! named {
    ($rest:literal) => {
        select::<NamedAccount>(concat!(
            "service_accounts s JOIN members m ON m.id = s.member_id JOIN users u ON u.id = m.user_id",
            $rest
        ))
    };
}

statements! {
    COUNT = "SELECT COUNT(*) FROM service_accounts WHERE org_id = $1";
    DELETE = "DELETE FROM service_accounts WHERE org_id = $1 AND id = $2";
    ORPHANED = "SELECT org_id, MIN(orphaned_since) FROM service_accounts WHERE orphaned_since <= $1 GROUP BY org_id";
    ;
    tables
    ACCOUNTS: ServiceAccount = "service_accounts" {}
    ;
    built
    GET = named!(" WHERE s.org_id = $1 AND s.id = $2");
    LOCK = named!(" WHERE s.org_id = $1 AND s.id = $2 FOR UPDATE OF s");
    OF_MEMBER = named!(" WHERE s.org_id = $1 AND s.member_id = $2");
    OF_OWNER = named!(" WHERE s.org_id = $1 AND s.owner_id = $2 ORDER BY s.id FOR UPDATE OF s");
    LIST = named!(" WHERE s.org_id = $1 ORDER BY CASE WHEN s.orphaned_since IS NULL THEN 1 ELSE 0 END, u.name_key, s.id");
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, account: &ServiceAccount) -> Result<(), Error> {
    ACCOUNTS.insert(t, scope, account).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, account: &ServiceAccount) -> Result<(), Error> {
    ACCOUNTS.update(t, scope, account).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, account: ServiceAccountId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(account)]).await.map(|_| ())
}

pub async fn get(
    t: &Tx<'_>,
    scope: &Scope,
    account: ServiceAccountId,
) -> Result<Option<NamedAccount>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(account)], read).await
}

pub async fn lock(
    t: &Tx<'_>,
    scope: &Scope,
    account: ServiceAccountId,
) -> Result<Option<NamedAccount>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(account)], read).await
}

pub async fn of_member(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<NamedAccount>, Error> {
    t.opt(*OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

/// Locks and returns the accounts that a member answers for.
pub async fn of_owner(t: &Tx<'_>, scope: &Scope, owner: MemberId) -> Result<Vec<NamedAccount>, Error> {
    t.all(*OF_OWNER, &[id(scope.organization()), id(owner)], read).await
}

/// Returns the accounts of the organization, those without an owner first, then by their names.
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<NamedAccount>, Error> {
    t.all(*LIST, &[id(scope.organization())], read).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization())], |row| row.int(0)).await
}

/// Returns the organizations with accounts that have had no owner since a time, and since when, for the daily check.
pub async fn orphaned(t: &Tx<'_>, since: Time) -> Result<Vec<(OrganizationId, Time)>, Error> {
    t.all(ORPHANED, &[time(since)], |row| Ok((row.parse(0)?, Time::from_millis(row.int(1)?)))).await
}
