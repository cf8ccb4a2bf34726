//! Checks once a day that the records of mail domains are still there, and that no client secret is about to expire.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::identity::sso::SsoConnection;
use attestry_storage::{mail_domains, sso_connections};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::queue::{Failure, Job, JobLease, Outcome};
use crate::identity::mail_domains as domains;
use crate::identity::owners::tell_owners;

const EVERY: Duration = Duration::from_hours(24);
/// The days before the end of a client secret at which owners are told.
const NOTICE_DAYS: [u64; 3] = [30, 7, 1];

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdentityChecks;

impl Job for IdentityChecks {
    const KIND: &'static str = "identity_checks";
    const MAX_ATTEMPTS: i64 = i64::MAX;
    const MAX_CONCURRENT: usize = 1;
    const PERIOD: Option<Duration> = Some(EVERY);

    async fn run(self, ctx: &Ctx, _: &JobLease) -> Result<Outcome, Failure> {
        let now = ctx.now();
        for (organization, domain) in ctx.db.read(async |t| mail_domains::to_check(t).await).await? {
            // A failed check does not stop the others.
            if let Err(error) = domains::check_again(ctx, organization, domain).await {
                tracing::warn!(%organization, %error, "a mail domain could not be checked");
            }
        }
        for days in NOTICE_DAYS {
            let until = now.plus(Duration::from_hours(24 * days));
            let expiring = ctx
                .db
                .read(async move |t| sso_connections::expiring(t, until.minus(EVERY), until).await)
                .await?;
            for connection in expiring {
                warn(ctx, &connection).await?;
            }
        }
        Ok(Outcome::Again(now.plus(EVERY)))
    }
}

/// Tells the owners that the client secret of a connection is about to expire.
async fn warn(ctx: &Ctx, connection: &SsoConnection) -> Result<(), Failure> {
    let Some(expires_at) = connection.client_secret_expires_at else { return Ok(()) };
    let scope = Scope::system(connection.organization_id, "identity checks");
    let text = format!(
        "The client secret of the connection “{}” expires on {}. Create another one at the provider and enter it, or nobody can sign in with it.",
        connection.name,
        Date::of(expires_at)
    );
    ctx.change(&scope, async move |c| tell_owners(c, "A client secret is about to expire", &text).await)
        .await?;
    Ok(())
}
