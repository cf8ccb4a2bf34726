//! `GET /v1/events`: the events of the organization as a stream.

use std::convert::Infallible;
use std::time::Duration;

use attestry_app::feed::{self, EntrySummary, Follower, StreamEvent};
use attestry_domain::Time;
use attestry_domain::access::Permission;
use attestry_domain::journal::feed::Follow;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::streams::private_stream;
use attestry_http::request::caller::GrantedForLong;
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::stream::{iter, unfold};
use futures_util::{Stream, StreamExt};
use http::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

const LAST_EVENT_ID: &str = "last-event-id";
/// The delay before a client reconnects.
const RETRY: Duration = Duration::from_secs(3);

/// The `data` of an event: the entity, and the time of the change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event, example = json!({"entityType": "risk", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "at": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct EventView<'a> {
    entity_type: &'a str,
    entity_id: &'a str,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
}

/// Converts a journal entry to an event.
fn event(told: &EntrySummary) -> Event {
    let EntrySummary { sequence, at, action, entity_type, entity_id } = told;
    let view = EventView { entity_type, entity_id, at: *at };
    // Serialization cannot fail: every field is text.
    let data = serde_json::to_string(&view).unwrap_or_default();
    Event::default().id(sequence.to_string()).event(action).data(data)
}

fn shown(said: StreamEvent) -> Vec<Event> {
    match said {
        StreamEvent::Begin(at) => vec![Event::default().id(at.to_string()).retry(RETRY)],
        StreamEvent::Reset(at) => {
            vec![Event::default().id(at.to_string()).retry(RETRY).event("reset").data("{}")]
        }
        StreamEvent::Entries(entries) => entries.iter().map(|told| event(told)).collect(),
        StreamEvent::Silence(None) => vec![Event::default().comment("")],
        StreamEvent::Silence(Some(at)) => vec![Event::default().id(at.to_string()).comment("")],
    }
}

/// Streams the events. The next batch is read after the client has received the previous one.
fn events(follower: Follower) -> impl Stream<Item = Result<Event, Infallible>> {
    let all = unfold(follower, |mut follower| async move {
        let said = follower.next().await?;
        Some((iter(shown(said)), follower))
    });
    all.flatten().fuse().map(Ok)
}

/// Parses the `Last-Event-ID` header.
fn last_event(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|text| text.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(Problem::new(
            "bad_request",
            "Last-Event-ID is not the id of an event; send the last id you received, or leave it out.",
        )),
    }
}

/// Returns the permissions with which a caller can follow some of the events.
fn permissions() -> Value {
    Follow::any().iter().filter(|one| *one != Permission::AuditRead).map(Permission::as_str).collect()
}

/// Streams the events of the organization
///
/// Server-sent events, one for each entry of the audit log that you may see: `id` is its sequence, `event` its
/// action, and `data` an `Event`. With `audit-log:read` these are all entries; otherwise those about records that
/// your permissions let you read.
///
/// With `Last-Event-ID`, the events since then come first, in order. A client that has missed more than 5,000
/// entries, or whose id is unknown, gets one event `reset` with `{}`: reload everything. An `id` without an event
/// reports the current position of the stream. A comment every 15 seconds keeps the connection open. The stream ends
/// when the session or key is no longer valid, or its permissions change. A member can have at most 20 open streams;
/// beyond that, or beyond the limits of the organization or the server, the response is a 429.
#[utoipa::path(
    get, path = "/v1/events", tag = "Events",
    params(("Last-Event-ID" = Option<String>, Header, nullable = false, pattern = "^[0-9]+$", description = "The last `id` that was received: what happened since comes first. Without it, events from now on.")),
    responses((
        status = 200, content_type = "text/event-stream", body = String, description = "The events, as they happen.",
        example = json!("id: 41\nretry: 3000\n\nid: 42\nevent: risk.updated\ndata: {\"entityType\":\"risk\",\"entityId\":\"rsk_01jcqg3v5mefzr7d0a6w3k9x2b\",\"at\":\"2026-11-15T09:30:00.000Z\"}\n\n: \n\n")
    )),
    extensions(
        ("x-or-permission" = json!(permissions())), ("x-event" = json!({"$ref": "#/components/schemas/Event"}))
    )
)]
pub(crate) async fn follow_events(
    api: State<Api>,
    caller: GrantedForLong<Follow>,
    _none: ValidQuery<NoQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (after, most) = (last_event(&headers)?, api.http.event_streams);
    let follower = feed::follow(&api.ctx, caller.lasting(), after, most, api.http.keep_alive).await?;
    Ok(private_stream(events(follower)))
}
