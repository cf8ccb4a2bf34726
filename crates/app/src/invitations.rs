//! Inviting somebody, and accepting.

use attestry_domain::Time;
use attestry_domain::access::{Origin, Permission, Roles, Scope};
use attestry_domain::id::UserId;
use attestry_domain::invitations::Invitation;
use attestry_domain::journal::{Hash, sha256};
use attestry_domain::members::{Member, NewMember, Person};
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::users::{User, invited_key};
use attestry_domain::words::Department;
use attestry_storage::{invitations, members, organizations, users};

use crate::change::Change;
use crate::context::Ctx;
use crate::error::{EMAIL_TAKEN, Error, already_member};
use crate::jobs::Mail;
use crate::letters;
use crate::members::record;
use crate::remembered::Forget;

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
    let token = ctx.keys.token();
    let link = ctx.link(&format!("/accept-invitation?token={}", token.text));
    let url = link.clone();
    let (person, invitation) = ctx
        .change(scope, async move |c| {
            // Held, so that nobody adds the same person meanwhile.
            let organization = organizations::lock(c.t, c.scope).await?;
            let organization = organization.ok_or(Error::NotFound("organization"))?;
            let person = waiting_member(c, &new).await?;
            invitations::delete_open(c.t, c.scope, person.member.id).await?;
            let invitation = Invitation {
                id: c.next_id(),
                organization_id: c.organization(),
                member_id: person.member.id,
                user_id: person.user.id,
                email: person.user.email.clone(),
                created_at: c.now,
                expires_at: c.now.plus(c.ctx.settings.invitation_lifetime),
                accepted_at: None,
            };
            invitations::insert(c.t, c.scope, &invitation, &token.hash).await?;
            let letter = letters::invitation(c.ctx, &person.user, &organization.name, &url);
            c.enqueue(&Mail(letter)).await?;
            record(c, "member.invited", &person.member, &person.user)?;
            Ok((person, invitation))
        })
        .await?;
    // Where mail is only written to files, whoever invites passes the link on.
    let link = ctx.mailer.is_folder().then_some(link);
    if let Some(link) = &link {
        tracing::info!(
            email = invitation.email,
            link,
            "invitation created; no SMTP server is configured, so pass the link on yourself"
        );
    }
    Ok(Invited { person, invitation, link })
}

/// The member the invitation will make active: a new one, one who was invited before, or one who was here before.
async fn waiting_member(c: &Change<'_>, new: &NewInvitation) -> Result<Person, Error> {
    let (role, department) = (new.role.clone(), new.department);
    if let Some(Person { member: before, user }) = known_member(c, &new.email).await? {
        if before.is_active {
            return Err(already_member());
        }
        if before.role.is_owner() {
            c.scope.require(Permission::OwnerManage)?;
        }
        let member = Member { role, department, updated_at: c.now, version: before.version + 1, ..before };
        members::update(c.t, c.scope, &member).await?;
        return Ok(Person { member, user });
    }
    let name = match &new.name {
        Some(name) => name.as_str(),
        None => new.email.as_str().split('@').next().unwrap_or_default(),
    };
    let (name, email) = (name.to_owned(), new.email.as_str().to_owned());
    let user = User::invited(c.next_id(), name, email, c.organization(), c.now);
    users::insert(c.t, &user, None).await?;
    let waiting = NewMember { user_id: user.id, role, department, is_active: false, device_label_id: None };
    let member = Member::new(c.next_id(), c.organization(), waiting, c.now);
    members::insert(c.t, c.scope, &member).await?;
    Ok(Person { member, user })
}

/// Who has this address among the members, those who are only invited included.
async fn known_member(c: &Change<'_>, email: &Email) -> Result<Option<Person>, Error> {
    for key in [email.key(), invited_key(email.as_str(), c.organization())] {
        if let Some((user, _)) = users::by_email(c.t, &key).await?
            && let Some(person) = members::lock_by_user(c.t, c.scope, user.id).await?
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

/// The invitation of a link that still holds.
async fn open_invitation(ctx: &Ctx, token: Hash) -> Result<Invitation, Error> {
    let found = ctx.db.read(async move |t| invitations::find(t, &token).await).await?;
    let now = ctx.now();
    found.filter(|found| found.accepted_at.is_none() && found.expires_at > now).ok_or_else(gone)
}

/// Shows whoever has the link what they are invited to.
pub async fn look(ctx: &Ctx, token: &str) -> Result<Offer, Error> {
    let invitation = open_invitation(ctx, sha256(token.as_bytes())).await?;
    let scope = Scope::system(invitation.organization_id, "invitation");
    ctx.db
        .read(async move |t| {
            let organization = organizations::get(t, &scope).await?.ok_or_else(gone)?;
            let account = users::by_email(t, &invitation.email.to_lowercase()).await?;
            Ok(Offer {
                organization: organization.name,
                needs_password: account.is_none_or(|(_, password)| password.is_none()),
                email: invitation.email.clone(),
                expires_at: invitation.expires_at,
            })
        })
        .await
}

/// Accepts by the link. A user who never had a password chooses one; who has one need not.
pub async fn accept(
    ctx: &Ctx,
    token: &str,
    name: Option<Name>,
    password: Option<Password>,
    origin: Origin,
) -> Result<Person, Error> {
    let password = match &password {
        Some(password) => Some(ctx.keys.hash_password(password.expose()).await?),
        None => None,
    };
    let invitation = open_invitation(ctx, sha256(token.as_bytes())).await?;
    let scope = Scope::visitor(invitation.organization_id, Some(invitation.user_id), origin);
    let answer = Answer { invitation, name, password };
    match try_accept(ctx, &scope, answer.clone()).await {
        // The same person accepted another invitation at the same moment: now they have an account.
        Err(Error::Conflict { code: EMAIL_TAKEN, .. }) => try_accept(ctx, &scope, answer).await,
        other => other,
    }
}

#[derive(Clone)]
struct Answer {
    invitation: Invitation,
    name: Option<Name>,
    password: Option<String>,
}

async fn try_accept(ctx: &Ctx, scope: &Scope, answer: Answer) -> Result<Person, Error> {
    ctx.change(scope, async move |c| {
        let Answer { invitation: found, name, password } = &answer;
        organizations::lock(c.t, c.scope).await?.ok_or_else(gone)?;
        let invitation = invitations::lock(c.t, c.scope, found).await?.ok_or_else(gone)?;
        let waiting = members::lock(c.t, c.scope, invitation.member_id).await?;
        let Person { member, user: invited } = waiting.ok_or_else(gone)?;
        if invitation.accepted_at.is_some() || member.is_active || member.user_id != invitation.user_id {
            return Err(gone());
        }
        let user = account(c, &invited, password.as_deref()).await?;
        if let Some(name) = name {
            users::set_name(c.t, user, name.as_str(), c.now).await?;
        }
        let member = Member {
            user_id: user,
            is_active: true,
            updated_at: c.now,
            version: member.version + 1,
            ..member
        };
        members::update(c.t, c.scope, &member).await?;
        invitations::accept(c.t, c.scope, &invitation, user, c.now).await?;
        if user != invited.id {
            users::delete(c.t, invited.id).await?;
        }
        let user = users::get(c.t, user).await?.ok_or_else(gone)?;
        record(c, "member.joined", &member, &user)?;
        c.forget(Forget::User(user.id));
        Ok(Person { member, user })
    })
    .await
}

/// The account of whoever was invited: the one they have, or the one that is made of the invitation.
async fn account(c: &Change<'_>, invited: &User, password: Option<&str>) -> Result<UserId, Error> {
    let known = match invited.invited_to {
        None => Some((invited.clone(), users::password(c.t, invited.id).await?)),
        Some(_) => users::by_email(c.t, &invited.email.to_lowercase()).await?,
    };
    let has_password = known.as_ref().is_some_and(|(_, stored)| stored.is_some());
    let user = match known {
        Some((user, _)) => {
            if user.id != invited.id && members::lock_by_user(c.t, c.scope, user.id).await?.is_some() {
                return Err(already_member());
            }
            user.id
        }
        None => {
            users::become_account(c.t, invited, c.now).await?;
            invited.id
        }
    };
    match password {
        // Somebody who has an account signs in with the password they know.
        _ if has_password => {}
        Some(hash) => users::set_password(c.t, user, hash, true, c.now).await?,
        None => return Err(Error::field("password", "is required: this account has none yet")),
    }
    Ok(user)
}
