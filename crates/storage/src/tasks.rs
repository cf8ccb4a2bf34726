//! The table of tasks.

use std::collections::{HashMap, HashSet};

use attestry_db::{Error, Row, Tx};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{OrganizationId, TaskId, TaskTemplateId};
use attestry_domain::tasks::{Frequency, Task};

use crate::sql::{Columns, id, time};

stored!(Task in "tasks");

statements! {
    TEMPLATES = "SELECT DISTINCT task_template_id FROM tasks WHERE org_id = $1 AND task_template_id IS NOT NULL";
    PROVEN = "SELECT id, frequency, last_evidence_date FROM tasks WHERE org_id = $1 AND status = 'done' AND last_evidence_date IS NOT NULL";
    REOPENED = "SELECT k.id, MIN(j.at) FROM tasks k JOIN journal j ON j.org_id = k.org_id AND j.entity_id = k.id WHERE k.org_id = $1 AND k.status <> 'done' AND k.frequency IS NULL AND j.at > k.last_completed_at AND j.state NOT LIKE '%\"status\":\"done\"%' GROUP BY k.id";
    REOPENING = "SELECT org_id, id FROM tasks WHERE reopens_from <= $1 AND id > $2 ORDER BY id LIMIT $3";
}

/// Returns the templates from which tasks were created.
pub async fn templates(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<TaskTemplateId>, Error> {
    let all = t.all(TEMPLATES, &[id(scope.organization())], |row| row.parse(0)).await?;
    Ok(all.into_iter().collect())
}

/// Returns the tasks that are done and have evidence, with their frequency and the date of the latest evidence.
pub async fn proven(t: &Tx<'_>, scope: &Scope) -> Result<Vec<(TaskId, Option<Frequency>, Date)>, Error> {
    let read = |row: &Row<'_>| Ok((row.parse(0)?, row.opt_parse(1)?, row.parse(2)?));
    t.all(PROVEN, &[id(scope.organization())], read).await
}

/// Returns the tasks that do not recur and were opened again after they were completed, with the time of that.
pub async fn reopened(t: &Tx<'_>, scope: &Scope) -> Result<HashMap<TaskId, Time>, Error> {
    let read = |row: &Row<'_>| Ok((row.parse(0)?, row.time(1)?));
    Ok(t.all(REOPENED, &[id(scope.organization())], read).await?.into_iter().collect())
}

/// Returns the tasks of all organizations that may have to reopen, ordered by id, for the job that reopens them.
pub async fn reopening(
    t: &Tx<'_>,
    now: Time,
    after: &str,
    most: i64,
) -> Result<Vec<(OrganizationId, TaskId)>, Error> {
    let params = [time(now), after.into(), most.into()];
    t.all(REOPENING, &params, |row| Ok((row.parse(0)?, row.parse(1)?))).await
}
