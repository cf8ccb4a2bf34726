//! Mails to the owners of an organization.

use attestry_storage::members;

use crate::core::change::Change;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::notices::mail_templates::{self, Topic};

/// Mails all active owners.
pub(crate) async fn tell_owners(
    c: &Change<'_>,
    topic: Topic,
    subject: &str,
    message: &str,
) -> Result<(), Error> {
    for person in members::owners(c.t, c.scope).await? {
        c.enqueue(&Mail(mail_templates::tell(c.ctx, &person.user, topic, subject, message))).await?;
    }
    Ok(())
}
