//! Records a failed sign-in in the journals of whoever's account it was. A job, so that a wrong password takes the same
//! time whether or not there is such an account.

use attestry_domain::access::{Origin, Scope};
use attestry_storage::{Tx, members, users};
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};
use crate::context::Ctx;
use crate::error::Error;
use crate::journal::{self, Record};

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

pub(crate) async fn enqueue(ctx: &Ctx, t: &Tx<'_>, payload: &Payload) -> Result<(), Error> {
    let payload = ctx.keys.seal(KIND, &serde_json::to_vec(payload)?)?;
    super::enqueue(ctx, t, KIND, None, &payload, None).await
}

pub(super) async fn run(ctx: &Ctx, payload: &[u8]) -> Result<Outcome, Failure> {
    let Payload { email, origin } = super::unseal(ctx, KIND, payload)?;
    let own = ctx.clone();
    ctx.db
        .write(async move |t| {
            let Some((user, _)) = users::by_email(t, &email).await? else { return Ok(()) };
            for membership in members::of_user(t, user.id).await? {
                let scope = Scope::visitor(membership.organization, Some(user.id), origin.clone());
                let record = Record::of("user.sign_in_failed", "user", user.id, &user)?;
                journal::append(&own, t, &scope, record).await?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    Ok(Outcome::Done)
}
