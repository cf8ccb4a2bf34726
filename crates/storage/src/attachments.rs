//! The metadata of attached files; the files themselves are in object storage.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{AttachmentId, AutomationId, CommentId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::registers::attachments::Attachment;
use attestry_domain::row::Row;

use crate::sql::{Columns, by_id, id, page_params, read_page};
use crate::table::{read, select};

statements! {
    COUNT = "SELECT COUNT(*) FROM attachments WHERE org_id = $1 AND entity_id = $2";
    LATEST = "SELECT MAX(effective_date) FROM attachments WHERE org_id = $1 AND entity_id = $2";
    ;
    tables
    ATTACHMENTS: Attachment = "attachments" {
        GET = " WHERE org_id = $1 AND id = $2";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        OF_ENTITY = " WHERE org_id = $1 AND entity_id = $2 ORDER BY id";
        OF_COMMENTS = " WHERE org_id = $1 AND entity_id IN (SELECT id FROM comments WHERE org_id = $1 AND entity_id = $2 AND id >= $3 AND id <= $4) ORDER BY id";
        OF_AUTOMATION = " WHERE org_id = $1 AND run_id IN (SELECT id FROM automation_runs WHERE org_id = $1 AND automation_id = $2) ORDER BY id";
    }
    ;
    built
    LATEST_OF_TASKS = select::<LatestEvidence>("attachments a WHERE a.org_id = $1 AND a.entity_type = 'task' AND a.effective_date IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attachments b WHERE b.org_id = $1 AND b.entity_id = a.entity_id AND (b.effective_date > a.effective_date OR (b.effective_date = a.effective_date AND b.id > a.id))) ORDER BY a.entity_id");
    ;
    pages
    LIST = (ATTACHMENTS.select(" WHERE org_id = $1 AND entity_id = $2"), "id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, attachment: &Attachment) -> Result<(), Error> {
    ATTACHMENTS.insert(t, scope, attachment).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, attachment: AttachmentId) -> Result<Option<Attachment>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(attachment)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, attachment: AttachmentId) -> Result<Option<Attachment>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(attachment)], read).await
}

/// Returns all attachments of an entity, oldest first.
pub async fn of_entity(t: &Tx<'_>, scope: &Scope, entity_id: &str) -> Result<Vec<Attachment>, Error> {
    t.all(*OF_ENTITY, &[id(scope.organization()), Value::from(entity_id)], read).await
}

/// Returns the attachments of an entity's comments from `first` to `last`.
pub async fn of_comments(
    t: &Tx<'_>,
    scope: &Scope,
    about: &str,
    first: CommentId,
    last: CommentId,
) -> Result<Vec<Attachment>, Error> {
    let params = [id(scope.organization()), Value::from(about), id(first), id(last)];
    t.all(*OF_COMMENTS, &params, read).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope, entity_id: &str) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization()), Value::from(entity_id)], |row| row.int(0)).await
}

/// Returns all attachments that the runs of an automation made, oldest first.
pub async fn of_automation(
    t: &Tx<'_>,
    scope: &Scope,
    automation: AutomationId,
) -> Result<Vec<Attachment>, Error> {
    t.all(*OF_AUTOMATION, &[id(scope.organization()), id(automation)], read).await
}

/// Returns the latest effective date of an entity's attachments.
pub async fn latest(t: &Tx<'_>, scope: &Scope, entity_id: &str) -> Result<Option<Date>, Error> {
    let params = [id(scope.organization()), Value::from(entity_id)];
    t.one(LATEST, &params, |row| row.opt_parse(0)).await
}

/// The latest evidence of a task.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct LatestEvidence {
    #[row(column = "entity_id")]
    pub task: String,
    pub id: AttachmentId,
    pub name: String,
    pub effective_date: Date,
}

/// Returns the latest evidence of each task that has any.
pub async fn latest_of_tasks(t: &Tx<'_>, scope: &Scope) -> Result<Vec<LatestEvidence>, Error> {
    t.all(*LATEST_OF_TASKS, &[id(scope.organization())], read).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    entity_id: &str,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Attachment>, Error> {
    let mut params = vec![id(scope.organization()), Value::from(entity_id)];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |one: &Attachment| by_id(one.id)).await
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, attachment: AttachmentId) -> Result<(), Error> {
    ATTACHMENTS.delete(t, [id(scope.organization()), id(attachment)]).await
}
