//! The inboxes of members.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{InboxItemId, MemberId};
use attestry_domain::identity::inbox::{About, InboxFilter, InboxItem};
use attestry_domain::page::{After, Order, Page};

use crate::sql::{Columns, by_id, id, opt_id, opt_time, page_params, read_page, time};

/// The items of a member. An item about a due date is left out once its task is done.
macro_rules! items {
    ($what:literal) => {
        concat!(
            "SELECT ",
            $what,
            " FROM inbox_items i WHERE i.org_id = $1 AND i.member_id = $2 AND NOT (i.kind IN ('dueSoon', 'overdue') AND i.entity_type = 'task' AND EXISTS (SELECT 1 FROM tasks t WHERE t.id = i.entity_id AND t.org_id = $1 AND t.open_due IS NULL))"
        )
    };
}

statements! {
    INSERT = "INSERT INTO inbox_items (org_id, id, member_id, kind, text, entity_type, entity_id, actor_id, occasion, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (member_id, entity_id, occasion) DO NOTHING";
    UNREAD = concat!(items!("COUNT(*)"), " AND i.read_at IS NULL");
    MARK = "UPDATE inbox_items SET read_at = $4 WHERE org_id = $1 AND member_id = $2 AND id = $3";
    MARK_UP_TO = "UPDATE inbox_items SET read_at = $4 WHERE org_id = $1 AND member_id = $2 AND id <= $3 AND (read_at IS NULL) = (CAST($4 AS BIGINT) IS NOT NULL)";
    DELETE_OF_ENTITY = "DELETE FROM inbox_items WHERE org_id = $1 AND entity_id = $2";
    DELETE_OF_TYPE = "DELETE FROM inbox_items WHERE org_id = $1 AND member_id = $2 AND entity_type = $3";
    DELETE_OLD = "DELETE FROM inbox_items WHERE created_at < $1";
    ;
    pages
    LIST = (concat!(items!("i.id, i.member_id, i.kind, i.text, i.entity_type, i.entity_id, i.actor_id, i.created_at, i.read_at"), " AND (CAST($3 AS BOOLEAN) = FALSE OR i.read_at IS NULL) AND (CAST($4 AS TEXT) IS NULL OR i.kind = $4)"), "i.id", None);
}

fn read(row: &Row<'_>) -> Result<InboxItem, Error> {
    let about = match (row.opt_text(4)?, row.opt_text(5)?) {
        (Some(entity_type), Some(entity_id)) => Some(About { entity_type, entity_id }),
        _ => None,
    };
    Ok(InboxItem {
        id: row.parse(0)?,
        member_id: row.parse(1)?,
        kind: row.parse(2)?,
        text: row.text(3)?,
        about,
        actor_id: row.opt_parse(6)?,
        created_at: row.time(7)?,
        read_at: row.opt_time(8)?,
    })
}

/// Inserts an item, unless there is one for the same occasion.
pub async fn insert(
    t: &Tx<'_>,
    scope: &Scope,
    item: &InboxItem,
    occasion: Option<&str>,
) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(item.id),
        id(item.member_id),
        Value::from(item.kind.as_str()),
        Value::from(&item.text),
        item.about.as_ref().map_or(Value::Null, |about| Value::from(&about.entity_type)),
        item.about.as_ref().map_or(Value::Null, |about| Value::from(&about.entity_id)),
        opt_id(item.actor_id),
        occasion.map_or(Value::Null, Value::from),
        time(item.created_at),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Returns a page of a member's items, newest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    filter: InboxFilter,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<InboxItem>, Error> {
    let mut params = vec![
        id(scope.organization()),
        id(member),
        Value::Bool(filter.unread),
        filter.kind.map_or(Value::Null, |kind| Value::from(kind.as_str())),
    ];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |item| by_id(item.id)).await
}

/// Counts the unread items of a member.
pub async fn unread(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<i64, Error> {
    t.one(UNREAD, &[id(scope.organization()), id(member)], |row| row.int(0)).await
}

/// Marks an item as read at a time, or as unread.
pub async fn mark(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    item: InboxItemId,
    read_at: Option<Time>,
) -> Result<(), Error> {
    let params = [id(scope.organization()), id(member), id(item), opt_time(read_at)];
    t.execute(MARK, &params).await.map(|_| ())
}

/// Marks an item and all older ones.
pub async fn mark_up_to(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    item: InboxItemId,
    read_at: Option<Time>,
) -> Result<(), Error> {
    let params = [id(scope.organization()), id(member), id(item), opt_time(read_at)];
    t.execute(MARK_UP_TO, &params).await.map(|_| ())
}

/// Deletes the items about a record.
pub async fn delete_of_entity(t: &Tx<'_>, scope: &Scope, entity_id: &str) -> Result<(), Error> {
    t.execute(DELETE_OF_ENTITY, &[id(scope.organization()), Value::from(entity_id)]).await.map(|_| ())
}

/// Deletes a member's items about one kind of records.
pub async fn delete_of_type(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    entity_type: &str,
) -> Result<(), Error> {
    let params = [id(scope.organization()), id(member), Value::from(entity_type)];
    t.execute(DELETE_OF_TYPE, &params).await.map(|_| ())
}

/// Deletes the items that are older than `before`, in every organization.
pub async fn delete_old(t: &Tx<'_>, before: Time) -> Result<(), Error> {
    t.execute(DELETE_OLD, &[time(before)]).await.map(|_| ())
}
