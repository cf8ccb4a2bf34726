//! The sign-in policy of an organization, and signing a member out of it.

use std::time::Duration;

use attestry_domain::access::{Credential, Scope};
use attestry_domain::id::MemberId;
use attestry_domain::identity::members::MemberState;
use attestry_domain::identity::sign_in::{Demands, Mfa, SignInPolicy, Unmet};
use attestry_domain::patch::Patch;
use attestry_storage::{members, registers as rows, sessions, sign_in_policies, users};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::members::must_manage;
use crate::identity::mfa_required::MfaRequired;
use crate::identity::principals::bad_session;

/// The entity type in the journal, and the name of its lock.
const POLICY: &str = "sign_in_policy";

/// The policy, and the number of members who have no second factor.
#[derive(Clone, Debug)]
pub struct PolicyInForce {
    pub policy: SignInPolicy,
    pub members_without_second_factor: i64,
}

#[derive(Clone, Debug, Default)]
pub struct PolicyPatch {
    pub mfa: Option<Mfa>,
    pub grace_days: Option<i64>,
    pub idle_minutes: Patch<i64>,
    pub max_hours: Patch<i64>,
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<PolicyInForce, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            Ok(PolicyInForce {
                policy: sign_in_policies::get(t, &scope).await?,
                members_without_second_factor: members::without_second_factor(t, &scope).await?,
            })
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
        rows::hold(c.t, c.scope, POLICY).await?;
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
            updated_at: before.updated_at,
            version: before.version,
        };
        let members_without_second_factor = members::without_second_factor(c.t, c.scope).await?;
        if after == before {
            return Ok(PolicyInForce { policy: before, members_without_second_factor });
        }
        must_be_met(c, &after).await?;
        let after = SignInPolicy { updated_at: Some(c.now), version: before.version + 1, ..after };
        sign_in_policies::put(c.t, c.scope, &after).await?;
        c.invalidate(Invalidate::Organization(c.organization()));
        c.record("sign_in_policy.updated", POLICY, c.organization(), &after)?;
        if after.mfa_from.is_some() && after.mfa_from != before.mfa_from {
            c.enqueue(&MfaRequired { organization: c.organization(), from: after.mfa_from }).await?;
        }
        Ok(PolicyInForce { policy: after, members_without_second_factor })
    })
    .await
}

/// Refuses a policy that would shut out the one who sets it.
async fn must_be_met(c: &Change<'_>, policy: &SignInPolicy) -> Result<(), Error> {
    let Some(own) = c.scope.principal() else { return Ok(()) };
    let account = users::get(c.t, own.user).await?;
    let second_factor_since = account.and_then(|account| account.second_factor_since);
    let lacks_factor = policy.mfa == Mfa::Required && second_factor_since.is_none();
    let unmet = match own.credential {
        _ if lacks_factor => Some(Unmet::Enrolment),
        Credential::ApiKey(_) => None,
        Credential::Session(session) => {
            let session = sessions::get(c.t, session).await?.ok_or_else(bad_session)?;
            // A grace does not help later if there is no second factor now.
            let mfa_from = policy.mfa_from.map(|_| c.now);
            let SignInPolicy { idle_minutes, max_hours, .. } = *policy;
            let demands =
                Demands { mfa_from, idle_minutes, max_hours, signed_out_at: None, second_factor_since };
            demands.unmet(&session, c.now)
        }
    };
    let what = match unmet {
        None => return Ok(()),
        Some(Unmet::Enrolment) => {
            "your account has no second factor. Add an authenticator app or a passkey first"
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
