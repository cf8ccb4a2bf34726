//! Secrets of an organization: its scripts can read them, clients can only write them.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::secrets::SecretName;
use attestry_storage::secrets;
pub use attestry_storage::secrets::SecretMetadata;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::data_key;
use crate::core::error::Error;
use crate::core::journal::Record;

/// The journal record of a secret: its name, never its value.
fn record(action: &'static str, name: &SecretName, is_there: bool) -> Record {
    Record {
        action: action.into(),
        entity_type: "secret".into(),
        entity_id: name.as_str().to_owned(),
        state: is_there.then(|| format!("{{\"name\":\"{}\"}}", name.as_str())),
    }
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
        let purpose = data_key::secret(c.organization(), name.as_str());
        let sealed = data_key::lock(c).await?.seal(&purpose, value.as_bytes())?;
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
    let plain =
        data_key::read(ctx, &key)?.open(&data_key::secret(scope.organization(), name.as_str()), &sealed)?;
    String::from_utf8(plain).map(Some).map_err(Error::internal)
}
