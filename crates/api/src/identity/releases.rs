//! `/v1/people/{id}/released`: the records that a member had when they left, and handing them over.

use attestry_app::registers::releases::{self, Released};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{MemberId, kind};
use attestry_domain::identity::releases::{Release, ReleasedKind};
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A record that a member had when they left.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Released, example = json!(released_example()))]
pub(crate) struct ReleasedView {
    #[schema(schema_with = schema_of::<ReleasedKind>)]
    entity_type: ReleasedKind,
    entity_id: String,
    /// As people name it.
    reference: String,
    title: String,
    /// The current assignee; null if the record is unassigned.
    #[schema(required, value_type = Option<String>)]
    assignee_id: Option<MemberId>,
    /// The member to whom it was handed over.
    #[schema(required, value_type = Option<String>)]
    handed_to: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    released_at: Time,
}

fn released_example() -> Value {
    json!({
        "entityType": "risk", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "R-7", "title": "Phishing",
        "assigneeId": null, "handedTo": null, "releasedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<Released> for ReleasedView {
    fn from(released: Released) -> Self {
        let Released { release, reference, title, assignee } = released;
        let Release {
            id: _,
            organization_id: _,
            member_id: _,
            entity_type,
            entity_id,
            handed_to,
            released_at,
        } = release;
        Self { entity_type, entity_id, reference, title, assignee_id: assignee, handed_to, released_at }
    }
}

page_of! {
    pub(crate) ReleasedList = ReleasedView, "ReleasedList", released_example(), HAS_TOTAL = false
}

/// Lists the records released by a member
///
/// A member who is reactivated within 30 days gets back each record that is still unassigned, or still with the member to
/// whom it was handed over.
#[utoipa::path(
    get, path = "/v1/people/{id}/released", tag = "People", params(ById),
    responses((status = 200, body = ReleasedList, description = "The records, oldest release first."))
)]
pub(crate) async fn list_released(
    api: State<Api>,
    scope: Granted<grant::MemberRead>,
    id: PathId<kind::Member>,
    query: ValidQuery<ById>,
) -> Result<Json<ReleasedList>, Problem> {
    let (member, ValidQuery(ById { limit, after, total: _ })) = (id.found()?, query);
    let page = releases::list(&api.ctx, &scope, member, limit, after).await?;
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, None)))
}

body! {
    /// A hand-over of released records.
    HandOver {
        to_member_id "toMemberId": required MemberId = "The member who gets it.",
        entity_types "entityTypes": optional Vec<ReleasedKind> = "Only records of these kinds; all by default.",
    }
    example json!({"toMemberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "entityTypes": ["risk", "task"]})
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"moved": 3}))]
pub(crate) struct HandedOver {
    /// The number of records that moved.
    moved: usize,
}

/// Hands over the records of a former member
///
/// Assigns records that are unassigned, or were handed over before, to another member. Needs the permission to change
/// records of each kind.
#[utoipa::path(
    post, path = "/v1/people/{id}/handover", tag = "People", request_body = HandOver,
    responses((status = 200, body = HandedOver, description = "The number of records that moved."))
)]
pub(crate) async fn hand_over(
    api: State<Api>,
    scope: Granted<grant::MemberUpdate>,
    id: PathId<kind::Member>,
    body: Valid<HandOver>,
) -> Result<Json<HandedOver>, Problem> {
    let HandOver { to_member_id, entity_types } = body.0;
    let moved = releases::hand_over(&api.ctx, &scope, id.found()?, to_member_id, entity_types).await?;
    Ok(Json(HandedOver { moved }))
}
