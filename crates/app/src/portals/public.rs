//! A portal as the public sees it. Each form is rendered once and cached until the journal has an entry that changes
//! it, so that a visit costs the database only a few rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::organizations::Organization;
use attestry_domain::portals::{
    CertificateFramework, Portal, PortalPatch, PortalPost, PostKind, Shown, Visibility,
};
pub use attestry_storage::portals::SubProcessor;
use attestry_storage::{Tx, journal, organizations, portals};
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::{Listed, documents, find, for_the_public, frameworks, of, url};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::permits::{FairPermits, Limits};

/// The maximum number of posts of each kind on a page.
const MAX_POSTS: i64 = 100;
/// The maximum memory of cached pages, and the number of pages for which the cache is sized.
const MAX_PAGE_BYTES: u64 = 32 << 20;
const EXPECTED_PAGES: usize = 2_000;
/// The maximum number of journal entries that are searched for a change; after more, a page is rendered again.
const MAX_ENTRIES: i64 = 1_000;

/// The public content of a portal.
#[derive(Clone, Debug)]
pub struct Public {
    pub organization: Organization,
    pub portal: Portal,
    pub url: String,
    pub frameworks: Vec<(CertificateFramework, Shown)>,
    /// The documents that are not hidden.
    pub documents: Vec<Listed>,
    pub sub_processors: Vec<SubProcessor>,
    pub updates: Vec<PortalPost>,
    pub questions: Vec<PortalPost>,
}

/// An output format of a portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    Json,
    English,
    German,
}

impl Ctx {
    /// The cached pages of portals.
    pub fn portal_pages(&self) -> &Pages {
        self.part()
    }
}

/// Cached pages, and permits to render others.
#[derive(Debug)]
pub struct Pages {
    cache: Cache<(OrganizationId, Form), Arc<Page>, ByBytes>,
    rendering: FairPermits<OrganizationId>,
    rendered: AtomicU64,
}

/// A rendered page, valid up to an entry of its organization's journal.
#[derive(Debug)]
struct Page {
    sequence: i64,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<(OrganizationId, Form), Arc<Page>> for ByBytes {
    fn weight(&self, _: &(OrganizationId, Form), page: &Arc<Page>) -> u64 {
        u64::try_from(page.bytes.len()).map_or(u64::MAX, |bytes| bytes.max(1))
    }
}

impl Default for Pages {
    fn default() -> Self {
        // One permit for each organization: those who wait for it find the page rendered.
        let limits = Limits { per_key: 1, waiting_per_key: 512, ..Limits::of_requests(2) };
        Self {
            cache: Cache::with_weighter(EXPECTED_PAGES, MAX_PAGE_BYTES, ByBytes),
            rendering: FairPermits::new(limits),
            rendered: AtomicU64::default(),
        }
    }
}

impl Pages {
    /// The number of pages that were rendered.
    pub fn rendered(&self) -> u64 {
        self.rendered.load(Ordering::Relaxed)
    }

    /// The cached page, if it is valid up to an entry.
    fn up_to(&self, key: &(OrganizationId, Form), sequence: i64) -> Option<Bytes> {
        let page = self.cache.get(key)?;
        (page.sequence >= sequence).then(|| page.bytes.clone())
    }

    fn store(&self, key: (OrganizationId, Form), sequence: i64, bytes: &Bytes) {
        self.cache.insert(key, Arc::new(Page { sequence, bytes: bytes.clone() }));
    }
}

/// Returns true when nothing on the page changed between two journal entries.
async fn is_unchanged(
    t: &Tx<'_>,
    organization: OrganizationId,
    since: i64,
    last: i64,
) -> Result<bool, Error> {
    match last.saturating_sub(since) {
        0 => Ok(true),
        entries if entries > MAX_ENTRIES => Ok(false),
        _ => Ok(!portals::is_changed_since(t, &for_the_public(organization), since).await?),
    }
}

/// A published portal, the last entry of its journal, and the cached page if that is still valid.
struct Lookup {
    portal: Portal,
    organization: Organization,
    last: i64,
    page: Option<Arc<Page>>,
}

async fn look_up(ctx: &Ctx, name: &str, host: Option<OrganizationId>, form: Form) -> Result<Lookup, Error> {
    let (name, context) = (name.to_owned(), ctx.clone());
    ctx.db
        .read(async move |t| {
            let (portal, organization) = find(t, &name, host).await?;
            let last = journal::head(t, organization.id).await?.map_or(0, |signed| signed.head.sequence);
            let page = match context.portal_pages().cache.get(&(organization.id, form)) {
                Some(page) if is_unchanged(t, organization.id, page.sequence, last).await? => Some(page),
                _ => None,
            };
            Ok(Lookup { portal, organization, last, page })
        })
        .await
}

/// Returns the page of a published portal. `host`: the organization whose domain the request used.
#[boxed]
pub async fn page(
    ctx: &Ctx,
    name: &str,
    host: Option<OrganizationId>,
    form: Form,
    render: impl FnOnce(Public) -> Result<Vec<u8>, Error> + Send + 'static,
) -> Result<Bytes, Error> {
    let Lookup { portal, organization, last, page } = look_up(ctx, name, host, form).await?;
    let key = (organization.id, form);
    if let Some(page) = page {
        if page.sequence < last {
            ctx.portal_pages().store(key, last, &page.bytes);
        }
        return Ok(page.bytes.clone());
    }
    let permit = ctx.portal_pages().rendering.acquire(organization.id).await?;
    if let Some(bytes) = ctx.portal_pages().up_to(&key, last) {
        return Ok(bytes);
    }
    let shown = read(ctx, portal, organization).await?;
    let context = ctx.clone();
    let rendered = permit.work(move || {
        let bytes = Bytes::from(render(shown)?);
        context.portal_pages().rendered.fetch_add(1, Ordering::Relaxed);
        context.portal_pages().store(key, last, &bytes);
        Ok(bytes)
    });
    rendered.await?
}

/// Renders the page as the public would see it with changes that are not saved.
#[boxed]
pub async fn preview(
    ctx: &Ctx,
    scope: &Scope,
    patch: PortalPatch,
    render: impl FnOnce(Public) -> Result<Vec<u8>, Error> + Send + 'static,
) -> Result<Bytes, Error> {
    let permit = ctx.portal_pages().rendering.acquire(scope.organization()).await?;
    let (own, context) = (scope.clone(), ctx.clone());
    let shown = ctx.db.read(async move |t| {
        let portal = of(t, &own).await?.patched(patch.clone());
        let organization = organizations::get(t, &own).await?.ok_or(Error::NotFound("organization"))?;
        content(t, &context, &own, &portal, &organization).await
    });
    let shown = shown.await?;
    permit.work(move || render(shown).map(Bytes::from)).await?
}

async fn read(ctx: &Ctx, portal: Portal, organization: Organization) -> Result<Public, Error> {
    let context = ctx.clone();
    ctx.db
        .read(async move |t| {
            content(t, &context, &for_the_public(organization.id), &portal, &organization).await
        })
        .await
}

async fn content(
    t: &Tx<'_>,
    ctx: &Ctx,
    scope: &Scope,
    portal: &Portal,
    organization: &Organization,
) -> Result<Public, Error> {
    let certificates = portals::certificates(t, scope).await?;
    let frameworks = frameworks(portal, &certificates).into_iter();
    let frameworks = frameworks.filter(|(_, shown, _)| shown.enabled);
    let frameworks = frameworks.map(|(framework, shown, _)| (framework, shown)).collect();
    let mut documents = documents(t, scope, portal, &certificates).await?;
    documents.retain(|one| one.visibility != Visibility::Hidden);
    Ok(Public {
        url: url(ctx, portal),
        frameworks,
        documents,
        sub_processors: portals::sub_processors(t, scope).await?,
        updates: portals::published_posts(t, scope, PostKind::Update, MAX_POSTS).await?,
        questions: portals::published_posts(t, scope, PostKind::Question, MAX_POSTS).await?,
        organization: organization.clone(),
        portal: portal.clone(),
    })
}
