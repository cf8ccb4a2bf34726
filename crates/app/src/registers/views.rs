//! Views: saved arrangements of lists.

use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, ViewId};
use attestry_domain::registers::views::{SHARE, View, ViewList, ViewParameters};
use attestry_domain::text::Name;
use attestry_storage::views;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;

/// The maximum number of views per member.
const MAX_VIEWS: i64 = 200;

/// The entity type in the journal.
const VIEW: &str = "view";

/// A view to add.
#[derive(Clone, Debug)]
pub struct NewView {
    pub list: ViewList,
    pub name: Name,
    pub parameters: ViewParameters,
    pub is_shared: bool,
}

/// A change of a view.
#[derive(Clone, Debug, Default)]
pub struct ViewPatch {
    pub name: Option<Name>,
    pub parameters: Option<ViewParameters>,
    pub is_shared: Option<bool>,
}

fn member_of(scope: &Scope) -> Result<MemberId, Error> {
    scope.member().ok_or_else(|| Error::internal("a view without a member"))
}

/// Lists the views that the actor sees: their own and shared ones.
#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope, list: Option<ViewList>) -> Result<Vec<View>, Error> {
    let (member, own) = (member_of(scope)?, scope.clone());
    Ok(ctx.db.read(async move |t| views::list(t, &own, member, list).await).await?)
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: ViewId) -> Result<View, Error> {
    let own = scope.clone();
    let found = ctx.db.find(async move |t| views::get(t, &own, id).await).await?;
    found.filter(|view| view.is_visible(scope)).ok_or(Error::NotFound(VIEW))
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewView) -> Result<View, Error> {
    if new.is_shared {
        scope.require(SHARE)?;
    }
    let member = member_of(scope)?;
    ctx.change(scope, async move |c| {
        if views::count(c.t, c.scope, member).await? >= MAX_VIEWS {
            return Err(Error::Conflict {
                code: "too_many_views",
                message: format!("A member has at most {MAX_VIEWS} views; delete one that is not used."),
            });
        }
        let NewView { list, name, parameters, is_shared } = new.clone();
        let view = View {
            id: c.next_id(),
            organization_id: c.organization(),
            member_id: member,
            list,
            name,
            parameters,
            is_shared,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        views::insert(c.t, c.scope, &view).await?;
        c.record("view.created", VIEW, view.id, &view)?;
        Ok(view)
    })
    .await
}

/// Locks a view that the actor may change.
async fn lock(c: &Change<'_>, id: ViewId, precondition: &Precondition) -> Result<View, Error> {
    let found = views::lock(c.t, c.scope, id).await?;
    let view = found.filter(|view| view.is_visible(c.scope)).ok_or(Error::NotFound(VIEW))?;
    if !view.may_change(c.scope) {
        c.scope.require(SHARE)?;
    }
    precondition.check(&[view.version])?;
    Ok(view)
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: ViewId,
    patch: ViewPatch,
    precondition: Precondition,
) -> Result<View, Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, id, &precondition).await?;
        let ViewPatch { name, parameters, is_shared } = patch.clone();
        let mut view = View {
            name: name.unwrap_or_else(|| before.name.clone()),
            parameters: parameters.unwrap_or_else(|| before.parameters.clone()),
            is_shared: is_shared.unwrap_or(before.is_shared),
            ..before.clone()
        };
        if view.is_shared != before.is_shared {
            c.scope.require(SHARE)?;
        }
        let said = |view: &View| (view.name.clone(), view.parameters.clone(), view.is_shared);
        if said(&view) == said(&before) {
            return Ok(before);
        }
        view.updated_at = c.now;
        view.version += 1;
        views::update(c.t, c.scope, &view).await?;
        c.record("view.updated", VIEW, view.id, &view)?;
        Ok(view)
    })
    .await
}

#[boxed]
pub async fn delete(ctx: &Ctx, scope: &Scope, id: ViewId, precondition: Precondition) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        lock(c, id, &precondition).await?;
        views::delete(c.t, c.scope, id).await?;
        c.record_gone("view.deleted", VIEW, id);
        Ok(())
    })
    .await
}
