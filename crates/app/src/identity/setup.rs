//! The initial setup: the first organization, its owner and an API key. Also checks that a database is used with the
//! secret key it was created with.

use attestry_domain::Zone;
use attestry_domain::access::{Origin, Roles, Scope};
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_domain::identity::members::{Member, NewMember, Person};
use attestry_domain::identity::organizations::Organization;
use attestry_domain::identity::users::User;
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::words::Department;
use attestry_storage::{Error as DbError, Tx, instance, members, organizations, users};

use crate::boxed;
use crate::core::change::Work;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::keys::same;
use crate::core::sealing;
use crate::identity::api_keys::{self, MadeKey};

const SETUP_TOKEN: &str = "setup_token";
const RESTORE: &str = "restore";
const KEY_FINGERPRINT: &str = "secret_key_fingerprint";

#[derive(Clone, Debug)]
pub struct NewInstallation {
    pub organization: Name,
    pub email: Email,
    /// `None` for an existing user, who keeps their password.
    pub password: Option<Password>,
    pub name: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct Founded {
    pub organization: OrganizationId,
    pub user: UserId,
    pub member: MemberId,
}

/// Returns true if the installation is not set up yet.
#[boxed]
pub async fn is_open(ctx: &Ctx) -> Result<bool, Error> {
    Ok(!ctx.db.read(async |t| organizations::any(t).await).await?)
}

/// Returns true if an account with this address exists.
#[boxed]
pub async fn has_account(ctx: &Ctx, email: &Email) -> Result<bool, Error> {
    let key = email.key();
    Ok(ctx.db.read(async move |t| users::by_email(t, &key).await).await?.is_some())
}

async fn password_hash(ctx: &Ctx, origin: &Origin, new: &NewInstallation) -> Result<Option<String>, Error> {
    match &new.password {
        Some(password) => Ok(Some(ctx.hashing.hash(origin, password.expose()).await?)),
        None => Ok(None),
    }
}

/// Creates the one-time token of the setup page, if the installation is not set up yet.
#[boxed]
pub async fn offer(ctx: &Ctx) -> Result<Option<String>, Error> {
    let token = ctx.keys.token();
    let hash = hex(&token.hash);
    let open = ctx
        .work(async move |work| {
            if organizations::any(work.t).await? {
                return Ok(false);
            }
            instance::put(work.t, SETUP_TOKEN, &hash).await?;
            Ok(true)
        })
        .await?;
    Ok(open.then_some(token.text))
}

/// Sets up the installation with the single-use token that the server printed.
#[boxed]
pub async fn by_token(
    ctx: &Ctx,
    token: &str,
    new: NewInstallation,
    origin: &Origin,
) -> Result<(Founded, MadeKey), Error> {
    let presented = hex(&sha256(token.as_bytes()));
    let own = presented.clone();
    ctx.db.read(async move |t| must_be_setup_token(t, &own).await).await?;
    // Hashing is expensive, so it is done only for a valid token.
    let hash = password_hash(ctx, origin, &new).await?;
    ctx.work(async move |work| {
        must_be_setup_token(work.t, &presented).await?;
        instance::delete(work.t, SETUP_TOKEN).await?;
        found(work, &new, hash.as_deref(), "set-up").await
    })
    .await
}

async fn must_be_setup_token(t: &Tx<'_>, presented: &str) -> Result<(), Error> {
    if organizations::any(t).await? {
        return Err(Error::Conflict {
            code: "already_set_up",
            message: "This installation is already set up; sign in instead.".to_owned(),
        });
    }
    let stored = instance::get(t, SETUP_TOKEN).await?.unwrap_or_default();
    match same(stored.as_bytes(), presented.as_bytes()) {
        true => Ok(()),
        false => Err(Error::Forbidden {
            code: "wrong_setup_token",
            message: "This is not the set-up token that the server printed when it last started.".to_owned(),
        }),
    }
}

/// Creates an organization, its owner and an API key from the command line. Can be repeated for more organizations;
/// an existing user keeps their password.
#[boxed]
pub async fn by_operator(ctx: &Ctx, new: NewInstallation) -> Result<(Founded, MadeKey), Error> {
    const COMMAND: &str = "attestry admin bootstrap";
    let hash = password_hash(ctx, &Origin::command(COMMAND), &new).await?;
    ctx.work(async move |work| {
        instance::delete(work.t, SETUP_TOKEN).await?;
        found(work, &new, hash.as_deref(), COMMAND).await
    })
    .await
}

async fn found(
    work: &Work<'_>,
    new: &NewInstallation,
    password_hash: Option<&str>,
    reason: &str,
) -> Result<(Founded, MadeKey), Error> {
    let organization = Organization {
        id: work.next_id(),
        name: new.organization.as_str().to_owned(),
        website: None,
        time_zone: Zone::default(),
        is_self_approval_allowed: true,
        framework_ids: Vec::new(),
        created_at: work.now,
        updated_at: work.now,
        version: 1,
    };
    let scope = Scope::system(organization.id, reason);
    let c = &work.within(&scope);
    organizations::insert(c.t, &organization).await?;
    sealing::begin(work.t, &work.ctx.keys, scope.organization(), work.now).await?;
    c.record("organization.created", "organization", organization.id, &organization)?;
    let user = if let Some((user, _)) = users::by_email(c.t, &new.email.key()).await? {
        user
    } else {
        let name = new.name.as_ref().map_or_else(|| new.email.as_str().to_owned(), Name::to_string);
        let user = User::new(c.next_id(), name, new.email.as_str().to_owned(), true, c.now);
        users::insert(c.t, &user, password_hash).await?;
        user
    };
    let owner = NewMember {
        user_id: user.id,
        role: Roles::owner(),
        department: Department::None,
        is_active: true,
        device_label_id: None,
    };
    let member = Member::new(c.next_id(), organization.id, owner, c.now);
    crate::identity::members::insert(c, &member, &user).await?;
    // Allows the first API call right after the setup.
    let key = NewApiKey { name: "First key".to_owned(), scopes: Scopes::All, expires_at: None };
    let made = api_keys::make(c, &member, &key).await?;
    Ok((Founded { organization: organization.id, user: user.id, member: member.id }, made))
}

/// Creates an API key for a member, from the command line.
#[boxed]
pub async fn key_by_operator(
    ctx: &Ctx,
    organization: OrganizationId,
    email: &Email,
    new: NewApiKey,
) -> Result<MadeKey, Error> {
    let (scope, email) = (Scope::system(organization, "attestry admin create-api-key"), email.key());
    ctx.change(&scope, async move |c| {
        let missing = || Error::NotFound("active member with this e-mail address in this organization");
        let (user, _) = users::by_email(c.t, &email).await?.ok_or_else(missing)?;
        let found = members::lock_by_user(c.t, c.scope, user.id).await?;
        let Some(Person { member, .. }) = found.filter(|person| person.member.is_active) else {
            return Err(missing());
        };
        api_keys::make(c, &member, &new).await
    })
    .await
}

/// Marks the database as being restored from an archive, in the transaction that empties it.
#[boxed]
pub async fn begin_restore(t: &Tx<'_>) -> Result<(), DbError> {
    instance::put(t, RESTORE, "unfinished").await
}

#[boxed]
pub async fn end_restore(t: &Tx<'_>) -> Result<(), DbError> {
    instance::delete_backups(t).await?;
    instance::delete(t, RESTORE).await.map(|_| ())
}

/// Returns true if a restore was interrupted.
#[boxed]
pub async fn is_half_restored(ctx: &Ctx) -> Result<bool, Error> {
    Ok(ctx.db.read(async |t| instance::get(t, RESTORE).await).await?.is_some())
}

/// Rejects a database whose restore was interrupted.
#[boxed]
pub async fn must_be_whole(ctx: &Ctx) -> Result<(), Error> {
    if !is_half_restored(ctx).await? {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "half_restored",
        message: "a restore into this database was interrupted; run `attestry restore` again".to_owned(),
    })
}

/// Binds the database to the secret key on first use, and rejects another key later: with another key, stored secrets
/// could not be read and journal heads would be signed by an unknown key.
#[boxed]
pub async fn bind_secret_key(ctx: &Ctx, adopt: bool) -> Result<(), Error> {
    let fingerprint = ctx.keys.fingerprint().to_owned();
    let known = ctx
        .db
        .write(async move |t| {
            if adopt {
                instance::put(t, KEY_FINGERPRINT, &fingerprint).await?;
            } else {
                instance::put_new(t, KEY_FINGERPRINT, &fingerprint).await?;
            }
            instance::get(t, KEY_FINGERPRINT).await
        })
        .await?;
    if known.as_deref() == Some(ctx.keys.fingerprint()) {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "other_secret_key",
        message: "this database was set up with another secret key. Set ATTESTRY_SECRET_KEY or bring back the key \
                  file it was made with; if that key is lost, `attestry admin adopt-secret-key` accepts this one \
                  (stored secrets become unreadable)"
            .to_owned(),
    })
}
