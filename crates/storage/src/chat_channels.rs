//! Channels of chat services. The caller encrypts their addresses.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::id::ChatChannelId;
use attestry_domain::identity::chat_channels::{ChatChannel, Delivery, SendingState};
use attestry_domain::row::{Cells as _, Row as _};
use serde::{Deserialize, Serialize};

use crate::sql::{id, to_json};
use crate::table::RowCells;

statements! {
    PUT_STATE = "UPDATE chat_channels SET last_delivery = $3 WHERE org_id = $1 AND id = $2";
    ;
    tables
    CHANNELS: ChatChannel = "chat_channels" + "sealed" {}
    ;
    built
    LIST = CHANNELS.select_with("sealed, last_delivery", " WHERE org_id = $1 ORDER BY id");
    GET = CHANNELS.select_with("sealed, last_delivery", " WHERE org_id = $1 AND id = $2");
    LOCK = CHANNELS.select_with("sealed, last_delivery", " WHERE org_id = $1 AND id = $2 FOR UPDATE");
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
    let mut cells = RowCells::new(row);
    let (channel, sealed) = (ChatChannel::read(&mut cells)?, cells.take()?);
    let state: DeliveryState = cells.optional_json()?.unwrap_or_default();
    let channel = ChatChannel { last_delivery: state.last, ..channel };
    Ok(SealedChannel { channel, sealed, sending: state.sending })
}

/// Returns the channels of the organization, oldest first.
pub async fn list(t: &Tx<'_>, scope: &Scope) -> Result<Vec<ChatChannel>, Error> {
    let all = t.all(*LIST, &[id(scope.organization())], read).await?;
    Ok(all.into_iter().map(|found| found.channel).collect())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<Option<SealedChannel>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(channel)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<Option<SealedChannel>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(channel)], read).await
}

/// Inserts or updates a channel, except for its deliveries.
pub async fn put(t: &Tx<'_>, scope: &Scope, sealed: &SealedChannel) -> Result<(), Error> {
    let SealedChannel { channel, sealed, sending: _ } = sealed;
    CHANNELS.upsert(t, scope, channel, vec![Value::from(sealed.as_slice())]).await
}

/// Stores the last delivery and the sending state of a channel that the transaction has locked.
pub async fn put_state(t: &Tx<'_>, scope: &Scope, sealed: &SealedChannel) -> Result<(), Error> {
    let SealedChannel { channel, sealed: _, sending } = sealed;
    let state = DeliveryState { last: channel.last_delivery.clone(), sending: sending.clone() };
    let params = [id(scope.organization()), id(channel.id), to_json(2, &state)?];
    t.execute(PUT_STATE, &params).await.map(|_| ())
}

pub async fn delete(t: &Tx<'_>, scope: &Scope, channel: ChatChannelId) -> Result<(), Error> {
    CHANNELS.delete(t, [id(scope.organization()), id(channel)]).await
}
