//! Comments, always with their authors and attachments.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::CommentId;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::registers::comments::{Author, Comment, CommentWithAuthor};
use attestry_domain::registers::subjects::Commentable;

use crate::attachments;
use crate::sql::{Columns, by_id, id, page_params, read_page, time};

macro_rules! comment {
    () => {
        "SELECT c.id, c.org_id, c.content, c.author_id, c.entity_type, c.entity_id, c.created_at, c.updated_at, c.version, u.id, u.name, u.email, u.image, m.is_active FROM comments c JOIN members m ON m.id = c.author_id JOIN users u ON u.id = m.user_id"
    };
}

statements! {
    INSERT = "INSERT INTO comments (org_id, id, content, author_id, entity_type, entity_id, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    GET = concat!(comment!(), " WHERE c.org_id = $1 AND c.id = $2");
    LOCK = concat!(comment!(), " WHERE c.org_id = $1 AND c.id = $2 FOR UPDATE OF c");
    OF_ENTITY = "SELECT id FROM comments WHERE org_id = $1 AND entity_id = $2 ORDER BY id FOR UPDATE";
    UPDATE = "UPDATE comments SET content = $3, updated_at = $4, version = $5 WHERE org_id = $1 AND id = $2";
    COUNT = "SELECT COUNT(*) FROM comments WHERE org_id = $1 AND entity_id = $2 AND entity_type = $3";
    DELETE = "DELETE FROM comments WHERE org_id = $1 AND id = $2";
    ;
    pages
    LIST = (concat!(comment!(), " WHERE c.org_id = $1 AND c.entity_id = $2 AND c.entity_type = $3"), "c.id", None);
}

fn read(row: &Row<'_>) -> Result<CommentWithAuthor, Error> {
    Ok(CommentWithAuthor {
        comment: Comment {
            id: row.parse(0)?,
            organization_id: row.parse(1)?,
            content: row.text(2)?,
            author_id: row.parse(3)?,
            entity_type: row.parse(4)?,
            entity_id: row.text(5)?,
            created_at: row.time(6)?,
            updated_at: row.time(7)?,
            version: row.int(8)?,
        },
        author: Author {
            user_id: row.parse(9)?,
            name: row.text(10)?,
            email: row.text(11)?,
            image: row.opt_text(12)?,
            deactivated: !row.bool(13)?,
        },
        attachments: Vec::new(),
    })
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, comment: &Comment) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(comment.id),
        Value::from(&comment.content),
        id(comment.author_id),
        Value::from(comment.entity_type.as_str()),
        Value::from(&comment.entity_id),
        time(comment.created_at),
        time(comment.updated_at),
        Value::Int(comment.version),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Returns the comment without its author and attachments.
pub async fn get(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<Option<Comment>, Error> {
    t.opt(GET, &[id(scope.organization()), id(comment)], |row| Ok(read(row)?.comment)).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<Option<CommentWithAuthor>, Error> {
    let Some(mut remark) = t.opt(LOCK, &[id(scope.organization()), id(comment)], read).await? else {
        return Ok(None);
    };
    remark.attachments = attachments::of_entity(t, scope, &comment.to_string()).await?;
    Ok(Some(remark))
}

pub async fn update(t: &Tx<'_>, scope: &Scope, comment: &Comment) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(comment.id),
        Value::from(&comment.content),
        time(comment.updated_at),
        Value::Int(comment.version),
    ];
    t.execute(UPDATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, comment: CommentId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(comment)]).await.map(|_| ())
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
    let mut found = read_page(t, sql, &params, limit, read, |found| by_id(found.comment.id)).await?;
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
