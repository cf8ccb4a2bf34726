//! Passkeys. They belong to a user, not to an organization.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::id::{PasskeyId, UserId};
use attestry_domain::identity::passkeys::Passkey;
use attestry_domain::row::{Cells as _, Row as _};

use crate::sql::{id, time};
use crate::table::{RowCells, read};

statements! {
    RENAME = "UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2";
    USED = "UPDATE passkeys SET credential = $2, is_synced = $3, last_used_at = $4 WHERE id = $1";
    DELETE = "DELETE FROM passkeys WHERE id = $1 AND user_id = $2";
    DELETE_OF_USER = "DELETE FROM passkeys WHERE user_id = $1";
    ;
    tables
    PASSKEYS: Passkey = "passkeys" by "id" + "credential_id" "user_handle" "credential" {
        OF_USER = " WHERE user_id = $1 ORDER BY id";
    }
    ;
    built
    BY_CREDENTIAL = PASSKEYS.select_with("credential_id, user_handle, credential", " WHERE credential_id = $1");
    WITH_CREDENTIALS = PASSKEYS.select_with("credential_id, user_handle, credential", " WHERE user_id = $1 ORDER BY id");
}

/// A passkey with what its verification needs.
#[derive(Clone, Debug)]
pub struct StoredPasskey {
    pub passkey: Passkey,
    /// The authenticator's id of the key.
    pub credential_id: Vec<u8>,
    /// The random id under which the authenticator knows the account.
    pub user_handle: Vec<u8>,
    /// The public key with its properties, as JSON.
    pub credential: String,
}

fn read_stored(row: &attestry_db::Row<'_>) -> Result<StoredPasskey, Error> {
    let mut cells = RowCells::new(row);
    Ok(StoredPasskey {
        passkey: Passkey::read(&mut cells)?,
        credential_id: cells.take()?,
        user_handle: cells.take()?,
        credential: cells.take()?,
    })
}

/// Returns the passkeys of a user, oldest first.
pub async fn of_user(t: &Tx<'_>, user: UserId) -> Result<Vec<Passkey>, Error> {
    t.all(*OF_USER, &[id(user)], read).await
}

pub async fn stored_of_user(t: &Tx<'_>, user: UserId) -> Result<Vec<StoredPasskey>, Error> {
    t.all(*WITH_CREDENTIALS, &[id(user)], read_stored).await
}

pub async fn by_credential(t: &Tx<'_>, credential_id: &[u8]) -> Result<Option<StoredPasskey>, Error> {
    t.opt(*BY_CREDENTIAL, &[Value::from(credential_id)], read_stored).await
}

pub async fn insert(t: &Tx<'_>, stored: &StoredPasskey) -> Result<(), Error> {
    let StoredPasskey { passkey, credential_id, user_handle, credential } = stored;
    let others = vec![
        Value::from(credential_id.as_slice()),
        Value::from(user_handle.as_slice()),
        Value::from(credential),
    ];
    PASSKEYS.insert_with(t, passkey.id, passkey, others).await
}

/// Returns false if the user has no such passkey.
pub async fn rename(t: &Tx<'_>, user: UserId, passkey: PasskeyId, name: &str) -> Result<bool, Error> {
    Ok(t.execute(RENAME, &[id(passkey), id(user), Value::from(name)]).await? > 0)
}

/// Records a use, with the counter and the flags of the key as they are now.
pub async fn used(
    t: &Tx<'_>,
    passkey: PasskeyId,
    credential: &str,
    is_synced: bool,
    at: Time,
) -> Result<bool, Error> {
    let params = [id(passkey), Value::from(credential), Value::Bool(is_synced), time(at)];
    Ok(t.execute(USED, &params).await? > 0)
}

/// Returns false if the user has no such passkey.
pub async fn delete(t: &Tx<'_>, user: UserId, passkey: PasskeyId) -> Result<bool, Error> {
    Ok(t.execute(DELETE, &[id(passkey), id(user)]).await? > 0)
}

pub async fn delete_of_user(t: &Tx<'_>, user: UserId) -> Result<u64, Error> {
    t.execute(DELETE_OF_USER, &[id(user)]).await
}
