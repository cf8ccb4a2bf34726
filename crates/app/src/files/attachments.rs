//! Files on risks, vendors, tasks, policies and comments. A file is stored before its row is inserted, so every row
//! has its file. When a row is deleted, a job of the same transaction removes the file; the sweep removes files whose
//! row was never inserted.

use std::time::Duration;

use attestry_blobs::{Folder, Key};
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::files::{FileName, HEAD, MediaType};
use attestry_domain::hash::hex;
use attestry_domain::id::{AttachmentId, Id, Kind, OrganizationId};
use attestry_domain::page::{After, Page};
use attestry_domain::registers::attachments::{Attachment, FILE_LIMIT, MAX_ATTACHMENTS_PER_COMMENT, MadeBy};
use attestry_domain::registers::subjects::Subject;
use attestry_domain::text::LongText;
use attestry_storage::{Tx, attachments};
use aws_lc_rs::digest;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::files::removal::Removal;
use crate::files::{self, Link};
use crate::identity::organizations;
use crate::registers::subjects::{self, Access, Hold};
use crate::tasks;

const MISSING: Error = Error::NotFound("attachment");

/// The record that a file is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    subject: Subject,
    id: String,
}

impl Target {
    pub fn new<K: Kind>(subject: Subject, id: Id<K>) -> Self {
        Self { subject, id: id.to_string() }
    }

    pub(crate) fn of(attachment: &Attachment) -> Self {
        Self { subject: attachment.entity_type, id: attachment.entity_id.clone() }
    }
}

async fn admit(t: &Tx<'_>, scope: &Scope, target: &Target, access: Access, hold: Hold) -> Result<(), Error> {
    subjects::admit(t, scope, target.subject, &target.id, access, hold).await.map(|_| ())
}

/// The name and media type of an uploaded file.
#[derive(Clone, Debug)]
pub struct NewFile {
    pub name: FileName,
    pub media_type: MediaType,
}

/// A stored file without a row yet: the caller must either attach or discard it.
#[derive(Clone, Debug)]
#[must_use]
pub struct Stored(Attachment);

impl Stored {
    fn key(&self) -> Key {
        key(self.0.organization_id, self.0.id)
    }

    pub fn with_description(mut self, description: Option<LongText>) -> Self {
        self.0.description = description.map(String::from);
        self
    }

    /// Sets the date that the evidence applies to.
    pub fn with_effective_date(mut self, date: Option<Date>) -> Self {
        self.0.effective_date = date;
        self
    }

    /// Sets the automation run that created the file.
    pub(crate) fn made_by(mut self, run: MadeBy) -> Self {
        self.0.run = Some(run);
        self
    }

    /// Removes the unreferenced file. If that fails, the sweep removes it later.
    pub async fn discard(self, ctx: &Ctx) {
        files::discard(ctx, &self.key()).await;
    }
}

pub(crate) fn key(organization: OrganizationId, attachment: AttachmentId) -> Key {
    Key::new(organization, Folder::Attachments, attachment)
}

/// Stores a file as a stream. Its content is checked before the first byte is written.
pub async fn store<E: From<Error>>(
    ctx: &Ctx,
    scope: &Scope,
    target: Target,
    file: NewFile,
    content: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Stored, E> {
    let (own, asked) = (scope.clone(), target.clone());
    ctx.db.read(async move |t| admit(t, &own, &asked, Access::Write, Hold::No).await).await?;
    store_for(ctx, scope, target, file, content).await
}

/// Stores a file for a target that does not exist yet.
pub(crate) async fn store_for<E: From<Error>>(
    ctx: &Ctx,
    scope: &Scope,
    target: Target,
    file: NewFile,
    content: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Stored, E> {
    let mut content = content.fuse();
    let NewFile { name, media_type } = file;
    let (mut head, mut begun) = (Vec::with_capacity(HEAD), Vec::new());
    while head.len() < HEAD
        && let Some(bytes) = content.next().await
    {
        let bytes = bytes?;
        head.extend_from_slice(&bytes[..bytes.len().min(HEAD - head.len())]);
        begun.push(Ok(bytes));
    }
    media_type.check(&head).map_err(|message| Error::BadRequest { code: "file_refused", message })?;
    let id: AttachmentId = ctx.ids.next();
    let mut upload = ctx.blobs.create(&key(scope.organization(), id));
    let mut hash = digest::Context::new(&digest::SHA256);
    let mut size = 0;
    let mut content = stream::iter(begun).chain(content);
    while let Some(bytes) = content.next().await {
        let written = async {
            let bytes = bytes?;
            size += bytes.len() as u64;
            if size > FILE_LIMIT {
                return Err(E::from(too_large()));
            }
            hash.update(&bytes);
            upload.write(bytes).await.map_err(|error| E::from(error.into()))
        };
        if let Err(error) = written.await {
            upload.abort().await;
            return Err(error);
        }
    }
    upload.finish().await.map_err(Error::from)?;
    Ok(Stored(Attachment {
        id,
        organization_id: scope.organization(),
        entity_type: target.subject,
        entity_id: target.id,
        name: name.into_string(),
        media_type: media_type.into_string(),
        size: i64::try_from(size).map_err(Error::internal)?,
        sha256: hex(hash.finish().as_ref()),
        description: None,
        effective_date: None,
        run: None,
        uploaded_by: scope.member(),
        created_at: ctx.now(),
    }))
}

/// The error for a file that exceeds the size limit.
pub fn too_large() -> Error {
    Error::BadRequest {
        code: "file_too_large",
        message: format!("Files are limited to {} MiB.", FILE_LIMIT >> 20),
    }
}

/// Attaches a stored file to its target.
#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, stored: Stored) -> Result<Attachment, Error> {
    let file = stored.clone();
    let created = ctx
        .change(scope, async move |c| {
            let target = Target::of(&file.0);
            admit(c.t, c.scope, &target, Access::Write, Hold::Yes).await?;
            if target.subject == Subject::Comment {
                must_have_room(c.t, c.scope, &target).await?;
            }
            add(c, file.clone()).await
        })
        .await;
    discard_if_refused(ctx, vec![stored], created).await
}

/// Limits the files of a comment, because a comment is always returned with all of them.
async fn must_have_room(t: &Tx<'_>, scope: &Scope, comment: &Target) -> Result<(), Error> {
    if attachments::of_entity(t, scope, &comment.id).await?.len() < MAX_ATTACHMENTS_PER_COMMENT {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "too_many_attachments",
        message: format!(
            "A comment has at most {MAX_ATTACHMENTS_PER_COMMENT} files; delete one, or write another comment."
        ),
    })
}

/// Passes a result on, and removes the files if the transaction was rejected.
pub(crate) async fn discard_if_refused<T>(
    ctx: &Ctx,
    files: Vec<Stored>,
    result: Result<T, Error>,
) -> Result<T, Error> {
    if result.as_ref().is_err_and(files::is_certain) {
        for file in files {
            file.discard(ctx).await;
        }
    }
    result
}

pub(crate) async fn add(c: &Change<'_>, Stored(mut file): Stored) -> Result<Attachment, Error> {
    let is_evidence = file.entity_type == Subject::Task;
    if is_evidence || file.effective_date.is_some() {
        let today = organizations::today(c).await?;
        if file.effective_date.is_some_and(|date| date > today) {
            return Err(Error::field("effectiveDate", "must not be in the future"));
        }
        file.effective_date = file.effective_date.or(Some(today));
    }
    attachments::insert(c.t, c.scope, &file).await?;
    c.record("attachment.created", "attachment", file.id, &file)?;
    if is_evidence {
        tasks::note_evidence(c, &file.entity_id).await?;
    }
    Ok(file)
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    target: Target,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Attachment>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            admit(t, &scope, &target, Access::Read, Hold::No).await?;
            Ok(attachments::list(t, &scope, &target.id, limit, after.as_ref()).await?)
        })
        .await
}

/// Counts the files attached to a record.
#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, target: Target) -> Result<i64, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            admit(t, &scope, &target, Access::Read, Hold::No).await?;
            Ok(attachments::count(t, &scope, &target.id).await?)
        })
        .await
}

/// Returns the attachment, which must belong to `target` if that is `Some`.
#[boxed]
pub async fn get(
    ctx: &Ctx,
    scope: &Scope,
    target: Option<Target>,
    attachment: AttachmentId,
) -> Result<Attachment, Error> {
    let own = scope.clone();
    ctx.db
        .read(async move |t| {
            if let Some(target) = &target {
                admit(t, &own, target, Access::Read, Hold::No).await?;
            }
            let found = attachments::get(t, &own, attachment).await?.ok_or(MISSING)?;
            match &target {
                Some(target) if *target != Target::of(&found) => return Err(MISSING),
                Some(_) => {}
                None => admit(t, &own, &Target::of(&found), Access::Read, Hold::No).await?,
            }
            Ok(found)
        })
        .await
}

/// Returns a temporary link to the file, and records the download.
#[boxed]
pub async fn link(
    ctx: &Ctx,
    scope: &Scope,
    target: Option<Target>,
    attachment: AttachmentId,
) -> Result<(Link, Duration), Error> {
    let found = get(ctx, scope, target, attachment).await?;
    link_to(ctx, scope, found).await
}

pub(crate) async fn link_to(ctx: &Ctx, scope: &Scope, found: Attachment) -> Result<(Link, Duration), Error> {
    let attachment = found.id;
    ctx.change(scope, async move |c| {
        let still = attachments::lock(c.t, c.scope, attachment).await?.ok_or(MISSING)?;
        c.record("attachment.downloaded", "attachment", attachment, &still)
    })
    .await?;
    let served = attestry_blobs::Served { file_name: found.name, media_type: found.media_type };
    files::link(ctx, &key(found.organization_id, found.id), served).await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    target: Target,
    attachment: AttachmentId,
    precondition: Precondition,
) -> Result<Attachment, Error> {
    ctx.change(scope, async move |c| {
        admit(c.t, c.scope, &target, Access::Write, Hold::Yes).await?;
        let found = attachments::lock(c.t, c.scope, attachment).await?.ok_or(MISSING)?;
        if Target::of(&found) != target {
            return Err(MISSING);
        }
        precondition.check(&[Attachment::VERSION])?;
        (c.ctx.hooks().detached)(c, &found).await?;
        remove(c, std::slice::from_ref(&found)).await?;
        if found.entity_type == Subject::Task {
            tasks::note_evidence(c, &found.entity_id).await?;
        }
        Ok(found)
    })
    .await
}

/// Removes all attachments of a deleted record.
pub(crate) async fn remove_all(c: &Change<'_>, entity_id: &str) -> Result<(), Error> {
    let all = attachments::of_entity(c.t, c.scope, entity_id).await?;
    remove(c, &all).await
}

pub(crate) async fn remove(c: &Change<'_>, all: &[Attachment]) -> Result<(), Error> {
    let mut keys = Vec::with_capacity(all.len());
    for one in all {
        attachments::delete(c.t, c.scope, one.id).await?;
        c.record_gone("attachment.deleted", "attachment", one.id);
        keys.push(key(one.organization_id, one.id).to_string());
    }
    if keys.is_empty() {
        return Ok(());
    }
    c.enqueue(&Removal::Files(keys)).await
}
