//! The table of tasks.

use std::collections::HashSet;

use attestry_db::{Error, Tx};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, TaskId, TaskTemplateId};
use attestry_domain::task_fields;
use attestry_domain::tasks::Task;

use crate::sql::{Columns, id, time};

task_fields!(stored Task in "tasks");

statements! {
    TEMPLATES = "SELECT DISTINCT task_template_id FROM tasks WHERE org_id = $1 AND task_template_id IS NOT NULL";
    REOPENING = "SELECT org_id, id FROM tasks WHERE reopens_from <= $1 AND id > $2 ORDER BY id LIMIT $3";
}

/// The templates that tasks were made from.
pub async fn templates(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<TaskTemplateId>, Error> {
    let all = t.all(TEMPLATES, &[id(scope.organization())], |row| row.parse(0)).await?;
    Ok(all.into_iter().collect())
}

/// Tasks of any organization that may have to open again, in the order of their ids. For the job that does it.
pub async fn reopening(
    t: &Tx<'_>,
    now: Time,
    after: &str,
    most: i64,
) -> Result<Vec<(OrganizationId, TaskId)>, Error> {
    let params = [time(now), after.into(), most.into()];
    t.all(REOPENING, &params, |row| Ok((row.parse(0)?, row.parse(1)?))).await
}
