//! The key of stored secrets: those of automations, of authenticator apps and of connections to identity providers. It is
//! stored encrypted with the installation's key, and can be rotated without it.

use attestry_domain::id::{OrganizationId, SsoConnectionId, UserId};
use attestry_storage::{second_factors, secrets, sso_connections};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::boxed;
use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::keys::DataKey;

/// The purpose of an automation's secret.
pub(crate) fn secret(organization: OrganizationId, name: &str) -> String {
    format!("secret {organization} {name}")
}

/// The purpose of the secret of an authenticator app.
pub(crate) fn totp(user: UserId) -> String {
    format!("totp {user}")
}

/// The purpose of the client secret of a connection.
pub(crate) fn client_secret(connection: SsoConnectionId) -> String {
    format!("client secret {connection}")
}

fn kept(sealed: &[u8]) -> String {
    STANDARD.encode(sealed)
}

/// Reads the key from its stored form.
pub(crate) fn read(ctx: &Ctx, kept: &str) -> Result<DataKey, Error> {
    ctx.keys.data_key(&STANDARD.decode(kept).map_err(Error::internal)?)
}

/// Locks the key until the transaction ends; creates it with the first secret.
pub(crate) async fn lock(work: &Work<'_>) -> Result<DataKey, Error> {
    if let Some(found) = secrets::lock_key(work.t).await? {
        return read(work.ctx, &found);
    }
    let (_, sealed) = work.ctx.keys.new_data_key()?;
    secrets::new_key(work.t, &kept(&sealed)).await?;
    let found = secrets::lock_key(work.t).await?.ok_or_else(|| Error::internal("no key for secrets"))?;
    read(work.ctx, &found)
}

/// Encrypts all secrets under a new key, also while servers are running; returns their number.
#[boxed]
pub async fn rotate(ctx: &Ctx) -> Result<usize, Error> {
    ctx.work(async |work| {
        let old = lock(work).await?;
        let (new, sealed) = work.ctx.keys.new_data_key()?;
        let anew = |purpose: &str, sealed: &[u8]| new.seal(purpose, &old.open(purpose, sealed)?);
        let (secrets, apps) = (secrets::all(work.t).await?, second_factors::all(work.t).await?);
        let clients = sso_connections::all_secrets(work.t).await?;
        for (organization, name, sealed) in &secrets {
            let sealed = anew(&secret(*organization, name), sealed)?;
            secrets::reseal(work.t, *organization, name, &sealed).await?;
        }
        for (user, sealed) in &apps {
            second_factors::reseal(work.t, *user, &anew(&totp(*user), sealed)?).await?;
        }
        for (connection, sealed) in &clients {
            sso_connections::reseal(work.t, *connection, &anew(&client_secret(*connection), sealed)?).await?;
        }
        secrets::set_key(work.t, &kept(&sealed)).await?;
        Ok(secrets.len() + apps.len() + clients.len())
    })
    .await
}
