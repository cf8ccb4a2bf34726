//! What is commented on and has files attached: it must be there, in this organization, and be the caller's
//! business.

use attestry_domain::access::{Permission, Scope};
use attestry_domain::comments::CommentEntity as Subject;
use attestry_domain::id::{RiskId, VendorId};
use attestry_storage::{Tx, risks, vendors};

use crate::error::Error;

/// Whether a subject is held until the transaction ends, so that nobody deletes it meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    No,
    Yes,
}

pub(crate) fn may_see(scope: &Scope, subject: Subject) -> Result<(), Error> {
    Ok(scope.require(match subject {
        Subject::Risk => Permission::RiskRead,
        Subject::Vendor => Permission::VendorRead,
    })?)
}

pub(crate) async fn must_exist(
    t: &Tx<'_>,
    scope: &Scope,
    subject: Subject,
    id: &str,
    hold: Hold,
) -> Result<(), Error> {
    let found = match subject {
        Subject::Risk => match (RiskId::read(id), hold) {
            (Some(id), Hold::Yes) => risks::lock(t, scope, id).await?.is_some(),
            (Some(id), Hold::No) => risks::get(t, scope, id).await?.is_some(),
            (None, _) => false,
        },
        Subject::Vendor => match (VendorId::read(id), hold) {
            (Some(id), Hold::Yes) => vendors::lock(t, scope, id).await?.is_some(),
            (Some(id), Hold::No) => vendors::get(t, scope, id).await?.is_some(),
            (None, _) => false,
        },
    };
    if found { Ok(()) } else { Err(Error::NotFound(subject.as_str())) }
}
