//! The members of an organization.

use std::collections::HashMap;

use attestry_domain::access::{Permission, Role, Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::members::{
    Member, MemberFilter, MemberPatch, MemberSort, MemberState, NewMember, Person,
};
use attestry_domain::identity::releases::ReleasedKind;
use attestry_domain::identity::users::User;
use attestry_domain::page::{Order, Page, PageRequest};
use attestry_storage::{
    Tx, inbox, invitations as open_links, members, organizations, sessions, users, ways_in,
};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::{Error, already_member};
use crate::core::precondition::Precondition;
use crate::identity::invitations::{self, Invited, Sent, invitation_pending};
use crate::identity::owners::tell_owners;
use crate::identity::{directory, exemptions, service_accounts};
use crate::notices::mail_templates::Topic;
use crate::registers;

const MISSING: Error = Error::NotFound("member");

/// The versions that the `ETag` of a member is made of.
pub fn versions(person: &Person) -> [i64; 2] {
    [person.member.version, person.user.version]
}

/// Checks that the caller may act on the sign-in of a member.
pub(crate) fn must_manage(scope: &Scope, member: &Member) -> Result<(), Error> {
    if member.role.is_owner() {
        scope.require(Permission::OwnerManage)?;
    }
    Ok(())
}

/// Checks that the caller grants no permissions beyond their own and those of an employee.
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

/// Checks a role that an identity provider may give: none beyond the caller's own, and never `owner`.
pub(crate) fn may_map(scope: &Scope, field: &str, role: &Roles) -> Result<(), Error> {
    if role.is_owner() {
        return Err(Error::field(field, "must not be owner: groups of an identity provider make no owners"));
    }
    may_grant(scope, role)
}

/// A member after a change, and the invitation that was sent, if any.
#[derive(Clone, Debug)]
pub struct Changed {
    pub person: Person,
    pub sent: Option<Sent>,
}

impl From<Person> for Changed {
    fn from(person: Person) -> Self {
        Self { person, sent: None }
    }
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewMember) -> Result<Changed, Error> {
    may_grant(scope, &new.role)?;
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        add(c, &new).await
    })
    .await
}

/// Reactivates the former member of a user. A user who was never a member is invited, and added on acceptance.
async fn add(c: &Change<'_>, new: &NewMember) -> Result<Changed, Error> {
    let user = users::get(c.t, new.user_id).await?.ok_or(Error::NotFound("user"))?;
    must_have_account(c.scope, &user)?;
    if let Some(Person { member: before, .. }) = members::lock_by_user(c.t, c.scope, user.id).await? {
        if before.is_active {
            return Err(already_member());
        }
        if before.role.is_owner() {
            c.scope.require(Permission::OwnerManage)?;
        }
        let NewMember { user_id: _, role, department, is_active, device_label_id } = new.clone();
        let member = Member {
            role,
            department,
            is_active,
            device_label_id,
            updated_at: c.now,
            version: before.version + 1,
            ..before.clone()
        };
        directory::member_changed(c, &before, &member).await?;
        members::update(c.t, c.scope, &member).await?;
        open_links::delete_open(c.t, c.scope, member.id).await?;
        record(c, "member.reactivated", &member, &user)?;
        restore(c, &member, &user).await?;
        c.invalidate(Invalidate::Member(member.id));
        return Ok(Person { member, user }.into());
    }
    let Invited { person, sent } = invitations::invite_account(c, &user, new.clone()).await?;
    Ok(Changed { person, sent: Some(sent) })
}

/// Rejects users who are only invited: they must accept themselves. A user invited by another organization is not
/// found.
fn must_have_account(scope: &Scope, user: &User) -> Result<(), Error> {
    match user.invited_to {
        None => Ok(()),
        Some(organization) if organization == scope.organization() => Err(invitation_pending()),
        Some(_) => Err(Error::NotFound("user")),
    }
}

pub(crate) fn record(
    c: &Change<'_>,
    action: &'static str,
    member: &Member,
    user: &User,
) -> Result<(), Error> {
    c.record(action, "member", member.id, &MemberState::new(member, user))
}

pub(crate) async fn insert(c: &Change<'_>, member: &Member, user: &User) -> Result<(), Error> {
    members::insert(c.t, c.scope, member).await?;
    record(c, "member.created", member, user)
}

/// A rejected item of a bulk creation, and the reason.
#[derive(Clone, Debug)]
pub struct Refused {
    pub index: usize,
    pub user_id: Option<String>,
    pub error: String,
}

/// Adds many users in one transaction; rejected items do not affect the others.
#[boxed]
pub async fn create_many(
    ctx: &Ctx,
    scope: &Scope,
    items: Vec<(usize, NewMember)>,
) -> Result<(Vec<Changed>, Vec<Refused>), Error> {
    ctx.change(scope, async move |c| {
        // Locked, so that a concurrent addition of the same user does not fail the whole transaction.
        organizations::lock(c.t, c.scope).await?;
        let (mut created, mut refused) = (Vec::new(), Vec::new());
        for (index, new) in &items {
            let added = match may_grant(c.scope, &new.role) {
                Ok(()) => add(c, new).await,
                Err(error) => Err(error),
            };
            match added {
                Ok(added) => created.push(added),
                Err(error @ Error::Internal(_)) => return Err(error),
                Err(error) if error.is_outage() => return Err(error),
                Err(error) => refused.push(Refused {
                    index: *index,
                    user_id: Some(new.user_id.to_string()),
                    error: error.to_string(),
                }),
            }
        }
        Ok((created, refused))
    })
    .await
}

/// Returns one person. Without the permission to read members, the caller sees only themselves.
#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<Person, Error> {
    if scope.member() != Some(member) {
        scope.require(Permission::MemberRead)?;
    }
    let scope = scope.clone();
    ctx.db.find(async move |t| members::get(t, &scope, member).await).await?.ok_or(MISSING)
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: MemberFilter,
    page: PageRequest<MemberSort>,
) -> Result<Page<Person>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| members::list(t, &scope, &filter, &page).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, filter: MemberFilter) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| members::count(t, &scope, &filter).await).await?)
}

/// The names of all members, active or not.
#[boxed]
pub async fn names(ctx: &Ctx, scope: &Scope) -> Result<HashMap<MemberId, String>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| members::names(t, &scope).await).await?.into_iter().collect())
}

/// Returns the active members with their names and addresses, to resolve references in imported tables.
#[boxed]
pub async fn directory(
    ctx: &Ctx,
    organization: OrganizationId,
) -> Result<Vec<(MemberId, String, String)>, Error> {
    let scope = Scope::system(organization, "import");
    Ok(ctx.db.read(async move |t| members::directory(t, &scope).await).await?)
}

/// Returns true if a member is active and has a permission.
pub(crate) async fn may(c: &Change<'_>, member: MemberId, permission: Permission) -> Result<bool, Error> {
    let person = members::get(c.t, c.scope, member).await?;
    Ok(person.is_some_and(|person| {
        person.member.is_active && person.member.role.permissions().contains(permission)
    }))
}

/// Lists all members of an organization, for the operator.
#[boxed]
pub async fn everybody(ctx: &Ctx, organization: OrganizationId) -> Result<Vec<Person>, Error> {
    let scope = Scope::system(organization, "attestry admin list");
    ctx.db.read(async move |t| all(t, &scope).await).await
}

/// Returns all members: active ones first, then by id.
pub(crate) async fn all(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Person>, Error> {
    let mut all = Vec::new();
    for is_active in [true, false] {
        let filter = MemberFilter { is_active: Some(is_active), ..MemberFilter::default() };
        let mut after = None;
        loop {
            let page =
                PageRequest { sort: MemberSort::CreatedAt, order: Order::Ascending, limit: 1000, after };
            let found = members::list(t, scope, &filter, &page).await?;
            all.extend(found.items);
            after = found.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(all)
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    patch: MemberPatch,
    precondition: Precondition,
) -> Result<Changed, Error> {
    ctx.change(scope, async move |c| {
        // Rules that span several members need the organization's lock; a plain edit does not.
        let spans_members = patch.role.is_some() || patch.is_active.is_some() || patch.is_exempt.is_some();
        if spans_members || patch.user_id.is_some() {
            organizations::lock(c.t, c.scope).await?;
        }
        let before = members::lock(c.t, c.scope, member).await?.ok_or(MISSING)?;
        precondition.check(&versions(&before))?;
        let after = before.member.patched(patch.clone());
        if patch.is_exempt == Some(true) && !after.is_active_owner() {
            return Err(Error::field("isExempt", "can be true for active owners only"));
        }
        change(c, &before, after, patch.is_active == Some(false)).await
    })
    .await
}

/// Deactivates a member by DELETE; equivalent to `isActive: false`.
#[boxed]
pub async fn deactivate(
    ctx: &Ctx,
    scope: &Scope,
    member: MemberId,
    precondition: Precondition,
) -> Result<Person, Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = members::lock(c.t, c.scope, member).await?.ok_or(MISSING)?;
        precondition.check(&versions(&before))?;
        let after = Member { is_active: false, ..before.member.clone() };
        Ok(change(c, &before, after, true).await?.person)
    })
    .await
}

/// Applies a change to a member: checks the rules, updates the row and its dependents, and records it. `withdraws`:
/// the caller explicitly deactivates the member, which also withdraws an open invitation.
pub(crate) async fn change(
    c: &Change<'_>,
    before: &Person,
    mut after: Member,
    withdraws: bool,
) -> Result<Changed, Error> {
    let Person { member: old, user } = before;
    if !after.role.is_owner() || !after.is_active {
        after.is_exempt = false;
    }
    if after == *old {
        if withdraws && open_links::delete_open(c.t, c.scope, old.id).await? > 0 {
            record(c, "member.invitation_withdrawn", old, user)?;
        }
        return Ok(before.clone().into());
    }
    let other = other_user(c, old, &after).await?;
    let user = match &other {
        // The account becomes active on acceptance.
        Some(account) => {
            let user = invitations::stand_in(c, account).await?;
            // The exemption was the other person's.
            (after.user_id, after.is_active, after.is_exempt) = (user.id, false, false);
            user
        }
        None => user.clone(),
    };
    let identity_changes =
        after.role != old.role || after.is_active != old.is_active || after.user_id != old.user_id;
    if identity_changes && (old.role.is_owner() || after.role.is_owner()) {
        c.scope.require(Permission::OwnerManage)?;
    }
    if after.is_active && user.invited_to.is_some() {
        return Err(invitation_pending());
    }
    // The role is newly granted: to a changed member, another user, or a reactivated member.
    if after.role != old.role || after.user_id != old.user_id || (after.is_active && !old.is_active) {
        may_grant(c.scope, &after.role)?;
    }
    if old.is_active_owner()
        && !after.is_active_owner()
        && !members::has_other_owner(c.t, c.scope, old.id).await?
    {
        return Err(Error::Conflict {
            code: "last_owner",
            message: "This is the last active owner of the organization; make somebody else an owner first."
                .to_owned(),
        });
    }
    may_exempt(c, before, &after).await?;
    directory::member_changed(c, old, &after).await?;
    exemptions::must_stay(c, before, &after, true).await?;
    after.updated_at = c.now;
    after.version += 1;
    let action = match (old.is_active, after.is_active) {
        (true, false) => "member.deactivated",
        (false, true) => "member.reactivated",
        _ if after.is_exempt && !old.is_exempt => "member.exempted",
        _ if old.is_exempt && !after.is_exempt => "member.exemption_ended",
        _ => "member.updated",
    };
    members::update(c.t, c.scope, &after).await?;
    record(c, action, &after, &user)?;
    let lost = old.role.permissions().without(after.role.permissions());
    (c.ctx.hooks().demoted)(c, old.id, lost).await?;
    // A link sent to one person must not admit another person, or a person who is no longer invited.
    if withdraws || old.user_id != after.user_id {
        open_links::delete_open(c.t, c.scope, old.id).await?;
    }
    if old.is_active && !after.is_active {
        release(c, old).await?;
    }
    if !old.is_active && after.is_active {
        restore(c, &after, &user).await?;
    }
    if old.user_id != after.user_id {
        crate::identity::api_keys::revoke_all(c, old.id).await?;
        inbox::delete_of_member(c.t, c.scope, old.id).await?;
        end_sessions_without_membership(c, old.user_id).await?;
    }
    if identity_changes || after.is_exempt != old.is_exempt {
        c.invalidate(Invalidate::Member(after.id));
        c.invalidate(Invalidate::User(old.user_id));
    }
    let person = Person { member: after, user };
    let sent = match &other {
        Some(account) => Some(invitations::send_to(c, &person, account).await?),
        None => None,
    };
    Ok(Changed { person, sent })
}

/// Checks that the member can be exempt from single sign-on, if they become so.
async fn may_exempt(c: &Change<'_>, before: &Person, after: &Member) -> Result<(), Error> {
    if after.is_exempt == before.member.is_exempt {
        return Ok(());
    }
    c.scope.require(Permission::OwnerManage)?;
    if after.is_exempt && !ways_in::of_user(c.t, before.user.id).await?.is_break_glass() {
        return Err(Error::Conflict {
            code: "second_factor_mandatory",
            message: "An exempt owner needs credentials of their own and a second factor: a passkey, or a password and an authenticator app."
                .to_owned(),
        });
    }
    Ok(())
}

/// Sets the roles that the groups at an identity provider give.
pub(crate) async fn sync_roles(c: &Change<'_>, before: &Person, role: Roles) -> Result<Person, Error> {
    let old = &before.member;
    let member = Member { role, updated_at: c.now, version: old.version + 1, ..old.clone() };
    members::update(c.t, c.scope, &member).await?;
    record(c, "member.role_synced", &member, &before.user)?;
    let lost = old.role.permissions().without(member.role.permissions());
    (c.ctx.hooks().demoted)(c, member.id, lost).await?;
    c.invalidate(Invalidate::Member(member.id));
    Ok(Person { member, user: before.user.clone() })
}

/// Returns the account that replaces the member's user; it must exist and not be a member already.
async fn other_user(c: &Change<'_>, old: &Member, after: &Member) -> Result<Option<User>, Error> {
    if after.user_id == old.user_id {
        return Ok(None);
    }
    let other = users::get(c.t, after.user_id).await?.ok_or(Error::NotFound("user"))?;
    must_have_account(c.scope, &other)?;
    if members::lock_by_user(c.t, c.scope, other.id).await?.is_some() {
        return Err(already_member());
    }
    Ok(Some(other))
}

/// Ends what depends on a membership: open assignments, and sessions of users without another membership.
async fn release(c: &Change<'_>, member: &Member) -> Result<(), Error> {
    let taken = registers::release_all(c, member.id).await?;
    service_accounts::owner_left(c, member.id).await?;
    tell_of_released(c, member, &taken).await?;
    end_sessions_without_membership(c, member.user_id).await
}

/// Tells the owners how many records have lost their assignee.
async fn tell_of_released(
    c: &Change<'_>,
    member: &Member,
    taken: &[(ReleasedKind, usize)],
) -> Result<(), Error> {
    let counts: Vec<String> =
        taken.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| kind.counted(*count)).collect();
    if counts.is_empty() {
        return Ok(());
    }
    let Some(person) = members::get(c.t, c.scope, member.id).await? else { return Ok(()) };
    let text = format!(
        "{} was deactivated. Nobody is responsible for what they had: {}. Hand it over to somebody else; who comes back within 30 days gets back what is left.",
        person.user.name,
        counts.join(", ")
    );
    tell_owners(c, Topic::Released(member.id), "Records have lost their owner", &text).await
}

/// Assigns the released records of a member who comes back to them again.
pub(crate) async fn restore(c: &Change<'_>, member: &Member, user: &User) -> Result<(), Error> {
    service_accounts::owner_returned(c, member.id).await?;
    match registers::releases::restore(c, member.id).await? {
        0 => Ok(()),
        restored => c.record(
            "member.restored",
            "member",
            member.id,
            &Restored { state: MemberState::new(member, user), restored },
        ),
    }
}

/// The state of a member who got records back, with their number.
#[derive(serde::Serialize)]
struct Restored<'a> {
    #[serde(flatten)]
    state: MemberState<'a>,
    restored: usize,
}

async fn end_sessions_without_membership(c: &Change<'_>, user: UserId) -> Result<(), Error> {
    users::lock(c.t, user).await?;
    if members::of_user(c.t, user).await?.is_empty() {
        sessions::delete_of_user(c.t, user, None).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use attestry_domain::access::{Actor, Credential, Origin, Permissions, Principal};
    use attestry_domain::id::ApiKeyId;
    use attestry_domain::text::Parse;
    use attestry_domain::zone::Zone;

    use super::*;

    /// Returns the code of the error.
    fn refusal(permissions: Permissions, role: &str) -> Option<&'static str> {
        let principal = Principal {
            organization: OrganizationId::from_u128(1),
            member: MemberId::from_u128(2),
            user: UserId::from_u128(3),
            email: "ada@example.com".to_owned(),
            credential: Credential::ApiKey(ApiKeyId::from_u128(4)),
            permissions,
            zone: Zone::default(),
        };
        let actor = Actor { principal: principal.into(), origin: Origin::command("a request") };
        match may_grant(&actor.for_the_record(), &Roles::parse(role).unwrap()) {
            Err(Error::Forbidden { code, .. }) => Some(code),
            result => {
                result.unwrap();
                None
            }
        }
    }

    #[test]
    fn role_beyond_own_permissions_is_refused() {
        let (owner, admin) = (Permissions::all(), Role::Admin.permissions());
        let limited = Permissions::from_iter([Permission::MemberCreate]);
        for (permissions, role, expected) in [
            (owner, "owner", None),
            (owner, "admin,owner", None),
            (admin, "admin", None),
            (admin, "auditor,employee", None),
            (admin, "owner", Some("forbidden")),
            (admin, "admin,owner", Some("forbidden")),
            (limited, "employee", None),
            (limited, "any other word", None),
            (limited, "employee,auditor", Some("role_exceeds_own")),
            (limited, "admin", Some("role_exceeds_own")),
            (owner.without(limited), "admin", Some("role_exceeds_own")),
            (
                limited.union(Permissions::from_iter([Permission::OwnerManage])),
                "owner",
                Some("role_exceeds_own"),
            ),
        ] {
            assert_eq!(refusal(permissions, role), expected, "{role}");
        }
    }
}
