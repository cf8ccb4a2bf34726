//! What members say about risks and vendors.

use std::time::Duration;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::comments::{Comment, CommentEntity, CommentText, Remark};
use attestry_domain::id::CommentId;
use attestry_domain::page::{After, Page};
use attestry_domain::text::LongText;
use attestry_storage::{Tx, comments};
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::attachments::{self, NewFile, Stored};
use crate::change::Change;
use crate::context::Ctx;
use crate::error::Error;
use crate::subjects::{Hold, may_see, must_exist};

/// How long storing the files of one comment may take: less than the claim of an `Idempotency-Key` lives.
const STORING: Duration = Duration::from_secs(100);
const MISSING: Error = Error::NotFound("comment");

#[derive(Clone, Debug)]
pub struct NewComment {
    pub content: CommentText,
    pub entity_type: CommentEntity,
    pub entity_id: String,
}

/// A comment on something the caller may see; held until the transaction ends, if so wished.
pub(crate) async fn visible(
    t: &Tx<'_>,
    scope: &Scope,
    comment: CommentId,
    hold: Hold,
) -> Result<Comment, Error> {
    scope.require(Permission::CommentRead)?;
    let found = match hold {
        Hold::Yes => comments::lock(t, scope, comment).await?.map(|remark| remark.comment),
        Hold::No => comments::get(t, scope, comment).await?,
    };
    let comment = found.ok_or(MISSING)?;
    may_see(scope, comment.entity_type)?;
    Ok(comment)
}

pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    entity: CommentEntity,
    id: String,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Remark>, Error> {
    may_see(scope, entity)?;
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            must_exist(t, &scope, entity, &id, Hold::No).await?;
            Ok(comments::list(t, &scope, entity, &id, limit, after.as_ref()).await?)
        })
        .await
}

/// A file that a comment brings along.
pub struct Enclosure {
    pub file: NewFile,
    pub description: Option<LongText>,
    pub content: BoxStream<'static, Result<Bytes, Error>>,
}

impl std::fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.fmt(f)
    }
}

pub async fn create(
    ctx: &Ctx,
    scope: &Scope,
    new: NewComment,
    enclosures: Vec<Enclosure>,
) -> Result<Remark, Error> {
    may_see(scope, new.entity_type)?;
    let author = scope.principal().ok_or_else(|| Error::internal("only a member comments"))?;
    let now = ctx.now();
    let comment = Comment {
        id: ctx.ids.next(),
        organization_id: scope.organization(),
        content: new.content.into_string(),
        author_id: author.member,
        entity_type: new.entity_type,
        entity_id: new.entity_id,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let files = store_all(ctx, scope, &comment, enclosures).await?;
    let kept = files.clone();
    let created = ctx
        .change(scope, async move |c| {
            must_exist(c.t, c.scope, comment.entity_type, &comment.entity_id, Hold::Yes).await?;
            comments::insert(c.t, c.scope, &comment).await?;
            c.record("comment.created", "comment", comment.id, &comment)?;
            for file in &kept {
                attachments::add(c, file).await?;
            }
            comments::lock(c.t, c.scope, comment.id).await?.ok_or(MISSING)
        })
        .await;
    attachments::discard_if_refused(ctx, files, created).await
}

/// Stores what a comment brings along: all of it or nothing.
async fn store_all(
    ctx: &Ctx,
    scope: &Scope,
    comment: &Comment,
    enclosures: Vec<Enclosure>,
) -> Result<Vec<Stored>, Error> {
    let mut files = Vec::new();
    if enclosures.is_empty() {
        return Ok(files);
    }
    let (own, about, id) = (scope.clone(), comment.entity_type, comment.entity_id.clone());
    ctx.db.read(async move |t| must_exist(t, &own, about, &id, Hold::No).await).await?;
    let stored = tokio::time::timeout(STORING, async {
        for Enclosure { file, description, content } in enclosures {
            let stored = attachments::store_for(ctx, scope, comment.id.into(), file, content).await?;
            files.push(stored.with_description(description));
        }
        Ok(())
    });
    let stored = stored.await.unwrap_or_else(|_| Err(Error::Unavailable("storing took too long".to_owned())));
    if let Err(error) = stored {
        for file in files {
            file.discard(ctx).await;
        }
        return Err(error);
    }
    Ok(files)
}

/// The comment, if the caller wrote it: whatever their role, nobody else changes it.
async fn own_comment(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<Remark, Error> {
    let remark = comments::lock(t, scope, comment).await?.ok_or(MISSING)?;
    must_be_author(scope, &remark.comment)?;
    Ok(remark)
}

pub(crate) fn must_be_author(scope: &Scope, comment: &Comment) -> Result<(), Error> {
    if scope.member() == Some(comment.author_id) {
        return Ok(());
    }
    Err(Error::Forbidden {
        code: "not_the_author",
        message: "Only the author of a comment can change or delete it.".to_owned(),
    })
}

pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    comment: CommentId,
    content: CommentText,
) -> Result<Remark, Error> {
    ctx.change(scope, async move |c| {
        let Remark { comment: before, author, attachments } = own_comment(c.t, c.scope, comment).await?;
        if before.content == content.as_str() {
            return Ok(Remark { comment: before, author, attachments });
        }
        let after = Comment {
            content: content.as_str().to_owned(),
            updated_at: c.now,
            version: before.version + 1,
            ..before
        };
        comments::update(c.t, c.scope, &after).await?;
        c.record("comment.updated", "comment", after.id, &after)?;
        Ok(Remark { comment: after, author, attachments })
    })
    .await
}

pub async fn delete(ctx: &Ctx, scope: &Scope, comment: CommentId) -> Result<CommentId, Error> {
    ctx.change(scope, async move |c| {
        own_comment(c.t, c.scope, comment).await?;
        remove(c, comment).await?;
        Ok(comment)
    })
    .await
}

async fn remove(c: &Change<'_>, comment: CommentId) -> Result<(), Error> {
    attachments::remove_all(c, &comment.to_string()).await?;
    comments::delete(c.t, c.scope, comment).await?;
    c.record_gone("comment.deleted", "comment", comment);
    Ok(())
}

/// What was said about something goes with it.
pub(crate) async fn remove_all(c: &Change<'_>, entity_id: &str) -> Result<(), Error> {
    for comment in comments::of_entity(c.t, c.scope, entity_id).await? {
        remove(c, comment).await?;
    }
    Ok(())
}
