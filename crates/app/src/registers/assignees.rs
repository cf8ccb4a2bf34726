//! Who can be responsible for something: an active member of the organization.

use std::collections::HashSet;

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_storage::{Tx, members};

use crate::core::error::{Error, FieldError};

/// The field that names whoever is responsible for a row of a register.
pub(crate) const ASSIGNEE: &str = "assigneeId";

/// What is said of anybody else.
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

/// Everybody who can be responsible.
pub(crate) async fn active(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<MemberId>, Error> {
    Ok(members::active(t, scope).await?.into_iter().collect())
}
