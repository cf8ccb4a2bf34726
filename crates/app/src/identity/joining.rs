//! Admission of people with addresses of verified domains, by single sign-on or by the directory.

use attestry_domain::access::Roles;
use attestry_domain::identity::members::{Member, NewMember, Person};
use attestry_domain::identity::users::{User, invited_key};
use attestry_domain::text::{Email, Name};
use attestry_domain::words::Department;
use attestry_storage::{members, sessions, users, ways_in};

use crate::core::change::Change;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::identity::{invitations, members as people, second_factors};

/// The account and the member of an address.
#[derive(Debug, Default)]
pub(crate) struct Joining {
    /// The account with the address, here or elsewhere.
    pub(crate) account: Option<User>,
    /// The member with the address, locked.
    pub(crate) person: Option<Person>,
    /// The member was invited and has not accepted.
    pub(crate) is_invited: bool,
}

pub(crate) async fn known(c: &Change<'_>, email: &Email) -> Result<Joining, Error> {
    let account = users::by_email(c.t, &email.key()).await?.map(|(user, _)| user);
    if let Some(account) = &account
        && let Some(person) = members::lock_by_user(c.t, c.scope, account.id).await?
    {
        return Ok(Joining { account: Some(account.clone()), person: Some(person), is_invited: false });
    }
    let by_address = users::by_email(c.t, &invited_key(email.as_str(), c.organization())).await?;
    let waiting = match (by_address, &account) {
        (Some((user, _)), _) => Some(user),
        (None, Some(account)) => users::invited(c.t, c.scope, account.id).await?,
        (None, None) => None,
    };
    let person = match waiting {
        Some(user) => members::lock_by_user(c.t, c.scope, user.id).await?,
        None => None,
    };
    Ok(Joining { is_invited: person.is_some(), account, person })
}

/// Makes a person whose address is verified a member: a member stays one, an invited one accepts with the role of the
/// invitation, and anybody else is added with `role`. `None`: the account was never verified, and is a way back into an
/// organization that must not be lost.
pub(crate) async fn admit(
    c: &Change<'_>,
    known: Joining,
    email: &Email,
    name: Option<&Name>,
    role: Roles,
) -> Result<Option<Person>, Error> {
    let person = match known {
        Joining { person: Some(waiting), is_invited: true, account } => {
            invitations::admit(c, &waiting, account.as_ref()).await?
        }
        Joining { person: Some(person), .. } => person,
        Joining { account, .. } => add(c, email, name, account, role).await?,
    };
    verify_address(c, person).await
}

/// Adds a member, with an account if there is none.
async fn add(
    c: &Change<'_>,
    email: &Email,
    name: Option<&Name>,
    account: Option<User>,
    role: Roles,
) -> Result<Person, Error> {
    let user = match account {
        Some(user) => user,
        None => {
            let name = name.map_or_else(|| email.as_str().to_owned(), Name::to_string);
            let user = User::new(c.next_id(), name, email.as_str().to_owned(), true, c.now);
            users::insert(c.t, &user, None).await?;
            user
        }
    };
    let new = NewMember {
        user_id: user.id,
        role,
        department: Department::None,
        is_active: true,
        device_label_id: None,
    };
    let member = Member::new(c.next_id(), c.organization(), new, c.now);
    people::insert(c, &member, &user).await?;
    Ok(Person { member, user })
}

/// Marks the address of an account as verified. Others may know the password of an account whose address was never
/// verified, so its own credentials end; `None` if one of its organizations relies on them.
async fn verify_address(c: &Change<'_>, person: Person) -> Result<Option<Person>, Error> {
    if person.user.email_verified {
        return Ok(Some(person));
    }
    users::lock(c.t, person.user.id).await?;
    if !ways_in::exemptions(c.t, person.user.id).await?.is_empty() {
        return Ok(None);
    }
    users::verify_and_drop_password(c.t, person.user.id, c.now).await?;
    second_factors::drop_all(c, &person.user).await?;
    sessions::delete_of_user(c.t, person.user.id, None).await?;
    c.invalidate(Invalidate::User(person.user.id));
    let user = users::get(c.t, person.user.id).await?.ok_or(Error::NotFound("user"))?;
    c.record("user.password_removed", "user", user.id, &user)?;
    Ok(Some(Person { user, ..person }))
}
