//! Notification settings, and the queries for the daily digests.

use std::collections::HashSet;

use attestry_db::{Error, Tx, Value};
use attestry_domain::Zone;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::notices::Notices;
use attestry_domain::row::Row;

use crate::sql::{Columns, id};
use crate::table::read;

statements! {
    READERS_OF_POLICIES = "SELECT m.id FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_service = FALSE AND u.notify_policies";
    ORGANIZATIONS = "SELECT id, time_zone, digest_on FROM organizations WHERE deleted_at IS NULL ORDER BY id";
    DIGEST_ON = "UPDATE organizations SET digest_on = $2 WHERE id = $1 AND (digest_on IS NULL OR digest_on < $2)";
    DUE = "SELECT assignee_id, id, number, title, due_date FROM tasks WHERE org_id = $1 AND open_due <= $2 AND assignee_id IS NOT NULL ORDER BY assignee_id, open_due, id";
    ENDING = "SELECT assignee_id, id, number, title, accepted_until FROM risks WHERE org_id = $1 AND accepted_until <= $2 AND assignee_id IS NOT NULL AND status IN ('open', 'pending') ORDER BY assignee_id, accepted_until, id";
    ;
    tables
    SETTINGS: UserSettings = "users" by "id" {
        GET = " WHERE id = $1";
    }
}

/// The notification settings, as columns of a user.
#[derive(Debug, Row)]
struct UserSettings {
    #[row(flatten, prefix = "notify_")]
    notices: Notices,
}

/// Returns a user's notification settings. They belong to the user, so no scope is needed.
pub async fn get(t: &Tx<'_>, user: UserId) -> Result<Option<Notices>, Error> {
    let found: Option<UserSettings> = t.opt(*GET, &[id(user)], read).await?;
    Ok(found.map(|settings| settings.notices))
}

/// Returns the members who have policy notifications enabled.
pub async fn readers_of_policies(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<MemberId>, Error> {
    let found = t.all(READERS_OF_POLICIES, &[id(scope.organization())], |row| row.parse(0)).await?;
    Ok(found.into_iter().collect())
}

pub async fn set(t: &Tx<'_>, user: UserId, notices: Notices) -> Result<(), Error> {
    SETTINGS.update_by(t, user, &UserSettings { notices }).await
}

/// Returns every organization with its time zone and the last day its digests were sent, for the job that sends them.
pub async fn organizations(t: &Tx<'_>) -> Result<Vec<(OrganizationId, Zone, Option<Date>)>, Error> {
    t.all(ORGANIZATIONS, &[], |row| Ok((row.parse(0)?, row.parse(1)?, row.opt_parse(2)?))).await
}

/// Records that the digests of a day are sent; `false` when they were sent before.
pub async fn begin_digest(t: &Tx<'_>, scope: &Scope, on: Date) -> Result<bool, Error> {
    let params = [id(scope.organization()), Value::from(on.to_string())];
    Ok(t.execute(DIGEST_ON, &params).await? > 0)
}

/// A record that is due or overdue.
#[derive(Clone, Debug)]
pub struct DueRecord {
    pub assignee: MemberId,
    pub id: String,
    pub number: i64,
    pub title: String,
    pub due: Date,
}

async fn due_records(
    t: &Tx<'_>,
    sql: &'static str,
    scope: &Scope,
    by: Date,
) -> Result<Vec<DueRecord>, Error> {
    let params = [id(scope.organization()), Value::from(by.to_string())];
    t.all(sql, &params, |row| {
        Ok(DueRecord {
            assignee: row.parse(0)?,
            id: row.text(1)?,
            number: row.int(2)?,
            title: row.text(3)?,
            due: row.parse(4)?,
        })
    })
    .await
}

/// Returns the open tasks that are due by a day, ordered by assignee.
pub async fn due_tasks(t: &Tx<'_>, scope: &Scope, by: Date) -> Result<Vec<DueRecord>, Error> {
    due_records(t, DUE, scope, by).await
}

/// Returns the risks whose acceptance ends by a day, ordered by assignee.
pub async fn ending_acceptances(t: &Tx<'_>, scope: &Scope, by: Date) -> Result<Vec<DueRecord>, Error> {
    due_records(t, ENDING, scope, by).await
}
