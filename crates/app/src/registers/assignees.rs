//! Assignees of records: active members of the organization.

use std::collections::HashSet;

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_storage::{Tx, members};

use crate::core::error::{Error, FieldError};

/// The field that holds the assignee of a record.
pub(crate) const ASSIGNEE: &str = "assigneeId";

/// The validation error for a member who is not active.
pub(crate) fn not_active(field: &str) -> FieldError {
    FieldError {
        field: field.to_owned(),
        message: "must be an active member of this organization".to_owned(),
    }
}

pub(crate) async fn must_be_active(
    t: &Tx<'_>,
    scope: &Scope,
    field: &str,
    member: Option<MemberId>,
) -> Result<(), Error> {
    let Some(member) = member else { return Ok(()) };
    match members::get(t, scope, member).await? {
        Some(person) if person.member.is_active => Ok(()),
        _ => Err(Error::Invalid(vec![not_active(field)])),
    }
}

/// Returns all active members.
pub(crate) async fn active(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<MemberId>, Error> {
    Ok(members::active(t, scope).await?.into_iter().collect())
}
