//! Inviting somebody, and accepting.

use attestry_domain::access::{Origin, Permission, Roles, Scope};
use attestry_domain::invitations::Invitation;
use attestry_domain::journal::sha256;
use attestry_domain::members::{Member, NewMember, Person};
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::users::User;
use attestry_domain::words::Department;
use attestry_storage::{Tx, invitations, members, organizations, users};

use crate::context::Ctx;
use crate::error::{Error, already_member};
use crate::journal::{self, Record};
use crate::{jobs, letters};

#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub email: Email,
    pub name: Option<Name>,
    pub role: Roles,
    pub department: Department,
}

/// Makes the user, if nobody has this address yet, and a member that waits for the link.
pub async fn invite(ctx: &Ctx, scope: &Scope, new: NewInvitation) -> Result<(Person, Invitation), Error> {
    crate::members::may_grant(scope, &new.role)?;
    let (own, scope, token) = (ctx.clone(), scope.clone(), ctx.keys.token());
    let invited = ctx
        .write(scope.organization(), async move |t| {
            let now = own.now();
            // Held, so that nobody adds the same person meanwhile.
            organizations::lock(t, &scope).await?;
            let user = user_for(&own, t, &new).await?;
            let person = waiting_member(&own, t, &scope, &new, user).await?;
            invitations::delete_open(t, &scope, person.member.id).await?;
            let invitation = Invitation {
                id: own.ids.next(),
                organization_id: scope.organization(),
                member_id: person.member.id,
                user_id: person.user.id,
                email: person.user.email.clone(),
                created_at: now,
                expires_at: now.plus(own.settings.invitation_lifetime),
                accepted_at: None,
            };
            invitations::insert(t, &scope, &invitation, &token.hash).await?;
            let organization = organizations::get(t, &scope).await?.ok_or(Error::NotFound("organization"))?;
            let link = own.link(&format!("/accept-invitation?token={}", token.text));
            let letter = letters::invitation(&own, &person.user, &organization.name, &link);
            jobs::mail::enqueue(&own, t, Some(scope.organization()), letter).await?;
            let record = Record::of("member.invited", "member", person.member.id, &person.member)?;
            journal::append(&own, t, &scope, record).await?;
            Ok::<_, Error>((person, invitation))
        })
        .await?;
    ctx.job_bell.notify_one();
    Ok(invited)
}

async fn user_for(ctx: &Ctx, t: &Tx<'_>, new: &NewInvitation) -> Result<User, Error> {
    if let Some((user, _)) = users::by_email(t, &new.email.key()).await? {
        return Ok(user);
    }
    let name = match &new.name {
        Some(name) => name.as_str(),
        None => new.email.as_str().split('@').next().unwrap_or_default(),
    };
    let user = User::new(ctx.ids.next(), name.to_owned(), new.email.as_str().to_owned(), false, ctx.now());
    users::insert(t, &user, None).await?;
    Ok(user)
}

/// The member the invitation will make active: a new one, or the one who was here before.
async fn waiting_member(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    new: &NewInvitation,
    user: User,
) -> Result<Person, Error> {
    let now = ctx.now();
    let (role, department) = (new.role.clone(), new.department);
    if let Some(Person { member: before, .. }) = members::lock_by_user(t, scope, user.id).await? {
        if before.is_active {
            return Err(already_member());
        }
        if before.role.is_owner() {
            scope.require(Permission::OwnerManage)?;
        }
        let member = Member { role, department, updated_at: now, version: before.version + 1, ..before };
        members::update(t, scope, &member).await?;
        return Ok(Person { member, user });
    }
    let waiting = NewMember { user_id: user.id, role, department, is_active: false, device_label_id: None };
    let member = Member::new(ctx.ids.next(), scope.organization(), waiting, now);
    members::insert(t, scope, &member).await?;
    Ok(Person { member, user })
}

/// Accepts by the link. A user who never had a password chooses one; who has one need not.
pub async fn accept(
    ctx: &Ctx,
    token: &str,
    name: Option<Name>,
    password: Option<Password>,
    origin: Origin,
) -> Result<Person, Error> {
    let token_hash = sha256(token.as_bytes());
    let hash = match &password {
        Some(password) => Some(ctx.keys.hash_password(password.expose()).await?),
        None => None,
    };
    let own = ctx.clone();
    let person = ctx
        .db
        .write(async move |t| {
            let gone = Error::Gone {
                code: "invitation_expired",
                message: "This invitation was used already, withdrawn, or is too old; ask for a new one.",
            };
            let found = invitations::find(t, &token_hash).await?.ok_or_else(|| gone.clone())?;
            let scope = Scope::visitor(found.organization_id, Some(found.user_id), origin.clone());
            let invitation = invitations::lock(t, &scope, &found).await?.ok_or_else(|| gone.clone())?;
            let now = own.now();
            if invitation.accepted_at.is_some() || invitation.expires_at <= now {
                return Err(gone);
            }
            let user = invitation.user_id;
            let stored = users::password(t, user).await?;
            match (&hash, stored) {
                (None, None) => {
                    return Err(Error::field("password", "is required: this account has none yet"));
                }
                // Somebody who has an account signs in with the password they know.
                (_, Some(_)) => {}
                (Some(hash), None) => users::set_password(t, user, hash, true, now).await?,
            }
            if let Some(name) = &name {
                users::set_name(t, user, name.as_str(), now).await?;
            }
            invitations::accept(t, &scope, &invitation, now).await?;
            let Person { member, user } =
                members::lock(t, &scope, invitation.member_id).await?.ok_or(Error::NotFound("member"))?;
            let member = Member { is_active: true, updated_at: now, version: member.version + 1, ..member };
            members::update(t, &scope, &member).await?;
            journal::append(&own, t, &scope, Record::of("member.joined", "member", member.id, &member)?)
                .await?;
            Ok(Person { member, user })
        })
        .await?;
    ctx.principals.forget_user(person.user.id);
    Ok(person)
}
