//! Risks.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, RiskId};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::risks::{Risk, RiskCategory, RiskFilter, RiskSort, RiskStatus, TreatmentStrategy};
use attestry_domain::scales::Cell;
use attestry_domain::words::Department;

use crate::sql::{Columns, PageSql, contains, id, opt_id, page_params, time};

macro_rules! columns {
    () => {
        "SELECT r.id, r.org_id, r.title, r.description, r.category, r.department, r.status, r.likelihood, r.impact, r.residual_likelihood, r.residual_impact, r.treatment_strategy, r.treatment_strategy_description, r.assignee_id, r.created_at, r.updated_at, r.version FROM risks r"
    };
}

/// The list nobody narrowed down: without the optional conditions both planners find the short way.
macro_rules! whole_list {
    () => {
        concat!(columns!(), " WHERE r.org_id = $1 AND r.archived = $2")
    };
}

macro_rules! list {
    () => {
        concat!(
            whole_list!(),
            " AND (CAST($3 AS TEXT) IS NULL OR r.status = $3)",
            " AND (CAST($4 AS TEXT) IS NULL OR r.category = $4)",
            " AND (CAST($5 AS TEXT) IS NULL OR r.department = $5)",
            " AND (CAST($6 AS TEXT) IS NULL OR r.assignee_id = $6)",
            " AND (CAST($7 AS TEXT) IS NULL OR r.treatment_strategy = $7)",
            " AND (CAST($8 AS BIGINT) IS NULL OR r.inherent_score >= $8)",
            " AND (CAST($9 AS TEXT) IS NULL OR r.search_text LIKE $9 ESCAPE '\\')"
        )
    };
}

// In the order of `RiskSort`.
const WHOLE: [PageSql; 5] = [
    pages!(whole_list!(), limit "$3", "r.id" > "$4"),
    pages!(whole_list!(), limit "$3", "r.id" > "$4", "r.updated_at" > "$5"),
    pages!(whole_list!(), limit "$3", "r.id" > "$4", "r.title_key" > "$5"),
    pages!(whole_list!(), limit "$3", "r.id" > "$4", "r.inherent_score" > "$5"),
    pages!(whole_list!(), limit "$3", "r.id" > "$4", "r.residual_score" > "$5"),
];
const NARROWED: [PageSql; 5] = [
    pages!(list!(), limit "$10", "r.id" > "$11"),
    pages!(list!(), limit "$10", "r.id" > "$11", "r.updated_at" > "$12"),
    pages!(list!(), limit "$10", "r.id" > "$11", "r.title_key" > "$12"),
    pages!(list!(), limit "$10", "r.id" > "$11", "r.inherent_score" > "$12"),
    pages!(list!(), limit "$10", "r.id" > "$11", "r.residual_score" > "$12"),
];

statements! {
    INSERT = "INSERT INTO risks (org_id, id, title, description, category, department, status, likelihood, impact, residual_likelihood, residual_impact, treatment_strategy, treatment_strategy_description, assignee_id, title_key, search_text, inherent_score, residual_score, archived, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)";
    GET = concat!(columns!(), " WHERE r.org_id = $1 AND r.id = $2");
    LOCK = concat!(columns!(), " WHERE r.org_id = $1 AND r.id = $2 FOR UPDATE");
    LOCK_ASSIGNED = concat!(columns!(), " WHERE r.org_id = $1 AND r.assignee_id = $2 ORDER BY r.id FOR UPDATE");
    UPDATE = "UPDATE risks SET title = $3, description = $4, category = $5, department = $6, status = $7, likelihood = $8, impact = $9, residual_likelihood = $10, residual_impact = $11, treatment_strategy = $12, treatment_strategy_description = $13, assignee_id = $14, title_key = $15, search_text = $16, inherent_score = $17, residual_score = $18, archived = $19, updated_at = $20, version = $21 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM risks WHERE org_id = $1 AND id = $2";
    INHERENT_MATRIX = "SELECT likelihood, impact, COUNT(*) FROM risks WHERE org_id = $1 AND archived = FALSE GROUP BY likelihood, impact";
    RESIDUAL_MATRIX = "SELECT residual_likelihood, residual_impact, COUNT(*) FROM risks WHERE org_id = $1 AND archived = FALSE GROUP BY residual_likelihood, residual_impact";
    ;
    pages [
        WHOLE[0], WHOLE[1], WHOLE[2], WHOLE[3], WHOLE[4],
        NARROWED[0], NARROWED[1], NARROWED[2], NARROWED[3], NARROWED[4],
    ]
}

fn read(row: &Row<'_>) -> Result<Risk, Error> {
    Ok(Risk {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        title: row.text(2)?,
        description: row.text(3)?,
        category: row.parse(4)?,
        department: row.opt_parse(5)?,
        status: row.parse(6)?,
        likelihood: row.parse(7)?,
        impact: row.parse(8)?,
        residual_likelihood: row.parse(9)?,
        residual_impact: row.parse(10)?,
        treatment_strategy: row.parse(11)?,
        treatment_strategy_description: row.opt_text(12)?,
        assignee_id: row.opt_parse(13)?,
        created_at: row.time(14)?,
        updated_at: row.time(15)?,
        version: row.int(16)?,
    })
}

/// What both writing statements set, after the organization and the id.
fn values(risk: &Risk) -> Vec<Value<'_>> {
    let Risk {
        id: _,
        organization_id: _,
        title,
        description,
        category,
        department,
        status,
        likelihood,
        impact,
        residual_likelihood,
        residual_impact,
        treatment_strategy,
        treatment_strategy_description,
        assignee_id,
        created_at: _,
        updated_at: _,
        version: _,
    } = risk;
    vec![
        Value::from(title),
        Value::from(description),
        Value::from(category.as_str()),
        Value::from(department.map(Department::as_str)),
        Value::from(status.as_str()),
        Value::from(likelihood.as_str()),
        Value::from(impact.as_str()),
        Value::from(residual_likelihood.as_str()),
        Value::from(residual_impact.as_str()),
        Value::from(treatment_strategy.as_str()),
        Value::from(treatment_strategy_description.as_ref()),
        opt_id(*assignee_id),
        Value::from(title.to_lowercase()),
        Value::from(risk.search_text()),
        Value::Int(risk.inherent_score()),
        Value::Int(risk.residual_score()),
        Value::Bool(risk.is_archived()),
    ]
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, risk: &Risk) -> Result<(), Error> {
    let mut params = vec![id(scope.organization()), id(risk.id)];
    params.extend(values(risk));
    params.extend([time(risk.created_at), time(risk.updated_at), Value::Int(risk.version)]);
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, risk: RiskId) -> Result<Option<Risk>, Error> {
    t.opt(GET, &[id(scope.organization()), id(risk)], read).await
}

/// The risk, held until the transaction ends.
pub async fn lock(t: &Tx<'_>, scope: &Scope, risk: RiskId) -> Result<Option<Risk>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(risk)], read).await
}

/// What a member is responsible for, held until the transaction ends.
pub async fn lock_assigned(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<Risk>, Error> {
    t.all(LOCK_ASSIGNED, &[id(scope.organization()), id(member)], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, risk: &Risk) -> Result<(), Error> {
    let mut params = vec![id(scope.organization()), id(risk.id)];
    params.extend(values(risk));
    params.extend([time(risk.updated_at), Value::Int(risk.version)]);
    t.execute(UPDATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, risk: RiskId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(risk)]).await.map(|_| ())
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &RiskFilter,
    page: &PageRequest<RiskSort>,
) -> Result<Page<Risk>, Error> {
    let whole = filter.is_empty();
    let sql = if whole { &WHOLE } else { &NARROWED };
    let sql = sql[page.sort as usize];
    let mut params = vec![id(scope.organization()), Value::Bool(filter.status == Some(RiskStatus::Archived))];
    if !whole {
        let RiskFilter { status, category, department, assignee_id, treatment_strategy, min_score, q } =
            filter;
        params.extend([
            Value::from(status.map(RiskStatus::as_str)),
            Value::from(category.map(RiskCategory::as_str)),
            Value::from(department.map(Department::as_str)),
            opt_id(*assignee_id),
            Value::from(treatment_strategy.map(TreatmentStrategy::as_str)),
            Value::from(*min_score),
            Value::from(q.as_deref().map(contains)),
        ]);
    }
    page_params(&mut params, page.limit, page.after.as_ref());
    let items = t.all(sql.pick(page.order, page.after.is_some()), &params, read).await?;
    Ok(Page::cut(items, page.limit, |risk| risk.place(page.sort)))
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(t: &Tx<'_>, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let own = [id(scope.organization())];
    let cell =
        |row: &Row<'_>| Ok(Cell { likelihood: row.parse(0)?, impact: row.parse(1)?, count: row.int(2)? });
    Ok((t.all(INHERENT_MATRIX, &own, cell).await?, t.all(RESIDUAL_MATRIX, &own, cell).await?))
}
