//! Notification settings, and the queries for the daily digests.

use std::collections::HashSet;

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Zone;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::notices::Notices;

use crate::sql::{Columns, id};

statements! {
    GET = "SELECT notify_assigned, notify_due_soon, notify_overdue, notify_automations, notify_policies, notify_portal, notify_mentioned FROM users WHERE id = $1";
    READERS_OF_POLICIES = "SELECT m.id FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND u.notify_policies";
    SET = "UPDATE users SET notify_assigned = $2, notify_due_soon = $3, notify_overdue = $4, notify_automations = $5, notify_policies = $6, notify_portal = $7, notify_mentioned = $8 WHERE id = $1";
    ORGANIZATIONS = "SELECT id, time_zone, digest_on FROM organizations WHERE deleted_at IS NULL ORDER BY id";
    DIGEST_ON = "UPDATE organizations SET digest_on = $2 WHERE id = $1 AND (digest_on IS NULL OR digest_on < $2)";
    DUE = "SELECT assignee_id, id, number, title, due_date FROM tasks WHERE org_id = $1 AND open_due <= $2 AND assignee_id IS NOT NULL ORDER BY assignee_id, open_due, id";
    ENDING = "SELECT assignee_id, id, number, title, accepted_until FROM risks WHERE org_id = $1 AND accepted_until <= $2 AND assignee_id IS NOT NULL AND status IN ('open', 'pending') ORDER BY assignee_id, accepted_until, id";
}

fn read(row: &Row<'_>) -> Result<Notices, Error> {
    Ok(Notices {
        assigned: row.bool(0)?,
        due_soon: row.bool(1)?,
        overdue: row.bool(2)?,
        automations: row.bool(3)?,
        policies: row.bool(4)?,
        portal: row.bool(5)?,
        mentioned: row.bool(6)?,
    })
}

/// Returns a user's notification settings. They belong to the user, so no scope is needed.
pub async fn get(t: &Tx<'_>, user: UserId) -> Result<Option<Notices>, Error> {
    t.opt(GET, &[id(user)], read).await
}

/// Returns the members who have policy notifications enabled.
pub async fn readers_of_policies(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<MemberId>, Error> {
    let found = t.all(READERS_OF_POLICIES, &[id(scope.organization())], |row| row.parse(0)).await?;
    Ok(found.into_iter().collect())
}

pub async fn set(t: &Tx<'_>, user: UserId, notices: Notices) -> Result<(), Error> {
    let Notices { assigned, due_soon, overdue, automations, policies, portal, mentioned } = notices;
    let params = [
        id(user),
        Value::Bool(assigned),
        Value::Bool(due_soon),
        Value::Bool(overdue),
        Value::Bool(automations),
        Value::Bool(policies),
        Value::Bool(portal),
        Value::Bool(mentioned),
    ];
    t.execute(SET, &params).await.map(|_| ())
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
