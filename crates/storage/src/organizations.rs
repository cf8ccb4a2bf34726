//! Organizations.

use std::time::Duration;

use attestry_db::{Error, Tx};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::organizations::Organization;
use attestry_domain::row::Row;

use crate::schema::of_an_organization;
use crate::sql::{Columns, id, time};
use crate::table::{read, select};

statements! {
    DELETE = "UPDATE organizations SET updated_at = $2, deleted_at = $2, version = version + 1 WHERE id = $1";
    RESTORE = "UPDATE organizations SET updated_at = $2, deleted_at = NULL, version = version + 1 WHERE id = $1 AND removed_at IS NULL";
    TO_REMOVE = "SELECT id FROM organizations WHERE deleted_at < $1 AND removed_at IS NULL ORDER BY id";
    REMOVE = "UPDATE organizations SET name = '', website = NULL, updated_at = $2, removed_at = $2 WHERE id = $1";
    ANY = "SELECT id FROM organizations LIMIT 1";
    DELETE_SESSIONS = "DELETE FROM sessions WHERE user_id IN (SELECT user_id FROM members WHERE org_id = $1) AND user_id NOT IN (SELECT m.user_id FROM members m JOIN organizations o ON o.id = m.org_id WHERE m.org_id <> $1 AND m.is_active = TRUE AND o.deleted_at IS NULL)";
    REMOVE_INVITED = "DELETE FROM users WHERE invited_to = $1";
    ERASE_STATES = "UPDATE journal SET state = NULL WHERE org_id = $1";
    ;
    tables
    ORGANIZATIONS: Organization = "organizations" by "id" {
        GET = " WHERE id = $1 AND deleted_at IS NULL";
        LOCK = " WHERE id = $1 AND deleted_at IS NULL FOR UPDATE";
        LOCK_DELETED = " WHERE id = $1 AND deleted_at IS NOT NULL AND removed_at IS NULL FOR UPDATE";
    }
    ;
    built
    ALL = select::<OrganizationSummary>("organizations ORDER BY id");
}

/// Creates the tenant itself: the one insert of tenant data for which no scope can exist.
pub async fn insert(t: &Tx<'_>, organization: &Organization) -> Result<(), Error> {
    ORGANIZATIONS.insert_with(t, organization.id, organization, Vec::new()).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Organization>, Error> {
    t.opt(*GET, &[id(scope.organization())], read).await
}

/// Locks the organization. Rules that span its members take this lock first.
pub async fn lock(t: &Tx<'_>, scope: &Scope) -> Result<Option<Organization>, Error> {
    t.opt(*LOCK, &[id(scope.organization())], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, organization: &Organization) -> Result<(), Error> {
    ORGANIZATIONS.update(t, scope, organization).await
}

/// Marks the organization as deleted, and ends the sessions of users without another organization. Its data remains
/// for a retention period.
pub async fn delete(t: &Tx<'_>, scope: &Scope, at: Time) -> Result<(), Error> {
    t.execute(DELETE_SESSIONS, &[id(scope.organization())]).await?;
    t.execute(DELETE, &[id(scope.organization()), time(at)]).await.map(|_| ())
}

/// Locks an organization that is deleted and not yet removed.
pub async fn lock_deleted(t: &Tx<'_>, scope: &Scope) -> Result<Option<Organization>, Error> {
    t.opt(*LOCK_DELETED, &[id(scope.organization())], read).await
}

/// Restores a deleted organization.
pub async fn restore(t: &Tx<'_>, scope: &Scope, at: Time) -> Result<(), Error> {
    t.execute(RESTORE, &[id(scope.organization()), time(at)]).await.map(|_| ())
}

/// Returns the organizations that were deleted before `before` and whose data still exists.
pub async fn to_remove(t: &Tx<'_>, before: Time) -> Result<Vec<OrganizationId>, Error> {
    t.all(TO_REMOVE, &[time(before)], |row| row.parse(0)).await
}

/// Time limit for emptying one table of a large organization.
const REMOVAL_DEADLINE: Duration = Duration::from_mins(5);

/// Removes the organization's data. Its journal remains without the states, so that the chain still proves which
/// events occurred and when.
pub async fn remove(t: &Tx<'_>, scope: &Scope, at: Time) -> Result<(), Error> {
    let own = [id(scope.organization())];
    t.extend_deadline(REMOVAL_DEADLINE).await?;
    for table in of_an_organization() {
        t.execute(table.remove, &own).await?;
    }
    t.execute(REMOVE_INVITED, &own).await?;
    t.execute(ERASE_STATES, &own).await?;
    t.execute(REMOVE, &[id(scope.organization()), time(at)]).await.map(|_| ())
}

/// An organization in the operator's list.
#[derive(Clone, Debug, Row)]
pub struct OrganizationSummary {
    pub id: OrganizationId,
    /// Empty once it is removed.
    pub name: String,
    pub deleted_at: Option<Time>,
    pub removed_at: Option<Time>,
}

/// Returns every organization, including removed ones, for the operator's commands.
pub async fn all(t: &Tx<'_>) -> Result<Vec<OrganizationSummary>, Error> {
    t.all(*ALL, &[], read).await
}

pub async fn any(t: &Tx<'_>) -> Result<bool, Error> {
    Ok(t.opt(ANY, &[], |_| Ok(())).await?.is_some())
}
