//! Access to the protected documents of a portal: requests, agreements, grants and reading.

use attestry_domain::access::Scope;
use attestry_domain::id::AccessRequestId;
use attestry_domain::identity::organizations::Organization;
use attestry_domain::portals::Portal;
use attestry_domain::portals::trust_access::{AccessGrant, AccessRequest, Nda};
use attestry_storage::{Tx, trust_access as rows};

use crate::core::change::Change;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::notices::mail_templates::{self, To};
use crate::portals;

pub mod agreements;
pub(crate) mod asked;
pub mod grants;
pub mod public_documents;
pub mod reading;
pub mod requests;

const REQUEST: &str = "access_request";
const AGREEMENT: &str = "nda";
const GRANT: &str = "access_grant";
const MISSING: Error = Error::NotFound("access request");

async fn request(t: &Tx<'_>, scope: &Scope, id: AccessRequestId) -> Result<AccessRequest, Error> {
    rows::get(t, scope, id).await?.ok_or(MISSING)
}

async fn lock_request(c: &Change<'_>, id: AccessRequestId) -> Result<AccessRequest, Error> {
    rows::lock(c.t, c.scope, id).await?.ok_or(MISSING)
}

/// Creates a link to the documents of a grant. Only its hash is stored, so it can be shown once. `is_kept`: the link
/// is for the signer who is waiting for it, so newer links do not replace it.
async fn give_link(
    c: &Change<'_>,
    portal: &Portal,
    grant: &AccessGrant,
    is_kept: bool,
) -> Result<String, Error> {
    let token = c.ctx.keys.token();
    rows::insert_token(c.t, c.scope, grant.id, &token.hash, is_kept, c.now).await?;
    Ok(portals::link(c.ctx, portal, &format!("/trust/access?token={}", token.text)))
}

async fn mail_link(
    c: &Change<'_>,
    organization: &Organization,
    grant: &AccessGrant,
    link: &str,
) -> Result<(), Error> {
    let to = To { name: grant.name.clone(), email: grant.email.clone() };
    c.enqueue(&Mail(mail_templates::access(c.ctx, &to, &organization.name, grant.expires_at, link))).await
}

/// Mails a new link to the holder of a grant.
async fn send_link(
    c: &Change<'_>,
    portal: &Portal,
    organization: &Organization,
    grant: &AccessGrant,
) -> Result<(), Error> {
    let link = give_link(c, portal, grant, false).await?;
    mail_link(c, organization, grant, &link).await
}

fn record_request(c: &Change<'_>, action: &'static str, request: &AccessRequest) -> Result<(), Error> {
    c.record(action, REQUEST, request.id, request)
}

fn record_agreement(c: &Change<'_>, action: &'static str, nda: &Nda) -> Result<(), Error> {
    c.record(action, AGREEMENT, nda.id, nda)
}

/// The error of a link that no longer works.
fn gone() -> Error {
    Error::Gone {
        code: "link_expired",
        message: "This link has expired or has been withdrawn. Request access again on the portal.",
    }
}
