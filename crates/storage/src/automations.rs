//! Automations, their scripts, and their schedules and events.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::{Automation, Version};
use attestry_domain::id::{AutomationId, OrganizationId, TaskId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::row::Row;

use crate::sql::{Columns, by_id, from_json, id, opt_time, page_params, read_page, time, to_json};
use crate::table::{read, select};

statements! {
    OF_TASK = "SELECT id FROM automations WHERE org_id = $1 AND task_id = $2 ORDER BY id FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM automations WHERE org_id = $1 AND task_id = $2";
    SET_NEXT = "UPDATE automations SET next_run_at = $3 WHERE org_id = $1 AND id = $2";
    SET_FAILING = "UPDATE automations SET is_failing = $3 WHERE org_id = $1 AND id = $2";
    COUNT_LISTENERS = "SELECT COUNT(DISTINCT automation_id) FROM automation_events WHERE org_id = $1 AND automation_id <> $2";
    DUE = "SELECT org_id, id FROM automations WHERE next_run_at <= $1 AND id > $2 ORDER BY id LIMIT $3";
    DELETE_VERSIONS = "DELETE FROM automation_versions WHERE org_id = $1 AND automation_id = $2";
    DELETE_EVENTS = "DELETE FROM automation_events WHERE org_id = $1 AND automation_id = $2";
    INSERT_EVENT = "INSERT INTO automation_events (org_id, automation_id, action) VALUES ($1, $2, $3)";
    LISTEN = "UPDATE journal_heads SET listens = EXISTS (SELECT 1 FROM automation_events WHERE org_id = $1) WHERE org_id = $1";
    COUNT_VERSIONS = "SELECT COUNT(*) FROM automation_versions WHERE org_id = $1 AND automation_id = $2";
    HOSTS = "SELECT hosts, version FROM automation_hosts WHERE org_id = $1";
    SET_HOSTS = "INSERT INTO automation_hosts (org_id, hosts, updated_at, version) VALUES ($1, $2, $3, $4) ON CONFLICT (org_id) DO UPDATE SET hosts = $2, updated_at = $3, version = $4";
    ;
    tables
    AUTOMATIONS: Automation = "automations" {
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        SCHEDULED = " WHERE org_id = $1 AND schedule IS NOT NULL ORDER BY id FOR UPDATE";
    }
    VERSION_ROWS: Version = "automation_versions" {
        VERSION = " WHERE org_id = $1 AND automation_id = $2 AND number = $3";
    }
    ;
    built
    LISTENERS = select::<Listener>("automation_events e JOIN automations a ON a.id = e.automation_id AND a.org_id = e.org_id WHERE e.org_id = $1 AND a.is_enabled = TRUE AND a.latest_version IS NOT NULL ORDER BY a.id");
    ;
    pages
    LIST = (AUTOMATIONS.select(" WHERE org_id = $1 AND task_id = $2"), "id", None);
    VERSIONS = (VERSION_ROWS.select(" WHERE org_id = $1 AND automation_id = $2"), "id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, one: &Automation) -> Result<(), Error> {
    AUTOMATIONS.insert(t, scope, one).await?;
    set_events(t, scope, one).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, one: &Automation) -> Result<(), Error> {
    AUTOMATIONS.update(t, scope, one).await?;
    set_events(t, scope, one).await
}

async fn set_events(t: &Tx<'_>, scope: &Scope, one: &Automation) -> Result<(), Error> {
    t.execute(DELETE_EVENTS, &[id(scope.organization()), id(one.id)]).await?;
    for event in &one.events {
        let params = [id(scope.organization()), id(one.id), Value::from(event.as_str())];
        t.execute(INSERT_EVENT, &params).await?;
    }
    t.execute(LISTEN, &[id(scope.organization())]).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, one: AutomationId) -> Result<Option<Automation>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(one)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, one: AutomationId) -> Result<Option<Automation>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(one)], read).await
}

/// Locks the automations of a task and returns their ids.
pub async fn of_task(t: &Tx<'_>, scope: &Scope, task: &str) -> Result<Vec<AutomationId>, Error> {
    t.all(OF_TASK, &[id(scope.organization()), Value::from(task)], |row| row.parse(0)).await
}

/// Locks and returns the automations that have a schedule.
pub async fn scheduled(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Automation>, Error> {
    t.all(*SCHEDULED, &[id(scope.organization())], read).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    task: TaskId,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Automation>, Error> {
    let mut params = vec![id(scope.organization()), id(task)];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one: &Automation| by_id(one.id)).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, task: TaskId) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization()), id(task)], |row| row.int(0)).await
}

/// Counts the other automations that listen for an event.
pub async fn count_listeners(t: &Tx<'_>, scope: &Scope, but: AutomationId) -> Result<i64, Error> {
    t.one(COUNT_LISTENERS, &[id(scope.organization()), id(but)], |row| row.int(0)).await
}

/// Sets the time of the next scheduled run. No journal entry: this is not part of the history.
pub async fn set_next(t: &Tx<'_>, scope: &Scope, one: AutomationId, at: Option<Time>) -> Result<(), Error> {
    t.execute(SET_NEXT, &[id(scope.organization()), id(one), opt_time(at)]).await.map(|_| ())
}

/// Records whether the last run failed. No journal entry: this is not part of the history.
pub async fn set_failing(t: &Tx<'_>, scope: &Scope, one: AutomationId, is: bool) -> Result<(), Error> {
    t.execute(SET_FAILING, &[id(scope.organization()), id(one), Value::Bool(is)]).await.map(|_| ())
}

/// Returns the automations of all organizations whose schedule is due, ordered by id, for the job that starts them.
pub async fn due(
    t: &Tx<'_>,
    now: Time,
    after: &str,
    most: i64,
) -> Result<Vec<(OrganizationId, AutomationId)>, Error> {
    let params = [time(now), Value::from(after), Value::Int(most)];
    t.all(DUE, &params, |row| Ok((row.parse(0)?, row.parse(1)?))).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, one: AutomationId) -> Result<(), Error> {
    let own = [id(scope.organization()), id(one)];
    t.execute(DELETE_VERSIONS, &own).await?;
    t.execute(DELETE_EVENTS, &own).await?;
    AUTOMATIONS.delete(t, [id(scope.organization()), id(one)]).await?;
    t.execute(LISTEN, &own[..1]).await.map(|_| ())
}

/// An automation that listens for an event.
#[derive(Clone, Debug, Row)]
pub struct Listener {
    pub action: String,
    #[row(column = "a.id")]
    pub automation: AutomationId,
    #[row(column = "task_id")]
    pub task: TaskId,
    #[row(column = "latest_version")]
    pub script: i64,
}

/// Returns every automation of an organization that listens for an event. Used by the journal, before a scope exists.
pub async fn listeners(t: &Tx<'_>, organization: OrganizationId) -> Result<Vec<Listener>, Error> {
    t.all(*LISTENERS, &[id(organization)], read).await
}

pub async fn insert_version(t: &Tx<'_>, scope: &Scope, one: &Version) -> Result<(), Error> {
    VERSION_ROWS.insert(t, scope, one).await
}

pub async fn version(
    t: &Tx<'_>,
    scope: &Scope,
    automation: AutomationId,
    number: i64,
) -> Result<Option<Version>, Error> {
    t.opt(*VERSION, &[id(scope.organization()), id(automation), Value::Int(number)], read).await
}

pub async fn versions(
    t: &Tx<'_>,
    scope: &Scope,
    automation: AutomationId,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Version>, Error> {
    let mut params = vec![id(scope.organization()), id(automation)];
    page_params(&mut params, limit, after);
    let sql = VERSIONS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one: &Version| by_id(one.id)).await
}

pub async fn count_versions(t: &Tx<'_>, scope: &Scope, automation: AutomationId) -> Result<i64, Error> {
    t.one(COUNT_VERSIONS, &[id(scope.organization()), id(automation)], |row| row.int(0)).await
}

/// Returns the hosts that automations may reach, and the version of the list.
pub async fn hosts(t: &Tx<'_>, scope: &Scope) -> Result<(AllowedHosts, i64), Error> {
    let own = [id(scope.organization())];
    let found = t.opt(HOSTS, &own, |row| Ok((from_json(row, 0)?, row.int(1)?)));
    Ok(found.await?.unwrap_or_default())
}

pub async fn set_hosts(
    t: &Tx<'_>,
    scope: &Scope,
    hosts: &AllowedHosts,
    at: Time,
    version: i64,
) -> Result<(), Error> {
    let params = [id(scope.organization()), to_json(1, hosts)?, time(at), Value::Int(version)];
    t.execute(SET_HOSTS, &params).await.map(|_| ())
}
