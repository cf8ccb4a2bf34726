//! The review of who can get into an organization, and how.

use attestry_domain::access::Scope;
use attestry_domain::page::{After, Page};
use attestry_storage::access_review;
pub use attestry_storage::access_review::Reviewed;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Reviewed>, Error> {
    let (scope, now) = (scope.clone(), ctx.now());
    Ok(ctx.db.read(async move |t| access_review::list(t, &scope, now, limit, after.as_ref()).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| access_review::count(t, &scope).await).await?)
}
