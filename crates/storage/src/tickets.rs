//! Tickets that work once. Strangers hold them, so nothing is stored before one is redeemed.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::hash::Hash;

use crate::sql::time;

statements! {
    USE = "INSERT INTO used_tickets (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
    DELETE_EXPIRED = "DELETE FROM used_tickets WHERE expires_at < $1";
}

/// Redeems a ticket; `false` if it was redeemed before.
pub async fn redeem(t: &Tx<'_>, hash: &Hash, expires_at: Time) -> Result<bool, Error> {
    Ok(t.execute(USE, &[Value::from(hash), time(expires_at)]).await? > 0)
}

pub async fn delete_expired(t: &Tx<'_>, now: Time) -> Result<u64, Error> {
    t.execute(DELETE_EXPIRED, &[time(now)]).await
}
