//! Inviting somebody, and accepting.

use attestry_domain::Time;
use attestry_domain::access::{Origin, Permission, Roles, Scope};
use attestry_domain::id::UserId;
use attestry_domain::invitations::Invitation;
use attestry_domain::journal::{Hash, sha256};
use attestry_domain::members::{Member, MemberState, NewMember, Person};
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::users::{User, invited_key};
use attestry_domain::words::Department;
use attestry_storage::{Tx, invitations, members, organizations, users};

use crate::context::Ctx;
use crate::error::{EMAIL_TAKEN, Error, already_member};
use crate::journal::{self, Record};
use crate::{jobs, letters};

/// Somebody who was invited, and the link if it is not on its way by mail.
#[derive(Clone, Debug)]
pub struct Invited {
    pub person: Person,
    pub invitation: Invitation,
    pub link: Option<String>,
}

#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub email: Email,
    pub name: Option<Name>,
    pub role: Roles,
    pub department: Department,
}

/// Makes a member that waits for the link, and a user that stands for whoever has the address. Whether they have an
/// account already does not show.
pub async fn invite(ctx: &Ctx, scope: &Scope, new: NewInvitation) -> Result<Invited, Error> {
    crate::members::may_grant(scope, &new.role)?;
    let (own, scope, token) = (ctx.clone(), scope.clone(), ctx.keys.token());
    let link = ctx.link(&format!("/accept-invitation?token={}", token.text));
    let url = link.clone();
    let (person, invitation) = ctx
        .write(scope.organization(), async move |t| {
            let now = own.now();
            // Held, so that nobody adds the same person meanwhile.
            let organization =
                organizations::lock(t, &scope).await?.ok_or(Error::NotFound("organization"))?;
            let person = waiting_member(&own, t, &scope, &new).await?;
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
            let letter = letters::invitation(&own, &person.user, &organization.name, &url);
            jobs::mail::enqueue(&own, t, Some(scope.organization()), letter).await?;
            record(&own, t, &scope, "member.invited", &person).await?;
            Ok::<_, Error>((person, invitation))
        })
        .await?;
    ctx.job_bell.notify_one();
    // Where mail is only written to files, whoever invites passes the link on.
    let link = ctx.mailer.is_folder().then_some(link);
    if let Some(link) = &link {
        tracing::info!(email = invitation.email, link, "invitation; pass the link on, or set up SMTP");
    }
    Ok(Invited { person, invitation, link })
}

async fn record(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    action: &'static str,
    Person { member, user }: &Person,
) -> Result<(), Error> {
    let record = Record::of(action, "member", member.id, &MemberState::new(member, user))?;
    journal::append(ctx, t, scope, record).await
}

/// The member the invitation will make active: a new one, one who was invited before, or one who was here before.
async fn waiting_member(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, new: &NewInvitation) -> Result<Person, Error> {
    let now = ctx.now();
    let (role, department) = (new.role.clone(), new.department);
    if let Some(Person { member: before, user }) = known_member(t, scope, &new.email).await? {
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
    let name = match &new.name {
        Some(name) => name.as_str(),
        None => new.email.as_str().split('@').next().unwrap_or_default(),
    };
    let (name, email) = (name.to_owned(), new.email.as_str().to_owned());
    let user = User::invited(ctx.ids.next(), name, email, scope.organization(), now);
    users::insert(t, &user, None).await?;
    let waiting = NewMember { user_id: user.id, role, department, is_active: false, device_label_id: None };
    let member = Member::new(ctx.ids.next(), scope.organization(), waiting, now);
    members::insert(t, scope, &member).await?;
    Ok(Person { member, user })
}

/// Who has this address among the members, those who are only invited included.
async fn known_member(t: &Tx<'_>, scope: &Scope, email: &Email) -> Result<Option<Person>, Error> {
    for key in [email.key(), invited_key(email.as_str(), scope.organization())] {
        if let Some((user, _)) = users::by_email(t, &key).await?
            && let Some(person) = members::lock_by_user(t, scope, user.id).await?
        {
            return Ok(Some(person));
        }
    }
    Ok(None)
}

fn gone() -> Error {
    Error::Gone {
        code: "invitation_expired",
        message: "This invitation has been used or withdrawn, or has expired; ask for a new one.",
    }
}

/// What the link of an invitation leads to.
#[derive(Clone, Debug)]
pub struct Offer {
    pub organization: String,
    pub email: String,
    /// Whether whoever accepts must choose a password, because they have none yet.
    pub needs_password: bool,
    pub expires_at: Time,
}

/// Shows whoever has the link what they are invited to.
pub async fn look(ctx: &Ctx, token: &str) -> Result<Offer, Error> {
    let (hash, now) = (sha256(token.as_bytes()), ctx.now());
    ctx.db
        .read(async move |t| {
            let (invitation, scope) = open_invitation(t, &hash, now, None).await?;
            let organization = organizations::get(t, &scope).await?.ok_or_else(gone)?;
            let account = users::by_email(t, &invitation.email.to_lowercase()).await?;
            Ok(Offer {
                organization: organization.name,
                needs_password: account.is_none_or(|(_, password)| password.is_none()),
                email: invitation.email,
                expires_at: invitation.expires_at,
            })
        })
        .await
}

/// The invitation of a link that still holds, and the scope that follows from it.
async fn open_invitation(
    t: &Tx<'_>,
    token: &Hash,
    now: Time,
    origin: Option<&Origin>,
) -> Result<(Invitation, Scope), Error> {
    let found = invitations::find(t, token).await?.ok_or_else(gone)?;
    let origin = origin.cloned().unwrap_or(Origin { request_id: "".into(), ip: None, claim: None });
    let scope = Scope::visitor(found.organization_id, Some(found.user_id), origin);
    if found.accepted_at.is_some() || found.expires_at <= now {
        return Err(gone());
    }
    Ok((found, scope))
}

/// Accepts by the link. A user who never had a password chooses one; who has one need not.
pub async fn accept(
    ctx: &Ctx,
    token: &str,
    name: Option<Name>,
    password: Option<Password>,
    origin: Origin,
) -> Result<Person, Error> {
    let hash = match &password {
        Some(password) => Some(ctx.keys.hash_password(password.expose()).await?),
        None => None,
    };
    let answer = Answer { token: sha256(token.as_bytes()), name, password: hash, origin };
    let accepted = match try_accept(ctx, answer.clone()).await {
        // The same person accepted another invitation at the same moment: now they have an account.
        Err(Error::Conflict { code: EMAIL_TAKEN, .. }) => try_accept(ctx, answer).await,
        other => other,
    };
    let person = accepted?;
    ctx.principals.forget_user(person.user.id);
    Ok(person)
}

#[derive(Clone)]
struct Answer {
    token: Hash,
    name: Option<Name>,
    password: Option<String>,
    origin: Origin,
}

async fn try_accept(ctx: &Ctx, answer: Answer) -> Result<Person, Error> {
    let own = ctx.clone();
    ctx.db
        .write(async move |t| {
            let Answer { token, name, password, origin } = &answer;
            let now = own.now();
            let (found, scope) = open_invitation(t, token, now, Some(origin)).await?;
            organizations::lock(t, &scope).await?.ok_or_else(gone)?;
            let invitation = invitations::lock(t, &scope, &found).await?.ok_or_else(gone)?;
            let Some(Person { member, user: invited }) =
                members::lock(t, &scope, invitation.member_id).await?
            else {
                return Err(gone());
            };
            if invitation.accepted_at.is_some() || member.is_active || member.user_id != invitation.user_id {
                return Err(gone());
            }
            let user = account(&own, t, &scope, &invited, password.as_deref()).await?;
            if let Some(name) = name {
                users::set_name(t, user, name.as_str(), now).await?;
            }
            let member = Member {
                user_id: user,
                is_active: true,
                updated_at: now,
                version: member.version + 1,
                ..member
            };
            members::update(t, &scope, &member).await?;
            invitations::accept(t, &scope, &invitation, user, now).await?;
            if user != invited.id {
                users::delete(t, invited.id).await?;
            }
            let user = users::get(t, user).await?.ok_or_else(gone)?;
            let person = Person { member, user };
            record(&own, t, &scope, "member.joined", &person).await?;
            Ok(person)
        })
        .await
}

/// The account of whoever was invited: the one they have, or the one that is made of the invitation.
async fn account(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    invited: &User,
    password: Option<&str>,
) -> Result<UserId, Error> {
    let known = match invited.invited_to {
        None => Some((invited.clone(), users::password(t, invited.id).await?)),
        Some(_) => users::by_email(t, &invited.email.to_lowercase()).await?,
    };
    let has_password = known.as_ref().is_some_and(|(_, stored)| stored.is_some());
    let user = match known {
        Some((user, _)) => {
            if user.id != invited.id && members::lock_by_user(t, scope, user.id).await?.is_some() {
                return Err(already_member());
            }
            user.id
        }
        None => {
            users::become_account(t, invited, ctx.now()).await?;
            invited.id
        }
    };
    match password {
        // Somebody who has an account signs in with the password they know.
        _ if has_password => {}
        Some(hash) => users::set_password(t, user, hash, true, ctx.now()).await?,
        None => return Err(Error::field("password", "is required: this account has none yet")),
    }
    Ok(user)
}
