//! Policies whose text is an uploaded file.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::{AttachmentId, PolicyId};
use attestry_domain::policies::Policy;
use attestry_domain::registers::attachments::Attachment;
use attestry_domain::registers::subjects::Subject;
use attestry_storage::{attachments, policies};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files::Link;
use crate::files::attachments::{Target, link_to};
use crate::registers;

/// A link to the file that is a policy's text: that of the draft if the caller may see drafts, otherwise that of the
/// published version.
#[boxed]
pub async fn link(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<(Link, Duration), Error> {
    const MISSING: Error = Error::NotFound("file of this policy");
    let mut shown = [registers::get::<Policy>(ctx, scope, id).await?];
    super::complete(ctx, scope, &mut shown, None).await?;
    let file = shown[0].file_id.ok_or(MISSING)?;
    let own = scope.clone();
    let found = ctx.db.read(async move |t| attachments::get(t, &own, file).await).await?;
    let is_its = |found: &Attachment| Target::of(found) == Target::new(Subject::Policy, id);
    link_to(ctx, scope, found.filter(is_its).ok_or(MISSING)?).await
}

/// Checks that a file is attached to the policy and is a PDF or Word file.
pub(crate) async fn must_be_document(c: &Change<'_>, policy: &str, file: AttachmentId) -> Result<(), Error> {
    const TYPES: [&str; 3] = [
        "application/pdf",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ];
    let found = attachments::get(c.t, c.scope, file).await?;
    match found.filter(|found| found.entity_type == Subject::Policy && found.entity_id == policy) {
        None => Err(Error::field("fileId", "must be the id of a file attached to this policy")),
        Some(found) if !TYPES.contains(&found.media_type.as_str()) => {
            Err(Error::field("fileId", "must be the id of a PDF or Word file"))
        }
        Some(_) => Ok(()),
    }
}

/// Rejects a file that is or was the text of a policy: it stays as long as the policy.
pub(crate) async fn must_not_be_used(c: &Change<'_>, file: &Attachment) -> Result<(), Error> {
    if file.entity_type != Subject::Policy || !policies::uses_file(c.t, c.scope, file.id).await? {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "file_in_use",
        message: "This file is the text of the policy or of a version of it, and cannot be deleted."
            .to_owned(),
    })
}
