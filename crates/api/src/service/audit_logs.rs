//! `/v1/audit-logs`: the journal, read-only.

use attestry_app::core::journal;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::{ActorType, AuthType, Scope, grant};
use attestry_domain::any_of::AnyOf;
use attestry_domain::date::Moment;
use attestry_domain::hash::hex;
use attestry_domain::id::{EntryId, MemberId, OrganizationId};
use attestry_domain::journal::{Change, Entry, EntryFilter, EntryName, ShownEntry, changes};
use attestry_domain::page::{After, Key, Order, Page};
use attestry_domain::plain::Plain;
use attestry_domain::text::Name;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, Shape, all_rows, download};
use attestry_http::answer::tables::{Cell, text};
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, NoQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{IntoParams, ToSchema};

use crate::service::files::FileBytes;

/// Returns the tag of the cursors of an order.
fn cursor(order: Order) -> &'static str {
    match order {
        Order::Descending => "audit-logs",
        Order::Ascending => "audit-logs asc",
    }
}

/// The actor of an entry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"type": "key", "id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "memberName": "Ada Byron"}))]
pub(crate) struct ActorView {
    #[schema(schema_with = schema_of::<ActorType>)]
    r#type: ActorType,
    id: String,
    /// The current name of the member or key.
    #[schema(required)]
    name: Option<String>,
    /// The member who acted, or the owner of the key.
    #[schema(value_type = Option<String>, required)]
    member_id: Option<MemberId>,
    /// The current name of that member.
    #[schema(required)]
    member_name: Option<String>,
}

/// A field that changed.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Change)]
#[schema(example = json!({"field": "department", "before": "none", "after": "it"}))]
pub(crate) struct ChangeView {
    field: String,
    #[schema(value_type = Value, required)]
    before: Value,
    #[schema(value_type = Value, required)]
    after: Value,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry, example = json!(entry_example()))]
pub(crate) struct EntryView {
    #[schema(value_type = String, example = "aud_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: EntryId,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    /// The number of the entry, counted from 1 without gaps.
    sequence: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    actor: ActorView,
    #[schema(required, schema_with = schema_of::<Option<AuthType>>)]
    auth_type: Option<AuthType>,
    action: String,
    entity_type: String,
    entity_id: String,
    /// The name of the entity, if known.
    #[schema(required)]
    entity_name: Option<String>,
    /// The entity's short reference, if it has one.
    #[schema(required)]
    reference: Option<String>,
    /// The whole entity after the change; null when it was deleted or its state was erased.
    #[schema(value_type = Option<Object>, required)]
    state: Option<Box<RawValue>>,
    /// The changes since the previous entry about the entity.
    changes: Vec<ChangeView>,
    request_id: String,
    #[schema(required)]
    ip: Option<String>,
    /// The hash of this entry, which covers the previous one: SHA-256 in hexadecimal.
    hash: String,
}

fn entry_example() -> Value {
    json!({
        "id": "aud_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "sequence": 42,
        "at": "2026-11-15T09:30:00.000Z",
        "actor": {"type": "key", "id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "memberName": "Ada Byron"},
        "authType": "api-key", "action": "member.updated", "entityType": "member",
        "entityId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "entityName": "Grace Hopper", "reference": null, "state": {"department": "it"},
        "changes": [{"field": "department", "before": "none", "after": "it"}],
        "requestId": "01jcqg3v5mefzr7d0a6w3k9x2b", "ip": "192.0.2.7",
        "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    })
}

impl From<ShownEntry> for EntryView {
    fn from(shown: ShownEntry) -> Self {
        let EntryName { name: entity_name, reference } = shown.subject();
        let ShownEntry { entry, before, key_name, member_name, .. } = shown;
        // Exports and operations change nothing, so their entries are not compared with the previous one.
        let before = before.filter(|_| !matches!(entry.entity_type.as_str(), "export" | "operation"));
        let changes =
            changes(before.as_deref(), entry.state.as_deref()).into_iter().map(Into::into).collect();
        let name = match entry.actor_type {
            ActorType::Key => key_name,
            _ => member_name.clone(),
        };
        let Entry {
            id,
            organization_id,
            sequence,
            at,
            actor_type,
            actor_id,
            member_id,
            auth_type,
            action,
            entity_type,
            entity_id,
            state,
            state_hash: _,
            request_id,
            ip,
            hash,
        } = entry;
        Self {
            id,
            organization_id,
            sequence,
            at,
            actor: ActorView { r#type: actor_type, id: actor_id, name, member_id, member_name },
            auth_type,
            action,
            entity_type,
            entity_id,
            entity_name,
            reference,
            state: state.and_then(|text| RawValue::from_string(text).ok()),
            changes,
            request_id,
            ip,
            hash: hex(&hash),
        }
    }
}

page_of! {
    pub(crate) EntryList = EntryView, "EntryList", entry_example()
}

/// Builds a page of an entity's history, newest first.
pub(crate) fn history(page: Page<ShownEntry>) -> EntryList {
    EntryList::new(page.items, lists::next_cursor(cursor(Order::Descending), page.next), None)
}

/// The page parameters of an entity's history.
#[derive(Debug)]
pub(crate) struct ListHistory {
    pub(crate) limit: u16,
    pub(crate) before: Option<i64>,
}

impl FromQuery for ListHistory {
    fn read(query: &mut Query) -> Self {
        Self { limit: lists::limit(query), before: beyond(query, Order::Descending) }
    }
}

impl IntoParams for ListHistory {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        lists::plain_parameters()
    }
}

/// Reads the sequence that a page follows.
fn beyond(query: &mut Query, order: Order) -> Option<i64> {
    lists::cursor(query, cursor(order), |key| matches!(key, Key::Number(_))).as_ref().and_then(sequence)
}

fn sequence(after: &After) -> Option<i64> {
    if let Key::Number(sequence) = after.key { Some(sequence) } else { None }
}

#[derive(Debug)]
pub(crate) struct ListEntries {
    filter: EntryFilter,
    order: Order,
    limit: u16,
    /// The sequence that the page follows.
    beyond: Option<i64>,
    offset: u64,
    total: bool,
}

fn filter(query: &mut Query) -> EntryFilter {
    EntryFilter {
        entity_type: query.any_of("entityType"),
        entity_id: query.get::<Name>("entityId").map(String::from),
        actor: query.get::<Name>("actor").map(String::from),
        action: query.any_of("action"),
        from: query.get::<Moment>("from").map(Moment::start),
        to: query.get::<Moment>("to").map(Moment::limit),
    }
}

impl FromQuery for ListEntries {
    fn read(query: &mut Query) -> Self {
        let order = lists::order(query, Order::Descending);
        Self {
            filter: filter(query),
            order,
            limit: lists::limit_by(if query.has("take") { "take" } else { "limit" }, query),
            beyond: beyond(query, order),
            offset: lists::offset(query),
            total: lists::total(query),
        }
    }
}

fn filter_parameters() -> Vec<Parameter> {
    vec![
        lists::parameter(
            "entityType",
            schema_of::<AnyOf<Name>>(),
            "Only entries about this kind of thing, such as `member`.",
        ),
        lists::parameter("entityId", lists::text(), "Only entries about this one thing."),
        lists::parameter("actor", lists::text(), "Only what this member, key or user did."),
        lists::parameter(
            "action",
            schema_of::<AnyOf<Name>>(),
            "Only entries with this action, such as `member.updated`.",
        ),
        lists::parameter(
            "from",
            schema_of::<Moment>(),
            "Only entries at or after this time; a date means its beginning in UTC.",
        ),
        lists::parameter(
            "to",
            schema_of::<Moment>(),
            "Only entries before this time; a date means up to its end in UTC.",
        ),
    ]
}

impl IntoParams for ListEntries {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.extend(lists::plain_parameters());
        let take = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(1000));
        all.push(lists::parameter("take", take.into(), "The same as `limit`."));
        all.extend(lists::order_parameters("`desc` for the newest entries first, the default, or `asc`."));
        all.push(lists::offset_parameter());
        all.push(lists::total_parameter());
        all
    }
}

/// Lists the audit log
#[utoipa::path(
    get, path = "/v1/audit-logs", tag = "Audit log", params(ListEntries),
    responses((status = 200, body = EntryList, description = "Entries, newest first by default."))
)]
pub(crate) async fn list_audit_logs(
    api: State<Api>,
    scope: Granted<grant::AuditRead>,
    query: ValidQuery<ListEntries>,
) -> Result<Json<EntryList>, Problem> {
    let ValidQuery(ListEntries { filter, order, limit, beyond, offset, total }) = query;
    let read = |limit, after: Option<After>| {
        let beyond = after.as_ref().and_then(sequence).or(beyond);
        journal::list(&api.ctx, &scope, filter.clone(), order, limit, beyond)
    };
    let page = lists::page_at_offset(offset, limit, None, read).await?;
    let total = if total { Some(journal::count(&api.ctx, &scope, filter).await?) } else { None };
    Ok(Json(EntryList::new(page.items, lists::next_cursor(cursor(order), page.next), total)))
}

#[derive(Debug)]
pub(crate) struct ExportEntries {
    filter: EntryFilter,
    shape: Shape,
}

impl FromQuery for ExportEntries {
    fn read(query: &mut Query) -> Self {
        Self { filter: filter(query), shape: Shape::read(query) }
    }
}

impl IntoParams for ExportEntries {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = filter_parameters();
        all.extend(Shape::parameters());
        all
    }
}

/// The columns of the exported table, with their display widths.
const COLUMNS: &[(&str, u16)] = &[
    ("sequence", 10),
    ("at", 20),
    ("action", 24),
    ("entityType", 16),
    ("entityId", 32),
    ("entityName", 40),
    ("reference", 12),
    ("actorType", 12),
    ("actorId", 32),
    ("actorName", 24),
    ("memberId", 32),
    ("memberName", 24),
    ("authType", 12),
    ("changes", 60),
    ("requestId", 32),
    ("ip", 20),
    ("hash", 66),
];

fn cells(entry: ShownEntry) -> Vec<Cell> {
    let view = EntryView::from(entry);
    let optional = |value: Option<String>| value.map_or(Plain::Null, text);
    vec![
        Plain::Int(view.sequence),
        Plain::Time(view.at),
        text(view.action),
        text(view.entity_type),
        text(view.entity_id),
        optional(view.entity_name),
        optional(view.reference),
        text(view.actor.r#type.as_str()),
        text(view.actor.id),
        optional(view.actor.name),
        optional(view.actor.member_id.map(|id| id.to_string())),
        optional(view.actor.member_name),
        optional(view.auth_type.map(|auth| auth.to_string())),
        text(serde_json::to_string(&view.changes).unwrap_or_default()),
        text(view.request_id),
        optional(view.ip),
        text(view.hash),
    ]
}

/// Downloads the audit log as a table
///
/// The export is recorded in the audit log.
#[utoipa::path(
    get, path = "/v1/audit-logs/export", tag = "Audit log", params(ExportEntries),
    responses((status = 200, description = "The entries, newest first.", content(
        (String = "text/csv"), (FileBytes = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    )))
)]
pub(crate) async fn export_audit_logs(
    api: State<Api>,
    scope: Granted<grant::AuditRead>,
    query: ValidQuery<ExportEntries>,
    RawQuery(asked): RawQuery,
    method: Method,
) -> Result<Response, Problem> {
    let ValidQuery(ExportEntries { filter, shape }) = query;
    if method != Method::HEAD {
        let (format, asked) = (shape.format.as_str(), asked.unwrap_or_default());
        journal::exported(&api.ctx, &scope, "audit_log.exported", "audit_log", format, &asked).await?;
    }
    let file_name = format!("audit-log-{}", scope.today(api.ctx.now()));
    let (api, scope): (Api, Scope) = (api.0.clone(), (*scope).clone());
    let rows = all_rows(None, cells, move |after, limit| {
        let (api, scope, filter) = (api.clone(), scope.clone(), filter.clone());
        let before = after.as_ref().and_then(sequence);
        async move { journal::list(&api.ctx, &scope, filter, Order::Descending, limit, before).await }
    });
    let columns = COLUMNS.iter().map(|(name, width)| Column { name, width: *width }).collect();
    download("audit-log", &file_name, shape, columns, rows).await
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditHead, example = json!({
    "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "sequence": 42,
    "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "at": "2026-11-15T09:30:00.000Z", "keyId": "3f1b7c2d9e8a4650",
    "signature": "kJ3vQ0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0kJ3vQ0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6fw=="
}))]
pub(crate) struct HeadView {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    sequence: i64,
    /// The hash of the last entry: SHA-256 in hexadecimal.
    hash: String,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    /// The id of the signing key in `/.well-known/attestry-keys.json`.
    key_id: String,
    /// Ed25519 over the canonical JSON of `at`, `hash`, `organizationId` and `sequence`: base64.
    signature: String,
}

/// Shows the signed head of the audit log
///
/// Store it outside this server: `attestry audit verify --head` then proves that no entry before it was changed or
/// cut off.
#[utoipa::path(
    get, path = "/v1/audit-logs/head", tag = "Audit log",
    responses((status = 200, body = HeadView, description = "The head."))
)]
pub(crate) async fn get_audit_head(
    api: State<Api>,
    scope: Granted<grant::AuditRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<HeadView>, Problem> {
    let signed = journal::head(&api.ctx, &scope).await?;
    Ok(Json(HeadView {
        organization_id: signed.head.organization_id,
        sequence: signed.head.sequence,
        hash: hex(&signed.head.hash),
        at: signed.head.at,
        key_id: signed.signing_key,
        signature: STANDARD.encode(signed.signature),
    }))
}
