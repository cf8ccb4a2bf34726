//! The runs of automations.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::{Run, RunError, RunStatus};
use attestry_domain::id::{AutomationId, OrganizationId, RunId, TaskId};
use attestry_domain::page::{After, Key, Order, Page};

use crate::sql::{Columns, by_id, id, opt_id, opt_time, page_params, read_page, time};

macro_rules! columns {
    ($event:literal) => {
        concat!(
            "SELECT id, org_id, task_id, automation_id, script, trigger, status, ",
            $event,
            ", created_at, started_at, completed_at, evaluation, reason, output, error_code, error_message, attachment_id, logs FROM automation_runs"
        )
    };
}

statements! {
    INSERT = "INSERT INTO automation_runs (org_id, id, task_id, automation_id, script, trigger, status, event, created_at, logs) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '')";
    GET = concat!(columns!("event"), " WHERE org_id = $1 AND id = $2");
    LOCK = concat!(columns!("event"), " WHERE org_id = $1 AND id = $2 FOR UPDATE");
    STATUS = "SELECT status FROM automation_runs WHERE org_id = $1 AND id = $2";
    BEGIN = "UPDATE automation_runs SET status = 'RUNNING', started_at = $3 WHERE org_id = $1 AND id = $2";
    LOG = "UPDATE automation_runs SET logs = $3 WHERE org_id = $1 AND id = $2 AND status = 'RUNNING'";
    FINISH = "UPDATE automation_runs SET status = $3, started_at = $4, completed_at = $5, evaluation = $6, reason = $7, output = $8, error_code = $9, error_message = $10, attachment_id = $11, logs = $12 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM automation_runs WHERE org_id = $1 AND automation_id = $2";
    DELETE_JOBS = "DELETE FROM jobs WHERE unique_key IN (SELECT id FROM automation_runs WHERE org_id = $1 AND automation_id = $2)";
    ;
    pages
    OF_TASK = (concat!(columns!("CAST(NULL AS TEXT)"), " WHERE org_id = $1 AND task_id = $2"), "id", None);
    OF_AUTOMATION = (concat!(columns!("CAST(NULL AS TEXT)"), " WHERE org_id = $1 AND automation_id = $2"), "id", None);
    IDS_OF_TASK = ("SELECT id FROM automation_runs WHERE org_id = $1 AND task_id = $2", "id", None);
    IDS_OF_AUTOMATION = ("SELECT id FROM automation_runs WHERE org_id = $1 AND automation_id = $2", "id", None);
}

fn json(row: &Row<'_>, column: usize) -> Result<Option<serde_json::Value>, Error> {
    let read = row.opt_str(column)?.map(serde_json::from_str).transpose();
    read.map_err(|error| Error::Column { column, message: error.to_string() })
}

fn read(row: &Row<'_>) -> Result<Run, Error> {
    let error = match (row.opt_text(14)?, row.opt_text(15)?) {
        (Some(code), Some(message)) => Some(RunError { code, message }),
        _ => None,
    };
    Ok(Run {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        task_id: row.parse(2)?,
        automation_id: row.parse(3)?,
        script: row.int(4)?,
        trigger: row.parse(5)?,
        status: row.parse(6)?,
        event: json(row, 7)?,
        created_at: row.time(8)?,
        started_at: row.opt_time(9)?,
        completed_at: row.opt_time(10)?,
        evaluation: row.opt_parse(11)?,
        reason: row.opt_text(12)?,
        output: row.opt_text(13)?,
        error,
        attachment_id: row.opt_parse(16)?,
        logs: row.str(17)?.lines().map(ToOwned::to_owned).collect(),
    })
}

/// Inserts a waiting run. It takes no scope, because the journal also starts runs.
pub async fn insert(t: &Tx<'_>, organization: OrganizationId, run: &Run) -> Result<(), Error> {
    let params = [
        id(organization),
        id(run.id),
        id(run.task_id),
        id(run.automation_id),
        Value::Int(run.script),
        Value::from(run.trigger.as_str()),
        Value::from(run.status.as_str()),
        Value::from(run.event.as_ref().map(ToString::to_string)),
        time(run.created_at),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, run: RunId) -> Result<Option<Run>, Error> {
    t.opt(GET, &[id(scope.organization()), id(run)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, run: RunId) -> Result<Option<Run>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(run)], read).await
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

pub async fn finish(t: &Tx<'_>, scope: &Scope, run: &Run) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(run.id),
        Value::from(run.status.as_str()),
        opt_time(run.started_at),
        opt_time(run.completed_at),
        Value::from(run.evaluation.map(attestry_domain::automations::Evaluation::as_str)),
        Value::from(run.reason.as_ref()),
        Value::from(run.output.as_ref()),
        Value::from(run.error.as_ref().map(|error| error.code.as_str())),
        Value::from(run.error.as_ref().map(|error| error.message.as_str())),
        opt_id(run.attachment_id),
        Value::from(run.logs.join("\n")),
    ];
    t.execute(FINISH, &params).await.map(|_| ())
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
    read_page(t, sql, &params, limit, read, |run| by_id(run.id)).await
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
