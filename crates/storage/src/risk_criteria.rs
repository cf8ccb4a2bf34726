//! The risk criteria of organizations.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::registers::risk_criteria::SetCriteria;

use crate::sql::{Columns, from_json, id, opt_time, to_json};

statements! {
    GET = "SELECT content, updated_at, version FROM risk_criteria WHERE org_id = $1";
    PUT = "INSERT INTO risk_criteria (org_id, content, updated_at, version) VALUES ($1, $2, $3, $4) ON CONFLICT (org_id) DO UPDATE SET content = $2, updated_at = $3, version = $4";
}

/// Returns the criteria of the organization, or the defaults.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<SetCriteria, Error> {
    let found = t
        .opt(GET, &[id(scope.organization())], |row| {
            Ok(SetCriteria {
                criteria: from_json(row, 0)?,
                updated_at: row.opt_time(1)?,
                version: row.int(2)?,
            })
        })
        .await?;
    Ok(found.unwrap_or_default())
}

/// Inserts or updates the criteria.
pub async fn put(t: &Tx<'_>, scope: &Scope, set: &SetCriteria) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        to_json(1, &set.criteria)?,
        opt_time(set.updated_at),
        Value::Int(set.version),
    ];
    t.execute(PUT, &params).await.map(|_| ())
}
