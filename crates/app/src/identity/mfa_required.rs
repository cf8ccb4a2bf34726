//! Mails the members without a second factor that their organization requires one.

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_storage::{members, organizations, sign_in_policies};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Mail, Outcome};
use crate::notices::mail_templates;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MfaRequired {
    pub(crate) organization: OrganizationId,
    /// The time from which it is enforced. A policy that was changed since has another one.
    pub(crate) from: Option<Time>,
}

impl Job for MfaRequired {
    const KIND: &'static str = "mfa_required";

    async fn run(self, ctx: &Ctx, lease: &JobLease) -> Result<Outcome, Failure> {
        let scope = Scope::system(self.organization, "sign-in policy");
        let lease = lease.clone();
        ctx.change(&scope, async move |c| {
            lease.complete(c.t).await?;
            let policy = sign_in_policies::get(c.t, c.scope).await?;
            let from = self.from.filter(|_| policy.mfa_from == self.from);
            let (Some(from), Some(own)) = (from, organizations::get(c.t, c.scope).await?) else {
                return Ok(());
            };
            for person in members::people_without_second_factor(c.t, c.scope).await? {
                c.enqueue(&Mail(mail_templates::mfa_required(c.ctx, &person.user, &own.name, from))).await?;
            }
            Ok(())
        })
        .await?;
        Ok(Outcome::Ended)
    }
}
