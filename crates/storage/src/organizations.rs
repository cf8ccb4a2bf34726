//! Organizations.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::organizations::Organization;

use crate::sql::{Columns, id, time};

macro_rules! columns {
    () => {
        "SELECT id, name, website, created_at, updated_at, version FROM organizations"
    };
}

statements! {
    INSERT = "INSERT INTO organizations (id, name, website, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6)";
    GET = concat!(columns!(), " WHERE id = $1 AND deleted_at IS NULL");
    LOCK = concat!(columns!(), " WHERE id = $1 AND deleted_at IS NULL FOR UPDATE");
    UPDATE = "UPDATE organizations SET name = $2, website = $3, updated_at = $4, version = $5 WHERE id = $1";
    DELETE = "UPDATE organizations SET name = '', website = NULL, updated_at = $2, deleted_at = $2 WHERE id = $1";
    ALL_IDS = "SELECT id FROM organizations ORDER BY id";
    ANY = "SELECT id FROM organizations LIMIT 1";
    DELETE_SESSIONS = "DELETE FROM sessions WHERE user_id IN (SELECT user_id FROM members WHERE org_id = $1) AND user_id NOT IN (SELECT user_id FROM members WHERE org_id <> $1 AND is_active = TRUE)";
    DELETE_ATTACHMENTS = "DELETE FROM attachments WHERE org_id = $1";
    DELETE_COMMENTS = "DELETE FROM comments WHERE org_id = $1";
    DELETE_RISKS = "DELETE FROM risks WHERE org_id = $1";
    DELETE_VENDORS = "DELETE FROM vendors WHERE org_id = $1";
    DELETE_INVITATIONS = "DELETE FROM invitations WHERE org_id = $1";
    DELETE_API_KEYS = "DELETE FROM api_keys WHERE org_id = $1";
    DELETE_MEMBERS = "DELETE FROM members WHERE org_id = $1";
    DELETE_JOBS = "DELETE FROM jobs WHERE org_id = $1";
    ERASE_STATES = "UPDATE journal SET state = NULL WHERE org_id = $1";
}

fn read(row: &Row<'_>) -> Result<Organization, Error> {
    Ok(Organization {
        id: row.parse(0)?,
        name: row.text(1)?,
        website: row.opt_text(2)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
        version: row.int(5)?,
    })
}

/// Makes the tenant itself: the one insert on tenant data that no scope can precede.
pub async fn insert(t: &Tx<'_>, organization: &Organization) -> Result<(), Error> {
    let Organization { id: own, name, website, created_at, updated_at, version } = organization;
    let params = [
        id(*own),
        Value::from(name),
        Value::from(website.as_ref()),
        time(*created_at),
        time(*updated_at),
        Value::Int(*version),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Organization>, Error> {
    t.opt(GET, &[id(scope.organization())], read).await
}

/// The organization, held until the transaction ends: rules that span its members take this first.
pub async fn lock(t: &Tx<'_>, scope: &Scope) -> Result<Option<Organization>, Error> {
    t.opt(LOCK, &[id(scope.organization())], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, organization: &Organization) -> Result<(), Error> {
    let Organization { id: _, name, website, created_at: _, updated_at, version } = organization;
    let params = [
        id(scope.organization()),
        Value::from(name),
        Value::from(website.as_ref()),
        time(*updated_at),
        Value::Int(*version),
    ];
    t.execute(UPDATE, &params).await.map(|_| ())
}

/// Removes what the organization holds. Its journal stays, emptied of states, so that the chain
/// still proves what happened and when.
pub async fn delete(t: &Tx<'_>, scope: &Scope, at: Time) -> Result<(), Error> {
    let own = [id(scope.organization())];
    for statement in [
        DELETE_SESSIONS,
        DELETE_ATTACHMENTS,
        DELETE_COMMENTS,
        DELETE_RISKS,
        DELETE_VENDORS,
        DELETE_INVITATIONS,
        DELETE_API_KEYS,
        DELETE_MEMBERS,
        DELETE_JOBS,
        ERASE_STATES,
    ] {
        t.execute(statement, &own).await?;
    }
    t.execute(DELETE, &[id(scope.organization()), time(at)]).await.map(|_| ())
}

/// Every organization there is or was. For the operator's commands.
pub async fn all_ids(t: &Tx<'_>) -> Result<Vec<OrganizationId>, Error> {
    t.all(ALL_IDS, &[], |row| row.parse(0)).await
}

pub async fn any(t: &Tx<'_>) -> Result<bool, Error> {
    Ok(t.opt(ANY, &[], |_| Ok(())).await?.is_some())
}
