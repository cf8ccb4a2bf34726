//! Comments on risks, vendors, tasks and policies.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{CommentId, MemberId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::{After, Page};
use attestry_domain::registers::comments::{Comment, CommentText, CommentWithAuthor};
use attestry_domain::registers::subjects::{Commentable, Subject};
use attestry_domain::text::LongText;
use attestry_storage::{Tx, comments, members};
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files::attachments::{self, NewFile, Stored, Target};
use crate::notices;
use crate::registers::subjects::{Access, Hold, admit, must_be_author};

/// The timeout for storing the files of one comment; shorter than the claim of an `Idempotency-Key` lasts.
const STORE_TIMEOUT: Duration = Duration::from_secs(100);
const MISSING: Error = Error::NotFound("comment");

#[derive(Clone, Debug)]
pub struct NewComment {
    pub content: CommentText,
    pub entity_type: Commentable,
    pub entity_id: String,
    /// The members to notify.
    pub mentions: Vec<MemberId>,
}

/// The maximum number of characters of a comment that a notification quotes.
const MAX_QUOTED_CHARS: usize = 500;

/// Notifies the mentioned members, who must be able to see the commented record.
async fn tell_mentioned(
    c: &Change<'_>,
    comment: &Comment,
    label: &str,
    mentions: &[MemberId],
) -> Result<(), Error> {
    if mentions.is_empty() {
        return Ok(());
    }
    let author = members::get_any(c.t, c.scope, comment.author_id).await?.ok_or(MISSING)?.user.name;
    for member in mentions {
        let person = members::get(c.t, c.scope, *member).await?.filter(|person| person.member.is_active);
        let name = person.as_ref().map(|person| person.user.name.clone());
        let theirs = person.and_then(|person| c.scope.as_seen_by(*member, person.member.role.permissions()));
        let is_seen = match theirs {
            None => false,
            Some(theirs) => {
                let subject = comment.entity_type.subject();
                match admit(c.t, &theirs, subject, &comment.entity_id, Access::Read, Hold::No).await {
                    Ok(_) => true,
                    Err(Error::NotFound(_) | Error::Forbidden { .. }) => false,
                    Err(error) => return Err(error),
                }
            }
        };
        if !is_seen {
            let who = name.unwrap_or_else(|| member.to_string());
            let message = format!("{who} is not an active member who can see what the comment is about");
            return Err(Error::field("mentions", message));
        }
    }
    let quoted: String = comment.content.chars().take(MAX_QUOTED_CHARS).collect();
    // The name of a policy's draft may be confidential; its reference is not.
    let label = match comment.entity_type.subject() {
        Subject::Policy => label.split(' ').next().unwrap_or_default(),
        _ => label,
    };
    let about = About::new(comment.entity_type.as_str(), &comment.entity_id);
    let line = format!("{author} mentioned you on {label}");
    notices::tell_others(c, mentions.iter().copied(), Notice::Mentioned, &about, &line, Some(&quoted));
    Ok(())
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    entity: Commentable,
    id: String,
    limit: u16,
    after: Option<After>,
) -> Result<Page<CommentWithAuthor>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            admit(t, &scope, entity.subject(), &id, Access::Read, Hold::No).await?;
            Ok(comments::list(t, &scope, entity, &id, limit, after.as_ref()).await?)
        })
        .await
}

/// Counts the comments on a record.
#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, entity: Commentable, id: String) -> Result<i64, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            admit(t, &scope, entity.subject(), &id, Access::Read, Hold::No).await?;
            Ok(comments::count(t, &scope, entity, &id).await?)
        })
        .await
}

/// A file attached to a comment.
pub struct Enclosure {
    pub file: NewFile,
    pub description: Option<LongText>,
    pub effective_date: Option<Date>,
    pub content: BoxStream<'static, Result<Bytes, Error>>,
}

impl std::fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.fmt(f)
    }
}

#[boxed]
pub async fn create(
    ctx: &Ctx,
    scope: &Scope,
    new: NewComment,
    enclosures: Vec<Enclosure>,
) -> Result<CommentWithAuthor, Error> {
    new.entity_type.subject().must_be_seen(scope)?;
    let author = scope.principal().ok_or_else(|| Error::internal("only a member comments"))?;
    let now = ctx.now();
    let comment = Comment {
        id: ctx.ids.next(),
        organization_id: scope.organization(),
        content: new.content.as_str().to_owned(),
        author_id: author.member,
        entity_type: new.entity_type,
        entity_id: new.entity_id.clone(),
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let files = store_all(ctx, scope, &comment, enclosures).await?;
    let kept = files.clone();
    let created = ctx
        .change(scope, async move |c| {
            let subject = comment.entity_type.subject();
            let label = admit(c.t, c.scope, subject, &comment.entity_id, Access::Write, Hold::Yes).await?;
            tell_mentioned(c, &comment, &label, &new.mentions).await?;
            comments::insert(c.t, c.scope, &comment).await?;
            c.record("comment.created", "comment", comment.id, &comment)?;
            for file in &kept {
                attachments::add(c, file.clone()).await?;
            }
            comments::lock(c.t, c.scope, comment.id).await?.ok_or(MISSING)
        })
        .await;
    attachments::discard_if_refused(ctx, files, created).await
}

/// Adds a comment by the caller as part of a larger change.
pub(crate) async fn add(
    c: &Change<'_>,
    subject: Subject,
    id: &str,
    content: CommentText,
) -> Result<(), Error> {
    let author = c.scope.member().ok_or_else(|| Error::internal("only a member comments"))?;
    let comment = Comment {
        id: c.next_id(),
        organization_id: c.organization(),
        content: content.into_string(),
        author_id: author,
        entity_type: Commentable::of(subject).ok_or_else(|| Error::internal("it takes no comments"))?,
        entity_id: id.to_owned(),
        created_at: c.now,
        updated_at: c.now,
        version: 1,
    };
    comments::insert(c.t, c.scope, &comment).await?;
    c.record("comment.created", "comment", comment.id, &comment)
}

/// Stores the files of a comment: all of them or none.
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
    let (own, about, id) = (scope.clone(), comment.entity_type.subject(), comment.entity_id.clone());
    ctx.db.read(async move |t| admit(t, &own, about, &id, Access::Write, Hold::No).await).await?;
    let stored = tokio::time::timeout(STORE_TIMEOUT, async {
        for Enclosure { file, description, effective_date, content } in enclosures {
            let target = Target::new(Subject::Comment, comment.id);
            let stored = attachments::store_for(ctx, scope, target, file, content).await?;
            files.push(stored.with_description(description).with_effective_date(effective_date));
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

/// Locks a comment and checks that the caller is its author. Only the author may change it, regardless of roles.
async fn own_comment(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<CommentWithAuthor, Error> {
    let found = comments::lock(t, scope, comment).await?.ok_or(MISSING)?;
    must_be_author(scope, &found.comment)?;
    Ok(found)
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    comment: CommentId,
    content: CommentText,
) -> Result<CommentWithAuthor, Error> {
    ctx.change(scope, async move |c| {
        let CommentWithAuthor { comment: before, author, attachments } =
            own_comment(c.t, c.scope, comment).await?;
        if before.content == content.as_str() {
            return Ok(CommentWithAuthor { comment: before, author, attachments });
        }
        let after = Comment {
            content: content.as_str().to_owned(),
            updated_at: c.now,
            version: before.version + 1,
            ..before
        };
        comments::update(c.t, c.scope, &after).await?;
        c.record("comment.updated", "comment", after.id, &after)?;
        Ok(CommentWithAuthor { comment: after, author, attachments })
    })
    .await
}

#[boxed]
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

/// Deletes all comments on a record.
pub(crate) async fn remove_all(c: &Change<'_>, entity_id: &str) -> Result<(), Error> {
    for comment in comments::of_entity(c.t, c.scope, entity_id).await? {
        remove(c, comment).await?;
    }
    Ok(())
}
