//! Custom domains of portals: verifying ownership and DNS records, and looking up the portal of a host name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::inbox::About;
use attestry_domain::portals::{DomainName, DomainState, Portal};
use attestry_hosting::{Challenge, Failure, Hosting};
pub use attestry_hosting::{Record, Status};
use attestry_storage::{Tx, portals};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{ENTITY, lock, of, save, tell_reviewers};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The time a domain with invalid records keeps its portal.
const BROKEN_DOMAIN_GRACE: Duration = Duration::from_hours(72);

/// The value that a DNS record of the domain must have to prove that it belongs to the organization. It cannot be
/// guessed, and is the same each time.
fn challenge(ctx: &Ctx, organization: OrganizationId, domain: &DomainName) -> String {
    let organization = organization.to_string();
    let secret = ctx.keys.mac(&[b"domain challenge", organization.as_bytes(), domain.as_str().as_bytes()]);
    format!("attestry-verification={}", URL_SAFE_NO_PAD.encode(&secret[..24]))
}

async fn ask(ctx: &Ctx, organization: OrganizationId, domain: &DomainName) -> Result<Status, Failure> {
    let value = challenge(ctx, organization, domain);
    ctx.hosting().status(&Challenge { domain: domain.as_str(), value: &value }).await
}

fn taken() -> Error {
    Error::Conflict {
        code: "domain_taken",
        message: "Another organization has verified this domain.".to_owned(),
    }
}

/// Fails when another organization has verified the domain.
pub(super) async fn must_be_free(t: &Tx<'_>, scope: &Scope, domain: &DomainName) -> Result<(), Error> {
    match portals::by_domain(t, domain).await? {
        Some(portal) if portal.organization_id != scope.organization() => Err(taken()),
        _ => Ok(()),
    }
}

/// Seconds after which a failed check of a domain may be repeated.
const RETRY_SECONDS: u64 = 10;

/// Converts a failure to an error for users. The full cause is only logged.
fn failed(failure: &Failure) -> Error {
    let (code, message, wait) = match failure {
        Failure::Unknown => return Error::NotFound("domain in the project of the hosting provider"),
        Failure::Busy { retry_after, .. } => (
            "hosting_busy",
            "The hosting provider takes no more requests for now; try again later.",
            *retry_after,
        ),
        Failure::Down(_) | Failure::Refused(_) => (
            "domain_check_failed",
            "The domain cannot be checked now: the name servers or the hosting provider do not answer as they should. \
             The reason is in the server's log.",
            None,
        ),
    };
    let (message, cause) = (message.to_owned(), Some(failure.to_string()));
    Error::Outside { code, message, cause, retry_after: Some(wait.unwrap_or(RETRY_SECONDS)) }
}

/// Checks a domain. If it is the portal's own domain and is verified for the first time, that is stored.
#[boxed]
pub async fn status(ctx: &Ctx, scope: &Scope, domain: DomainName) -> Result<Status, Error> {
    let (own, wanted) = (scope.clone(), domain.clone());
    let read = ctx.db.read(async move |t| {
        must_be_free(t, &own, &wanted).await?;
        of(t, &own).await
    });
    let portal = read.await?;
    let found = ask(ctx, scope.organization(), &domain).await.map_err(|failure| failed(&failure))?;
    if portal.domain.as_ref() == Some(&domain) && portal.domain_state.verified_at.is_none() && found.verified
    {
        let wanted = domain.clone();
        ctx.change(scope, async move |c| {
            let (before, _) = lock(c).await?;
            if before.domain.as_ref() != Some(&wanted) || before.domain_state.verified_at.is_some() {
                return Ok(());
            }
            let mut after = before.clone();
            after.domain_state = DomainState { verified_at: Some(c.now), broken_at: None };
            save(c, &before, after, "portal.domain_verified").await.map(drop)
        })
        .await?;
        ctx.part::<Hosts>().forget();
    }
    Ok(found)
}

/// Checks a verified domain again. The reviewers of access requests are notified when it breaks, when it is dropped,
/// and when it works again.
pub(crate) async fn check_again(ctx: &Ctx, portal: &Portal) -> Result<(), Error> {
    let Some(domain) = portal.domain.clone() else { return Ok(()) };
    let is_right = match ask(ctx, portal.organization_id, &domain).await {
        Ok(status) => status.verified && !status.misconfigured,
        Err(Failure::Unknown) => false,
        // The state of the domain is unknown.
        Err(error) => {
            tracing::warn!(%domain, %error, "a domain could not be checked");
            return Ok(());
        }
    };
    let scope = Scope::system(portal.organization_id, "domain check");
    ctx.change(&scope, async move |c| {
        let (before, _) = lock(c).await?;
        let Some(verified_at) = before.domain_state.verified_at.filter(|_| before.domain.as_ref() == Some(&domain))
        else {
            return Ok(());
        };
        let broken_at = before.domain_state.broken_at;
        let is_over = broken_at.is_some_and(|at| c.now.since(at) >= BROKEN_DOMAIN_GRACE);
        let (state, action, line) = match (is_right, broken_at) {
            (true, Some(_)) => (
                DomainState { verified_at: Some(verified_at), broken_at: None },
                "portal.domain_mended",
                format!("The trust portal's domain {domain} works again"),
            ),
            (false, None) => (
                DomainState { verified_at: Some(verified_at), broken_at: Some(c.now) },
                "portal.domain_broken",
                format!("The DNS records of {domain} are wrong. Fix them within 72 hours, or the trust portal will stop using this domain"),
            ),
            (false, Some(_)) if is_over => (
                DomainState::default(),
                "portal.domain_lost",
                format!("The trust portal no longer uses {domain}: its DNS records were wrong for 72 hours"),
            ),
            // No change.
            (true, None) | (false, Some(_)) => return Ok(()),
        };
        let mut after = before.clone();
        after.domain_state = state;
        save(c, &before, after, action).await?;
        tell_reviewers(c, &About::new(ENTITY, before.organization_id), &line).await
    })
    .await?;
    ctx.part::<Hosts>().forget();
    Ok(())
}

/// All portals with a verified domain.
pub(crate) async fn all(ctx: &Ctx) -> Result<Vec<Portal>, Error> {
    Ok(ctx.db.read(async |t| portals::verified(t).await).await?)
}

impl Ctx {
    /// Checks whether portal domains point to this server.
    pub fn hosting(&self) -> &Hosting {
        self.part()
    }
}

/// Cache of the host names of portals.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Mutex<CachedHost>);

type Owners = Arc<HashMap<String, OrganizationId>>;

#[derive(Debug, Default)]
struct CachedHost {
    owners: Owners,
    /// The time of the last read; none when the cache is invalidated.
    at: Option<Time>,
}

/// The time for which changes by other processes may go unnoticed.
const HOST_CACHE_TTL: Duration = Duration::from_secs(5);

impl Hosts {
    fn known(&self) -> MutexGuard<'_, CachedHost> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn forget(&self) {
        self.known().at = None;
    }

    /// The cached owners, and true if they are fresh.
    fn owners(&self, now: Time) -> (Owners, bool) {
        let known = self.known();
        (Arc::clone(&known.owners), known.at.is_some_and(|at| now.since(at) < HOST_CACHE_TTL))
    }
}

/// Time that a request waits for the domains of portals.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the organization whose portal a host name belongs to, published or not. If the database does not respond,
/// the cache is used: whether the process counts as alive must not depend on the database.
#[boxed]
pub async fn owner(ctx: &Ctx, host: &str) -> Option<OrganizationId> {
    let now = ctx.now();
    let (mut owners, is_fresh) = ctx.part::<Hosts>().owners(now);
    if !is_fresh {
        // One request refreshes the cache; the others use it as it is.
        ctx.part::<Hosts>().known().at = Some(now);
        let read = ctx.db.read(async |t| portals::domains(t).await);
        match tokio::time::timeout(READ_TIMEOUT, read).await {
            Ok(Ok(read)) => {
                owners = Arc::new(read.into_iter().collect());
                *ctx.part::<Hosts>().known() = CachedHost { owners: Arc::clone(&owners), at: Some(now) };
            }
            Ok(Err(error)) => ctx.outages.met("the domains of portals", &error.to_string()),
            Err(_) => ctx.outages.met("the domains of portals", "the database does not answer"),
        }
    }
    owners.get(host).copied()
}
