//! `/v1/chat-channels`: incoming webhooks of Slack or Teams that hear of notifications.

use attestry_app::notices::chat::{self, ChannelPatch, NewChannel};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{ChatChannelId, kind};
use attestry_domain::identity::chat_channels::{
    CHANNEL_NOTICES, ChatChannel, ChatKind, Delivery, WebhookUrl,
};
use attestry_domain::identity::notices::Notice;
use attestry_domain::text::{Name, Parse};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue, distinct, not_empty};
use attestry_http::request::path::PathId;
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// The outcome of the last message.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Delivery)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChatDelivery, example = json!({"at": "2026-11-15T09:30:00.000Z", "isDelivered": false, "detail": "answered 404: the service does not know the address; check the webhook"}))]
pub(crate) struct DeliveryView {
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    is_delivered: bool,
    /// The reason of a failure.
    #[schema(required)]
    detail: Option<String>,
}

/// A channel that hears of notifications.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(ChatChannel)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChatChannel, example = json!(channel_example()))]
pub(crate) struct ChannelView {
    #[schema(value_type = String)]
    id: ChatChannelId,
    #[view(one.name.to_string())]
    name: String,
    #[schema(schema_with = schema_of::<ChatKind>)]
    kind: ChatKind,
    /// The host and the last characters of the address, which is a secret.
    url_hint: String,
    #[schema(schema_with = notices_schema)]
    notices: Vec<Notice>,
    /// False while it is switched off.
    is_active: bool,
    /// Null before the first message.
    #[schema(required)]
    #[view(one.last_delivery.map(Into::into))]
    last_delivery: Option<DeliveryView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn channel_example() -> Value {
    json!({
        "id": "chn_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Compliance", "kind": "slack",
        "urlHint": "hooks.slack.com/…wXyZ", "notices": ["assigned", "overdue"], "isActive": true,
        "lastDelivery": null, "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) ChannelList = ChannelView, "ChatChannelList", channel_example(), HAS_TOTAL = false
}

fn notices_schema() -> RefOr<Schema> {
    Notices::schema()
}

/// Kinds of notifications in a body.
#[derive(Clone, Debug)]
pub(crate) struct Notices(Vec<Notice>);

impl FromJson for Notices {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let words = CHANNEL_NOTICES.iter().map(|notice| notice.as_str()).collect::<Vec<_>>().join(", ");
        let read = |item: &JsonValue| {
            let notice = Notice::parse(&item.text()?).ok().filter(|one| CHANNEL_NOTICES.contains(one));
            notice.ok_or_else(|| format!("must be one of: {words}"))
        };
        let mut all = distinct(not_empty(json.each(CHANNEL_NOTICES.len(), read)?)?, |notice| *notice)?;
        all.sort_unstable();
        Ok(Self(all))
    }

    fn schema() -> RefOr<Schema> {
        let words: Vec<&str> = CHANNEL_NOTICES.iter().map(|notice| notice.as_str()).collect();
        schema(json!({
            "type": "array", "minItems": 1, "maxItems": words.len(), "uniqueItems": true,
            "items": {"type": "string", "enum": words}
        }))
    }
}

body! {
    /// A channel to add.
    CreateChatChannel {
        name "name": required Name = "Its name in the console.",
        kind "kind": required ChatKind = "The message format: `slack` also suits services that accept its format, such as Mattermost.",
        url "url": required WebhookUrl = "The address of the incoming webhook. It is encrypted, and never shown again.",
        notices "notices": required Notices = "The kinds of notifications to send.",
    }
    example json!({
        "name": "Compliance", "kind": "slack", "url": "https://hooks.slack.com/services/T000/B000/abcdefghijklmnop",
        "notices": ["assigned", "overdue"]
    })
}

body! {
    /// A change of a channel. Fields that are left out stay as they are.
    UpdateChatChannel {
        name "name": optional Name = "Its name in the console.",
        kind "kind": optional ChatKind = "The message format.",
        url "url": optional WebhookUrl = "The address of the incoming webhook.",
        notices "notices": optional Notices = "The kinds of notifications to send.",
        is_active "isActive": optional bool = "False switches it off.",
    }
    example json!({"isActive": false})
}

/// Lists the chat channels
///
/// Oldest first.
#[utoipa::path(
    get, path = "/v1/chat-channels", tag = "Chat channels",
    responses((status = 200, body = ChannelList, description = "The channels."))
)]
pub(crate) async fn list_chat_channels(
    api: State<Api>,
    scope: Granted<grant::OrganizationRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<ChannelList>, Problem> {
    Ok(Json(PageView::whole(chat::list(&api.ctx, &scope).await?)))
}

/// Adds a chat channel
#[utoipa::path(
    post, path = "/v1/chat-channels", tag = "Chat channels", request_body = CreateChatChannel,
    responses((status = 201, body = ChannelView, description = "The channel."))
)]
pub(crate) async fn create_chat_channel(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    Valid(body): Valid<CreateChatChannel>,
) -> Result<Response, Problem> {
    let CreateChatChannel { name, kind, url, notices } = body;
    let channel = chat::create(&api.ctx, &scope, NewChannel { name, kind, url, notices: notices.0 }).await?;
    Ok(with_tag(StatusCode::CREATED, &[channel.version], ChannelView::from(channel)))
}

/// Changes a chat channel
#[utoipa::path(
    patch, path = "/v1/chat-channels/{channelId}", tag = "Chat channels", request_body = UpdateChatChannel,
    responses((status = 200, body = ChannelView, description = "The channel."))
)]
pub(crate) async fn update_chat_channel(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    id: PathId<kind::ChatChannel>,
    conditions: Conditions,
    Valid(body): Valid<UpdateChatChannel>,
) -> Result<Response, Problem> {
    let UpdateChatChannel { name, kind, url, notices, is_active } = body;
    let patch = ChannelPatch { name, kind, url, notices: notices.map(|notices| notices.0), is_active };
    let channel = chat::update(&api.ctx, &scope, id.found()?, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[channel.version], ChannelView::from(channel)))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "The channel is deleted."}))]
pub(crate) struct ChannelDeletion {
    success: bool,
    message: &'static str,
}

/// Deletes a chat channel
#[utoipa::path(
    delete, path = "/v1/chat-channels/{channelId}", tag = "Chat channels",
    responses((status = 200, body = ChannelDeletion, description = "The channel is deleted."))
)]
pub(crate) async fn delete_chat_channel(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    id: PathId<kind::ChatChannel>,
    conditions: Conditions,
) -> Result<Json<ChannelDeletion>, Problem> {
    chat::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(ChannelDeletion { success: true, message: "The channel is deleted." }))
}

/// Sends a test message to a chat channel
///
/// The message is sent in the background; `lastDelivery` of the channel then shows the outcome. A channel that is
/// switched off is sent it, too.
#[utoipa::path(
    post, path = "/v1/chat-channels/{channelId}/test", tag = "Chat channels",
    responses((status = 202, body = ChannelView, description = "The message is on its way."))
)]
pub(crate) async fn test_chat_channel(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    id: PathId<kind::ChatChannel>,
) -> Result<(StatusCode, Json<ChannelView>), Problem> {
    let channel = chat::test(&api.ctx, &scope, id.found()?).await?;
    Ok((StatusCode::ACCEPTED, Json(channel.into())))
}
