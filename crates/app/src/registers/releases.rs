//! The records that a member who leaves had: taking them, handing them over, and giving them back.

use attestry_domain::access::{Permission, Scope};
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::{Id, MemberId};
use attestry_domain::identity::releases::{RESTORED_WITHIN, Release, ReleasedKind};
use attestry_domain::page::{After, Page};
use attestry_domain::policies::Policy;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_domain::registers::risks::Risk;
use attestry_domain::registers::vendors::Vendor;
use attestry_domain::tasks::Task;
use attestry_storage::registers::Stored;
use attestry_storage::{Tx, members, registers as rows, releases};

use super::{assignees, save};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// Every register, with the permissions to see and to change its records.
macro_rules! registers {
    ($then:ident) => {
        $then! {
            Risk RiskRead RiskUpdate;
            Vendor VendorRead VendorUpdate;
            Task TaskRead TaskUpdate;
            Policy PolicyRead PolicyUpdate;
            Control ControlRead ControlUpdate;
            ContextEntry ContextRead ContextUpdate;
        }
    };
}

/// Takes the records that are assigned to a member; returns the number of each kind.
pub(crate) async fn take_all(c: &Change<'_>, member: MemberId) -> Result<Vec<(ReleasedKind, usize)>, Error> {
    let mut taken = Vec::new();
    macro_rules! take {
        ($($register:ident $see:ident $change:ident;)*) => {
            $(taken.push((ReleasedKind::$register, take::<$register>(c, ReleasedKind::$register, member).await?));)*
        };
    }
    registers!(take);
    Ok(taken)
}

async fn take<R: Stored>(c: &Change<'_>, kind: ReleasedKind, member: MemberId) -> Result<usize, Error> {
    let all = rows::lock_assigned::<R>(c.t, c.scope, member).await?;
    let count = all.len();
    for before in all {
        let release = Release {
            id: c.next_id(),
            organization_id: c.organization(),
            member_id: member,
            entity_type: kind,
            entity_id: before.id.to_string(),
            handed_to: None,
            released_at: c.now,
        };
        releases::put(c.t, c.scope, &release).await?;
        let mut after = before.clone();
        after.fields.set_assignee(None);
        save(c, &before, after).await?;
    }
    Ok(count)
}

/// Assigns a released record to a member. A record that was reassigned since stays as it is. Returns true if it moved.
async fn give(c: &Change<'_>, release: &Release, to: MemberId) -> Result<bool, Error> {
    macro_rules! give {
        ($($register:ident $see:ident $change:ident;)*) => {
            match release.entity_type {
                $(ReleasedKind::$register => give_one::<$register>(c, release, to).await,)*
            }
        };
    }
    registers!(give)
}

async fn give_one<R: Stored>(c: &Change<'_>, release: &Release, to: MemberId) -> Result<bool, Error> {
    let Some(id) = Id::<R::Kind>::read(&release.entity_id) else { return Ok(false) };
    let Some(before) = rows::lock::<R>(c.t, c.scope, id).await? else { return Ok(false) };
    let has = before.assignee();
    if has == Some(to) || (has.is_some() && has != release.handed_to) {
        return Ok(false);
    }
    let mut after = before.clone();
    after.fields.set_assignee(Some(to));
    save(c, &before, after).await?;
    Ok(true)
}

/// Assigns the released records of a reactivated member to them again, and returns the number.
pub(crate) async fn restore(c: &Change<'_>, member: MemberId) -> Result<usize, Error> {
    let mut restored = 0;
    for release in releases::lock_of(c.t, c.scope, member).await? {
        if c.now.since(release.released_at) <= RESTORED_WITHIN && give(c, &release, member).await? {
            restored += 1;
        }
        releases::delete(c.t, c.scope, release.id).await?;
    }
    Ok(restored)
}

/// A record that a member had.
#[derive(Clone, Debug)]
pub struct Released {
    pub release: Release,
    /// `R-7`, as people name it.
    pub reference: String,
    pub title: String,
    /// The member who has it now.
    pub assignee: Option<MemberId>,
}

async fn described(t: &Tx<'_>, scope: &Scope, release: Release) -> Result<Option<Released>, Error> {
    macro_rules! describe {
        ($($register:ident $see:ident $change:ident;)*) => {
            match release.entity_type {
                $(ReleasedKind::$register if !scope.allows(Permission::$see) => Ok(None),)*
                $(ReleasedKind::$register => described_one::<$register>(t, scope, release).await,)*
            }
        };
    }
    registers!(describe)
}

async fn described_one<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    release: Release,
) -> Result<Option<Released>, Error> {
    let Some(id) = Id::<R::Kind>::read(&release.entity_id) else { return Ok(None) };
    let found = rows::get::<R>(t, scope, id).await?;
    let found = found.filter(|record| record.is_visible(scope));
    Ok(found.map(|record| Released {
        release,
        reference: record.reference(),
        title: record.fields.name().to_owned(),
        assignee: record.assignee(),
    }))
}

/// Lists the records that a member had when they left, without those that were deleted since and those that the caller may
/// not see.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Released>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            members::get(t, &scope, member).await?.ok_or(Error::NotFound("member"))?;
            let Page { items, next } = releases::list(t, &scope, member, limit, after.as_ref()).await?;
            let mut shown = Vec::with_capacity(items.len());
            for release in items {
                shown.extend(described(t, &scope, release).await?);
            }
            Ok(Page { items: shown, next })
        })
        .await
}

/// The permission to change records of a kind.
fn permission(kind: ReleasedKind) -> Permission {
    macro_rules! permission {
        ($($register:ident $see:ident $change:ident;)*) => {
            match kind {
                $(ReleasedKind::$register => Permission::$change,)*
            }
        };
    }
    registers!(permission)
}

/// Hands the released records of a member over to another one; all, or those of some kinds. Returns the number.
#[boxed]
pub async fn hand_over(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    to: MemberId,
    kinds: Option<Vec<ReleasedKind>>,
) -> Result<usize, Error> {
    if member == to {
        return Err(Error::field("toMemberId", "must be another member"));
    }
    ctx.change(scope, async move |c| {
        members::get(c.t, c.scope, member).await?.ok_or(Error::NotFound("member"))?;
        assignees::must_be_active(c.t, c.scope, "toMemberId", Some(to)).await?;
        let mut moved = 0;
        for release in releases::lock_of(c.t, c.scope, member).await? {
            if kinds.as_ref().is_some_and(|wanted| !wanted.contains(&release.entity_type)) {
                continue;
            }
            if give(c, &release, to).await? {
                c.scope.require(permission(release.entity_type))?;
                moved += 1;
                releases::hand_to(c.t, c.scope, release.id, Some(to)).await?;
            }
        }
        Ok(moved)
    })
    .await
}
