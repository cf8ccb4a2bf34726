//! The account that an identity belongs to: linked by the subject, and by the address only within a verified domain.

use attestry_domain::access::{Roles, Scope};
use attestry_domain::identity::mail_domains::domain_of;
use attestry_domain::identity::members::Person;
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::SignInMethod;
use attestry_domain::identity::sso::{RoleSync, SsoConnection, SsoIdentity};
use attestry_domain::identity::users::User;
use attestry_domain::text::Email;
use attestry_storage::members::Membership;
use attestry_storage::session_grants::Grant;
use attestry_storage::{
    Tx, mail_domains, members, organizations, session_grants, sessions, sso_connections, sso_identities,
    users,
};

use super::flow::{Authenticated, Browser, Profile, Purpose, Refused};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::identity::confirmation::own_scope;
use crate::identity::sessions::{SessionState, SignedIn, begin};
use crate::identity::{directory, joining, members as people};
use crate::notices::mail_templates::{self, Topic};

/// The purpose of a kept ID token.
pub(crate) const ID_TOKEN: &str = "id token";
/// The entity type of identities in the journal.
pub(crate) const IDENTITY: &str = "sso_identity";

/// The result of a settled sign-in.
#[derive(Debug)]
pub(crate) enum Outcome {
    Opened(Box<SignedIn>),
    /// The session of the browser got a grant.
    Granted,
    /// The session of the browser is another person's.
    AnotherPerson,
}

/// Refuses a sign-in; nothing that it changed stays.
fn refuse(code: &'static str, message: impl Into<String>) -> Error {
    Error::Conflict { code, message: message.into() }
}

fn gone() -> Error {
    refuse("sso_expired", "The connection has changed since.")
}

/// Signs a person in, confirms or links, all in one transaction of the connection's organization.
#[boxed]
pub(crate) async fn settle(
    ctx: &Ctx,
    authenticated: Authenticated,
    purpose: Purpose,
    browser: Browser,
) -> Result<Outcome, Refused> {
    let id = authenticated.connection;
    let found = ctx.db.read(async move |t| sso_connections::find(t, id).await).await.map_err(Error::from)?;
    let organization = found.ok_or_else(gone)?.connection.organization_id;
    let scope = Scope::visitor(organization, None, browser.origin.clone());
    let outcome = ctx.change(&scope, async move |c| {
        organizations::lock(c.t, c.scope).await?.ok_or_else(gone)?;
        let connection =
            sso_connections::lock(c.t, c.scope, authenticated.connection).await?.ok_or_else(gone)?.connection;
        if !connection.is_enabled || connection.config_version != authenticated.config_version {
            return Err(gone());
        }
        let (person, identity) = match (purpose, &browser.session) {
            (Purpose::Link, Some(session)) => {
                link_own(c, &connection, &authenticated.profile, session).await?
            }
            _ => person_of(c, &connection, &authenticated.profile).await?,
        };
        let person = sync_roles(c, &connection, &authenticated.profile, person).await?;
        // The session may have ended with credentials that were never verified.
        let current = match &browser.session {
            Some(session) => sessions::get(c.t, session.id).await?,
            None => None,
        };
        let signing = Signing { connection: &connection, profile: &authenticated.profile, purpose };
        let user_agent = browser.user_agent.clone();
        finish(c, &signing, &person, &identity, current, user_agent).await
    });
    Ok(outcome.await?)
}

/// A sign-in whose person is known.
struct Signing<'a> {
    connection: &'a SsoConnection,
    profile: &'a Profile,
    purpose: Purpose,
}

/// Opens a session for a person, or grants the one of the browser.
async fn finish(
    c: &Change<'_>,
    Signing { connection, profile, purpose }: &Signing<'_>,
    person: &Person,
    identity: &SsoIdentity,
    current: Option<Session>,
    user_agent: Option<String>,
) -> Result<Outcome, Error> {
    let user = &person.user;
    let is_own = current.as_ref().is_some_and(|session| session.user_id == user.id);
    match (purpose, &current) {
        (Purpose::Confirm | Purpose::Link, _) if !is_own => {
            return Err(refuse("sso_wrong_account", "The provider authenticated another account."));
        }
        (_, Some(_)) if !is_own => return Ok(Outcome::AnotherPerson),
        _ => {}
    }
    let (session, opened) = match current {
        Some(session) => {
            // A session of one's own is renewed by one's own credentials.
            if session.method == SignInMethod::Sso {
                sessions::renewed(c.t, session.id, c.now).await?;
            }
            (session, None)
        }
        None => {
            let session = begin(c.ctx, user.id, SignInMethod::Sso, None, user_agent, c.scope.origin());
            let token = c.ctx.keys.token();
            sessions::insert(c.t, &session, &token.hash).await?;
            users::signed_in(c.t, user.id, c.now).await?;
            (session, Some(token))
        }
    };
    let grant = Grant {
        session: session.id,
        identity: identity.id,
        granted_at: c.now,
        has_mfa: profile.has_mfa,
        confirmed_at: profile.confirmed_at,
        sid: profile.sid.clone(),
        id_token: profile.id_token.clone(),
    };
    session_grants::put(c.t, c.scope, &grant).await?;
    c.invalidate(Invalidate::Session(session.id));
    let membership = Membership {
        member: person.member.id,
        organization: c.organization(),
        organization_name: String::new(),
        role: person.member.role.clone(),
    };
    let own = own_scope(&membership, user, session.id, c.scope.origin());
    let action = match (purpose, &opened) {
        (Purpose::Confirm, _) => "session.confirmed",
        (_, Some(_)) => "session.created",
        _ => "session.granted",
    };
    let state = SessionState::from(&session).granted_by(connection.id);
    c.within(&own).record(action, "session", session.id, &state)?;
    let Some(token) = opened else { return Ok(Outcome::Granted) };
    let user = User { last_login: Some(c.now), ..user.clone() };
    Ok(Outcome::Opened(Box::new(SignedIn { token, session, user })))
}

type Whose = (Person, SsoIdentity);

/// Links the identity to the account of a session.
async fn link_own(
    c: &Change<'_>,
    connection: &SsoConnection,
    profile: &Profile,
    session: &Session,
) -> Result<Whose, Error> {
    let found = members::lock_by_user(c.t, c.scope, session.user_id).await?;
    let Some(person) = found.filter(|person| person.member.is_active) else {
        return Err(refuse("sso_not_a_member", "The account is not an active member of the organization."));
    };
    if let Some(known) = sso_identities::by_subject(c.t, c.scope, connection.id, &profile.subject).await? {
        return match known.user_id == session.user_id {
            true => Ok((person, known)),
            false => Err(refuse("sso_identity_conflict", "This identity is linked to another account.")),
        };
    }
    let identity = link(c, connection, profile, &person).await?;
    Ok((person, identity))
}

/// Links an identity to an account, unless another subject of the connection is linked to it.
async fn link(
    c: &Change<'_>,
    connection: &SsoConnection,
    profile: &Profile,
    person: &Person,
) -> Result<SsoIdentity, Error> {
    let known = sso_identities::of_connection_and_user(c.t, c.scope, connection.id, person.user.id).await?;
    if known.is_some() {
        let cause = "Another subject of this connection is linked to the account; was the address given to somebody else? An owner can remove that identity.";
        return Err(refuse("sso_identity_conflict", cause));
    }
    let identity = SsoIdentity {
        id: c.next_id(),
        organization_id: c.organization(),
        connection_id: connection.id,
        user_id: person.user.id,
        subject: profile.subject.clone(),
        email: profile.email.as_ref().map(|email| email.as_str().to_owned()),
        created_at: c.now,
        last_used_at: c.now,
    };
    sso_identities::insert(c.t, c.scope, &identity).await?;
    c.record("sso_identity.linked", IDENTITY, identity.id, &identity)?;
    let message =
        format!("Your Attestry account can now be used by single sign-on with “{}”.", connection.name);
    c.enqueue(&Mail(mail_templates::tell(
        c.ctx,
        &person.user,
        Topic::Account,
        "Single sign-on was linked",
        &message,
    )))
    .await?;
    Ok(identity)
}

/// The address of a profile, if the connection may decide about it.
async fn verified_address<'p>(
    t: &Tx<'_>,
    connection: &SsoConnection,
    profile: &'p Profile,
) -> Result<&'p Email, Error> {
    let Some(email) = &profile.email else {
        let cause = format!("The claim {:?} has no e-mail address.", connection.email_claim.as_str());
        return Err(refuse("sso_email_missing", cause));
    };
    if !profile.is_verified {
        let cause = "The address is not verified: email_verified is false, or it is a private account.";
        return Err(refuse("sso_email_unverified", cause));
    }
    let unverified = |cause: String| Err(refuse("sso_domain_not_verified", cause));
    let Some(domain) = domain_of(email.as_str()) else {
        return unverified("The address has no domain of the DNS.".to_owned());
    };
    let found = mail_domains::verified(t, &domain).await?;
    let Some(found) = found.filter(|found| found.organization_id == connection.organization_id) else {
        return unverified(format!("The domain {domain} is not verified by this organization."));
    };
    if found.connection_id.is_some_and(|other| other != connection.id) {
        return unverified(format!("People of {domain} sign in with another connection."));
    }
    Ok(email)
}

/// Finds the person of an identity, or links or adds one.
async fn person_of(c: &Change<'_>, connection: &SsoConnection, profile: &Profile) -> Result<Whose, Error> {
    let inactive =
        || refuse("sso_member_inactive", "The member was deactivated; signing in brings nobody back.");
    if let Some(identity) = sso_identities::by_subject(c.t, c.scope, connection.id, &profile.subject).await? {
        let found = members::lock_by_user(c.t, c.scope, identity.user_id).await?;
        let Some(person) = found else {
            return Err(refuse("sso_not_a_member", "The account is no longer a member of the organization."));
        };
        if !person.member.is_active {
            return Err(inactive());
        }
        let email = profile.email.as_ref().map(Email::as_str).or(identity.email.as_deref());
        sso_identities::used(c.t, c.scope, identity.id, c.now, email).await?;
        return Ok((person, identity));
    }
    let email = verified_address(c.t, connection, profile).await?;
    let known = joining::known(c, email).await?;
    match &known.person {
        Some(person) if person.member.is_exempt => {
            let cause =
                "The member is exempt from single sign-on. They can link it themselves in their account.";
            return Err(refuse("sso_exempt", cause));
        }
        Some(person) if !person.member.is_active && !known.is_invited => return Err(inactive()),
        None if !connection.adds_members => {
            let cause = format!("{} is not a member, and the connection adds nobody.", email.as_str());
            return Err(refuse("sso_not_a_member", cause));
        }
        Some(_) | None => {}
    }
    let role = match known.person {
        Some(_) => connection.default_role.clone(),
        None => roles_for(connection, profile)?.unwrap_or_else(|| connection.default_role.clone()),
    };
    let Some(person) = joining::admit(c, known, email, profile.name.as_ref(), role).await? else {
        let cause =
            "The address of this account was never verified, and the account is exempt from single sign-on.";
        return Err(refuse("sso_exempt", cause));
    };
    let identity = link(c, connection, profile, &person).await?;
    Ok((person, identity))
}

/// The roles that the groups of a person give; `None` if they say nothing.
fn roles_for(connection: &SsoConnection, profile: &Profile) -> Result<Option<Roles>, Error> {
    let roles = profile.groups.as_ref().and_then(|groups| connection.roles_of(groups));
    if connection.requires_group && roles.is_none() {
        let cause = match (&profile.groups, profile.has_too_many_groups) {
            (_, true) => {
                "The provider left the groups out because there are too many; filter them at the provider."
            }
            (None, _) => "The provider sent no groups.",
            (Some(_), _) => "None of the person's groups has a role.",
        };
        return Err(refuse("sso_no_role", cause));
    }
    Ok(if connection.role_sync == RoleSync::Off { None } else { roles })
}

/// Sets the roles that the groups give now; groups without a role give the default one. Owners keep theirs, and groups
/// that the provider does not tell change nothing.
async fn sync_roles(
    c: &Change<'_>,
    connection: &SsoConnection,
    profile: &Profile,
    person: Person,
) -> Result<Person, Error> {
    if person.member.role.is_owner() {
        return Ok(person);
    }
    let roles = roles_for(connection, profile)?;
    if directory::decides_roles(c, &person).await? {
        return Ok(person);
    }
    if profile.groups.is_none() || connection.role_sync != RoleSync::Always {
        return Ok(person);
    }
    let roles = roles.unwrap_or_else(|| connection.default_role.clone());
    if roles == person.member.role { Ok(person) } else { people::sync_roles(c, &person, roles).await }
}

/// Fails as the sign-in of a test would, and changes nothing.
#[boxed]
pub(crate) async fn rehearse(
    ctx: &Ctx,
    authenticated: Authenticated,
    browser: Browser,
) -> Result<(), Refused> {
    let Authenticated { connection, profile, .. } = authenticated;
    let found =
        ctx.db.read(async move |t| sso_connections::find(t, connection).await).await.map_err(Error::from)?;
    let connection = found.ok_or_else(gone)?.connection;
    let scope = Scope::visitor(connection.organization_id, None, browser.origin);
    let rehearsed = ctx.rehearse(&scope, async move |c| {
        organizations::lock(c.t, c.scope).await?.ok_or_else(gone)?;
        let (person, _) = person_of(c, &connection, &profile).await?;
        sync_roles(c, &connection, &profile, person).await.map(drop)
    });
    Ok(rehearsed.await?)
}
