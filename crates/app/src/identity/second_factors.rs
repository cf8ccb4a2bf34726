//! Authenticator apps and recovery codes: enrolment, and codes as a second factor.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::hash::Hash;
use attestry_domain::id::{MemberId, UserId};
use attestry_domain::identity::passkeys::Passkey;
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::{Demands, Mfa, SecondFactor, SsoDemand};
use attestry_domain::identity::users::User;
use attestry_domain::text::Email;
use attestry_storage::members::{self, Membership};
use attestry_storage::second_factors::{self, RecoveryCodes, TotpSecret};
use attestry_storage::sso_identities::{self, Link};
use attestry_storage::{Tx, organizations, passkeys, sessions, sign_in_policies, users, ways_in};
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Serialize;
use totp_rs::{Builder, Secret, Totp};

use crate::boxed;
use crate::core::change::{AccountChange, Change, Work};
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::data_key;
use crate::core::error::Error;
use crate::core::keys::same;
use crate::core::queue::Mail;
use crate::core::throttle::{CODES, Verified, prove};
use crate::identity::confirmation::{must_be_fresh, own_scope};
use crate::identity::exemptions;
use crate::identity::members::must_manage;
use crate::identity::principals::bad_session;
use crate::notices::mail_templates::{self, Topic};

/// The entity type in the journal.
pub(crate) const ENTITY: &str = "second_factor";
/// The time within which a new app must be activated by its first code.
const PENDING_FOR: Duration = Duration::from_mins(15);
/// The seconds of a time step.
const STEP: i64 = 30;
const RECOVERY_CODES: usize = 10;

/// A code as received, without spaces and hyphens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Six digits of an authenticator app.
    Totp(String),
    /// A recovery code.
    Recovery(String),
}

impl Code {
    /// Reads a code. Anything that cannot be one is an error, and not a wrong guess.
    pub fn read(text: &str) -> Result<Self, String> {
        let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        match plain.len() {
            6 if plain.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Self::Totp(plain)),
            10 if plain.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Ok(Self::Recovery(plain.to_ascii_lowercase()))
            }
            _ => Err("must be the six digits of the authenticator app, or a recovery code of ten characters"
                .to_owned()),
        }
    }
}

/// A verified code. The transaction that it authorizes spends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedCode {
    kind: Spendable,
    proof: Verified,
}

#[derive(Clone, Copy, Debug)]
enum Spendable {
    Step(i64),
    Recovery(Hash),
}

impl VerifiedCode {
    pub(crate) fn factor(self) -> SecondFactor {
        match self.kind {
            Spendable::Step(_) => SecondFactor::Totp,
            Spendable::Recovery(_) => SecondFactor::Recovery,
        }
    }

    /// Spends the code; fails if another request spent it in the meantime. The use of a recovery code is recorded, and
    /// its user is told.
    pub(crate) async fn spend(
        self,
        a: &AccountChange<'_>,
        user: &User,
        scope: impl Fn(&Membership) -> Scope,
    ) -> Result<(), Error> {
        let is_spent = match self.kind {
            Spendable::Step(step) => second_factors::spend_step(a.t, user.id, step).await?,
            Spendable::Recovery(mac) => second_factors::spend_code(a.t, user.id, &mac, a.now).await?,
        };
        if !is_spent {
            return Err(wrong_code());
        }
        self.proof.clear(a.t).await?;
        if let Spendable::Recovery(_) = self.kind {
            record(a, user.id, "recovery_codes.used", scope).await?;
            let left = second_factors::codes(a.t, user.id).await?.left;
            let message = format!("A recovery code was used to sign in. {left} unused codes are left.");
            a.enqueue(&Mail(mail_templates::tell(
                a.ctx,
                user,
                Topic::Account,
                "A recovery code was used",
                &message,
            )))
            .await?;
        }
        Ok(())
    }
}

pub(crate) fn wrong_code() -> Error {
    Error::Unauthenticated {
        code: "invalid_second_factor",
        message: "The code is wrong, has expired or was used before. Wait for the next one and try again.",
    }
}

/// The secret as the app of a user knows it.
fn totp_of(email: &str, secret: &[u8]) -> Result<Totp, Error> {
    // A colon separates the issuer from the account in the address that the app reads.
    let account = email.replace(':', " ");
    Builder::new()
        .with_secret(Secret::new(secret.into()))
        .with_account_name(account)
        .with_issuer(Some("Attestry"))
        .build()
        .map_err(Error::internal)
}

/// The time step of a code: the current one, or one next to it. Codes of spent steps are no longer accepted.
fn step_of(totp: &Totp, code: &str, last_step: i64, now: Time) -> Option<i64> {
    let current = now.as_millis() / 1000 / STEP;
    let is_code_of = |step: i64| {
        let expected = totp.generate((step * STEP).unsigned_abs()).to_string();
        same(expected.as_bytes(), code.as_bytes())
    };
    (current - 1..=current + 1).filter(|step| *step > last_step).find(|step| is_code_of(*step))
}

fn recovery_mac(ctx: &Ctx, user: UserId, code: &str) -> Hash {
    ctx.keys.mac(&[b"recovery code", user.to_string().as_bytes(), code.as_bytes()])
}

/// Decrypts the secret of a user's app.
fn opened(ctx: &Ctx, secret: &TotpSecret, key: &str) -> Result<Vec<u8>, Error> {
    data_key::read(ctx, key)?.open(&data_key::totp(secret.user_id), &secret.sealed)
}

/// Returns what a code would spend; `None` if it is wrong.
#[boxed]
async fn candidate(ctx: &Ctx, user: &User, code: Code) -> Result<Option<Spendable>, Error> {
    let (own, now) = (user.id, ctx.now());
    match code {
        Code::Totp(code) => {
            let found = ctx.db.read(async move |t| second_factors::totp(t, own).await).await?;
            let Some((secret, key)) = found.filter(|(secret, _)| secret.activated_at.is_some()) else {
                return Ok(None);
            };
            let totp = totp_of(&user.email, &opened(ctx, &secret, &key)?)?;
            Ok(step_of(&totp, &code, secret.last_step, now).map(Spendable::Step))
        }
        Code::Recovery(code) => {
            let mac = recovery_mac(ctx, own, &code);
            let is_known = ctx.db.read(async move |t| second_factors::has_code(t, own, &mac).await).await?;
            Ok(is_known.then_some(Spendable::Recovery(mac)))
        }
    }
}

/// Verifies a code of an account with an active authenticator app. `None`: it is wrong, which was counted.
#[boxed]
pub(crate) async fn verify(ctx: &Ctx, user: &User, code: Code) -> Result<Option<VerifiedCode>, Error> {
    let mut kind = None;
    let check = async {
        kind = candidate(ctx, user, code).await?;
        Ok(kind.is_some())
    };
    let warned = user.clone();
    let note = async move |work: &Work<'_>, failures: i64| {
        if failures != CODES.failures {
            return Ok(());
        }
        let message =
            "Somebody entered your password and then wrong codes. Change your password if it was not you.";
        let mail =
            mail_templates::tell(work.ctx, &warned, Topic::Account, "Wrong codes for your account", message);
        work.enqueue(&Mail(mail)).await
    };
    let proof = prove(ctx, &CODES, &user.id.to_string(), None, check, note).await?;
    Ok(proof.and_then(|proof| kind.map(|kind| VerifiedCode { kind, proof })))
}

/// The second factors that a user can be asked for at sign-in; empty without an authenticator app.
pub(crate) async fn methods(t: &Tx<'_>, user: UserId) -> Result<Vec<SecondFactor>, attestry_storage::Error> {
    let is_active =
        second_factors::totp(t, user).await?.is_some_and(|(secret, _)| secret.activated_at.is_some());
    let mut methods = Vec::new();
    if is_active {
        methods.push(SecondFactor::Totp);
        if second_factors::codes(t, user).await?.left > 0 {
            methods.push(SecondFactor::Recovery);
        }
        if !passkeys::of_user(t, user).await?.is_empty() {
            methods.push(SecondFactor::Passkey);
        }
    }
    Ok(methods)
}

/// A secret to enter into an authenticator app; shown once.
#[derive(Clone)]
pub struct NewApp {
    pub secret: String,
    /// The address that the app reads, and its picture: rows of modules, true is dark.
    pub uri: String,
    pub picture: Vec<Vec<bool>>,
    pub expires_at: Time,
}

impl std::fmt::Debug for NewApp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewApp(…)")
    }
}

fn picture(text: &str) -> Result<Vec<Vec<bool>>, Error> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).map_err(Error::internal)?;
    let size = code.size();
    Ok((0..size).map(|y| (0..size).map(|x| code.get_module(x, y)).collect()).collect())
}

/// Starts to enrol an authenticator app; it is active once its first code was right.
#[boxed]
pub async fn start(ctx: &Ctx, session: &Session, origin: Origin) -> Result<NewApp, Error> {
    let own = must_be_fresh(ctx, session).await?;
    let secret: [u8; 20] = ctx.keys.random();
    let email = ctx.change_account(own.user_id, &origin, async move |a| {
        let user = users::get(a.t, own.user_id).await?.ok_or(Error::NotFound("user"))?;
        if let Some((known, _)) = second_factors::totp(a.t, user.id).await?
            && known.activated_at.is_some()
        {
            return Err(Error::Conflict {
                code: "totp_active",
                message: "This account has an authenticator app. Remove it before you add another one."
                    .to_owned(),
            });
        }
        let sealed = data_key::lock(a).await?.seal(&data_key::totp(user.id), &secret)?;
        let pending =
            TotpSecret { user_id: user.id, sealed, created_at: a.now, activated_at: None, last_step: 0 };
        second_factors::put_pending(a.t, &pending).await?;
        Ok(user.email)
    });
    let totp = totp_of(&email.await?, &secret)?;
    let uri = totp.to_url().map_err(Error::internal)?;
    Ok(NewApp {
        secret: totp.secret().to_base32(),
        picture: picture(&uri)?,
        uri,
        expires_at: ctx.now().plus(PENDING_FOR),
    })
}

fn not_pending() -> Error {
    Error::Gone {
        code: "ceremony_expired",
        message: "No authenticator app waits for its first code, or its time is over. Start again.",
    }
}

/// Returns the step of the first code of a new app, and when the app was started; `None` if the code is wrong.
#[boxed]
async fn first_step(ctx: &Ctx, user: UserId, code: &str) -> Result<Option<(i64, Time)>, Error> {
    let now = ctx.now();
    let (account, found) = ctx
        .db
        .read(async move |t| {
            Ok::<_, Error>((users::get(t, user).await?, second_factors::totp(t, user).await?))
        })
        .await?;
    let account = account.ok_or_else(bad_session)?;
    let is_pending =
        |secret: &TotpSecret| secret.activated_at.is_none() && now.since(secret.created_at) < PENDING_FOR;
    let (secret, key) = found.filter(|(secret, _)| is_pending(secret)).ok_or_else(not_pending)?;
    let totp = totp_of(&account.email, &opened(ctx, &secret, &key)?)?;
    Ok(step_of(&totp, code, 0, now).map(|step| (step, secret.created_at)))
}

/// Activates the app with its first code, and returns the recovery codes, which are shown once.
#[boxed]
pub async fn activate(
    ctx: &Ctx,
    session: &Session,
    code: Code,
    origin: Origin,
) -> Result<Vec<String>, Error> {
    let Code::Totp(code) = code else {
        return Err(Error::field("code", "must be the six digits of the authenticator app"));
    };
    let user = session.user_id;
    let mut found = None;
    let check = async {
        found = first_step(ctx, user, &code).await?;
        Ok(found.is_some())
    };
    let nothing = async |_: &Work<'_>, _| Ok(());
    let proof = prove(ctx, &CODES, &user.to_string(), None, check, nothing).await?;
    let (Some(proof), Some((step, created_at))) = (proof, found) else {
        let message = "is not the code that the app shows now; check the clock of the device";
        return Err(Error::field("code", message));
    };
    let codes = new_codes(ctx);
    let (own, from, shown) = (session.clone(), origin.clone(), codes.clone());
    ctx.change_account(user, &origin, async move |a| {
        proof.clear(a.t).await?;
        let user = users::get(a.t, user).await?.ok_or_else(bad_session)?;
        let now_pending = second_factors::totp(a.t, user.id).await?;
        // Another request may have started anew, or finished.
        if !now_pending.is_some_and(|(now, _)| now.activated_at.is_none() && now.created_at == created_at) {
            return Err(not_pending());
        }
        second_factors::activate(a.t, user.id, step, a.now).await?;
        put_codes(a, user.id, &codes).await?;
        if !sessions::confirm(a.t, own.id, Some(SecondFactor::Totp), a.now).await? {
            return Err(bad_session());
        }
        users::proved(a.t, user.id, a.now).await?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        changed(a, &user, "totp.activated", "An authenticator app was added", scope).await
    })
    .await?;
    Ok(shown)
}

fn new_codes(ctx: &Ctx) -> Vec<String> {
    (0..RECOVERY_CODES).map(|_| ctx.keys.recovery_code()).collect()
}

async fn put_codes(a: &AccountChange<'_>, user: UserId, codes: &[String]) -> Result<(), Error> {
    let macs: Vec<Hash> =
        codes.iter().map(|code| recovery_mac(a.ctx, user, &code.replace('-', ""))).collect();
    Ok(second_factors::put_codes(a.t, user, &macs, a.now).await?)
}

/// Replaces the recovery codes; they are shown once.
#[boxed]
pub async fn renew_codes(ctx: &Ctx, session: &Session, origin: Origin) -> Result<Vec<String>, Error> {
    let own = must_be_fresh(ctx, session).await?;
    let (codes, from) = (new_codes(ctx), origin.clone());
    let shown = codes.clone();
    ctx.change_account(own.user_id, &origin, async move |a| {
        let user = users::get(a.t, own.user_id).await?.ok_or_else(bad_session)?;
        if methods(a.t, user.id).await?.is_empty() {
            return Err(Error::Conflict {
                code: "totp_inactive",
                message: "Recovery codes stand in for an authenticator app; add one first.".to_owned(),
            });
        }
        put_codes(a, user.id, &codes).await?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        changed(a, &user, "recovery_codes.created", "New recovery codes were made", scope).await
    })
    .await?;
    Ok(shown)
}

/// Removes the authenticator app and the recovery codes.
#[boxed]
pub async fn remove(ctx: &Ctx, session: &Session, origin: Origin) -> Result<(), Error> {
    let own = must_be_fresh(ctx, session).await?;
    let from = origin.clone();
    ctx.change_account(own.user_id, &origin, async move |a| {
        let user = users::get(a.t, own.user_id).await?.ok_or_else(bad_session)?;
        let known = second_factors::totp(a.t, user.id).await?;
        if known.is_none_or(|(secret, _)| secret.activated_at.is_none()) {
            return Err(Error::NotFound("authenticator app"));
        }
        second_factors::delete_totp(a.t, user.id).await?;
        second_factors::delete_codes(a.t, user.id).await?;
        must_have_another(a, user.id).await?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        changed(a, &user, "totp.removed", "The authenticator app was removed", scope).await
    })
    .await
}

/// Checks the ways in that an account has left after one was removed: there must be any, a second factor where an
/// organization requires it, and credentials of the user's own with a second factor where they are exempt.
pub(crate) async fn must_have_another(a: &AccountChange<'_>, user: UserId) -> Result<(), Error> {
    let left = ways_in::of_user(a.t, user).await?;
    if !left.has_any() {
        return Err(Error::Conflict {
            code: "last_method",
            message: "This is the only way to sign in to your account. Add a passkey or a password first."
                .to_owned(),
        });
    }
    if left.is_break_glass() {
        return Ok(());
    }
    let exemptions = ways_in::exemptions(a.t, user).await?;
    for membership in a.memberships {
        let scope = Scope::visitor(membership.organization, Some(user), Origin::command("second factor"));
        let is_exempt = exemptions.iter().any(|one| one.organization == membership.organization);
        let is_required = sign_in_policies::get(a.t, &scope).await?.mfa == Mfa::Required;
        let missing = match (is_exempt, is_required && !left.has_second_factor()) {
            (true, _) => {
                "needs you to have a password or a passkey, and a second factor, because you are exempt"
            }
            (false, true) => "requires a second factor",
            (false, false) => continue,
        };
        return Err(Error::Conflict {
            code: "second_factor_mandatory",
            message: format!(
                "{} {missing}. Add another one before you remove this one.",
                membership.organization_name
            ),
        });
    }
    Ok(())
}

async fn has_any(t: &Tx<'_>, user: UserId) -> Result<bool, attestry_storage::Error> {
    Ok(!methods(t, user).await?.is_empty() || !passkeys::of_user(t, user).await?.is_empty())
}

/// The second factors of an account in the journal.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SecondFactorsState {
    user_id: UserId,
    has_authenticator_app: bool,
    recovery_codes: i64,
    passkeys: Vec<Passkey>,
}

/// Records the second factors of the account as they are now, in all its organizations.
pub(crate) async fn record(
    a: &AccountChange<'_>,
    user: UserId,
    action: &'static str,
    scope: impl Fn(&Membership) -> Scope,
) -> Result<(), Error> {
    let state = SecondFactorsState {
        user_id: user,
        has_authenticator_app: !methods(a.t, user).await?.is_empty(),
        recovery_codes: second_factors::codes(a.t, user).await?.left,
        passkeys: passkeys::of_user(a.t, user).await?,
    };
    a.record_everywhere(scope, action, ENTITY, user, Some(&state)).await
}

/// Finishes a change of the second factors: stores since when the account has one, records it, and tells the user.
pub(crate) async fn changed(
    a: &AccountChange<'_>,
    user: &User,
    action: &'static str,
    subject: &str,
    scope: impl Fn(&Membership) -> Scope,
) -> Result<(), Error> {
    let since = match has_any(a.t, user.id).await? {
        true => Some(user.second_factor_since.unwrap_or(a.now)),
        false => None,
    };
    if since != user.second_factor_since {
        second_factors::set_since(a.t, user.id, since).await?;
    }
    a.invalidate(Invalidate::User(user.id));
    record(a, user.id, action, scope).await?;
    let message = format!("{subject}: this changes how you sign in to your Attestry account.");
    a.enqueue(&Mail(mail_templates::tell(a.ctx, user, Topic::Account, subject, &message))).await
}

/// The security of an account.
#[derive(Clone, Debug)]
pub struct Security {
    pub has_password: bool,
    /// Since when an authenticator app is active.
    pub totp_since: Option<Time>,
    pub recovery_codes: RecoveryCodes,
    pub passkeys: Vec<Passkey>,
    /// The identities at providers with which the user signs in.
    pub identities: Vec<Link>,
    pub demands: Vec<Demand>,
}

/// An organization's demand for a second factor.
#[derive(Clone, Debug)]
pub struct Demand {
    pub membership: Membership,
    pub mfa: Mfa,
    pub mfa_from: Option<Time>,
    pub sso: SsoDemand,
    pub is_exempt: bool,
}

/// The identities of a session's user, as far as the session may know the organizations.
pub(crate) async fn links(t: &Tx<'_>, session: &Session) -> Result<Vec<Link>, Error> {
    let standings = members::standings(t, session).await?;
    let is_known = |link: &Link| {
        let own = standings.iter().find(|one| one.organization == link.identity.organization_id);
        own.is_some_and(|own| own.demands.is_known_to(session))
    };
    Ok(sso_identities::of_account(t, session.user_id).await?.into_iter().filter(is_known).collect())
}

#[boxed]
pub async fn security(ctx: &Ctx, session: &Session) -> Result<Security, Error> {
    let (user, session) = (session.user_id, session.clone());
    ctx.db
        .read(async move |t| {
            let totp = second_factors::totp(t, user).await?;
            let standings = members::standings(t, &session).await?;
            let demand = |membership: Membership| {
                let own = standings.iter().find(|one| one.organization == membership.organization)?;
                let Demands { mfa_from, sso, is_exempt, .. } = own.demands;
                let mfa = if mfa_from.is_some() { Mfa::Required } else { Mfa::Optional };
                let demand = Demand { membership, mfa, mfa_from, sso, is_exempt };
                own.demands.is_known_to(&session).then_some(demand)
            };
            Ok(Security {
                has_password: users::password(t, user).await?.is_some(),
                totp_since: totp.and_then(|(secret, _)| secret.activated_at),
                recovery_codes: second_factors::codes(t, user).await?,
                passkeys: passkeys::of_user(t, user).await?,
                identities: links(t, &session).await?,
                demands: members::of_user(t, user).await?.into_iter().filter_map(demand).collect(),
            })
        })
        .await
}

/// Deletes all second factors of a user and ends the sessions.
async fn reset(
    a: &AccountChange<'_>,
    user: &User,
    scope: impl Fn(&Membership) -> Scope,
) -> Result<(), Error> {
    second_factors::delete_totp(a.t, user.id).await?;
    second_factors::delete_codes(a.t, user.id).await?;
    passkeys::delete_of_user(a.t, user.id).await?;
    sessions::delete_of_user(a.t, user.id, None).await?;
    changed(a, user, "second_factors.reset", "All second factors were removed", scope).await
}

/// Deletes the second factors of an account whose address was never verified, so that others may have set them.
pub(crate) async fn drop_all(c: &Change<'_>, user: &User) -> Result<(), Error> {
    second_factors::delete_totp(c.t, user.id).await?;
    second_factors::delete_codes(c.t, user.id).await?;
    passkeys::delete_of_user(c.t, user.id).await?;
    second_factors::set_since(c.t, user.id, None).await?;
    Ok(())
}

/// Removes the second factors of a member who lost them. Only accounts that are active in no other organization.
#[boxed]
pub async fn reset_of_member(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let person = members::lock(c.t, c.scope, member).await?.ok_or(Error::NotFound("member"))?;
        must_manage(c.scope, &person.member)?;
        exemptions::must_stay(c, &person, &person.member, false).await?;
        users::lock(c.t, person.user.id).await?;
        let memberships = members::of_user(c.t, person.user.id).await?;
        let is_own = |membership: &Membership| membership.organization == c.organization();
        if memberships.is_empty() || !memberships.iter().all(is_own) {
            return Err(Error::Conflict {
                code: "account_not_managed",
                message: "This account is not your organization's alone. Its user can use a recovery code, or ask the operator of this server."
                    .to_owned(),
            });
        }
        let own = c.scope.clone();
        reset(&c.account(&memberships), &person.user, |_| own.clone()).await
    })
    .await
}

/// Removes the second factors of a user, from the command line.
#[boxed]
pub async fn reset_by_operator(ctx: &Ctx, email: &Email) -> Result<(), Error> {
    const COMMAND: &str = "attestry admin reset-second-factor";
    let key = email.key();
    let found = ctx.db.read(async move |t| users::by_email(t, &key).await).await?;
    let (user, _) = found.ok_or(Error::NotFound("user with this e-mail address"))?;
    ctx.change_account(user.id, &Origin::command(COMMAND), async move |a| {
        let user = users::get(a.t, user.id).await?.ok_or(Error::NotFound("user"))?;
        reset(a, &user, |membership| Scope::system(membership.organization, COMMAND)).await
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    /// The last six digits of the eight that RFC 6238 lists in appendix B for SHA-1.
    const VECTORS: [(i64, &str); 6] = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];

    #[test]
    fn codes_are_those_of_the_rfc() {
        let totp = totp_of("ada@example.com", b"12345678901234567890").expect("a secret");
        for (seconds, code) in VECTORS {
            assert_eq!(step_of(&totp, code, 0, at(seconds)), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn code_is_accepted_one_step_early_or_late_and_once() {
        let totp = totp_of("ada@example.com", b"12345678901234567890").expect("a secret");
        let (seconds, code) = VECTORS[3];
        let step = seconds / 30;
        for shift in [-30, 0, 30] {
            assert_eq!(step_of(&totp, code, 0, at(seconds + shift)), Some(step), "{shift} s");
        }
        for shift in [-60, 60] {
            assert_eq!(step_of(&totp, code, 0, at(seconds + shift)), None, "{shift} s");
        }
        assert_eq!(step_of(&totp, code, step, at(seconds)), None, "it was spent");
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        assert_eq!(Code::read("123 456"), Ok(Code::Totp("123456".to_owned())));
        assert_eq!(Code::read(" ABCDE-fghjk "), Ok(Code::Recovery("abcdefghjk".to_owned())));
        for wrong in ["", "12345", "1234567", "abcdef", "abcde-fghj", "abcde-fghjkk", "１２３４５６"] {
            assert!(Code::read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn address_names_the_product_and_the_account() {
        let totp = totp_of("ada:b@example.com", b"12345678901234567890").expect("a secret");
        let uri = totp.to_url().expect("an address");
        assert!(uri.starts_with("otpauth://totp/Attestry:ada"), "{uri}");
        let rows = picture(&uri).expect("a picture");
        assert!(rows.iter().all(|row| row.len() == rows.len()));
    }
}
