//! Exempt owners: the way back in where single sign-on is required.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::identity::members::{Member, Person};
use attestry_domain::identity::sign_in::SsoDemand;
use attestry_storage::{directory, members, sign_in_policies, users, ways_in};
use serde::{Deserialize, Serialize};

use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::identity::owners::tell_owners;
use crate::notices::mail_templates::Topic;

/// The time within which an exempt owner must have proved that their own credentials work.
const PROVED_WITHIN: Duration = Duration::from_hours(24 * 30);

fn is_way_in(member: &Member, is_break_glass: bool) -> bool {
    member.is_active_owner() && member.is_exempt && is_break_glass
}

pub(crate) fn break_glass_required(message: &str) -> Error {
    Error::Conflict { code: "break_glass_required", message: message.to_owned() }
}

/// Requires an exempt owner, before single sign-on is. Lock the organization first.
pub(crate) async fn must_exist(c: &Change<'_>) -> Result<(), Error> {
    // Locked, so that none of them gives up the second factor at the same moment.
    for member in ways_in::exempt_owners(c.t, c.scope).await? {
        if let Some(person) = members::get(c.t, c.scope, member).await? {
            users::lock(c.t, person.user.id).await?;
        }
    }
    let since = c.now.minus(PROVED_WITHIN);
    let mut message = "Exempt an owner first who has credentials of their own and a second factor: they can sign in when the identity provider fails.";
    for member in ways_in::exempt_owners(c.t, c.scope).await? {
        let person = members::get(c.t, c.scope, member).await?;
        if person.is_some_and(|person| person.user.own_factors_at.is_some_and(|at| at >= since)) {
            return Ok(());
        }
        message = "No exempt owner has signed in with their own credentials and a second factor in the last 30 days: let one of them do so, to be sure that they can.";
    }
    Err(break_glass_required(message))
}

/// Refuses a change that takes away the last exempt owner while single sign-on is required or a directory decides who is
/// in. `after` is the member afterwards, and `keeps_factor` is true if their account still has a second factor.
pub(crate) async fn must_stay(
    c: &Change<'_>,
    before: &Person,
    after: &Member,
    keeps_factor: bool,
) -> Result<(), Error> {
    let had = ways_in::of_user(c.t, before.user.id).await?.is_break_glass();
    if !is_way_in(&before.member, had) || is_way_in(after, had && keeps_factor) {
        return Ok(());
    }
    let is_needed = sign_in_policies::get(c.t, c.scope).await?.sso == SsoDemand::Required
        || !directory::tokens(c.t, c.scope).await?.is_empty();
    if !is_needed
        || ways_in::exempt_owners(c.t, c.scope).await?.iter().any(|other| *other != before.member.id)
    {
        return Ok(());
    }
    Err(break_glass_required(
        "This is the last exempt owner, and single sign-on is required or a directory has tokens. Exempt another owner first.",
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
            tell_owners(c, Topic::SignIn, "An exempt owner signed in", &text).await
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
