//! Vendors.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, VendorId};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::scales::Cell;
use attestry_domain::vendors::{Vendor, VendorCategory, VendorFilter, VendorSort, VendorStatus};

use crate::sql::{Columns, PageSql, contains, id, opt_id, page_params, time};

macro_rules! columns {
    () => {
        "SELECT v.id, v.org_id, v.name, v.description, v.category, v.status, v.inherent_probability, v.inherent_impact, v.residual_probability, v.residual_impact, v.website, v.assignee_id, v.created_at, v.updated_at, v.version FROM vendors v"
    };
}

/// The list nobody narrowed down: without the optional conditions both planners find the short way.
macro_rules! whole_list {
    () => {
        concat!(columns!(), " WHERE v.org_id = $1")
    };
}

macro_rules! list {
    () => {
        concat!(
            whole_list!(),
            " AND (CAST($2 AS TEXT) IS NULL OR v.status = $2)",
            " AND (CAST($3 AS TEXT) IS NULL OR v.category = $3)",
            " AND (CAST($4 AS TEXT) IS NULL OR v.assignee_id = $4)",
            " AND (CAST($5 AS BIGINT) IS NULL OR v.inherent_score >= $5)",
            " AND (CAST($6 AS TEXT) IS NULL OR v.search_text LIKE $6 ESCAPE '\\')"
        )
    };
}

// In the order of `VendorSort`.
const WHOLE: [PageSql; 5] = [
    pages!(whole_list!(), limit "$2", "v.id" > "$3"),
    pages!(whole_list!(), limit "$2", "v.id" > "$3", "v.updated_at" > "$4"),
    pages!(whole_list!(), limit "$2", "v.id" > "$3", "v.name_key" > "$4"),
    pages!(whole_list!(), limit "$2", "v.id" > "$3", "v.inherent_score" > "$4"),
    pages!(whole_list!(), limit "$2", "v.id" > "$3", "v.residual_score" > "$4"),
];
const NARROWED: [PageSql; 5] = [
    pages!(list!(), limit "$7", "v.id" > "$8"),
    pages!(list!(), limit "$7", "v.id" > "$8", "v.updated_at" > "$9"),
    pages!(list!(), limit "$7", "v.id" > "$8", "v.name_key" > "$9"),
    pages!(list!(), limit "$7", "v.id" > "$8", "v.inherent_score" > "$9"),
    pages!(list!(), limit "$7", "v.id" > "$8", "v.residual_score" > "$9"),
];

statements! {
    INSERT = "INSERT INTO vendors (org_id, id, name, description, category, status, inherent_probability, inherent_impact, residual_probability, residual_impact, website, assignee_id, name_key, search_text, inherent_score, residual_score, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    GET = concat!(columns!(), " WHERE v.org_id = $1 AND v.id = $2");
    LOCK = concat!(columns!(), " WHERE v.org_id = $1 AND v.id = $2 FOR UPDATE");
    LOCK_ASSIGNED = concat!(columns!(), " WHERE v.org_id = $1 AND v.assignee_id = $2 ORDER BY v.id FOR UPDATE");
    UPDATE = "UPDATE vendors SET name = $3, description = $4, category = $5, status = $6, inherent_probability = $7, inherent_impact = $8, residual_probability = $9, residual_impact = $10, website = $11, assignee_id = $12, name_key = $13, search_text = $14, inherent_score = $15, residual_score = $16, updated_at = $17, version = $18 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM vendors WHERE org_id = $1 AND id = $2";
    INHERENT_MATRIX = "SELECT inherent_probability, inherent_impact, COUNT(*) FROM vendors WHERE org_id = $1 GROUP BY inherent_probability, inherent_impact";
    RESIDUAL_MATRIX = "SELECT residual_probability, residual_impact, COUNT(*) FROM vendors WHERE org_id = $1 GROUP BY residual_probability, residual_impact";
    ;
    pages [
        WHOLE[0], WHOLE[1], WHOLE[2], WHOLE[3], WHOLE[4],
        NARROWED[0], NARROWED[1], NARROWED[2], NARROWED[3], NARROWED[4],
    ]
}

fn read(row: &Row<'_>) -> Result<Vendor, Error> {
    Ok(Vendor {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        name: row.text(2)?,
        description: row.text(3)?,
        category: row.parse(4)?,
        status: row.parse(5)?,
        inherent_probability: row.parse(6)?,
        inherent_impact: row.parse(7)?,
        residual_probability: row.parse(8)?,
        residual_impact: row.parse(9)?,
        website: row.opt_text(10)?,
        assignee_id: row.opt_parse(11)?,
        created_at: row.time(12)?,
        updated_at: row.time(13)?,
        version: row.int(14)?,
    })
}

/// What both writing statements set, after the organization and the id.
fn values(vendor: &Vendor) -> Vec<Value<'_>> {
    let Vendor {
        id: _,
        organization_id: _,
        name,
        description,
        category,
        status,
        inherent_probability,
        inherent_impact,
        residual_probability,
        residual_impact,
        website,
        assignee_id,
        created_at: _,
        updated_at: _,
        version: _,
    } = vendor;
    vec![
        Value::from(name),
        Value::from(description),
        Value::from(category.as_str()),
        Value::from(status.as_str()),
        Value::from(inherent_probability.as_str()),
        Value::from(inherent_impact.as_str()),
        Value::from(residual_probability.as_str()),
        Value::from(residual_impact.as_str()),
        Value::from(website.as_ref()),
        opt_id(*assignee_id),
        Value::from(name.to_lowercase()),
        Value::from(vendor.search_text()),
        Value::Int(vendor.inherent_score()),
        Value::Int(vendor.residual_score()),
    ]
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, vendor: &Vendor) -> Result<(), Error> {
    let mut params = vec![id(scope.organization()), id(vendor.id)];
    params.extend(values(vendor));
    params.extend([time(vendor.created_at), time(vendor.updated_at), Value::Int(vendor.version)]);
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, vendor: VendorId) -> Result<Option<Vendor>, Error> {
    t.opt(GET, &[id(scope.organization()), id(vendor)], read).await
}

/// The vendor, held until the transaction ends.
pub async fn lock(t: &Tx<'_>, scope: &Scope, vendor: VendorId) -> Result<Option<Vendor>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(vendor)], read).await
}

/// What a member is responsible for, held until the transaction ends.
pub async fn lock_assigned(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<Vendor>, Error> {
    t.all(LOCK_ASSIGNED, &[id(scope.organization()), id(member)], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, vendor: &Vendor) -> Result<(), Error> {
    let mut params = vec![id(scope.organization()), id(vendor.id)];
    params.extend(values(vendor));
    params.extend([time(vendor.updated_at), Value::Int(vendor.version)]);
    t.execute(UPDATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, vendor: VendorId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(vendor)]).await.map(|_| ())
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &VendorFilter,
    page: &PageRequest<VendorSort>,
) -> Result<Page<Vendor>, Error> {
    let whole = filter.is_empty();
    let sql = if whole { &WHOLE } else { &NARROWED };
    let sql = sql[page.sort as usize];
    let mut params = vec![id(scope.organization())];
    if !whole {
        let VendorFilter { status, category, assignee_id, min_score, q } = filter;
        params.extend([
            Value::from(status.map(VendorStatus::as_str)),
            Value::from(category.map(VendorCategory::as_str)),
            opt_id(*assignee_id),
            Value::from(*min_score),
            Value::from(q.as_deref().map(contains)),
        ]);
    }
    page_params(&mut params, page.limit, page.after.as_ref());
    let items = t.all(sql.pick(page.order, page.after.is_some()), &params, read).await?;
    Ok(Page::cut(items, page.limit, |vendor| vendor.place(page.sort)))
}

/// How many stand in each cell of the matrix: inherent, then residual.
pub async fn matrix(t: &Tx<'_>, scope: &Scope) -> Result<(Vec<Cell>, Vec<Cell>), Error> {
    let own = [id(scope.organization())];
    let cell =
        |row: &Row<'_>| Ok(Cell { likelihood: row.parse(0)?, impact: row.parse(1)?, count: row.int(2)? });
    Ok((t.all(INHERENT_MATRIX, &own, cell).await?, t.all(RESIDUAL_MATRIX, &own, cell).await?))
}
