//! Public documents. They carry no watermark, because their readers are unknown.

use attestry_domain::access::{Origin, Scope};
use attestry_domain::files::MediaType;
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::{PortalDocument, Visibility};
use attestry_storage::portals as rows;

use super::reading::{download_permit, policy_file, published};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files;
use crate::files::downloads::{Download, Downloader};
use crate::portals::{self, certificates};

const MISSING: Error = Error::NotFound("document");

/// Downloads a public document of a published portal, with its media type. `host`: the organization whose domain the
/// request used.
#[boxed]
pub async fn download(
    ctx: &Ctx,
    name: &str,
    host: Option<OrganizationId>,
    document: PortalDocument,
    origin: Origin,
) -> Result<(&'static str, Download), Error> {
    let name = name.to_owned();
    let (portal, _) = ctx.db.read(async move |t| portals::find(t, &name, host).await).await?;
    if portal.visibility(document) != Visibility::Public {
        return Err(MISSING);
    }
    let organization = portal.organization_id;
    let permit = download_permit(ctx, Downloader::Public(origin.network())).await?;
    let scope = Scope::visitor(organization, None, origin);
    let (media_type, download) = match document {
        PortalDocument::Policy(id) => {
            let found = published(ctx, &scope, move |one| one == id).await?.pop().ok_or(MISSING)?;
            let media_type = if found.is_downloadable { MediaType::PDF } else { MediaType::ANY };
            (media_type, policy_file(ctx, &scope, &found).await?)
        }
        PortalDocument::Certificate(framework) => {
            let found = ctx.db.read(async move |t| rows::certificate(t, &scope, framework).await).await?;
            let found = found.ok_or(MISSING)?;
            let bytes = files::whole(ctx, &certificates::key(organization, found.id)).await?.to_vec();
            let download = Download { file_name: found.file_name, bytes, missing: Vec::new(), permit: None };
            (MediaType::PDF, download)
        }
    };
    Ok((media_type, Download { permit, ..download }))
}
