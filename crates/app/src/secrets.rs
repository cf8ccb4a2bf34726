//! The secrets of an organization: written, used by its scripts, and never shown again.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::SecretName;
use attestry_storage::secrets;
pub use attestry_storage::secrets::Known;

use crate::context::Ctx;
use crate::error::Error;
use crate::journal::Record;

/// What is recorded of a secret: that there is one, and nothing of what it is.
fn record(action: &'static str, name: &SecretName, is_there: bool) -> Record {
    Record {
        action: action.into(),
        entity_type: "secret".into(),
        entity_id: name.as_str().to_owned(),
        state: is_there.then(|| format!("{{\"name\":\"{}\"}}", name.as_str())),
    }
}

fn purpose(scope: &Scope, name: &str) -> String {
    format!("secret {} {name}", scope.organization())
}

pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<Known>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| secrets::list(t, &scope).await).await?)
}

/// How many secrets an organization has at most.
const MOST: usize = 200;

pub async fn set(ctx: &Ctx, scope: &Scope, name: SecretName, value: String) -> Result<Known, Error> {
    ctx.change(scope, async move |c| {
        let known = secrets::list(c.t, c.scope).await?;
        if known.len() >= MOST && !known.iter().any(|one| one.name == name.as_str()) {
            return Err(Error::Conflict {
                code: "too_many_secrets",
                message: format!("An organization has at most {MOST} secrets; delete one that is not used."),
            });
        }
        let sealed = c.ctx.keys.seal(&purpose(c.scope, name.as_str()), value.as_bytes())?;
        let created_at: Time = secrets::set(c.t, c.scope, name.as_str(), &sealed, c.now).await?;
        c.put(record("secret.set", &name, true));
        Ok(Known { name: name.as_str().to_owned(), created_at, updated_at: c.now })
    })
    .await
}

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

/// The value, for a script of the organization.
pub(crate) async fn value(ctx: &Ctx, scope: &Scope, name: &SecretName) -> Result<Option<String>, Error> {
    let (own, wanted) = (scope.clone(), name.as_str().to_owned());
    let sealed = ctx.db.read(async move |t| secrets::get(t, &own, &wanted).await).await?;
    let Some(sealed) = sealed else { return Ok(None) };
    let plain = ctx.keys.open(&purpose(scope, name.as_str()), &sealed)?;
    String::from_utf8(plain).map(Some).map_err(Error::internal)
}
