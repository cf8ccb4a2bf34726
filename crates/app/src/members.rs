//! The people of an organization.

use attestry_domain::access::{Permission, Role, Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::members::{
    Member, MemberFilter, MemberPatch, MemberSort, MemberState, NewMember, Person,
};
use attestry_domain::page::{Order, Page, PageRequest};
use attestry_domain::users::User;
use attestry_storage::{Tx, invitations, members, organizations, sessions, users};
use futures_util::future::try_join;

use crate::context::Ctx;
use crate::error::{Error, already_member};
use crate::journal::{self, Record, Turn};
use crate::precondition::Precondition;
use crate::{risks, vendors};

const MISSING: Error = Error::NotFound("member");

/// The versions an answer about this person depends on.
pub fn versions(person: &Person) -> [i64; 2] {
    [person.member.version, person.user.version]
}

/// Nobody hands out more than they have.
pub(crate) fn may_grant(scope: &Scope, role: &Roles) -> Result<(), Error> {
    if role.is_owner() {
        scope.require(Permission::OwnerManage)?;
    }
    let beyond = role.permissions().without(scope.permissions().union(Role::Employee.permissions()));
    match beyond.iter().next() {
        None => Ok(()),
        Some(missing) => Err(Error::Forbidden {
            code: "role_exceeds_own",
            message: format!(
                "You cannot give the role {:?}: it has the permission {}, which you do not have.",
                role.as_str(),
                missing.as_str()
            ),
        }),
    }
}

pub async fn create(ctx: &Ctx, scope: &Scope, new: NewMember) -> Result<Person, Error> {
    may_grant(scope, &new.role)?;
    let (own, scope) = (ctx.clone(), scope.clone());
    let person = ctx
        .write(scope.organization(), async move |t| {
            organizations::lock(t, &scope).await?;
            add(&own, t, &scope, &new).await
        })
        .await?;
    ctx.principals.forget_member(person.member.id);
    Ok(person)
}

/// Adds a user, or brings back the member the user was.
async fn add(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, new: &NewMember) -> Result<Person, Error> {
    let user = users::get(t, new.user_id).await?.ok_or(Error::NotFound("user"))?;
    must_have_account(scope, &user)?;
    let now = ctx.now();
    if let Some(Person { member: before, .. }) = members::lock_by_user(t, scope, user.id).await? {
        if before.is_active {
            return Err(already_member());
        }
        if before.role.is_owner() {
            scope.require(Permission::OwnerManage)?;
        }
        let NewMember { user_id: _, role, department, is_active, device_label_id } = new.clone();
        let member = Member {
            role,
            department,
            is_active,
            device_label_id,
            updated_at: now,
            version: before.version + 1,
            ..before
        };
        members::update(t, scope, &member).await?;
        invitations::delete_open(t, scope, member.id).await?;
        let record = record("member.reactivated", &member, &user)?;
        journal::append(ctx, t, scope, record).await?;
        return Ok(Person { member, user });
    }
    let member = Member::new(ctx.ids.next(), scope.organization(), new.clone(), now);
    insert(ctx, t, scope, &member, &user).await?;
    Ok(Person { member, user })
}

/// Somebody who is only invited cannot be added: they accept themselves. Another organization's are nobody here.
fn must_have_account(scope: &Scope, user: &User) -> Result<(), Error> {
    match user.invited_to {
        None => Ok(()),
        Some(organization) if organization == scope.organization() => Err(invitation_pending()),
        Some(_) => Err(Error::NotFound("user")),
    }
}

fn invitation_pending() -> Error {
    Error::Conflict {
        code: "invitation_pending",
        message: "This person has been invited and has not accepted yet; they become active when they do."
            .to_owned(),
    }
}

fn record(action: &'static str, member: &Member, user: &User) -> Result<Record, Error> {
    Record::of(action, "member", member.id, &MemberState::new(member, user))
}

pub(crate) async fn insert(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    member: &Member,
    user: &User,
) -> Result<(), Error> {
    members::insert(t, scope, member).await?;
    journal::append(ctx, t, scope, record("member.created", member, user)?).await
}

/// One item of a bulk creation that was not taken, and why.
#[derive(Clone, Debug)]
pub struct Refused {
    pub index: usize,
    pub user_id: Option<String>,
    pub error: String,
}

/// Adds many users in one transaction; whoever cannot be added does not keep out the rest.
pub async fn create_many(
    ctx: &Ctx,
    scope: &Scope,
    items: Vec<(usize, NewMember)>,
) -> Result<(Vec<Person>, Vec<Refused>), Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    let (created, refused) = ctx
        .write(scope.organization(), async move |t| {
            // Held, so that nobody adds one of them meanwhile and breaks the whole transaction.
            organizations::lock(t, &scope).await?;
            let (mut created, mut refused) = (Vec::new(), Vec::new());
            for (index, new) in &items {
                let added = match may_grant(&scope, &new.role) {
                    Ok(()) => add(&own, t, &scope, new).await,
                    Err(error) => Err(error),
                };
                match added {
                    Ok(person) => created.push(person),
                    Err(error @ (Error::Internal(_) | Error::Unavailable(_))) => return Err(error),
                    Err(error) => refused.push(Refused {
                        index: *index,
                        user_id: Some(new.user_id.to_string()),
                        error: error.to_string(),
                    }),
                }
            }
            Ok((created, refused))
        })
        .await?;
    for person in &created {
        ctx.principals.forget_member(person.member.id);
    }
    Ok((created, refused))
}

/// One person. Who may not see the people sees themselves.
pub async fn get(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<Person, Error> {
    if scope.member() != Some(member) {
        scope.require(Permission::MemberRead)?;
    }
    let scope = scope.clone();
    ctx.db.read(async move |t| members::get(t, &scope, member).await).await?.ok_or(MISSING)
}

pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: MemberFilter,
    page: PageRequest<MemberSort>,
) -> Result<Page<Person>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| members::list(t, &scope, &filter, &page).await).await?)
}

/// Everybody in an organization, for the operator.
pub async fn everybody(ctx: &Ctx, organization: OrganizationId) -> Result<Vec<Person>, Error> {
    let mut all = Vec::new();
    for is_active in [true, false] {
        let mut after = None;
        loop {
            let scope = Scope::system(organization, "attestry admin list");
            let filter = MemberFilter { is_active: Some(is_active), ..MemberFilter::default() };
            let page =
                PageRequest { sort: MemberSort::CreatedAt, order: Order::Ascending, limit: 1000, after };
            let page = list(ctx, &scope, filter, page).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(all)
}

pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    patch: MemberPatch,
    precondition: Precondition,
) -> Result<Person, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    let (before, after) = ctx
        .write(scope.organization(), async move |t| {
            // Rules that span several members need the organization; a plain edit does not.
            if patch.role.is_some() || patch.is_active.is_some() || patch.user_id.is_some() {
                organizations::lock(t, &scope).await?;
            }
            let (before, turn) = hold(t, &scope, member).await?;
            precondition.check(&versions(&before))?;
            let after = before.member.patched(patch.clone());
            let withdraws = patch.is_active == Some(false);
            let person = change(&own, t, &scope, &before, after, withdraws, turn).await?;
            Ok::<_, Error>((before, person))
        })
        .await?;
    forget_if_needed(ctx, &before, &after);
    Ok(after)
}

/// Deactivation by DELETE: the same act as `isActive: false`.
pub async fn deactivate(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    precondition: Precondition,
) -> Result<Person, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    let (before, after) = ctx
        .write(scope.organization(), async move |t| {
            organizations::lock(t, &scope).await?;
            let (before, turn) = hold(t, &scope, member).await?;
            precondition.check(&versions(&before))?;
            let after = Member { is_active: false, ..before.member.clone() };
            let person = change(&own, t, &scope, &before, after, true, turn).await?;
            Ok::<_, Error>((before, person))
        })
        .await?;
    forget_if_needed(ctx, &before, &after);
    Ok(after)
}

fn forget_if_needed(ctx: &Ctx, before: &Person, after: &Person) {
    let Member { role, is_active, user_id, .. } = &after.member;
    if *role != before.member.role
        || *is_active != before.member.is_active
        || *user_id != before.member.user_id
    {
        ctx.principals.forget_member(after.member.id);
        ctx.principals.forget_user(before.user.id);
    }
}

/// A member who is about to change, and the turn to write it down.
async fn hold(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<(Person, Turn), Error> {
    let found = async { Ok(members::lock(t, scope, member).await?) };
    let (before, turn) = try_join(found, journal::turn(t, scope)).await?;
    Ok((before.ok_or(MISSING)?, turn))
}

/// Takes a member from one state to another: rules, row, what goes with it, journal. `withdraws`: whoever asks wants
/// the member inactive, so an invitation that is still open ends, too.
async fn change(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    before: &Person,
    mut after: Member,
    withdraws: bool,
    turn: Turn,
) -> Result<Person, Error> {
    let Person { member: old, user } = before;
    if after == *old {
        if withdraws && invitations::delete_open(t, scope, old.id).await? > 0 {
            let record = record("member.invitation_withdrawn", old, user)?;
            journal::append_at(ctx, t, scope, turn, record).await?;
        }
        return Ok(before.clone());
    }
    let user = other_user(t, scope, old, &after, user).await?;
    let identity_changes =
        after.role != old.role || after.is_active != old.is_active || after.user_id != old.user_id;
    if identity_changes && (old.role.is_owner() || after.role.is_owner()) {
        scope.require(Permission::OwnerManage)?;
    }
    if after.is_active && user.invited_to.is_some() {
        return Err(invitation_pending());
    }
    // Somebody gets this role: a member whose role changes, another user, or one who comes back.
    if after.role != old.role || after.user_id != old.user_id || (after.is_active && !old.is_active) {
        may_grant(scope, &after.role)?;
    }
    if old.is_active_owner()
        && !after.is_active_owner()
        && !members::has_other_owner(t, scope, old.id).await?
    {
        return Err(Error::Conflict {
            code: "last_owner",
            message: "This is the last active owner of the organization; make somebody else an owner first."
                .to_owned(),
        });
    }
    after.updated_at = ctx.now();
    after.version += 1;
    let action = match (old.is_active, after.is_active) {
        (true, false) => "member.deactivated",
        (false, true) => "member.reactivated",
        _ => "member.updated",
    };
    let record = record(action, &after, &user)?;
    let updated = async { Ok(members::update(t, scope, &after).await?) };
    try_join(updated, journal::append_at(ctx, t, scope, turn, record)).await?;
    // A link that was sent to one person must not admit another, or somebody who is wanted no longer.
    if withdraws || old.user_id != after.user_id {
        invitations::delete_open(t, scope, old.id).await?;
    }
    if old.is_active && !after.is_active {
        release(ctx, t, scope, old).await?;
    }
    if old.user_id != after.user_id {
        crate::api_keys::revoke_all(ctx, t, scope, old.id).await?;
        end_sessions_without_membership(t, old.user_id).await?;
    }
    Ok(Person { member: after, user })
}

/// The user after the change, who must exist and not be here already.
async fn other_user(
    t: &Tx<'_>,
    scope: &Scope,
    old: &Member,
    after: &Member,
    user: &User,
) -> Result<User, Error> {
    if after.user_id == old.user_id {
        return Ok(user.clone());
    }
    let other = users::get(t, after.user_id).await?.ok_or(Error::NotFound("user"))?;
    must_have_account(scope, &other)?;
    if members::lock_by_user(t, scope, other.id).await?.is_some() {
        return Err(already_member());
    }
    Ok(other)
}

/// An assignee must be an active member of the same organization.
pub(crate) async fn must_be_active(t: &Tx<'_>, scope: &Scope, member: Option<MemberId>) -> Result<(), Error> {
    let Some(member) = member else { return Ok(()) };
    match members::get(t, scope, member).await? {
        Some(person) if person.member.is_active => Ok(()),
        _ => Err(Error::field("assigneeId", NO_SUCH_ASSIGNEE)),
    }
}

pub const NO_SUCH_ASSIGNEE: &str = "must be an active member of this organization";

/// For each of these, whether it could be an assignee; nobody is fine, too.
pub async fn are_active(ctx: &Ctx, scope: &Scope, wanted: Vec<Option<MemberId>>) -> Result<Vec<bool>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let mut fine = Vec::with_capacity(wanted.len());
            for member in &wanted {
                fine.push(match must_be_active(t, &scope, *member).await {
                    Ok(()) => true,
                    Err(Error::Invalid(_)) => false,
                    Err(error) => return Err(error),
                });
            }
            Ok(fine)
        })
        .await
}

/// What ends with a membership: open assignments, and sessions that lead nowhere else.
async fn release(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, member: &Member) -> Result<(), Error> {
    risks::release(ctx, t, scope, member.id).await?;
    vendors::release(ctx, t, scope, member.id).await?;
    end_sessions_without_membership(t, member.user_id).await
}

async fn end_sessions_without_membership(t: &Tx<'_>, user: UserId) -> Result<(), Error> {
    if members::of_user(t, user).await?.is_empty() {
        sessions::delete_of_user(t, user, None).await?;
    }
    Ok(())
}
