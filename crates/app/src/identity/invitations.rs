//! Inviting a person, and accepting an invitation.
//!
//! An invitation never takes over an account: to accept for an account that has a password, a person must prove that
//! it is theirs. A link sent by mail proves that the person who uses it reads that address; a link shown to the
//! inviting member proves nothing.

use attestry_domain::Time;
use attestry_domain::access::{Origin, Permission, Roles, Scope};
use attestry_domain::hash::{Hash, sha256};
use attestry_domain::id::UserId;
use attestry_domain::identity::invitations::Invitation;
use attestry_domain::identity::members::{Member, NewMember, Person};
use attestry_domain::identity::organizations::Organization;
use attestry_domain::identity::users::{User, invited_key};
use attestry_domain::text::{Email, Name, Parse, Password};
use attestry_domain::words::Department;
use attestry_storage::members::Membership;
use attestry_storage::{Tx, invitations, members, organizations, sessions, users};

use crate::boxed;
use crate::core::change::{Change, Work};
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::{EMAIL_TAKEN, Error, already_member};
use crate::core::queue::Mail;
use crate::core::throttle::{PASSWORDS, Verified, prove};
use crate::identity::members::{self as people, record};
use crate::identity::{directory, passwords};
use crate::notices::mail_templates;

/// A member who was invited.
#[derive(Clone, Debug)]
pub struct Invited {
    pub person: Person,
    pub sent: Sent,
}

/// An invitation that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub expires_at: Time,
    /// The link, where mail is only written to files and the inviting member passes it on.
    pub link: Option<String>,
}

#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub email: Email,
    pub name: Option<Name>,
    pub role: Roles,
    pub department: Department,
}

/// Creates a pending member, and a placeholder user for the address. The result does not reveal whether the address
/// has an account.
#[boxed]
pub async fn invite(ctx: &Ctx, scope: &Scope, new: NewInvitation) -> Result<Invited, Error> {
    crate::identity::members::may_grant(scope, &new.role)?;
    ctx.change(scope, async move |c| {
        // Locked, so that the same person is not added concurrently.
        let organization = organizations::lock(c.t, c.scope).await?;
        let organization = organization.ok_or(Error::NotFound("organization"))?;
        let person = waiting_member(c, &new).await?;
        let account = addressee(c.t, &person.user).await?;
        let sent = send(c, &organization, &person, &account).await?;
        Ok(Invited { person, sent })
    })
    .await
}

/// Returns the recipient of an invitation: the account that a placeholder user represents, or the user.
async fn addressee(t: &Tx<'_>, user: &User) -> Result<User, Error> {
    match user.account_id {
        Some(account) => users::get(t, account).await?.ok_or(Error::NotFound("user")),
        None => Ok(user.clone()),
    }
}

/// Sends a link to a pending member; earlier links stop working.
async fn send(
    c: &Change<'_>,
    organization: &Organization,
    person: &Person,
    to: &User,
) -> Result<Sent, Error> {
    let (token, by_mail) = (c.ctx.keys.token(), !c.ctx.mailer.is_folder());
    let link = c.ctx.link(&format!("/accept-invitation?token={}", token.text));
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
        by_mail,
    };
    invitations::insert(c.t, c.scope, &invitation, &token.hash).await?;
    c.enqueue(&Mail(mail_templates::invitation(c.ctx, to, &organization.name, &link))).await?;
    record(c, "member.invited", &person.member, &person.user)?;
    tracing::debug!(member = %person.member.id, link, "invitation created");
    Ok(Sent { expires_at: invitation.expires_at, link: (!by_mail).then_some(link) })
}

/// Invites an account that is not a member of this organization; it is added when its user accepts.
pub(crate) async fn invite_account(c: &Change<'_>, account: &User, new: NewMember) -> Result<Invited, Error> {
    let user = stand_in(c, account).await?;
    let waiting = NewMember { user_id: user.id, is_active: false, ..new };
    let member = Member::new(c.next_id(), c.organization(), waiting, c.now);
    members::insert(c.t, c.scope, &member).await?;
    let person = Person { member, user };
    let sent = send_to(c, &person, account).await?;
    Ok(Invited { person, sent })
}

/// Sends a link to the account that a pending member represents.
pub(crate) async fn send_to(c: &Change<'_>, person: &Person, account: &User) -> Result<Sent, Error> {
    let organization = organizations::get(c.t, c.scope).await?.ok_or(Error::NotFound("organization"))?;
    send(c, &organization, person, account).await
}

/// Creates a placeholder user for an account of which the organization knows only the id.
pub(crate) async fn stand_in(c: &Change<'_>, account: &User) -> Result<User, Error> {
    let by_email = invited_key(&account.email, c.organization());
    let is_waiting = users::invited(c.t, c.scope, account.id).await?.is_some()
        || users::by_email(c.t, &by_email).await?.is_some();
    if is_waiting {
        return Err(invitation_pending());
    }
    let user = User::standing_for(c.next_id(), account.id, c.organization(), c.now);
    users::insert(c.t, &user, None).await?;
    Ok(user)
}

pub(crate) fn invitation_pending() -> Error {
    Error::Conflict {
        code: "invitation_pending",
        message: "This person has been invited and has not accepted yet; they become active when they do."
            .to_owned(),
    }
}

/// Returns the member that the invitation will activate: a new, an already invited, or a former one.
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

/// Returns the member with this address, including invited ones.
async fn known_member(c: &Change<'_>, email: &Email) -> Result<Option<Person>, Error> {
    let account = users::by_email(c.t, &email.key()).await?.map(|(user, _)| user);
    let invited = users::by_email(c.t, &invited_key(email.as_str(), c.organization())).await?;
    let stand_in = match &account {
        Some(account) => users::invited(c.t, c.scope, account.id).await?,
        None => None,
    };
    for user in [account, invited.map(|(user, _)| user), stand_in].into_iter().flatten() {
        if let Some(person) = members::lock_by_user(c.t, c.scope, user.id).await? {
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

/// The details of an invitation, as shown to the holder of its link.
#[derive(Clone, Debug)]
pub struct Offer {
    pub organization: String,
    /// `None` for an account that was invited by its id: the holder of the link need not learn its address.
    pub email: Option<String>,
    pub needs: Needs,
    pub expires_at: Time,
}

/// Input that acceptance requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// A password to sign in with, because the account has none yet.
    pub password: bool,
    /// The account's password, or a session of its user.
    pub current_password: bool,
    /// Another password: others may know the one of an account whose address was never verified.
    pub new_password: bool,
}

/// Returns the invitation of a link that is still valid.
async fn open_invitation(ctx: &Ctx, token: Hash) -> Result<Invitation, Error> {
    let found = ctx.db.read(async move |t| invitations::find(t, &token).await).await?;
    let now = ctx.now();
    found.filter(|found| found.accepted_at.is_none() && found.expires_at > now).ok_or_else(gone)
}

/// The current state of the account that an invitation is for.
#[derive(Clone, Debug, PartialEq)]
struct Account {
    user: User,
    password_hash: Option<String>,
    /// The account is or was a member of the inviting organization.
    is_known: bool,
}

impl Account {
    /// Returns the account of an invited user; `None` if it is created on acceptance.
    async fn of(t: &Tx<'_>, invited: &User) -> Result<Option<Self>, Error> {
        let (user, is_known) = match (invited.invited_to, invited.account_id) {
            (None, _) => (Some(invited.clone()), true),
            (Some(_), Some(account)) => (users::get(t, account).await?, false),
            (Some(_), None) => {
                let found = users::by_email(t, &invited.email.to_lowercase()).await?;
                (found.map(|(user, _)| user), false)
            }
        };
        let Some(user) = user else { return Ok(None) };
        let password_hash = users::password(t, user.id).await?;
        Ok(Some(Self { user, password_hash, is_known }))
    }

    fn needs(account: Option<&Self>, by_mail: bool) -> Needs {
        let none = Needs { password: false, current_password: false, new_password: false };
        match account {
            Some(Self { user, password_hash: Some(_), is_known }) => {
                let new_password = !user.email_verified && !is_known;
                Needs { new_password, current_password: !(new_password && by_mail), ..none }
            }
            _ => Needs { password: true, ..none },
        }
    }
}

/// Returns the account of the invited person.
async fn invited_by(t: &Tx<'_>, scope: &Scope, invitation: &Invitation) -> Result<Option<Account>, Error> {
    let person = members::get(t, scope, invitation.member_id).await?.ok_or_else(gone)?;
    Account::of(t, &person.user).await
}

/// Returns the details of an invitation to the holder of its link.
#[boxed]
pub async fn look(ctx: &Ctx, token: &str) -> Result<Offer, Error> {
    let invitation = open_invitation(ctx, sha256(token.as_bytes())).await?;
    let scope = Scope::system(invitation.organization_id, "invitation");
    ctx.db
        .read(async move |t| {
            let organization = organizations::get(t, &scope).await?.ok_or_else(gone)?;
            let person = members::get(t, &scope, invitation.member_id).await?.ok_or_else(gone)?;
            let account = Account::of(t, &person.user).await?;
            Ok(Offer {
                organization: organization.name,
                email: person.user.account_id.is_none().then(|| invitation.email.clone()),
                needs: Account::needs(account.as_ref(), invitation.by_mail),
                expires_at: invitation.expires_at,
            })
        })
        .await
}

/// The input of an acceptance.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The name of a new account.
    pub name: Option<Name>,
    /// The account's current password, or the first password of a new account.
    pub password: Option<String>,
    /// Replaces the password of an account whose address was never verified.
    pub new_password: Option<Password>,
    /// The signed-in user.
    pub session: Option<UserId>,
}

/// The maximum number of attempts at an acceptance whose account changes concurrently.
const MAX_ATTEMPTS: u32 = 3;

/// Accepts an invitation by its link.
#[boxed]
pub async fn accept(ctx: &Ctx, token: &str, acceptance: Acceptance, origin: Origin) -> Result<Person, Error> {
    let invitation = open_invitation(ctx, sha256(token.as_bytes())).await?;
    let scope = Scope::visitor(invitation.organization_id, Some(invitation.user_id), origin);
    for _ in 1..MAX_ATTEMPTS {
        match try_accept(ctx, &scope, &invitation, &acceptance).await {
            // The same person accepted another invitation concurrently, and has an account now.
            Err(Error::Conflict { code: EMAIL_TAKEN, .. }) => {}
            other => return other,
        }
    }
    try_accept(ctx, &scope, &invitation, &acceptance).await
}

/// The verified account of an acceptance, and the effect on its password.
#[derive(Clone, Debug)]
struct VerifiedAccount {
    /// The account state that was verified.
    account: Option<Account>,
    new_hash: Option<String>,
    proof: Option<Verified>,
}

/// Checks that the account belongs to the accepting person. Computes hashes, so it runs outside the transaction.
async fn prove_account(
    ctx: &Ctx,
    scope: &Scope,
    invitation: &Invitation,
    acceptance: &Acceptance,
) -> Result<VerifiedAccount, Error> {
    let (own, found) = (scope.clone(), invitation.clone());
    let account = ctx.db.read(async move |t| invited_by(t, &own, &found).await).await?;
    let needs = Account::needs(account.as_ref(), invitation.by_mail);
    let (origin, given) = (scope.origin(), acceptance.password.as_deref());
    if needs.password {
        let required = || Error::field("password", "is required: this account has none yet");
        let password = Password::parse(given.ok_or_else(required)?)
            .map_err(|message| Error::field("password", message))?;
        let new_hash = Some(ctx.hashing.hash(origin, password.expose()).await?);
        return Ok(VerifiedAccount { account, new_hash, proof: None });
    }
    let (user, hash) =
        account.as_ref().map(|one| (one.user.clone(), one.password_hash.clone())).ok_or_else(gone)?;
    let mut proof = None;
    if needs.current_password && acceptance.session != Some(user.id) {
        let password = given.ok_or_else(|| {
            let message = "is required: there is an account with this address already. Enter its password, or sign in first";
            Error::field("password", message)
        })?;
        let check = ctx.hashing.check(origin, password, hash.clone());
        let nothing = async |_: &Work<'_>, _| Ok(());
        proof = prove(ctx, &PASSWORDS, &user.id.to_string(), origin.ip, check, nothing).await?;
        if proof.is_none() {
            return Err(Error::field("password", "is not the password of this account"));
        }
    }
    let new_hash = match (&acceptance.new_password, needs.new_password) {
        (_, false) => None,
        (None, true) => {
            let message = "is required: the address of this account was never verified, so others may know its password";
            return Err(Error::field("newPassword", message));
        }
        (Some(new), true) => {
            if ctx.hashing.check(origin, new.expose(), hash).await? {
                return Err(Error::field("newPassword", "must not be the password the account has now"));
            }
            Some(ctx.hashing.hash(origin, new.expose()).await?)
        }
    };
    Ok(VerifiedAccount { account, new_hash, proof })
}

async fn try_accept(
    ctx: &Ctx,
    scope: &Scope,
    invitation: &Invitation,
    acceptance: &Acceptance,
) -> Result<Person, Error> {
    let proved = prove_account(ctx, scope, invitation, acceptance).await?;
    let (found, name) = (invitation.clone(), acceptance.name.clone());
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?.ok_or_else(gone)?;
        let invitation = invitations::lock(c.t, c.scope, &found).await?.ok_or_else(gone)?;
        let waiting = members::lock(c.t, c.scope, invitation.member_id).await?;
        let Person { member, user: invited } = waiting.ok_or_else(gone)?;
        if invitation.accepted_at.is_some() || member.is_active || member.user_id != invitation.user_id {
            return Err(gone());
        }
        let user = account(c, &invitation, &invited, &proved, name.as_ref()).await?;
        let before = member.clone();
        let member = Member {
            user_id: user,
            is_active: true,
            updated_at: c.now,
            version: member.version + 1,
            ..member
        };
        directory::member_changed(c, &before, &member).await?;
        members::update(c.t, c.scope, &member).await?;
        invitations::accept(c.t, c.scope, &invitation, user, c.now).await?;
        if user != invited.id {
            users::delete(c.t, invited.id).await?;
        }
        if proved.account.is_some() && proved.new_hash.is_some() {
            password_replaced(c, user).await?;
        }
        let user = users::get(c.t, user).await?.ok_or_else(gone)?;
        record(c, "member.joined", &member, &user)?;
        people::restore(c, &member, &user).await?;
        c.invalidate(Invalidate::User(user.id));
        Ok(Person { member, user })
    })
    .await
}

/// Admits an invited person whose address an identity provider verified; the invitation's role stays.
pub(crate) async fn admit(c: &Change<'_>, waiting: &Person, account: Option<&User>) -> Result<Person, Error> {
    let Person { member, user: invited } = waiting;
    let user = match account {
        Some(account) => account.id,
        None => {
            users::become_account(c.t, invited, c.now).await?;
            users::verify_and_drop_password(c.t, invited.id, c.now).await?;
            invited.id
        }
    };
    users::lock(c.t, user).await?;
    invitations::delete_open(c.t, c.scope, member.id).await?;
    let member = Member {
        user_id: user,
        is_active: true,
        updated_at: c.now,
        version: member.version + 1,
        ..member.clone()
    };
    members::update(c.t, c.scope, &member).await?;
    if user != invited.id {
        users::delete(c.t, invited.id).await?;
    }
    let user = users::get(c.t, user).await?.ok_or_else(gone)?;
    record(c, "member.joined", &member, &user)?;
    c.invalidate(Invalidate::User(user.id));
    Ok(Person { member, user })
}

/// Returns the account of the invited person: the existing one, or the placeholder user turned into an account.
async fn account(
    c: &Change<'_>,
    invitation: &Invitation,
    invited: &User,
    proved: &VerifiedAccount,
    name: Option<&Name>,
) -> Result<UserId, Error> {
    let known = Account::of(c.t, invited).await?;
    let is_as_proved = |known: &Account| {
        proved.account.as_ref().is_some_and(|proved| {
            proved.user.id == known.user.id
                && proved.password_hash == known.password_hash
                && proved.user.email_verified == known.user.email_verified
        })
    };
    let user = match &known {
        None => {
            users::become_account(c.t, invited, c.now).await?;
            if let Some(name) = name {
                users::set_name(c.t, invited.id, name.as_str(), c.now).await?;
            }
            invited
        }
        Some(known) if !is_as_proved(known) => {
            let message = "The account was changed at the same moment; try again.".to_owned();
            return Err(Error::Conflict { code: EMAIL_TAKEN, message });
        }
        Some(Account { user, .. }) => {
            users::lock(c.t, user.id).await?;
            if user.id != invited.id && members::lock_by_user(c.t, c.scope, user.id).await?.is_some() {
                return Err(already_member());
            }
            user
        }
    };
    if let Some(hash) = &proved.new_hash {
        users::set_password(c.t, user.id, hash, invitation.by_mail || user.email_verified, c.now).await?;
    }
    if let Some(proof) = &proved.proof {
        proof.clear(c.t).await?;
    }
    Ok(user.id)
}

/// Ends all sessions of a user whose password was replaced, and records it in each of their organizations.
async fn password_replaced(c: &Change<'_>, user: UserId) -> Result<(), Error> {
    sessions::delete_of_user(c.t, user, None).await?;
    let memberships = members::of_user(c.t, user).await?;
    let scope = |membership: &Membership| {
        Scope::visitor(membership.organization, Some(user), c.scope.origin().clone())
    };
    passwords::changed(&c.account(&memberships), user, scope).await
}
