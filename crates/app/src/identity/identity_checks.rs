//! Checks once a day that the records of mail domains are still there, that no secret, token or key is about to expire, and
//! that no directory has become silent, and that each service account has an owner.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::identity::sso::SsoConnection;
use attestry_storage::{api_keys, directory, mail_domains, members, service_accounts, sso_connections};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::{Failure, Job, JobLease, Mail, Outcome};
use crate::identity::owners::tell_owners;
use crate::identity::{mail_domains as domains, service_accounts as accounts};
use crate::notices::mail_templates::{self, Topic};

const EVERY: Duration = Duration::from_hours(24);
/// The days before the end of a client secret at which owners are told.
const NOTICE_DAYS: [u64; 3] = [30, 7, 1];
/// The days before the end of a token or key at which owners, and the key's member, are told.
const KEY_NOTICE_DAYS: [u64; 2] = [14, 3];
/// The interval at which owners are told again that a service account has no owner.
const ORPHAN_NOTICE_EVERY: Duration = Duration::from_hours(24 * 7);
/// The days without a request after which a directory is silent.
const SILENT_DAYS: u64 = 7;

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
        for days in KEY_NOTICE_DAYS {
            warn_of_keys(ctx, now.plus(Duration::from_hours(24 * days))).await?;
        }
        let orphaned_before = now.minus(ORPHAN_NOTICE_EVERY);
        let orphaned =
            ctx.db.read(async move |t| service_accounts::orphaned(t, orphaned_before).await).await?;
        for (organization, since) in orphaned {
            if now.since(since).as_millis() % ORPHAN_NOTICE_EVERY.as_millis() >= EVERY.as_millis() {
                continue;
            }
            let scope = Scope::system(organization, "identity checks");
            ctx.change(&scope, async move |c| accounts::remind(c).await).await?;
        }
        let silent_since = now.minus(Duration::from_hours(24 * SILENT_DAYS));
        let silent = ctx
            .db
            .read(async move |t| directory::silent(t, silent_since.minus(EVERY), silent_since).await)
            .await?;
        for organization in silent {
            let scope = Scope::system(organization, "identity checks");
            let text = format!(
                "The identity provider has asked for nothing in {SILENT_DAYS} days. If it should, check its provisioning: people who leave may still have access."
            );
            ctx.change(&scope, async move |c| {
                tell_owners(c, Topic::SignIn, "The directory is silent", &text).await
            })
            .await?;
        }
        Ok(Outcome::Again(now.plus(EVERY)))
    }
}

/// Tells the owners about tokens of directories and API keys that expire in the day before a time, and the members as
/// whom the keys act.
async fn warn_of_keys(ctx: &Ctx, until: Time) -> Result<(), Failure> {
    let from = until.minus(EVERY);
    let (tokens, keys) = ctx
        .db
        .read(async move |t| {
            let tokens = directory::expiring(t, from, until).await?;
            Ok::<_, Error>((tokens, api_keys::expiring(t, from, until).await?))
        })
        .await?;
    for token in tokens {
        let Some(expires_at) = token.expires_at else { continue };
        let scope = Scope::system(token.organization_id, "identity checks");
        let text = format!(
            "The token “{}” of the directory expires on {}. Create another one and enter it at the identity provider, or people are no longer kept in step.",
            token.name,
            Date::of(expires_at)
        );
        ctx.change(&scope, async move |c| {
            tell_owners(c, Topic::SignIn, "A token of the directory is about to expire", &text).await
        })
        .await?;
    }
    for key in keys {
        let Some(expires_at) = key.expires_at else { continue };
        let scope = Scope::system(key.organization_id, "identity checks");
        ctx.change(&scope, async move |c| {
            let Some(person) = members::get_any(c.t, c.scope, key.member_id).await? else { return Ok(()) };
            let text = format!(
                "The API key “{}” of {} expires on {}. Rotate it, or what uses it stops working.",
                key.name,
                person.user.name,
                Date::of(expires_at)
            );
            let subject = "An API key is about to expire";
            if person.member.is_active && !person.member.is_service && !person.member.role.is_owner() {
                c.enqueue(&Mail(mail_templates::tell(c.ctx, &person.user, Topic::Key, subject, &text)))
                    .await?;
            }
            tell_owners(c, Topic::SignIn, subject, &text).await
        })
        .await?;
    }
    Ok(())
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
    ctx.change(&scope, async move |c| {
        tell_owners(c, Topic::SignIn, "A client secret is about to expire", &text).await
    })
    .await?;
    Ok(())
}
