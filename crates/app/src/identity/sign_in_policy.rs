//! The sign-in policy of an organization, and signing its members out of it.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Credential, Scope};
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::identity::members::MemberState;
use attestry_domain::identity::sign_in::{Demands, Mfa, SignInPolicy, SsoDemand, SsoMfa, Unmet};
use attestry_domain::patch::Patch;
use attestry_storage::{
    Tx, api_keys, members, organizations, sessions, sign_in_policies, sso_connections, sso_identities, users,
};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::exemptions;
use crate::identity::members::must_manage;
use crate::identity::mfa_required::MfaRequired;
use crate::identity::owners::tell_owners;
use crate::identity::principals::bad_session;
use crate::notices::mail_templates::Topic;

/// The entity type in the journal.
const POLICY: &str = "sign_in_policy";

/// The policy, and the members whom it concerns.
#[derive(Clone, Debug)]
pub struct PolicyInForce {
    pub policy: SignInPolicy,
    pub members_without_second_factor: i64,
    pub exempt_members: Vec<MemberId>,
    /// The number of API keys that the policy would not allow today.
    pub api_keys_beyond: i64,
}

async fn in_force(
    t: &Tx<'_>,
    scope: &Scope,
    policy: SignInPolicy,
    now: Time,
) -> Result<PolicyInForce, Error> {
    Ok(PolicyInForce {
        api_keys_beyond: api_keys::count_beyond(t, scope, &policy, now).await?,
        policy,
        members_without_second_factor: members::without_second_factor(t, scope).await?,
        exempt_members: members::exempt(t, scope).await?,
    })
}

#[derive(Clone, Debug, Default)]
pub struct PolicyPatch {
    pub mfa: Option<Mfa>,
    pub grace_days: Option<i64>,
    pub idle_minutes: Patch<i64>,
    pub max_hours: Patch<i64>,
    pub sso: Option<SsoDemand>,
    pub sso_mfa: Option<SsoMfa>,
    pub sso_max_hours: Option<i64>,
    pub api_key_max_days: Patch<i64>,
    pub api_key_scopes_required: Option<bool>,
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<PolicyInForce, Error> {
    let (scope, now) = (scope.clone(), ctx.now());
    ctx.db
        .read(async move |t| {
            let policy = sign_in_policies::get(t, &scope).await?;
            in_force(t, &scope, policy, now).await
        })
        .await
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    patch: PolicyPatch,
    precondition: Precondition,
) -> Result<PolicyInForce, Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = sign_in_policies::get(c.t, c.scope).await?;
        precondition.check(&[before.version])?;
        let mfa = patch.mfa.unwrap_or(before.mfa);
        let grace_days = patch.grace_days.unwrap_or(before.grace_days);
        // The grace counts from the day on which the second factor becomes required, or is given another grace.
        let is_kept = mfa == before.mfa && grace_days == before.grace_days;
        let mfa_from = match mfa {
            Mfa::Optional => None,
            Mfa::Required if is_kept => before.mfa_from,
            Mfa::Required => Some(c.now.plus(Duration::from_hours(24 * grace_days.unsigned_abs()))),
        };
        let after = SignInPolicy {
            mfa,
            grace_days,
            mfa_from,
            idle_minutes: patch.idle_minutes.clone().apply(before.idle_minutes),
            max_hours: patch.max_hours.clone().apply(before.max_hours),
            sso: patch.sso.unwrap_or(before.sso),
            sso_mfa: patch.sso_mfa.unwrap_or(before.sso_mfa),
            sso_max_hours: patch.sso_max_hours.unwrap_or(before.sso_max_hours),
            api_key_max_days: patch.api_key_max_days.clone().apply(before.api_key_max_days),
            api_key_scopes_required: patch.api_key_scopes_required.unwrap_or(before.api_key_scopes_required),
            updated_at: before.updated_at,
            version: before.version,
        };
        if after == before {
            return in_force(c.t, c.scope, before, c.now).await;
        }
        let begins_to_require_sso = after.sso == SsoDemand::Required && before.sso == SsoDemand::Optional;
        if begins_to_require_sso {
            must_be_tested(c).await?;
            exemptions::must_exist(c).await?;
        }
        must_be_met(c, &after).await?;
        let after = store(c, &before, after).await?;
        if after.mfa_from.is_some() && after.mfa_from != before.mfa_from {
            c.enqueue(&MfaRequired { organization: c.organization(), from: after.mfa_from }).await?;
        }
        in_force(c.t, c.scope, after, c.now).await
    })
    .await
}

/// Stores a changed policy; owners are told when single sign-on becomes required or optional.
async fn store(c: &Change<'_>, before: &SignInPolicy, after: SignInPolicy) -> Result<SignInPolicy, Error> {
    let after = SignInPolicy { updated_at: Some(c.now), version: before.version + 1, ..after };
    sign_in_policies::put(c.t, c.scope, &after).await?;
    c.invalidate(Invalidate::Organization(c.organization()));
    c.record("sign_in_policy.updated", POLICY, c.organization(), &after)?;
    if after.sso != before.sso {
        let (subject, message) = match after.sso {
            SsoDemand::Required => (
                "Single sign-on is required",
                "Members of your organization now sign in with its identity provider. Exempt owners still sign in with their own credentials and a second factor.",
            ),
            SsoDemand::Optional => (
                "Single sign-on is no longer required",
                "Members of your organization may sign in with their passwords and passkeys again.",
            ),
        };
        tell_owners(c, Topic::SignIn, subject, message).await?;
    }
    Ok(after)
}

/// Makes single sign-on optional again, from the command line; returns false if it was.
#[boxed]
pub async fn disable_sso_by_operator(ctx: &Ctx, organization: OrganizationId) -> Result<bool, Error> {
    let scope = Scope::system(organization, "attestry admin disable-sso");
    ctx.change(&scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = sign_in_policies::get(c.t, c.scope).await?;
        let after = SignInPolicy { sso: SsoDemand::Optional, ..before.clone() };
        if after == before {
            return Ok(false);
        }
        store(c, &before, after).await?;
        Ok(true)
    })
    .await
}

/// Requires a connection that was tested since its last change.
async fn must_be_tested(c: &Change<'_>) -> Result<(), Error> {
    let enabled = sso_connections::enabled(c.t, c.organization()).await?;
    match enabled.iter().any(|connection| connection.tested_at.is_some()) {
        true => Ok(()),
        false => Err(not_tested("Test a connection and enable it before you require single sign-on.")),
    }
}

pub(crate) fn not_tested(message: &str) -> Error {
    Error::Conflict { code: "sso_not_tested", message: message.to_owned() }
}

/// Refuses a policy that would shut out the one who sets it.
async fn must_be_met(c: &Change<'_>, policy: &SignInPolicy) -> Result<(), Error> {
    let Some(own) = c.scope.principal() else { return Ok(()) };
    let account = users::get(c.t, own.user).await?;
    let second_factor_since = account.and_then(|account| account.second_factor_since);
    let unmet = match own.credential {
        Credential::Session(session) => {
            let session = sessions::get(c.t, session).await?.ok_or_else(bad_session)?;
            let found = members::standing(c.t, c.organization(), &session).await?;
            let demands = found.ok_or_else(bad_session)?.demands;
            // A grace does not help later if there is no second factor now.
            let mfa_from = policy.mfa_from.map(|_| c.now);
            let SignInPolicy { idle_minutes, max_hours, sso, sso_mfa, sso_max_hours, .. } = *policy;
            let new = Demands { mfa_from, idle_minutes, max_hours, sso, sso_mfa, sso_max_hours, ..demands };
            let needs_factor = policy.mfa == Mfa::Required && demands.granted_at.is_none();
            let lacks_factor = needs_factor && second_factor_since.is_none();
            if lacks_factor { Some(Unmet::Enrolment) } else { new.unmet(&session, c.now) }
        }
        Credential::ApiKey(_) => {
            let linked = !sso_identities::of_member(c.t, c.scope, own.user).await?.is_empty();
            let is_exempt =
                members::get(c.t, c.scope, own.member).await?.is_some_and(|own| own.member.is_exempt);
            if policy.sso == SsoDemand::Required && !linked && !is_exempt {
                Some(Unmet::Sso)
            } else {
                (policy.mfa == Mfa::Required && second_factor_since.is_none() && !linked)
                    .then_some(Unmet::Enrolment)
            }
        }
    };
    let what = match unmet {
        None => return Ok(()),
        Some(Unmet::Enrolment) => {
            "your account has no second factor. Add an authenticator app or a passkey first"
        }
        Some(Unmet::Sso) => {
            "you did not sign in with a connection, and are not exempt. Sign in with it first, or exempt yourself"
        }
        Some(Unmet::SecondFactor) => "you signed in without your second factor. Confirm with it first",
        Some(Unmet::Idle) => "your session was idle for longer. Confirm your password first",
        Some(Unmet::TooOld) => "your session is older. Sign in again first",
    };
    Err(Error::Conflict {
        code: "would_lock_you_out",
        message: format!("This policy would lock you out: {what}."),
    })
}

/// Ends what the sessions of a member may do in this organization; they stay valid elsewhere.
#[boxed]
pub async fn sign_out(ctx: &Ctx, scope: &Scope, member: MemberId) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let person = members::lock(c.t, c.scope, member).await?.ok_or(Error::NotFound("member"))?;
        must_manage(c.scope, &person.member)?;
        members::sign_out(c.t, c.scope, member, c.now).await?;
        c.invalidate(Invalidate::Member(member));
        c.record("member.signed_out", "member", member, &MemberState::new(&person.member, &person.user))
    })
    .await
}

/// Ends what the sessions of all members may do in this organization, also those of the caller.
#[boxed]
pub async fn sign_out_everybody(ctx: &Ctx, scope: &Scope) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let organization = organizations::get(c.t, c.scope).await?.ok_or(Error::NotFound("organization"))?;
        members::sign_out_all(c.t, c.scope, c.now).await?;
        c.invalidate(Invalidate::Organization(c.organization()));
        c.record("organization.signed_out", "organization", c.organization(), &organization)
    })
    .await
}
