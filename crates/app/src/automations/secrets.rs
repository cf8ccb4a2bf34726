//! Secrets of an organization: its scripts can read them, clients can only write them.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::secrets::SecretName;
use attestry_domain::id::OrganizationId;
use attestry_storage::secrets;
pub use attestry_storage::secrets::SecretMetadata;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::boxed;
use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::journal::Record;
use crate::core::keys::DataKey;

/// The journal record of a secret: its name, never its value.
fn record(action: &'static str, name: &SecretName, is_there: bool) -> Record {
    Record {
        action: action.into(),
        entity_type: "secret".into(),
        entity_id: name.as_str().to_owned(),
        state: is_there.then(|| format!("{{\"name\":\"{}\"}}", name.as_str())),
    }
}

fn purpose(organization: OrganizationId, name: &str) -> String {
    format!("secret {organization} {name}")
}

fn kept(sealed: &[u8]) -> String {
    STANDARD.encode(sealed)
}

fn key_of(ctx: &Ctx, kept: &str) -> Result<DataKey, Error> {
    ctx.keys.data_key(&STANDARD.decode(kept).map_err(Error::internal)?)
}

/// Locks the key of all secrets until the transaction ends; creates it with the first secret.
async fn lock_key(work: &Work<'_>) -> Result<DataKey, Error> {
    if let Some(found) = secrets::lock_key(work.t).await? {
        return key_of(work.ctx, &found);
    }
    let (_, sealed) = work.ctx.keys.new_data_key()?;
    secrets::new_key(work.t, &kept(&sealed)).await?;
    let found = secrets::lock_key(work.t).await?.ok_or_else(|| Error::internal("no key for secrets"))?;
    key_of(work.ctx, &found)
}

/// Encrypts all secrets under a new key, also while servers are running; returns their number.
#[boxed]
pub async fn rotate_key(ctx: &Ctx) -> Result<usize, Error> {
    ctx.work(async |work| {
        let old = lock_key(work).await?;
        let (new, sealed) = work.ctx.keys.new_data_key()?;
        let all = secrets::all(work.t).await?;
        for (organization, name, sealed) in &all {
            let purpose = purpose(*organization, name);
            let resealed = new.seal(&purpose, &old.open(&purpose, sealed)?)?;
            secrets::reseal(work.t, *organization, name, &resealed).await?;
        }
        secrets::set_key(work.t, &kept(&sealed)).await?;
        Ok(all.len())
    })
    .await
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<SecretMetadata>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| secrets::list(t, &scope).await).await?)
}

/// The maximum number of secrets per organization.
const MAX_SECRETS_PER_ORG: usize = 200;

#[boxed]
pub async fn set(ctx: &Ctx, scope: &Scope, name: SecretName, value: String) -> Result<SecretMetadata, Error> {
    ctx.change(scope, async move |c| {
        let known = secrets::list(c.t, c.scope).await?;
        if known.len() >= MAX_SECRETS_PER_ORG && !known.iter().any(|one| one.name == name.as_str()) {
            return Err(Error::Conflict {
                code: "too_many_secrets",
                message: format!(
                    "An organization has at most {MAX_SECRETS_PER_ORG} secrets; delete one that is not used."
                ),
            });
        }
        let purpose = purpose(c.organization(), name.as_str());
        let sealed = lock_key(c).await?.seal(&purpose, value.as_bytes())?;
        let created_at: Time = secrets::set(c.t, c.scope, name.as_str(), &sealed, c.now).await?;
        c.put(record("secret.set", &name, true));
        Ok(SecretMetadata { name: name.as_str().to_owned(), created_at, updated_at: c.now })
    })
    .await
}

#[boxed]
pub async fn delete(ctx: &Ctx, scope: &Scope, name: SecretName) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        if !secrets::delete(c.t, c.scope, name.as_str()).await? {
            return Err(Error::NotFound("secret"));
        }
        c.put(record("secret.deleted", &name, false));
        Ok(())
    })
    .await
}

/// Decrypts a secret for a script of the organization.
pub(crate) async fn value(ctx: &Ctx, scope: &Scope, name: &SecretName) -> Result<Option<String>, Error> {
    let (own, wanted) = (scope.clone(), name.as_str().to_owned());
    let found = ctx.db.read(async move |t| secrets::get(t, &own, &wanted).await).await?;
    let Some((sealed, key)) = found else { return Ok(None) };
    let plain = key_of(ctx, &key)?.open(&purpose(scope.organization(), name.as_str()), &sealed)?;
    String::from_utf8(plain).map(Some).map_err(Error::internal)
}
