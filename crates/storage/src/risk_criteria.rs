//! The risk criteria of organizations.

use attestry_db::{Error, Tx};
use attestry_domain::access::Scope;
use attestry_domain::registers::risk_criteria::SetCriteria;

use crate::sql::id;
use crate::table::read;

statements! {
    ;
    tables
    CRITERIA: SetCriteria = "risk_criteria" by "org_id" {
        GET = " WHERE org_id = $1";
    }
}

/// Returns the criteria of the organization, or the defaults.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<SetCriteria, Error> {
    Ok(t.opt(*GET, &[id(scope.organization())], read).await?.unwrap_or_default())
}

/// Inserts or updates the criteria.
pub async fn put(t: &Tx<'_>, scope: &Scope, set: &SetCriteria) -> Result<(), Error> {
    CRITERIA.upsert(t, scope, set, Vec::new()).await
}
