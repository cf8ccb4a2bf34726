//! Access grants, and the visits made with them.

use attestry_domain::access::Scope;
use attestry_domain::any_of::AnyOf;
use attestry_domain::id::AccessGrantId;
use attestry_domain::page::{After, Page, PageRequest};
use attestry_domain::portals::trust_access::{AccessGrant, GrantSort, GrantStatus};
use attestry_domain::text::LongText;
use attestry_storage::trust_access as rows;
pub use attestry_storage::trust_access::Visit;

use super::GRANT;
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

const MISSING: Error = Error::NotFound("grant");

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    status: Option<AnyOf<GrantStatus>>,
    page: PageRequest<GrantSort>,
) -> Result<Page<AccessGrant>, Error> {
    let (scope, now) = (scope.clone(), ctx.now());
    Ok(ctx.db.read(async move |t| rows::grants(t, &scope, status.as_ref(), now, &page).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, status: Option<AnyOf<GrantStatus>>) -> Result<i64, Error> {
    let (scope, now) = (scope.clone(), ctx.now());
    Ok(ctx.db.read(async move |t| rows::count_grants(t, &scope, status.as_ref(), now).await).await?)
}

/// Revokes a grant with immediate effect.
#[boxed]
pub async fn revoke(
    ctx: &Ctx,
    scope: &Scope,
    id: AccessGrantId,
    reason: LongText,
) -> Result<AccessGrant, Error> {
    ctx.change(scope, async move |c| {
        let mut grant = rows::lock_grant(c.t, c.scope, id).await?.ok_or(MISSING)?;
        match grant.status(c.now) {
            GrantStatus::Active => {}
            over => {
                return Err(Error::Conflict {
                    code: "grant_is_over",
                    message: format!("The access is already {over}."),
                });
            }
        }
        grant.revoked_at = Some(c.now);
        grant.revoked_by = c.scope.member();
        grant.revocation_reason = Some(reason.as_str().to_owned());
        rows::revoke(c.t, c.scope, &grant).await?;
        c.record("access_grant.revoked", GRANT, id, &grant)?;
        Ok(grant)
    })
    .await
}

/// The visits, newest first.
#[boxed]
pub async fn visits(
    ctx: &Ctx,
    scope: &Scope,
    grant: Option<AccessGrantId>,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Visit>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::visits(t, &scope, grant, limit, after.as_ref()).await).await?)
}

#[boxed]
pub async fn count_visits(ctx: &Ctx, scope: &Scope, grant: Option<AccessGrantId>) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::count_visits(t, &scope, grant).await).await?)
}
