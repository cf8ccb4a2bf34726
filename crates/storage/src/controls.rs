//! The table of controls.

use attestry_db::{Error, Tx};
use attestry_domain::access::Scope;
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::ControlId;

use crate::sql::{Columns, contains, id};

stored!(Control in "controls");

statements! {
    LINKED = "SELECT id FROM controls WHERE org_id = $1 AND (policy_ids LIKE $2 ESCAPE '\\' OR task_ids LIKE $2 ESCAPE '\\' OR risk_ids LIKE $2 ESCAPE '\\' OR vendor_ids LIKE $2 ESCAPE '\\') ORDER BY id";
}

/// Returns the controls that are linked to an entity.
pub async fn linked(t: &Tx<'_>, scope: &Scope, to: &str) -> Result<Vec<ControlId>, Error> {
    t.all(LINKED, &[id(scope.organization()), contains(to).into()], |row| row.parse(0)).await
}
