//! Certificates: one file for each framework. The file is stored before its row is written, and the one it replaces is
//! removed after that by a job.

use attestry_blobs::{Folder, Key, Served};
use attestry_domain::access::Scope;
use attestry_domain::files::{FileName, MediaType};
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{CertificateId, OrganizationId};
use attestry_domain::portals::{Certificate, CertificateFramework};
use attestry_pdf::Unreadable;
use attestry_storage::portals;
use bytes::Bytes;

use super::lock;
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files::removal::Removal;
use crate::files::{self, Link};

const ENTITY: &str = "certificate";
const MISSING: Error = Error::NotFound("certificate");

pub(crate) fn key(organization: OrganizationId, certificate: CertificateId) -> Key {
    Key::new(organization, Folder::Certificates, certificate)
}

/// Uploads a certificate and replaces the previous one.
#[boxed]
pub async fn upload(
    ctx: &Ctx,
    scope: &Scope,
    framework: CertificateFramework,
    name: FileName,
    content: Bytes,
) -> Result<Certificate, Error> {
    let inspected = ctx.stamping().inspect(scope.organization(), &content).await?;
    let refused = |error: Unreadable| Error::BadRequest { code: "file_refused", message: error.to_string() };
    let pages = inspected.map_err(refused)?.pages;
    let file = content.clone();
    let hash = move || hex(&sha256(&file));
    let sha256 = ctx.stamping().permits.work(scope.organization(), hash).await?;
    let certificate = Certificate {
        id: ctx.ids.next(),
        organization_id: scope.organization(),
        framework,
        file_name: name.into_string(),
        file_size: i64::try_from(content.len()).map_err(Error::internal)?,
        sha256,
        pages: i64::try_from(pages).map_err(Error::internal)?,
        uploaded_by: scope.member(),
        updated_at: ctx.now(),
    };
    let key = key(scope.organization(), certificate.id);
    files::store(ctx, &key, content).await?;
    let saved = ctx.change(scope, async move |c| {
        lock(c).await?;
        let certificate = Certificate { updated_at: c.now, ..certificate.clone() };
        if let Some(before) = portals::certificate(c.t, c.scope, framework).await? {
            remove(c, &before).await?;
            c.record_gone("certificate.replaced", ENTITY, before.id);
        }
        portals::insert_certificate(c.t, c.scope, &certificate).await?;
        c.record("certificate.uploaded", ENTITY, certificate.id, &certificate)?;
        Ok(certificate)
    });
    files::discard_if_refused(ctx, &key, saved.await).await
}

async fn remove(c: &Change<'_>, certificate: &Certificate) -> Result<(), Error> {
    portals::delete_certificate(c.t, c.scope, certificate).await?;
    c.enqueue(&Removal::Files(vec![key(c.organization(), certificate.id).to_string()])).await
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<Certificate>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| portals::certificates(t, &scope).await).await?)
}

/// A link to the file as it was uploaded. The download is recorded.
#[boxed]
pub async fn link(
    ctx: &Ctx,
    scope: &Scope,
    framework: CertificateFramework,
) -> Result<(Certificate, Link), Error> {
    let found = ctx
        .change(scope, async move |c| {
            let found = portals::certificate(c.t, c.scope, framework).await?.ok_or(MISSING)?;
            c.record("certificate.downloaded", ENTITY, found.id, &found)?;
            Ok(found)
        })
        .await?;
    let served = Served { file_name: found.file_name.clone(), media_type: MediaType::PDF.to_owned() };
    let (link, _) = files::link(ctx, &key(found.organization_id, found.id), served).await?;
    Ok((found, link))
}

#[boxed]
pub async fn delete(ctx: &Ctx, scope: &Scope, framework: CertificateFramework) -> Result<Certificate, Error> {
    ctx.change(scope, async move |c| {
        lock(c).await?;
        let found = portals::certificate(c.t, c.scope, framework).await?.ok_or(MISSING)?;
        remove(c, &found).await?;
        c.record_gone("certificate.deleted", ENTITY, found.id);
        Ok(found)
    })
    .await
}
