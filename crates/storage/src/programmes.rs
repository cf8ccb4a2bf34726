//! Programmes, and the runs that created their controls, policies and tasks.

use std::collections::HashMap;

use attestry_db::{Error, Row as DbRow, Tx};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{FrameworkId, PolicyId, PolicyTemplateId, ProgrammeRunId, TaskId, TaskTemplateId};
use attestry_domain::programme::{Programme, Settings};
use attestry_domain::row::Row;
use serde::{Deserialize, Serialize};

use crate::sql::{Columns, id, time};
use crate::table::read;

statements! {
    POLICIES = "SELECT policy_template_id, id, is_archived FROM policies WHERE org_id = $1 AND policy_template_id IS NOT NULL ORDER BY is_archived DESC, id DESC";
    TASKS = "SELECT task_template_id, MIN(id) FROM tasks WHERE org_id = $1 AND task_template_id IS NOT NULL GROUP BY task_template_id";
    ;
    tables
    PROGRAMMES: Programme = "programmes" by "org_id" {
        GET = " WHERE org_id = $1";
    }
    RUNS: Run = "programme_runs" {
        LAST_RUN = " WHERE org_id = $1 ORDER BY id DESC LIMIT 1";
        SINCE = " WHERE org_id = $1 AND started_at > $2 ORDER BY id DESC";
    }
}

/// A record that a run created or changed, with its version after that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    pub id: String,
    pub version: i64,
    /// The version and the state before the run; `None` if the run created it.
    pub before: Option<(i64, serde_json::Value)>,
}

impl Touched {
    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }
}

/// The start that an unfinished run belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub settings: Settings,
    /// The time of its last part.
    pub at: Time,
}

/// A run of the planner.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Run {
    pub id: ProgrammeRunId,
    pub started_at: Time,
    pub finished_at: Option<Time>,
    #[row(json)]
    pub content: RunContent,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunContent {
    /// The settings before it; `None` if it was the first.
    pub before: Option<Settings>,
    pub touched: Vec<Touched>,
    /// The frameworks that it added to those the organization had chosen.
    #[serde(default)]
    pub added_frameworks: Vec<FrameworkId>,
    /// `None` once it is finished.
    #[serde(default)]
    pub claim: Option<Claim>,
}

pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Programme>, Error> {
    t.opt(*GET, &[id(scope.organization())], read).await
}

/// Inserts or updates the programme of the organization.
pub async fn put(t: &Tx<'_>, scope: &Scope, programme: &Programme) -> Result<(), Error> {
    PROGRAMMES.upsert(t, scope, programme, Vec::new()).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope) -> Result<(), Error> {
    PROGRAMMES.delete(t, [id(scope.organization())]).await
}

/// Inserts or updates a run.
pub async fn put_run(t: &Tx<'_>, scope: &Scope, run: &Run) -> Result<(), Error> {
    RUNS.upsert(t, scope, run, Vec::new()).await
}

/// Returns the latest run.
pub async fn last_run(t: &Tx<'_>, scope: &Scope) -> Result<Option<Run>, Error> {
    t.opt(*LAST_RUN, &[id(scope.organization())], read).await
}

/// Returns the runs that were started after `since`, latest first.
pub async fn runs(t: &Tx<'_>, scope: &Scope, since: Time) -> Result<Vec<Run>, Error> {
    t.all(*SINCE, &[id(scope.organization()), time(since)], read).await
}

pub async fn delete_run(t: &Tx<'_>, scope: &Scope, run: ProgrammeRunId) -> Result<(), Error> {
    RUNS.delete(t, [id(scope.organization()), id(run)]).await
}

/// Returns a policy of each template, with a flag for those that are archived: the oldest one in use, if there is one.
pub async fn policies(
    t: &Tx<'_>,
    scope: &Scope,
) -> Result<HashMap<PolicyTemplateId, (PolicyId, bool)>, Error> {
    let policy = |row: &DbRow<'_>| Ok((row.parse(0)?, (row.parse(1)?, row.bool(2)?)));
    // The last one of a template stays.
    Ok(t.all(POLICIES, &[id(scope.organization())], policy).await?.into_iter().collect())
}

/// Returns the oldest task of each template.
pub async fn tasks(t: &Tx<'_>, scope: &Scope) -> Result<HashMap<TaskTemplateId, TaskId>, Error> {
    let all = t.all(TASKS, &[id(scope.organization())], |row| Ok((row.parse(0)?, row.parse(1)?))).await?;
    Ok(all.into_iter().collect())
}
