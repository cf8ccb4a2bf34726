//! Who can be responsible for something: an active member of the organization.

use std::collections::HashSet;

use attestry_domain::access::Scope;
use attestry_domain::id::MemberId;
use attestry_storage::{Tx, members};

use crate::error::{Error, FieldError};

const FIELD: &str = "assigneeId";

/// What is said of anybody else.
pub(crate) fn not_active() -> FieldError {
    FieldError {
        field: FIELD.to_owned(),
        message: "must be an active member of this organization".to_owned(),
    }
}

pub(crate) async fn must_be_active(t: &Tx<'_>, scope: &Scope, member: Option<MemberId>) -> Result<(), Error> {
    let Some(member) = member else { return Ok(()) };
    match members::get(t, scope, member).await? {
        Some(person) if person.member.is_active => Ok(()),
        _ => Err(Error::Invalid(vec![not_active()])),
    }
}

/// Everybody who can be responsible.
pub(crate) async fn active(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<MemberId>, Error> {
    Ok(members::active(t, scope).await?.into_iter().collect())
}
