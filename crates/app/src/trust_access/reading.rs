//! Reading documents with a link: each page names the reader, and each download is recorded.

use std::time::Duration;

use attestry_domain::access::{Origin, Scope};
use attestry_domain::files::MediaType;
use attestry_domain::hash::{Hash, sha256};
use attestry_domain::id::{AccessGrantId, OrganizationId, PolicyId};
use attestry_domain::identity::organizations::Organization;
use attestry_domain::policies::{Policy, PolicyVersion};
use attestry_domain::portals::trust_access::{AccessGrant, GrantStatus, VisitAction, Visited};
use attestry_domain::portals::{Certificate, CertificateFramework, Portal, PortalDocument};
use attestry_domain::registers::Record;
use attestry_pdf::Stamp;
use attestry_storage::{
    attachments, organizations, policies as policy_rows, portals as portal_rows, trust_access as rows,
};

use super::gone;
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::permits::Permit;
use crate::files;
use crate::files::attachments as files_of;
use crate::files::downloads::{Download, Downloader};
use crate::policies::{self, prints};
use crate::portals::{self, certificates as certificate_files};

/// Opening the page again within this time counts as the same visit.
const ONE_VISIT: Duration = Duration::from_mins(10);
/// The maximum length of a name in the watermark, in characters.
const MAX_READER_NAME_CHARS: usize = 80;

/// A portal visitor who reads documents with a link.
#[derive(Clone, Debug)]
pub struct Reader {
    pub grant: AccessGrant,
    pub organization: Organization,
    portal: Portal,
    /// The documents on request that the reader was granted.
    granted: Vec<PortalDocument>,
    scope: Scope,
    /// The link that was used.
    token: Hash,
}

impl Reader {
    fn reads(&self, document: PortalDocument) -> bool {
        self.portal.visibility(document).opens(self.granted.contains(&document))
    }
}

/// Finds the reader of a link. `host`: the organization whose domain the request used.
#[boxed]
pub async fn open(
    ctx: &Ctx,
    token: &str,
    host: Option<OrganizationId>,
    origin: Origin,
) -> Result<Reader, Error> {
    let (hash, now) = (sha256(token.as_bytes()), ctx.now());
    ctx.db
        .read(async move |t| {
            let grant = rows::grant_by_token(t, &hash).await?;
            let grant = grant.filter(|grant| host.is_none_or(|host| host == grant.organization_id));
            let grant = grant.ok_or(Error::NotFound("access"))?;
            if grant.status(now) != GrantStatus::Active {
                return Err(gone());
            }
            let scope = Scope::visitor(grant.organization_id, None, origin.clone());
            let organization = organizations::get(t, &scope).await?.ok_or_else(gone)?;
            let portal = portals::of(t, &scope).await?;
            if !portal.is_published() {
                return Err(offline());
            }
            let granted = rows::granted_documents(t, &scope, &grant.email.to_lowercase(), now).await?;
            Ok(Reader { grant, organization, portal, granted, scope, token: hash })
        })
        .await
}

fn offline() -> Error {
    Error::Gone {
        code: "portal_offline",
        message: "The organization has taken its trust portal offline, and this link with it. Ask the organization.",
    }
}

/// Records a visit, unless access has ended in the meantime.
async fn visit(ctx: &Ctx, reader: &Reader, visited: Visited) -> Result<(), Error> {
    let (id, token) = (reader.grant.id, reader.token);
    ctx.change(&reader.scope, async move |c| {
        let grant = rows::lock_grant(c.t, c.scope, id).await?.ok_or_else(gone)?;
        if grant.status(c.now) != GrantStatus::Active {
            return Err(gone());
        }
        rows::keep_token(c.t, c.scope, &token).await?;
        if visited.action == VisitAction::Opened {
            let last = rows::last_opened(c.t, c.scope, id).await?;
            if last.is_some_and(|last| c.now.since(last) < ONE_VISIT) {
                return Ok(());
            }
        }
        let visit = c.next_id();
        rows::insert_visit(c.t, c.scope, visit, id, &visited, c.now).await?;
        c.record(recorded(visited.action), "visit", visit, &VisitRecord { grant_id: id, visited: &visited })
    })
    .await
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct VisitRecord<'a> {
    grant_id: AccessGrantId,
    #[serde(flatten)]
    visited: &'a Visited,
}

fn recorded(action: VisitAction) -> &'static str {
    match action {
        VisitAction::Opened => "visit.opened",
        VisitAction::DownloadedPolicy => "visit.policy_downloaded",
        VisitAction::DownloadedPolicies => "visit.policies_downloaded",
        VisitAction::DownloadedCertificate => "visit.certificate_downloaded",
    }
}

/// Records that the reader opened the page.
#[boxed]
pub async fn arrive(ctx: &Ctx, reader: &Reader) -> Result<(), Error> {
    visit(ctx, reader, Visited::opened()).await
}

/// The certificates that a reader may read.
#[boxed]
pub async fn certificates(ctx: &Ctx, reader: &Reader) -> Result<Vec<Certificate>, Error> {
    let own = reader.clone();
    ctx.db
        .read(async move |t| {
            let mut all = portal_rows::certificates(t, &own.scope).await?;
            all.retain(|one| own.reads(PortalDocument::Certificate(one.framework)));
            Ok(all)
        })
        .await
}

/// A policy with its published version.
#[derive(Clone, Debug)]
pub struct Readable {
    pub policy: Record<Policy>,
    pub version: PolicyVersion,
    /// False for a Word file: it cannot be watermarked, so it is not available.
    pub is_downloadable: bool,
}

/// The policies that a reader may read.
#[boxed]
pub async fn policies(ctx: &Ctx, reader: &Reader) -> Result<Vec<Readable>, Error> {
    let own = reader.clone();
    published(ctx, &reader.scope, move |id| own.reads(PortalDocument::Policy(id))).await
}

/// The published policies that pass a filter.
pub(super) async fn published(
    ctx: &Ctx,
    scope: &Scope,
    is_readable: impl Fn(PolicyId) -> bool + Send + Sync + 'static,
) -> Result<Vec<Readable>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let mut ids = policy_rows::published(t, &scope).await?;
            ids.retain(|id| is_readable(*id));
            let mut all = Vec::with_capacity(ids.len());
            for (policy, version) in policies::with_versions(t, &scope, ids).await? {
                let is_downloadable = match &version.file {
                    None => true,
                    Some(file) => attachments::get(t, &scope, file.id)
                        .await?
                        .is_some_and(|attachment| attachment.media_type == MediaType::PDF),
                };
                all.push(Readable { policy, version, is_downloadable });
            }
            Ok(all)
        })
        .await
}

/// Watermarks each page with the reader, the time and the document.
async fn marked(ctx: &Ctx, reader: &Reader, document: &str, file: &[u8]) -> Result<Vec<u8>, Error> {
    let AccessGrant { name, email, .. } = &reader.grant;
    // A name can be truncated, an address cannot.
    let name = name.chars().take(MAX_READER_NAME_CHARS).collect();
    let stamp = Stamp { lines: vec![name, email.clone(), format!("{} · {document}", ctx.now().in_utc())] };
    let made = ctx.stamping().stamp(reader.scope.organization(), file, stamp).await?;
    made.inspect_err(|error| tracing::warn!(document, %error, "a file cannot be marked")).map_err(|_| Error::Conflict {
        code: "file_cannot_be_marked",
        message: "This file cannot be watermarked, so it is not available. Ask the organization for another copy."
            .to_owned(),
    })
}

/// Acquires a permit to send a file; each grant and each network has a few of them.
pub(super) async fn download_permit(
    ctx: &Ctx,
    downloader: Downloader,
) -> Result<Option<Permit<Downloader>>, Error> {
    let pool = match downloader {
        Downloader::Grant(_) => &ctx.downloads().readers,
        Downloader::Public(_) => &ctx.downloads().public,
    };
    if pool.is_at_limit(&downloader) {
        return Err(Error::TooMany {
            message: "Too many downloads at once; wait until one has ended.",
            retry_after: 10,
        });
    }
    Ok(Some(pool.acquire(downloader).await?))
}

/// Downloads a certificate. `is_fetched`: false if only the headers are requested; then no visit is recorded.
#[boxed]
pub async fn certificate(
    ctx: &Ctx,
    reader: &Reader,
    framework: CertificateFramework,
    is_fetched: bool,
) -> Result<Download, Error> {
    let found = certificates(ctx, reader).await?.into_iter().find(|one| one.framework == framework);
    let found = found.ok_or(Error::NotFound("certificate"))?;
    let permit = download_permit(ctx, Downloader::Grant(reader.grant.id)).await?;
    let content = files::whole(ctx, &certificate_files::key(found.organization_id, found.id)).await?;
    let bytes = marked(ctx, reader, &found.id.to_string(), &content).await?;
    if is_fetched {
        visit(ctx, reader, Visited::certificate(framework, &found.file_name)).await?;
    }
    Ok(Download { file_name: found.file_name, bytes, missing: Vec::new(), permit })
}

#[boxed]
pub async fn policy(ctx: &Ctx, reader: &Reader, id: PolicyId, is_fetched: bool) -> Result<Download, Error> {
    let own = reader.clone();
    let is_readable = move |one| one == id && own.reads(PortalDocument::Policy(id));
    let found = published(ctx, &reader.scope, is_readable).await?.pop().ok_or(policies::MISSING)?;
    if !found.is_downloadable {
        return Err(Error::Conflict {
            code: "file_cannot_be_marked",
            message:
                "This policy is a Word file, which cannot be watermarked. Ask the organization for a PDF."
                    .to_owned(),
        });
    }
    let permit = download_permit(ctx, Downloader::Grant(reader.grant.id)).await?;
    let download = policy_file(ctx, &reader.scope, &found).await?;
    let bytes = marked(ctx, reader, &id.to_string(), &download.bytes).await?;
    if is_fetched {
        visit(ctx, reader, Visited::policy(id, &found.version.name)).await?;
    }
    Ok(Download { bytes, permit, ..download })
}

/// The file of a policy: the uploaded one, or its text as PDF.
pub(super) async fn policy_file(ctx: &Ctx, scope: &Scope, found: &Readable) -> Result<Download, Error> {
    let Readable { policy, version, .. } = found;
    let Some(file) = &version.file else { return prints::policy(ctx, scope, policy.id, None).await };
    let bytes = files::whole(ctx, &files_of::key(policy.organization_id, file.id)).await?.to_vec();
    Ok(Download { file_name: file.name.clone(), bytes, missing: Vec::new(), permit: None })
}

/// Downloads the policies that a reader may read as one file.
#[boxed]
pub async fn all_policies(ctx: &Ctx, reader: &Reader, is_fetched: bool) -> Result<Download, Error> {
    let permit = download_permit(ctx, Downloader::Grant(reader.grant.id)).await?;
    let readable = policies(ctx, reader).await?.into_iter().map(|one| one.policy.id).collect();
    let download = prints::all(ctx, &reader.scope, Some(readable)).await?;
    let bytes = marked(ctx, reader, &reader.grant.id.to_string(), &download.bytes).await?;
    if is_fetched {
        visit(ctx, reader, Visited::all_policies()).await?;
    }
    Ok(Download { bytes, permit, ..download })
}
