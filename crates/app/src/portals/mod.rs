//! The trust portal: the documents and news that an organization publishes about itself.

use attestry_domain::Patch;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::content::markdown;
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::identity::organizations::Organization;
use attestry_domain::portals::{
    Certificate, CertificateFramework, FriendlyUrl, Portal, PortalDocument, PortalPatch, Shown, Visibility,
};
use attestry_domain::text::Parse;
use attestry_storage::{Tx, organizations, policies, portals};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::members;
use crate::notices;

pub(crate) mod announcement;
pub mod certificates;
pub(crate) mod domain_checks;
pub mod domains;
pub mod posts;
pub mod public;
pub(crate) mod stamping;
pub mod subscribers;

const ENTITY: &str = "portal";

/// Returned for a portal that does not exist and for one that is not published.
pub(crate) const MISSING: Error = Error::NotFound("portal");

/// The portal, or the default if it was never changed.
pub(crate) async fn of(t: &Tx<'_>, scope: &Scope) -> Result<Portal, Error> {
    if let Some(portal) = portals::get(t, scope).await? {
        return Ok(portal);
    }
    let organization = organizations::get(t, scope).await?.ok_or(Error::NotFound("organization"))?;
    Ok(Portal::untouched(organization.id, organization.created_at))
}

/// Locks the portal's organization until the transaction ends, which serializes all changes of a portal.
pub(crate) async fn lock(c: &Change<'_>) -> Result<(Portal, Organization), Error> {
    let organization = organizations::lock(c.t, c.scope).await?.ok_or(Error::NotFound("organization"))?;
    Ok((of(c.t, c.scope).await?, organization))
}

/// Saves a portal that is locked.
pub(crate) async fn save(
    c: &Change<'_>,
    before: &Portal,
    mut after: Portal,
    action: &'static str,
) -> Result<Portal, Error> {
    if after == *before {
        return Ok(after);
    }
    after.updated_at = c.now;
    after.version += 1;
    portals::save(c.t, c.scope, &after).await?;
    c.record(action, ENTITY, after.organization_id, &after)?;
    Ok(after)
}

/// A document and its visibility.
#[derive(Clone, Debug)]
pub struct Listed {
    pub document: PortalDocument,
    pub title: String,
    pub visibility: Visibility,
}

/// A portal with its frameworks and documents.
#[derive(Clone, Debug)]
pub struct Settings {
    pub portal: Portal,
    pub documents: Vec<Listed>,
    pub frameworks: Vec<(CertificateFramework, Shown, Option<Certificate>)>,
    pub subscribers: i64,
    /// The public address.
    pub url: String,
}

async fn settings(t: &Tx<'_>, ctx: &Ctx, scope: &Scope, portal: Portal) -> Result<Settings, Error> {
    let certificates = portals::certificates(t, scope).await?;
    let subscribers = portals::count_subscribers(t, scope).await?;
    let documents = documents(t, scope, &portal, &certificates).await?;
    let (frameworks, url) = (frameworks(&portal, &certificates), url(ctx, &portal));
    Ok(Settings { portal, documents, frameworks, subscribers, url })
}

/// All certificates and published policies.
async fn documents(
    t: &Tx<'_>,
    scope: &Scope,
    portal: &Portal,
    certificates: &[Certificate],
) -> Result<Vec<Listed>, Error> {
    let listed = |document, title| Listed { document, title, visibility: portal.visibility(document) };
    let certificates = certificates
        .iter()
        .map(|one| listed(PortalDocument::Certificate(one.framework), one.framework.title().to_owned()));
    let policies = policies::published_names(t, scope).await?;
    let policies = policies.into_iter().map(|(id, name)| listed(PortalDocument::Policy(id), name));
    Ok(certificates.chain(policies).collect())
}

fn frameworks(
    portal: &Portal,
    certificates: &[Certificate],
) -> Vec<(CertificateFramework, Shown, Option<Certificate>)> {
    let shown = |framework: &CertificateFramework| {
        let own = certificates.iter().find(|one| one.framework == *framework).cloned();
        (*framework, portal.shown(*framework, own.is_some()), own)
    };
    CertificateFramework::ALL.iter().map(shown).collect()
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<Settings, Error> {
    let (own, context) = (scope.clone(), ctx.clone());
    ctx.db
        .read(async move |t| {
            let portal = of(t, &own).await?;
            settings(t, &context, &own, portal).await
        })
        .await
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    patch: PortalPatch,
    precondition: Precondition,
) -> Result<Settings, Error> {
    if let Patch::Value(text) = &patch.nda_text {
        // Rejected here, where its author can fix it, instead of when it is printed.
        markdown::read(text.as_str()).map_err(|message| Error::field("ndaText", message))?;
    }
    let changed = ctx.change(scope, async move |c| {
        let (before, _) = lock(c).await?;
        precondition.check(&[before.version])?;
        let mut after = before.patched(patch.clone());
        if !patch.documents.is_empty() {
            let policies = policies::ids(c.t, c.scope).await?;
            let is_there = |document: &PortalDocument| match document {
                PortalDocument::Policy(id) => policies.contains(id),
                PortalDocument::Certificate(_) => true,
            };
            for (place, (document, visibility)) in patch.documents.iter().enumerate() {
                if *visibility != Visibility::Hidden && !is_there(document) {
                    return Err(Error::field(&format!("documents[{place}].document"), "is not a policy"));
                }
            }
            after.documents.retain(|document, _| is_there(document));
        }
        if let Some(domain) = after.domain.as_ref().filter(|_| after.domain != before.domain) {
            domains::must_be_free(c.t, c.scope, domain).await?;
        }
        let after = save(c, &before, after, "portal.updated").await?;
        settings(c.t, c.ctx, c.scope, after).await
    });
    let changed = changed.await?;
    ctx.part::<domains::Hosts>().forget();
    Ok(changed)
}

/// A URL with this path on the portal's own domain if that is verified, otherwise on the server's.
pub(crate) fn link(ctx: &Ctx, portal: &Portal, path: &str) -> String {
    match portal.verified_domain().filter(|_| portal.is_published()) {
        Some(domain) => format!("https://{domain}{path}"),
        None => ctx.link(path),
    }
}

/// The public address of a portal.
pub(crate) fn url(ctx: &Ctx, portal: &Portal) -> String {
    if portal.verified_domain().is_some() && portal.is_published() {
        return link(ctx, portal, "/");
    }
    let name = portal
        .friendly_url
        .as_ref()
        .map_or_else(|| portal.organization_id.to_string(), |friendly_url| friendly_url.as_str().to_owned());
    ctx.link(&format!("/trust/{name}"))
}

/// The system scope in which public content is read and requests of portal visitors are processed.
pub(crate) fn for_the_public(organization: OrganizationId) -> Scope {
    Scope::system(organization, "trust portal")
}

/// Finds a published portal by its friendly URL or its organization's id. `host`: the organization whose domain the
/// request used.
pub(crate) async fn find(
    t: &Tx<'_>,
    name: &str,
    host: Option<OrganizationId>,
) -> Result<(Portal, Organization), Error> {
    let found = match OrganizationId::read(name) {
        Some(organization) => portals::get(t, &for_the_public(organization)).await?,
        None if FriendlyUrl::parse(name).is_ok() => portals::by_friendly_url(t, name).await?,
        None => None,
    };
    let portal = found.filter(Portal::is_published).ok_or(MISSING)?;
    if host.is_some_and(|host| host != portal.organization_id) {
        return Err(MISSING);
    }
    let organization =
        organizations::get(t, &for_the_public(portal.organization_id)).await?.ok_or(MISSING)?;
    Ok((portal, organization))
}

/// The organization of a published portal.
#[boxed]
pub async fn owner(ctx: &Ctx, name: &str, host: Option<OrganizationId>) -> Result<OrganizationId, Error> {
    let name = name.to_owned();
    Ok(ctx.db.read(async move |t| find(t, &name, host).await).await?.0.organization_id)
}

/// Notifies all members who may review requests for access.
pub(crate) async fn tell_reviewers(c: &Change<'_>, about: &About, line: &str) -> Result<(), Error> {
    let may_review = |person: &attestry_domain::identity::members::Person| {
        person.member.is_active && person.member.role.permissions().contains(Permission::AccessReview)
    };
    let all = members::all(c.t, c.scope).await?;
    let whom: Vec<MemberId> = all.iter().filter(|one| may_review(one)).map(|one| one.member.id).collect();
    notices::tell_others(c, whom, Notice::Portal, about, line, None);
    Ok(())
}
