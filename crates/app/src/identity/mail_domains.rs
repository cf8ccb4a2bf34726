//! The mail domains of an organization: adding them, and looking up their records.

use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::{MailDomainId, OrganizationId, SsoConnectionId};
use attestry_domain::identity::mail_domains::{MAX_MAIL_DOMAINS, MailDomain, MailDomainState as S};
use attestry_domain::identity::sign_in::SsoDemand;
use attestry_domain::patch::Patch;
use attestry_domain::portals::DomainName;
use attestry_hosting::TextRecords;
use attestry_storage::{mail_domains, organizations, sign_in_policies, sso_connections, sso_identities};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::owners::tell_owners;
use crate::notices::mail_templates::Topic;

/// The entity type in the journal.
const DOMAIN: &str = "mail_domain";
const MISSING: Error = Error::NotFound("domain");

/// The time after which a domain without its record no longer counts.
const GRACE: Duration = Duration::from_hours(14 * 24);

/// The value that the record of a domain must have. It cannot be guessed, and is the same each time; it proves nothing
/// to a portal, or to another organization.
pub fn record_value(ctx: &Ctx, organization: OrganizationId, domain: &DomainName) -> String {
    let organization = organization.to_string();
    let secret = ctx.keys.mac(&[b"mail domain", organization.as_bytes(), domain.as_str().as_bytes()]);
    format!("attestry-domain={}", URL_SAFE_NO_PAD.encode(&secret[..24]))
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<MailDomain>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| mail_domains::list(t, &scope).await).await?)
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: MailDomainId) -> Result<MailDomain, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| mail_domains::get(t, &scope, id).await).await?.ok_or(MISSING)
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, name: DomainName) -> Result<MailDomain, Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let known = mail_domains::list(c.t, c.scope).await?;
        if known.iter().any(|domain| domain.name == name) {
            return Err(Error::Conflict {
                code: "domain_added",
                message: "The organization has this domain already.".to_owned(),
            });
        }
        if known.len() >= MAX_MAIL_DOMAINS {
            return Err(Error::Conflict {
                code: "too_many_domains",
                message: format!("An organization has at most {MAX_MAIL_DOMAINS} domains."),
            });
        }
        let domain = MailDomain {
            id: c.next_id(),
            organization_id: c.organization(),
            name: name.clone(),
            state: S::Pending,
            connection_id: None,
            reason: None,
            verified_at: None,
            failing_since: None,
            is_by_operator: false,
            checked_at: None,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        mail_domains::insert(c.t, c.scope, &domain).await?;
        c.record("mail_domain.added", DOMAIN, domain.id, &domain)?;
        Ok(domain)
    })
    .await
}

/// Stores a changed domain, and records it.
async fn save(
    c: &Change<'_>,
    before: &MailDomain,
    after: MailDomain,
    action: &'static str,
) -> Result<MailDomain, Error> {
    let after = MailDomain { updated_at: c.now, version: before.version + 1, ..after };
    mail_domains::update(c.t, c.scope, &after).await?;
    c.record(action, DOMAIN, after.id, &after)?;
    Ok(after)
}

/// Sets the connection by which people of a domain sign in.
#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: MailDomainId,
    connection: Patch<SsoConnectionId>,
    precondition: Precondition,
) -> Result<MailDomain, Error> {
    ctx.change(scope, async move |c| {
        let before = mail_domains::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let connection_id = connection.clone().apply(before.connection_id);
        if connection_id == before.connection_id {
            return Ok(before);
        }
        if let Some(connection) = connection_id
            && sso_connections::get(c.t, c.scope, connection).await?.is_none()
        {
            return Err(Error::field("connectionId", "is not a connection of this organization"));
        }
        let after = MailDomain { connection_id, ..before.clone() };
        save(c, &before, after, "mail_domain.updated").await
    })
    .await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: MailDomainId,
    precondition: Precondition,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = mail_domains::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.version])?;
        let is_required = sign_in_policies::get(c.t, c.scope).await?.sso == SsoDemand::Required;
        let others = mail_domains::list(c.t, c.scope).await?;
        let is_last = !others.iter().any(|domain| domain.id != id && domain.is_verified());
        if is_required && before.is_verified() && is_last {
            return Err(Error::Conflict {
                code: "domain_in_use",
                message:
                    "Single sign-on is required, and this is the last verified domain. Add another one first."
                        .to_owned(),
            });
        }
        mail_domains::delete(c.t, c.scope, id).await?;
        c.record_gone("mail_domain.removed", DOMAIN, id);
        Ok(())
    })
    .await
}

/// The reason for which a domain counts or does not.
#[derive(Clone, Debug)]
enum Found {
    Record,
    /// The value of another record, or none.
    Other(String),
    ByOperator,
}

async fn look_up(ctx: &Ctx, domain: &MailDomain) -> Result<Found, attestry_hosting::Failure> {
    let value = record_value(ctx, domain.organization_id, &domain.name);
    let missing = ctx.part::<TextRecords>().missing(&domain.record_name(), &value).await?;
    Ok(missing.map_or(Found::Record, Found::Other))
}

/// Looks up the record of a domain now.
#[boxed]
pub async fn verify(ctx: &Ctx, scope: &Scope, id: MailDomainId) -> Result<MailDomain, Error> {
    let domain = get(ctx, scope, id).await?;
    let found = look_up(ctx, &domain).await.map_err(|failure| Error::Outside {
        code: "domain_check_failed",
        message: "The domain cannot be checked now: the name servers do not answer as they should."
            .to_owned(),
        cause: Some(failure.to_string()),
        retry_after: Some(10),
    })?;
    ctx.change(scope, async move |c| settle(c, id, found.clone()).await).await
}

/// Looks up the record of a domain again, for the daily check. A name server that does not answer changes nothing.
#[boxed]
pub async fn check_again(ctx: &Ctx, organization: OrganizationId, id: MailDomainId) -> Result<(), Error> {
    let scope = Scope::system(organization, "domain check");
    let domain = get(ctx, &scope, id).await?;
    match look_up(ctx, &domain).await {
        Ok(found) => ctx.change(&scope, async move |c| settle(c, id, found.clone()).await).await.map(drop),
        Err(error) => {
            tracing::warn!(domain = %domain.name, %error, "a mail domain could not be checked");
            Ok(())
        }
    }
}

/// Confirms a domain without a look-up, for an installation without DNS: the operator answers for it.
#[boxed]
pub async fn verify_by_operator(
    ctx: &Ctx,
    organization: OrganizationId,
    name: &DomainName,
) -> Result<MailDomain, Error> {
    let scope = Scope::system(organization, "attestry admin verify-domain");
    let known = list(ctx, &scope).await?.into_iter().find(|domain| domain.name == *name);
    let id = match known {
        Some(domain) => domain.id,
        None => create(ctx, &scope, name.clone()).await?.id,
    };
    ctx.change(&scope, async move |c| settle(c, id, Found::ByOperator).await).await
}

/// Applies the result of a look-up.
async fn settle(c: &Change<'_>, id: MailDomainId, found: Found) -> Result<MailDomain, Error> {
    let before = mail_domains::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
    let owner = mail_domains::verified(c.t, &before.name).await?;
    if owner.is_some_and(|owner| owner.organization_id != c.organization()) {
        return lose(c, before).await;
    }
    let (is_by_operator, reason) = match found {
        Found::Record => (false, None),
        Found::ByOperator => (true, None),
        Found::Other(reason) => (before.is_by_operator, Some(reason)),
    };
    let counts = is_by_operator || reason.is_none();
    let looked = MailDomain { is_by_operator, reason, checked_at: Some(c.now), ..before.clone() };
    let failing_since = before.failing_since.unwrap_or(c.now);
    let is_over = c.now.since(failing_since) >= GRACE;
    let (state, action, message) = match (before.state, counts) {
        (S::Verified, true) => (S::Verified, None, None),
        (S::Pending | S::Failing | S::Lapsed | S::Lost, true) => {
            (S::Verified, Some("mail_domain.verified"), None)
        }
        (S::Verified, false) => (
            S::Failing,
            Some("mail_domain.failing"),
            Some(
                "Its TXT record is missing. Put it back within 14 days, or people of the domain are no longer added and linked.",
            ),
        ),
        (S::Failing, false) if is_over => (
            S::Lapsed,
            Some("mail_domain.lapsed"),
            Some(
                "Its TXT record was missing for 14 days. People of the domain are no longer added and linked; those who are linked still sign in.",
            ),
        ),
        (state, false) => (state, None, None),
    };
    let after = MailDomain {
        state,
        verified_at: if state == S::Verified {
            before.verified_at.or(Some(c.now))
        } else {
            before.verified_at
        },
        failing_since: (state == S::Failing).then_some(failing_since),
        ..looked
    };
    if let Some(message) = message {
        tell_owners(c, Topic::SignIn, &format!("The domain {} is not verified", before.name), message)
            .await?;
    }
    match action {
        Some(action) => save(c, &before, after, action).await,
        // The look-up alone is no change to record, but another version of what is shown.
        None => {
            let after = MailDomain { version: before.version + 1, ..after };
            mail_domains::update(c.t, c.scope, &after).await?;
            Ok(after)
        }
    }
}

/// Applies that another organization has verified the domain since: the identities of its people end.
async fn lose(c: &Change<'_>, before: MailDomain) -> Result<MailDomain, Error> {
    if matches!(before.state, S::Pending | S::Lost) {
        return Err(Error::Conflict {
            code: "domain_taken",
            message: "Another organization has verified this domain.".to_owned(),
        });
    }
    sso_identities::delete_of_domain(c.t, c.scope, before.name.as_str()).await?;
    c.invalidate(Invalidate::Organization(c.organization()));
    let message = "Another organization has verified it. Its people can no longer use single sign-on here.";
    tell_owners(c, Topic::SignIn, &format!("The domain {} was lost", before.name), message).await?;
    let after = MailDomain {
        state: S::Lost,
        failing_since: None,
        reason: None,
        checked_at: Some(c.now),
        ..before.clone()
    };
    save(c, &before, after, "mail_domain.lost").await
}
