//! `/v1/audit-logs`: the journal, read-only.

use attestry_app::journal;
use attestry_domain::Time;
use attestry_domain::access::{ActorType, AuthType, grant};
use attestry_domain::id::{EntryId, MemberId, OrganizationId};
use attestry_domain::journal::{Change, Entry, EntryFilter, changes, hex};
use attestry_domain::page::{After, Key, Page};
use attestry_domain::text::Name;
use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::caller::Granted;
use crate::lists;
use crate::problem::Problem;
use crate::query::{Asked, FromQuery, NoQuery, Query};
use crate::state::Api;

const CURSOR: &str = "audit-logs";

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"type": "key", "id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"}))]
pub(crate) struct ActorView {
    #[schema(inline)]
    r#type: ActorType,
    id: String,
    /// The member who acted, or whose key did.
    #[schema(value_type = Option<String>, required)]
    member_id: Option<MemberId>,
}

/// A field that changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"field": "department", "before": "none", "after": "it"}))]
pub(crate) struct ChangeView {
    field: String,
    #[schema(value_type = Value, required)]
    before: Value,
    #[schema(value_type = Value, required)]
    after: Value,
}

impl From<Change> for ChangeView {
    fn from(Change { field, before, after }: Change) -> Self {
        Self { field, before, after }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry, example = json!(entry_example()))]
pub(crate) struct EntryView {
    #[schema(value_type = String, example = "aud_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: EntryId,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    /// 1, 2, 3 … without gaps.
    sequence: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    actor: ActorView,
    #[schema(inline, required)]
    auth_type: Option<AuthType>,
    action: String,
    entity_type: String,
    entity_id: String,
    /// The whole entity after the change; null when it was deleted or its state was erased.
    #[schema(value_type = Option<Object>, required)]
    state: Option<Box<RawValue>>,
    /// What changed since the entity's entry before.
    changes: Vec<ChangeView>,
    request_id: String,
    #[schema(required)]
    ip: Option<String>,
    /// The hash of this entry, which covers the one before: hexadecimal SHA-256.
    hash: String,
}

fn entry_example() -> Value {
    json!({
        "id": "aud_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "sequence": 42,
        "at": "2026-11-15T09:30:00.000Z",
        "actor": {"type": "key", "id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"},
        "authType": "api-key", "action": "member.updated", "entityType": "member",
        "entityId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "state": {"department": "it"},
        "changes": [{"field": "department", "before": "none", "after": "it"}],
        "requestId": "01jcqg3v5mefzr7d0a6w3k9x2b", "ip": "192.0.2.7",
        "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    })
}

impl From<(Entry, Option<String>)> for EntryView {
    fn from((entry, before): (Entry, Option<String>)) -> Self {
        let changes =
            changes(before.as_deref(), entry.state.as_deref()).into_iter().map(Into::into).collect();
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
            actor: ActorView { r#type: actor_type, id: actor_id, member_id },
            auth_type,
            action,
            entity_type,
            entity_id,
            state: state.and_then(|text| RawValue::from_string(text).ok()),
            changes,
            request_id,
            ip,
            hash: hex(&hash),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [entry_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct EntryList {
    pub(crate) data: Vec<EntryView>,
    /// How many items this page holds.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
}

impl EntryList {
    pub(crate) fn new(page: Page<(Entry, Option<String>)>) -> Self {
        let next_cursor = lists::next_cursor(CURSOR, page.next);
        let data: Vec<EntryView> = page.items.into_iter().map(Into::into).collect();
        Self { count: data.len(), data, next_cursor }
    }
}

/// Which page of the entries about one thing is wanted.
#[derive(Debug)]
pub(crate) struct ListHistory {
    pub(crate) limit: u16,
    pub(crate) before: Option<i64>,
}

impl FromQuery for ListHistory {
    fn read(query: &mut Query) -> Self {
        Self { limit: lists::limit(query), before: before(query) }
    }
}

impl IntoParams for ListHistory {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        lists::plain_parameters()
    }
}

fn before(query: &mut Query) -> Option<i64> {
    match lists::cursor(query, CURSOR, |key| matches!(key, Key::Number(_))) {
        Some(After { key: Key::Number(sequence), .. }) => Some(sequence),
        _ => None,
    }
}

#[derive(Debug)]
pub(crate) struct ListEntries {
    filter: EntryFilter,
    limit: u16,
    before: Option<i64>,
}

impl FromQuery for ListEntries {
    fn read(query: &mut Query) -> Self {
        let mut word = |name: &str| query.get::<Name>(name).map(String::from);
        let (entity_type, entity_id) = (word("entityType"), word("entityId"));
        let (actor, action) = (word("actor"), word("action"));
        let filter = EntryFilter {
            entity_type,
            entity_id,
            actor,
            action,
            from: query.get("from"),
            to: query.get("to"),
        };
        Self { filter, limit: lists::limit(query), before: before(query) }
    }
}

impl IntoParams for ListEntries {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = vec![
            lists::parameter(
                "entityType",
                lists::text(),
                "Only entries about this kind of thing, such as `member`.",
            ),
            lists::parameter("entityId", lists::text(), "Only entries about this one thing."),
            lists::parameter("actor", lists::text(), "Only what this member, key or user did."),
            lists::parameter("action", lists::text(), "Only this action, such as `member.updated`."),
            lists::parameter("from", Time::schema(), "Only entries at or after this moment."),
            lists::parameter("to", Time::schema(), "Only entries before this moment."),
        ];
        all.extend(lists::plain_parameters());
        all
    }
}

/// Lists the audit log
#[utoipa::path(
    get, path = "/v1/audit-logs", tag = "Audit log", params(ListEntries),
    responses((status = 200, body = EntryList, description = "Entries, newest first.")),
    extensions(("x-permission" = json!("audit-log:read")))
)]
pub(crate) async fn list_audit_logs(
    api: State<Api>,
    scope: Granted<grant::AuditRead>,
    asked: Asked<ListEntries>,
) -> Result<Json<EntryList>, Problem> {
    let Asked(ListEntries { filter, limit, before }) = asked;
    Ok(Json(EntryList::new(journal::list(&api.ctx, &scope, filter, limit, before).await?)))
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
    /// The hash of the last entry: hexadecimal SHA-256.
    hash: String,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    /// Which key of `/.well-known/attestry-keys.json` signed it.
    key_id: String,
    /// Ed25519 over the canonical JSON of `at`, `hash`, `organizationId` and `sequence`: base64.
    signature: String,
}

/// Shows the signed end of the audit log
///
/// Keep it elsewhere: `attestry audit verify --head` then proves that nothing before it was changed
/// or cut off.
#[utoipa::path(
    get, path = "/v1/audit-logs/head", tag = "Audit log",
    responses((status = 200, body = HeadView, description = "The head.")),
    extensions(("x-permission" = json!("audit-log:read")))
)]
pub(crate) async fn get_audit_head(
    api: State<Api>,
    scope: Granted<grant::AuditRead>,
    _none: Asked<NoQuery>,
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
