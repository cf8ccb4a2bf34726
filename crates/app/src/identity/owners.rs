//! Mails to the owners of an organization.

use attestry_storage::members;

use crate::core::change::Change;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::notices::mail_templates;

/// Mails all active owners about the sign-in of their organization.
pub(crate) async fn tell_owners(c: &Change<'_>, subject: &str, message: &str) -> Result<(), Error> {
    for person in members::owners(c.t, c.scope).await? {
        c.enqueue(&Mail(mail_templates::identity(c.ctx, &person.user, subject, message))).await?;
    }
    Ok(())
}
