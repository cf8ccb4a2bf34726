//! The inboxes of members.

use attestry_db::{Error, RowChange, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{InboxItemId, MemberId};
use attestry_domain::identity::inbox::{InboxFilter, InboxItem};
use attestry_domain::page::{After, Order, Page};

use crate::sql::{by_id, id, opt_time, owned, page_params, read_page, time};
use crate::table::read;

/// The items of a member, as far as they are about records that the reader may see: `$3` lists the kinds of records,
/// `$4` and `$5` restrict tasks to those assigned to the member and policies to those that are published. An item about
/// a date is left out once the record has another date or assignee, or none.
macro_rules! of_reader {
    () => {
        concat!(
            " WHERE i.org_id = $1 AND i.member_id = $2",
            " AND (i.entity_type IS NULL OR $3 LIKE '%,' || i.entity_type || ',%')",
            " AND (i.entity_type IS NULL OR i.entity_type <> 'task' OR (CAST($4 AS BOOLEAN) = FALSE AND i.kind NOT IN ('dueSoon', 'overdue')) OR EXISTS (SELECT 1 FROM tasks t WHERE t.id = i.entity_id AND t.org_id = $1 AND t.assignee_id = $2 AND (i.kind NOT IN ('dueSoon', 'overdue') OR (t.open_due IS NOT NULL AND (i.occasion LIKE 'reminded %' OR i.occasion LIKE '% ' || t.open_due)))))",
            " AND (i.entity_type IS NULL OR i.entity_type <> 'policy' OR (CAST($5 AS BOOLEAN) = FALSE AND i.kind <> 'overdue') OR EXISTS (SELECT 1 FROM policies p WHERE p.id = i.entity_id AND p.org_id = $1 AND (i.kind = 'overdue' OR p.is_published = TRUE) AND (i.kind <> 'overdue' OR (p.is_published = FALSE AND p.archived = FALSE AND p.assignee_id = $2))))",
            " AND (i.entity_type IS NULL OR i.entity_type <> 'risk' OR i.kind NOT IN ('dueSoon', 'overdue') OR EXISTS (SELECT 1 FROM risks r WHERE r.id = i.entity_id AND r.org_id = $1 AND r.assignee_id = $2 AND i.occasion LIKE '% ' || r.accepted_until))"
        )
    };
}

statements! {
    UNREAD = concat!("SELECT COUNT(*) FROM inbox_items i", of_reader!(), " AND i.read_at IS NULL");
    MARK = "UPDATE inbox_items SET read_at = $4 WHERE org_id = $1 AND member_id = $2 AND id = $3";
    MARK_UP_TO = "UPDATE inbox_items SET read_at = $4 WHERE org_id = $1 AND member_id = $2 AND id <= $3 AND (read_at IS NULL) = (CAST($4 AS BIGINT) IS NOT NULL)";
    DELETE_OF_ENTITY = "DELETE FROM inbox_items WHERE org_id = $1 AND entity_id = $2";
    DELETE_OF_MEMBER = "DELETE FROM inbox_items WHERE org_id = $1 AND member_id = $2";
    REMINDED = "SELECT entity_id FROM inbox_items WHERE org_id = $1 AND member_id = $2 AND occasion = $3";
    DELETE_OLD = "DELETE FROM inbox_items WHERE created_at < $1";
    ;
    tables
    ITEMS: InboxItem = "inbox_items i" + "occasion" {}
    ;
    built
    INSERT = ITEMS.insert_unless("member_id, entity_id, occasion");
    ;
    pages
    LIST = (ITEMS.select(concat!(of_reader!(), " AND (CAST($6 AS BOOLEAN) = FALSE OR i.read_at IS NULL) AND (CAST($7 AS TEXT) IS NULL OR i.kind = $7)")), "i.id", None);
}

/// Inserts an item, unless there is one for the same occasion.
pub async fn insert(
    t: &Tx<'_>,
    scope: &Scope,
    item: &InboxItem,
    occasion: Option<&str>,
) -> Result<(), Error> {
    let occasion = occasion.map_or(Value::Null, Value::from);
    let params = ITEMS.params(scope.organization(), item, vec![occasion])?;
    t.execute_later(RowChange::Single(*INSERT), owned(params)).await
}

/// The reader of an inbox: the member, and the records that the member may see.
#[derive(Clone, Debug)]
pub struct Reader {
    pub member: MemberId,
    /// The kinds of records, with a comma before and after each.
    pub kinds: String,
    pub only_assigned_tasks: bool,
    pub only_published_policies: bool,
}

impl Reader {
    fn params(&self, scope: &Scope) -> Vec<Value<'static>> {
        vec![
            id(scope.organization()),
            id(self.member),
            Value::from(self.kinds.clone()),
            Value::Bool(self.only_assigned_tasks),
            Value::Bool(self.only_published_policies),
        ]
    }
}

/// Returns a page of a member's items, newest first.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    reader: &Reader,
    filter: InboxFilter,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<InboxItem>, Error> {
    let mut params = reader.params(scope);
    params.push(Value::Bool(filter.unread));
    params.push(filter.kind.map_or(Value::Null, |kind| Value::from(kind.as_str())));
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |item: &InboxItem| by_id(item.id)).await
}

/// Counts the unread items of a member.
pub async fn unread(t: &Tx<'_>, scope: &Scope, reader: &Reader) -> Result<i64, Error> {
    t.one(UNREAD, &reader.params(scope), |row| row.int(0)).await
}

/// Returns the records of which a member was reminded on an occasion.
pub async fn reminded(
    t: &Tx<'_>,
    scope: &Scope,
    member: MemberId,
    occasion: &str,
) -> Result<Vec<String>, Error> {
    let params = [id(scope.organization()), id(member), Value::from(occasion)];
    t.all(REMINDED, &params, |row| row.text(0)).await
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

/// Deletes all items of a member.
pub async fn delete_of_member(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<(), Error> {
    t.execute(DELETE_OF_MEMBER, &[id(scope.organization()), id(member)]).await.map(|_| ())
}

/// Deletes the items that are older than `before`, in every organization.
pub async fn delete_old(t: &Tx<'_>, before: Time) -> Result<(), Error> {
    t.execute(DELETE_OLD, &[time(before)]).await.map(|_| ())
}
