//! `/v1/inbox`: the notifications of the caller.

use attestry_app::notices::inbox;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{InboxItemId, MemberId, kind};
use attestry_domain::identity::inbox::{InboxFilter, InboxItem, Marked};
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::After;
use attestry_http::answer::lists;
use attestry_http::answer::problem::{FieldProblem, Problem};
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::Ids;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// A notification.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InboxItem, example = json!(item_example()))]
pub(crate) struct ItemView {
    #[schema(value_type = String)]
    id: InboxItemId,
    #[schema(schema_with = schema_of::<Notice>)]
    kind: Notice,
    text: String,
    /// The kind of record that it is about; null if it is about several.
    #[schema(required)]
    entity_type: Option<String>,
    #[schema(required)]
    entity_id: Option<String>,
    /// The member who caused it; null if the product did.
    #[schema(required, value_type = Option<String>)]
    actor_id: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// Null while it is unread.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    read_at: Option<Time>,
}

fn item_example() -> Value {
    json!({
        "id": "inb_01jcqg3v5mefzr7d0a6w3k9x2b", "kind": "assigned", "text": "T-14 Review access rights",
        "entityType": "task", "entityId": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b",
        "actorId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z", "readAt": null
    })
}

impl From<InboxItem> for ItemView {
    fn from(item: InboxItem) -> Self {
        let InboxItem { id, member_id: _, kind, text, about, actor_id, created_at, read_at } = item;
        let (entity_type, entity_id) = about.map(|about| (about.entity_type, about.entity_id)).unzip();
        Self { id, kind, text, entity_type, entity_id, actor_id, created_at, read_at }
    }
}

/// A page of the inbox.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Inbox, example = json!({"data": [item_example()], "count": 1, "nextCursor": null, "unread": 1}))]
pub(crate) struct InboxView {
    data: Vec<ItemView>,
    /// The number of items in this page.
    count: usize,
    /// Where the next page starts; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    /// The number of all unread items.
    unread: i64,
}

/// The filter and the page of an inbox.
#[derive(Debug)]
pub(crate) struct ListInbox {
    filter: InboxFilter,
    limit: u16,
    after: Option<After>,
}

impl FromQuery for ListInbox {
    fn read(query: &mut Query) -> Self {
        let filter = InboxFilter { unread: query.get("unread").unwrap_or(false), kind: query.get("kind") };
        Self { filter, limit: lists::limit(query), after: lists::after_id(query) }
    }
}

impl IntoParams for ListInbox {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = vec![
            lists::parameter("unread", lists::flag(), "true lists only unread items."),
            lists::parameter("kind", schema_of::<Notice>(), "Only items of this kind."),
        ];
        all.extend(lists::plain_parameters());
        all
    }
}

/// Lists your notifications
///
/// Newest first. A due date is left out once its task is done. Notifications are kept for a year.
#[utoipa::path(
    get, path = "/v1/inbox", tag = "Inbox", params(ListInbox),
    responses((status = 200, body = InboxView, description = "The notifications."))
)]
pub(crate) async fn list_inbox(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    query: ValidQuery<ListInbox>,
) -> Result<Json<InboxView>, Problem> {
    let ValidQuery(ListInbox { filter, limit, after }) = query;
    let (page, unread) = inbox::list(&api.ctx, &scope, filter, limit, after).await?;
    let data: Vec<ItemView> = page.items.into_iter().map(Into::into).collect();
    Ok(Json(InboxView { count: data.len(), data, next_cursor: lists::next_id(page.next), unread }))
}

body! {
    /// The notifications to mark.
    MarkInbox (Medium) {
        ids "ids": optional Ids<kind::InboxItem> = "These notifications; or else give `upTo`.",
        up_to "upTo": optional InboxItemId = "This notification and all older ones.",
        is_read "isRead": optional bool = "False marks them as unread; true if it is left out.",
    }
    example json!({"ids": ["inb_01jcqg3v5mefzr7d0a6w3k9x2b"]})
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"unread": 2}))]
pub(crate) struct Unread {
    /// The number of notifications that are unread now.
    unread: i64,
}

/// Marks notifications as read or unread
///
/// Not recorded in the audit log.
#[utoipa::path(
    post, path = "/v1/inbox/read", tag = "Inbox", request_body = MarkInbox,
    responses((status = 200, body = Unread, description = "The number of unread notifications."))
)]
pub(crate) async fn mark_inbox(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    Valid(body): Valid<MarkInbox>,
) -> Result<Json<Unread>, Problem> {
    let marked = match (body.ids, body.up_to) {
        (Some(ids), None) => Marked::Some(ids.0),
        (None, Some(last)) => Marked::UpTo(last),
        _ => {
            return Err(Problem::invalid(vec![FieldProblem::new(
                "ids",
                "is required, or else upTo; not both",
            )]));
        }
    };
    let unread = inbox::mark(&api.ctx, &scope, marked, body.is_read.unwrap_or(true)).await?;
    Ok(Json(Unread { unread }))
}
