//! Signatures of members on versions of a policy, and the missing ones.

use std::collections::BTreeMap;
use std::time::Duration;

use attestry_domain::access::{AuthType, Permission, Scope};
use attestry_domain::id::{MemberId, PolicyId, PolicyVersionId};
use attestry_domain::identity::members::Person;
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicySignature};
use attestry_domain::registers::Record;
use attestry_storage::{Tx, notices, policies, registers as rows};

use super::{MISSING, as_published, with_versions};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::members;
use crate::policies::sign_requests::SignRequests;
use crate::registers;

/// The published policies that the caller has yet to sign.
#[boxed]
pub async fn to_sign(ctx: &Ctx, scope: &Scope) -> Result<Vec<Record<Policy>>, Error> {
    let Some(member) = scope.member() else { return Ok(Vec::new()) };
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let ids = policies::to_sign(t, &own, member).await?;
        with_versions(t, &own, ids).await
    });
    Ok(found.await?.into_iter().map(as_published).collect())
}

/// Signs the published version. Signing again changes nothing.
#[boxed]
pub async fn sign(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    seen: Option<PolicyVersionId>,
) -> Result<PolicySignature, Error> {
    let member = scope.member().ok_or(MISSING)?;
    ctx.change(scope, async move |c| {
        let policy = registers::lock::<Policy>(c, id).await?;
        if c.scope.auth_type() != Some(AuthType::Session) {
            return Err(Error::Forbidden {
                code: "session_required",
                message:
                    "A signature is a person's own: sign in and use the session; an API key cannot sign."
                        .to_owned(),
            });
        }
        let (Some(version_id), Some(version)) = (policy.current_version_id, policy.current_version) else {
            return Err(not_published());
        };
        if policy.is_archived {
            return Err(not_published());
        }
        if seen.is_some_and(|seen| seen != version_id) {
            return Err(Error::Conflict {
                code: "version_changed",
                message: format!("Version {version} was published in the meantime. Read it before you sign."),
            });
        }
        if let Some(signature) = policies::own_signature(c.t, c.scope, id, member).await? {
            return Ok(signature);
        }
        let signature = PolicySignature {
            id: c.next_id(),
            organization_id: c.organization(),
            policy_id: id,
            version_id,
            version,
            member_id: member,
            signed_at: c.now,
            ended_at: None,
        };
        policies::insert_signature(c.t, c.scope, &signature).await?;
        c.record("policy.signed", "policy_signature", signature.id, &signature)?;
        Ok(signature)
    })
    .await
}

fn not_published() -> Error {
    Error::Conflict {
        code: "not_published",
        message: "No version of this policy is published, so there is nothing to sign.".to_owned(),
    }
}

/// A member who has to sign a policy, or has signed it.
#[derive(Clone, Debug)]
pub struct Signer {
    pub person: Person,
    /// True if the policy requires the member's signature.
    pub has_to_sign: bool,
    /// The latest one.
    pub signature: Option<PolicySignature>,
}

impl Signer {
    /// Returns true when the signature counts for the published version.
    pub fn has_signed(&self) -> bool {
        self.signature.as_ref().is_some_and(|signature| signature.ended_at.is_none())
    }

    pub fn is_missing(&self) -> bool {
        self.has_to_sign && !self.has_signed()
    }
}

/// All members who have to sign a policy or have signed it, ordered by id; with `version`, only those who signed that
/// version.
#[boxed]
pub async fn signers(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    version: Option<VersionNumber>,
) -> Result<Vec<Signer>, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?.ok_or(MISSING)?;
        let mut all = signers_of(t, &own, &policy).await?;
        if let Some(version) = version {
            all.retain(|one| one.signature.as_ref().is_some_and(|signature| signature.version == version));
        }
        Ok::<_, Error>(all)
    });
    found.await
}

async fn signers_of(t: &Tx<'_>, scope: &Scope, policy: &Record<Policy>) -> Result<Vec<Signer>, Error> {
    let mut latest: BTreeMap<MemberId, PolicySignature> = BTreeMap::new();
    for signature in policies::signatures(t, scope, policy.id).await? {
        latest.insert(signature.member_id, signature);
    }
    let is_asked = policy.is_published && policy.is_required_to_sign.0 && !policy.is_archived;
    let mut all = Vec::new();
    for person in members::all(t, scope).await? {
        let signature = latest.remove(&person.member.id);
        let may_sign = person.member.role.permissions().contains(Permission::PolicySign);
        let has_to_sign = is_asked && person.member.is_active && may_sign;
        if has_to_sign || signature.is_some() {
            all.push(Signer { person, has_to_sign, signature });
        }
    }
    all.sort_by_key(|one| one.person.member.id);
    Ok(all)
}

/// The minimum time between two reminders of one member.
const REMIND_AGAIN_AFTER: Duration = Duration::from_hours(24);

/// Reminds the members whose signature is missing, except those who opted out of such mail or were reminded in the
/// last 24 hours; returns the number of reminders.
#[boxed]
pub async fn remind(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<usize, Error> {
    ctx.change(scope, async move |c| {
        let policy = registers::lock::<Policy>(c, id).await?;
        let Some(version) = policy.current_version_id.filter(|_| !policy.is_archived) else {
            return Err(not_published());
        };
        let since = c.now.minus(REMIND_AGAIN_AFTER);
        let reminded = policies::reminded(c.t, c.scope, version, since).await?;
        let readers = notices::readers_of_policies(c.t, c.scope).await?;
        let signers = signers_of(c.t, c.scope, &policy).await?;
        let missing = signers.iter().filter(|one| one.is_missing()).map(|one| one.person.member.id);
        let whom: Vec<MemberId> =
            missing.filter(|member| readers.contains(member) && !reminded.contains(member)).collect();
        for member in &whom {
            policies::note_reminder(c.t, c.scope, (id, version), *member, c.now).await?;
        }
        let count = whom.len();
        if count > 0 {
            let job = SignRequests { organization: c.organization(), policy: id, version, only: Some(whom) };
            c.enqueue(&job).await?;
            c.record("policy.reminded", "policy", id, &policy)?;
        }
        Ok(count)
    })
    .await
}

/// Notifies members whose signature is missing: all of them, or those in `only`.
pub(crate) async fn ask(
    c: &Change<'_>,
    id: PolicyId,
    version: PolicyVersionId,
    only: Option<&[MemberId]>,
) -> Result<(), Error> {
    let Some(policy) = rows::get::<Policy>(c.t, c.scope, id).await? else { return Ok(()) };
    if policy.current_version_id != Some(version) {
        return Ok(());
    }
    let whom = signers_of(c.t, c.scope, &policy).await?;
    let whom = whom.iter().filter(|one| one.is_missing()).map(|one| one.person.member.id);
    let whom = whom.filter(|member| only.is_none_or(|only| only.contains(member)));
    super::tell(c, whom, id, &format!("Please read and sign {}", policy.label()));
    Ok(())
}
