//! Exempt owners: the way back in where single sign-on is required.

use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::identity::members::{Member, Person};
use attestry_domain::identity::sign_in::SsoDemand;
use attestry_storage::{members, sign_in_policies, sso};
use serde::{Deserialize, Serialize};

use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::{Failure, Job, JobLease, Mail, Outcome};
use crate::notices::mail_templates;

fn is_way_in(member: &Member, has_second_factor: bool) -> bool {
    member.is_active_owner() && member.is_exempt && has_second_factor
}

pub(crate) fn break_glass_required(message: &str) -> Error {
    Error::Conflict { code: "break_glass_required", message: message.to_owned() }
}

/// Returns true if the organization has an exempt owner other than this member. Lock the organization first.
async fn has_other(c: &Change<'_>, member: Option<MemberId>) -> Result<bool, Error> {
    let other = member.unwrap_or(MemberId::from_u128(0));
    let roles = sso::other_exempt(c.t, c.scope, other).await?;
    Ok(roles.iter().any(Roles::is_owner))
}

/// Requires an exempt owner, before single sign-on is.
pub(crate) async fn must_exist(c: &Change<'_>) -> Result<(), Error> {
    if has_other(c, None).await? {
        return Ok(());
    }
    Err(break_glass_required(
        "Exempt an owner with a second factor first: they can sign in when the identity provider fails.",
    ))
}

/// Refuses a change that takes away the last exempt owner while single sign-on is required. `after` is the member
/// afterwards, and `keeps_factor` is true if their account still has a second factor.
pub(crate) async fn must_stay(
    c: &Change<'_>,
    before: &Person,
    after: &Member,
    keeps_factor: bool,
) -> Result<(), Error> {
    let had = before.user.second_factor_since.is_some();
    if !is_way_in(&before.member, had) || is_way_in(after, had && keeps_factor) {
        return Ok(());
    }
    if sign_in_policies::get(c.t, c.scope).await?.sso == SsoDemand::Optional
        || has_other(c, Some(before.member.id)).await?
    {
        return Ok(());
    }
    Err(break_glass_required(
        "This is the last exempt owner, and single sign-on is required. Exempt another owner first.",
    ))
}

/// Mails the owners of an organization that an exempt owner signed in with their own credentials.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExemptSignIn {
    pub(crate) organization: OrganizationId,
    pub(crate) member: MemberId,
}

impl Job for ExemptSignIn {
    const KIND: &'static str = "exempt_sign_in";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "exempt sign-in");
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            lease.complete(c.t).await?;
            let Some(person) = members::get(c.t, c.scope, self.member).await? else { return Ok(()) };
            let (name, email) = (&person.user.name, &person.user.email);
            let text =
                format!("{name} ({email}) signed in with their own credentials, without single sign-on.");
            tell_owners(c, "An exempt owner signed in", &text).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}

/// Mails all active owners of the organization about its sign-in.
pub(crate) async fn tell_owners(c: &Change<'_>, subject: &str, message: &str) -> Result<(), Error> {
    for person in members::owners(c.t, c.scope).await? {
        c.enqueue(&Mail(mail_templates::identity(c.ctx, &person.user, subject, message))).await?;
    }
    Ok(())
}
