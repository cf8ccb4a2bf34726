//! Programmes, and the runs that created their controls, policies and tasks.

use std::collections::HashMap;

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{FrameworkId, PolicyId, PolicyTemplateId, ProgrammeRunId, TaskId, TaskTemplateId};
use attestry_domain::programme::{Programme, Settings};
use serde::{Deserialize, Serialize};

use crate::sql::{Columns, from_json, id, opt_time, time, to_json};

statements! {
    GET = "SELECT id, org_id, content, created_at, updated_at, version FROM programmes WHERE org_id = $1";
    PUT = "INSERT INTO programmes (org_id, id, content, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org_id) DO UPDATE SET content = $3, updated_at = $5, version = $6";
    DELETE = "DELETE FROM programmes WHERE org_id = $1";
    PUT_RUN = "INSERT INTO programme_runs (org_id, id, started_at, finished_at, content) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET finished_at = $4, content = $5";
    LAST_RUN = "SELECT id, started_at, finished_at, content FROM programme_runs WHERE org_id = $1 ORDER BY id DESC LIMIT 1";
    RUNS = "SELECT id, started_at, finished_at, content FROM programme_runs WHERE org_id = $1 AND started_at > $2 ORDER BY id DESC";
    DELETE_RUN = "DELETE FROM programme_runs WHERE org_id = $1 AND id = $2";
    POLICIES = "SELECT policy_template_id, id, is_archived FROM policies WHERE org_id = $1 AND policy_template_id IS NOT NULL ORDER BY is_archived DESC, id DESC";
    TASKS = "SELECT task_template_id, MIN(id) FROM tasks WHERE org_id = $1 AND task_template_id IS NOT NULL GROUP BY task_template_id";
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: ProgrammeRunId,
    pub started_at: Time,
    pub finished_at: Option<Time>,
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

fn read(row: &Row<'_>) -> Result<Programme, Error> {
    Ok(Programme {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        settings: from_json(row, 2)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
        version: row.int(5)?,
    })
}

pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Programme>, Error> {
    t.opt(GET, &[id(scope.organization())], read).await
}

/// Inserts or updates the programme of the organization.
pub async fn put(t: &Tx<'_>, scope: &Scope, programme: &Programme) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(programme.id),
        to_json(2, &programme.settings)?,
        time(programme.created_at),
        time(programme.updated_at),
        Value::Int(programme.version),
    ];
    t.execute(PUT, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization())]).await.map(|_| ())
}

/// Inserts or updates a run.
pub async fn put_run(t: &Tx<'_>, scope: &Scope, run: &Run) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(run.id),
        time(run.started_at),
        opt_time(run.finished_at),
        to_json(4, &run.content)?,
    ];
    t.execute(PUT_RUN, &params).await.map(|_| ())
}

fn read_run(row: &Row<'_>) -> Result<Run, Error> {
    Ok(Run {
        id: row.parse(0)?,
        started_at: row.time(1)?,
        finished_at: row.opt_time(2)?,
        content: from_json(row, 3)?,
    })
}

/// Returns the latest run.
pub async fn last_run(t: &Tx<'_>, scope: &Scope) -> Result<Option<Run>, Error> {
    t.opt(LAST_RUN, &[id(scope.organization())], read_run).await
}

/// Returns the runs that were started after `since`, latest first.
pub async fn runs(t: &Tx<'_>, scope: &Scope, since: Time) -> Result<Vec<Run>, Error> {
    t.all(RUNS, &[id(scope.organization()), time(since)], read_run).await
}

pub async fn delete_run(t: &Tx<'_>, scope: &Scope, run: ProgrammeRunId) -> Result<(), Error> {
    t.execute(DELETE_RUN, &[id(scope.organization()), id(run)]).await.map(|_| ())
}

/// Returns a policy of each template, with a flag for those that are archived: the oldest one in use, if there is one.
pub async fn policies(
    t: &Tx<'_>,
    scope: &Scope,
) -> Result<HashMap<PolicyTemplateId, (PolicyId, bool)>, Error> {
    let read = |row: &Row<'_>| Ok((row.parse(0)?, (row.parse(1)?, row.bool(2)?)));
    // The last one of a template stays.
    Ok(t.all(POLICIES, &[id(scope.organization())], read).await?.into_iter().collect())
}

/// Returns the oldest task of each template.
pub async fn tasks(t: &Tx<'_>, scope: &Scope) -> Result<HashMap<TaskTemplateId, TaskId>, Error> {
    let all = t.all(TASKS, &[id(scope.organization())], |row| Ok((row.parse(0)?, row.parse(1)?))).await?;
    Ok(all.into_iter().collect())
}
