//! Posts of a portal: news, and questions with their answers.

use attestry_domain::access::Scope;
use attestry_domain::id::PortalPostId;
use attestry_domain::page::{After, Page};
use attestry_domain::portals::{PortalPost, PostKind, PostPatch};
use attestry_domain::text::{AnyText, Name};
use attestry_storage::portals;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::portals::announcement::Announcement;

const ENTITY: &str = "portal_post";
const MISSING: Error = Error::NotFound("post");

#[derive(Clone, Debug)]
pub struct NewPost {
    pub kind: PostKind,
    pub title: Name,
    pub text: AnyText,
    pub is_published: bool,
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewPost) -> Result<PortalPost, Error> {
    ctx.change(scope, async move |c| {
        let NewPost { kind, title, text, is_published } = new.clone();
        let post = PortalPost {
            id: c.next_id(),
            organization_id: c.organization(),
            kind,
            title: title.into(),
            text: text.into(),
            is_published,
            published_at: is_published.then_some(c.now),
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        portals::insert_post(c.t, c.scope, &post).await?;
        c.record("portal_post.created", ENTITY, post.id, &post)?;
        announce(c, None, &post).await?;
        Ok(post)
    })
    .await
}

/// Mails news to subscribers when they are first published.
async fn announce(c: &Change<'_>, before: Option<&PortalPost>, after: &PortalPost) -> Result<(), Error> {
    let was_shown = before.is_some_and(|before| before.published_at.is_some());
    if after.kind != PostKind::Update || !after.is_published || was_shown {
        return Ok(());
    }
    let job = Announcement { organization: c.organization(), post: after.id, after: String::new() };
    c.enqueue(&job).await
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: PortalPostId) -> Result<PortalPost, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| portals::post(t, &scope, id).await).await?.ok_or(MISSING)
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    kind: Option<PostKind>,
    limit: u16,
    after: Option<After>,
) -> Result<Page<PortalPost>, Error> {
    let scope = scope.clone();
    let found = ctx.db.read(async move |t| portals::posts(t, &scope, kind, limit, after.as_ref()).await);
    Ok(found.await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, kind: Option<PostKind>) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| portals::count_posts(t, &scope, kind).await).await?)
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: PortalPostId,
    patch: PostPatch,
    precondition: Precondition,
) -> Result<PortalPost, Error> {
    ctx.change(scope, async move |c| {
        let before = portals::lock_post(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let mut after = before.patched(patch.clone(), c.now);
        if after == before {
            return Ok(after);
        }
        after.updated_at = c.now;
        after.version += 1;
        portals::update_post(c.t, c.scope, &after).await?;
        c.record("portal_post.updated", ENTITY, id, &after)?;
        announce(c, Some(&before), &after).await?;
        Ok(after)
    })
    .await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: PortalPostId,
    precondition: Precondition,
) -> Result<PortalPost, Error> {
    ctx.change(scope, async move |c| {
        let before = portals::lock_post(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        portals::delete_post(c.t, c.scope, id).await?;
        c.record_gone("portal_post.deleted", ENTITY, id);
        Ok(before)
    })
    .await
}
