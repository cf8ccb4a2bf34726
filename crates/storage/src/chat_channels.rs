//! Channels of chat services. The caller encrypts their addresses.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::ChatChannelId;
use attestry_domain::identity::chat_channels::{ChatChannel, Delivery, SendingState};
use serde::{Deserialize, Serialize};

use crate::sql::{Columns, from_json, id, time, to_json};

macro_rules! channel {
    ($where:literal) => {
        concat!("SELECT id, org_id, name, kind, url_hint, notices, is_active, last_delivery, created_at, updated_at, version, sealed FROM chat_channels WHERE org_id = $1", $where)
    };
}

statements! {
    LIST = channel!(" ORDER BY id");
    GET = channel!(" AND id = $2");
    LOCK = channel!(" AND id = $2 FOR UPDATE");
    PUT = "INSERT INTO chat_channels (org_id, id, name, kind, sealed, url_hint, notices, is_active, created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO UPDATE SET name = $3, kind = $4, sealed = $5, url_hint = $6, notices = $7, is_active = $8, updated_at = $10, version = $11";
    PUT_STATE = "UPDATE chat_channels SET last_delivery = $3 WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM chat_channels WHERE org_id = $1 AND id = $2";
}

/// A channel with its encrypted address.
#[derive(Clone, Debug)]
pub struct SealedChannel {
    pub channel: ChatChannel,
    pub sealed: Vec<u8>,
    pub sending: SendingState,
}

/// The content of the column `last_delivery`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct DeliveryState {
    #[serde(flatten)]
    last: Option<Delivery>,
    #[serde(flatten)]
    sending: SendingState,
}

fn read(row: &Row<'_>) -> Result<SealedChannel, Error> {
    let state: DeliveryState = match row.opt_text(7)? {
        Some(_) => from_json(row, 7)?,
        None => DeliveryState::default(),
    };
    let channel = ChatChannel {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        name: row.parse(2)?,
        kind: row.parse(3)?,
        url_hint: row.text(4)?,
        notices: from_json(row, 5)?,
        is_active: row.bool(6)?,
        last_delivery: state.last,
        created_at: row.time(8)?,
        updated_at: row.time(9)?,
        version: row.int(10)?,
    };
    Ok(SealedChannel { channel, sealed: row.bytes(11)?, sending: state.sending })
}

/// Returns the channels of the organization, oldest first.
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<ChatChannel>, Error> {
    let all = t.all(LIST, &[id(scope.organization())], read).await?;
    Ok(all.into_iter().map(|found| found.channel).collect())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<Option<SealedChannel>, Error> {
    t.opt(GET, &[id(scope.organization()), id(channel)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<Option<SealedChannel>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(channel)], read).await
}

/// Inserts or updates a channel, except for its deliveries.
pub async fn put(t: &Tx<'_>, scope: &Scope, sealed: &SealedChannel) -> Result<(), Error> {
    let SealedChannel { channel, sealed, sending: _ } = sealed;
    let params = [
        id(scope.organization()),
        id(channel.id),
        Value::from(channel.name.as_str()),
        Value::from(channel.kind.as_str()),
        Value::from(sealed.as_slice()),
        Value::from(&channel.url_hint),
        to_json(6, &channel.notices)?,
        Value::Bool(channel.is_active),
        time(channel.created_at),
        time(channel.updated_at),
        Value::Int(channel.version),
    ];
    t.execute(PUT, &params).await.map(|_| ())
}

/// Stores the last delivery and the sending state of a channel that the transaction has locked.
pub async fn put_state(t: &Tx<'_>, scope: &Scope, sealed: &SealedChannel) -> Result<(), Error> {
    let SealedChannel { channel, sealed: _, sending } = sealed;
    let state = DeliveryState { last: channel.last_delivery.clone(), sending: sending.clone() };
    let params = [id(scope.organization()), id(channel.id), to_json(2, &state)?];
    t.execute(PUT_STATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<(), Error> {
    t.execute(DELETE, &[id(scope.organization()), id(channel)]).await.map(|_| ())
}
