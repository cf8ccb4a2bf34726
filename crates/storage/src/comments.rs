//! Comments, always with their authors and attachments.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::CommentId;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::registers::comments::{Comment, CommentWithAuthor};
use attestry_domain::registers::subjects::Commentable;

use crate::attachments;
use crate::sql::{Columns, by_id, id, page_params, read_page};
use crate::table::{read, select};

macro_rules! with_authors {
    ($where:literal) => {
        select::<CommentWithAuthor>(concat!(
            "comments c JOIN members m ON m.id = c.author_id JOIN users u ON u.id = m.user_id",
            $where
        ))
    };
}

statements! {
    OF_ENTITY = "SELECT id FROM comments WHERE org_id = $1 AND entity_id = $2 ORDER BY id FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM comments WHERE org_id = $1 AND entity_id = $2 AND entity_type = $3";
    ;
    tables
    COMMENTS: Comment = "comments" {
        GET = " WHERE org_id = $1 AND id = $2";
    }
    ;
    built
    LOCK = with_authors!(" WHERE c.org_id = $1 AND c.id = $2 FOR UPDATE OF c");
    ;
    pages
    LIST = (with_authors!(" WHERE c.org_id = $1 AND c.entity_id = $2 AND c.entity_type = $3"), "c.id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, comment: &Comment) -> Result<(), Error> {
    COMMENTS.insert(t, scope, comment).await
}

/// Returns the comment without its author and attachments.
pub async fn get(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<Option<Comment>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(comment)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<Option<CommentWithAuthor>, Error> {
    let found = t.opt(*LOCK, &[id(scope.organization()), id(comment)], read).await?;
    let Some(mut remark): Option<CommentWithAuthor> = found else { return Ok(None) };
    remark.attachments = attachments::of_entity(t, scope, &comment.to_string()).await?;
    Ok(Some(remark))
}

pub async fn update(t: &Tx<'_>, scope: &Scope, comment: &Comment) -> Result<(), Error> {
    COMMENTS.update(t, scope, comment).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<(), Error> {
    COMMENTS.delete(t, [id(scope.organization()), id(comment)]).await
}

/// Locks all comments on an entity and returns their ids.
pub async fn of_entity(t: &Tx<'_>, scope: &Scope, entity_id: &str) -> Result<Vec<CommentId>, Error> {
    t.all(OF_ENTITY, &[id(scope.organization()), Value::from(entity_id)], |row| row.parse(0)).await
}

pub async fn count(
    t: &Tx<'_>,
    scope: &Scope,
    entity_type: Commentable,
    entity_id: &str,
) -> Result<i64, Error> {
    let params = [id(scope.organization()), Value::from(entity_id), Value::from(entity_type.as_str())];
    t.one(COUNT, &params, |row| row.int(0)).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    entity_type: Commentable,
    entity_id: &str,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<CommentWithAuthor>, Error> {
    let mut params =
        vec![id(scope.organization()), Value::from(entity_id), Value::from(entity_type.as_str())];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    let mut found =
        read_page(t, sql, &params, limit, read, |found: &CommentWithAuthor| by_id(found.comment.id)).await?;
    let items = &mut found.items;
    if let (Some(newest), Some(oldest)) = (items.first(), items.last()) {
        let (first, last) = (oldest.comment.id, newest.comment.id);
        for attachment in attachments::of_comments(t, scope, entity_id, first, last).await? {
            let id = CommentId::read(&attachment.entity_id);
            let place = items.binary_search_by(|found| id.cmp(&Some(found.comment.id)));
            if let Ok(place) = place {
                items[place].attachments.push(attachment);
            }
        }
    }
    Ok(found)
}
