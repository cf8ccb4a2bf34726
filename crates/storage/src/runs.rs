//! The runs of automations.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::{Run, RunStatus};
use attestry_domain::id::{AutomationId, OrganizationId, RunId, TaskId};
use attestry_domain::page::{After, Key, Order, Page};

use crate::sql::{Columns, by_id, id, page_params, read_page, time};
use crate::table::read;

statements! {
    STATUS = "SELECT status FROM automation_runs WHERE org_id = $1 AND id = $2";
    BEGIN = "UPDATE automation_runs SET status = 'RUNNING', started_at = $3 WHERE org_id = $1 AND id = $2";
    LOG = "UPDATE automation_runs SET logs = $3 WHERE org_id = $1 AND id = $2 AND status = 'RUNNING'";
    DELETE = "DELETE FROM automation_runs WHERE org_id = $1 AND automation_id = $2";
    DELETE_JOBS = "DELETE FROM jobs WHERE unique_key IN (SELECT id FROM automation_runs WHERE org_id = $1 AND automation_id = $2)";
    ;
    tables
    RUNS: Run = "automation_runs" {
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
    }
    ;
    pages
    OF_TASK = (RUNS.select_without("event", " WHERE org_id = $1 AND task_id = $2"), "id", None);
    OF_AUTOMATION = (RUNS.select_without("event", " WHERE org_id = $1 AND automation_id = $2"), "id", None);
    IDS_OF_TASK = ("SELECT id FROM automation_runs WHERE org_id = $1 AND task_id = $2", "id", None);
    IDS_OF_AUTOMATION = ("SELECT id FROM automation_runs WHERE org_id = $1 AND automation_id = $2", "id", None);
}

/// Inserts a waiting run. It takes no scope, because the journal also starts runs.
pub async fn insert(t: &Tx<'_>, organization: OrganizationId, run: &Run) -> Result<(), Error> {
    RUNS.insert_with(t, organization, run, Vec::new()).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, run: RunId) -> Result<Option<Run>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(run)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, run: RunId) -> Result<Option<Run>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(run)], read).await
}

pub async fn status(t: &Tx<'_>, scope: &Scope, run: RunId) -> Result<Option<RunStatus>, Error> {
    t.opt(STATUS, &[id(scope.organization()), id(run)], |row| row.parse(0)).await
}

/// Marks a locked run as started.
pub async fn begin(t: &Tx<'_>, scope: &Scope, run: RunId, at: Time) -> Result<(), Error> {
    t.execute(BEGIN, &[id(scope.organization()), id(run), time(at)]).await.map(|_| ())
}

/// Stores the log of a run so far; `false` when it is no longer running.
pub async fn log(t: &Tx<'_>, scope: &Scope, run: RunId, lines: &[String]) -> Result<bool, Error> {
    let params = [id(scope.organization()), id(run), Value::from(lines.join("\n"))];
    Ok(t.execute(LOG, &params).await? > 0)
}

/// Stores the end of a locked run.
pub async fn finish(t: &Tx<'_>, scope: &Scope, run: &Run) -> Result<(), Error> {
    RUNS.update(t, scope, run).await
}

/// A filter for runs.
#[derive(Clone, Copy, Debug)]
pub enum RunsOf {
    Task(TaskId),
    Automation(AutomationId),
}

/// Runs, newest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    of: RunsOf,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Run>, Error> {
    let (pages, whose) = match of {
        RunsOf::Task(task) => (&OF_TASK, id(task)),
        RunsOf::Automation(automation) => (&OF_AUTOMATION, id(automation)),
    };
    let mut params = vec![id(scope.organization()), whose];
    page_params(&mut params, limit, after);
    let sql = pages.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |run: &Run| by_id(run.id)).await
}

/// Returns the cursor after a page of runs, if more follow, without reading their results.
pub async fn next(
    t: &Tx<'_>,
    scope: &Scope,
    of: RunsOf,
    limit: u16,
    after: Option<&After>,
) -> Result<Option<After>, Error> {
    let (pages, whose) = match of {
        RunsOf::Task(task) => (&IDS_OF_TASK, id(task)),
        RunsOf::Automation(automation) => (&IDS_OF_AUTOMATION, id(automation)),
    };
    let mut params = vec![id(scope.organization()), whose];
    page_params(&mut params, limit, after);
    let ids = t.all(pages.pick(Order::Descending, after.is_some()), &params, |row| row.text(0)).await?;
    Ok(Page::cut(ids, limit, |id| After { key: Key::Id, id: id.clone() }).next)
}

/// Deletes the runs of an automation and their queued jobs.
pub async fn delete(t: &Tx<'_>, scope: &Scope, automation: AutomationId) -> Result<(), Error> {
    let own = [id(scope.organization()), id(automation)];
    t.execute(DELETE_JOBS, &own).await?;
    t.execute(DELETE, &own).await.map(|_| ())
}
