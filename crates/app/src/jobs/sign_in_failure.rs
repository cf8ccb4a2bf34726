//! Records a failed sign-in in the journals of whoever's account it was. A job, so that a wrong password takes the same
//! time whether or not there is such an account.

use attestry_domain::access::{Origin, Scope};
use attestry_storage::members::Membership;
use attestry_storage::users;
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};
use crate::change::Work;
use crate::context::Ctx;
use crate::error::Error;

pub(super) const KIND: &str = "sign_in_failure";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payload {
    email: String,
    origin: Origin,
}

impl Payload {
    pub(crate) fn new(email: &str, origin: &Origin) -> Self {
        Self { email: email.to_owned(), origin: origin.clone() }
    }
}

pub(crate) async fn enqueue(work: &Work<'_>, payload: &Payload) -> Result<(), Error> {
    let payload = work.ctx.keys.seal(KIND, &serde_json::to_vec(payload)?)?;
    work.put_job(KIND, None, &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let Payload { email, origin } = super::unseal(ctx, KIND, payload)?;
    let found = ctx.db.read(async move |t| users::by_email(t, &email).await).await?;
    let Some((user, _)) = found else { return Ok(Outcome::Done) };
    let from = origin.clone();
    ctx.change_account(user.id, &origin, async move |a| {
        let scope =
            |membership: &Membership| Scope::visitor(membership.organization, Some(user.id), from.clone());
        a.record_everywhere(scope, "user.sign_in_failed", "user", user.id, Some(&user))
    })
    .await?;
    Ok(Outcome::Done)
}
