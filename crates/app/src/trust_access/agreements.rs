//! Non-disclosure agreements: previewing, signing, and verifying signed files.

use std::time::Duration;

use attestry_blobs::{Folder, Key, Served};
use attestry_domain::access::{Origin, Scope};
use attestry_domain::content::{Block, Content, markdown, plain_text};
use attestry_domain::files::MediaType;
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{AccessRequestId, NdaFileId, NdaPreviewId, OrganizationId};
use attestry_domain::identity::organizations::Organization;
use attestry_domain::portals::Portal;
use attestry_domain::portals::trust_access::{
    AccessGrant, AccessRequest, GrantStatus, Nda, NdaStatus, PrintableName, Signature,
};
use attestry_domain::text::Email;
use attestry_pdf::{Agreement, Pdf, Signer};
use attestry_storage::{Tx, organizations, trust_access as rows};

use super::requests::{duration, text};
use super::{GRANT, give_link, gone, lock_request, mail_link, record_agreement, record_request, request};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files::{self, Link, signatures};
use crate::portals;

const TITLE: &str = "Non-disclosure agreement";

/// A preview of an agreement, stored for a day.
#[derive(Clone, Debug)]
pub struct Preview {
    pub id: NdaPreviewId,
    pub key: String,
    pub link: Link,
}

async fn print(ctx: &Ctx, organization: OrganizationId, agreement: Agreement) -> Result<Vec<u8>, Error> {
    let make = move || attestry_pdf::agreement(&agreement);
    let Pdf { bytes, .. } = ctx.printing.work(organization, make).await??;
    Ok(bytes)
}

/// Prepares the text for printing: a heading at the beginning becomes the title.
fn document(organization: &Organization, text: &str, date: String) -> Result<Agreement, Error> {
    let Content(mut blocks) = markdown::read(text).map_err(|message| Error::Conflict {
        code: "agreement_unprintable",
        message: format!("The agreement cannot be printed: {message}."),
    })?;
    let mut title = String::new();
    if let Some(Block::Heading { level: 1, .. }) = blocks.first() {
        plain_text(&[blocks.remove(0)]).trim().clone_into(&mut title);
    }
    if title.is_empty() {
        TITLE.clone_into(&mut title);
    }
    Ok(Agreement {
        title,
        organization: organization.name.clone(),
        content: Content(blocks),
        date,
        signer: None,
        watermark: None,
    })
}

/// Previews of a request within this time replace each other, which limits the number of stored files.
const PREVIEW_WINDOW: Duration = Duration::from_hours(6);

async fn store_preview(
    ctx: &Ctx,
    organization: &Organization,
    request: AccessRequestId,
    text: &str,
) -> Result<Preview, Error> {
    let date = organization.time_zone.date_of(ctx.now()).to_string();
    let mut agreement = document(organization, text, date)?;
    agreement.watermark = Some("PREVIEW".to_owned());
    let bytes = print(ctx, organization.id, agreement).await?;
    let window = ctx.now().next(PREVIEW_WINDOW).minus(PREVIEW_WINDOW);
    let id = NdaPreviewId::derived(window, request.to_string().as_bytes());
    let key = Key::new(organization.id, Folder::Previews, id);
    files::store(ctx, &key, bytes.into()).await?;
    let served = Served { file_name: "NDA preview.pdf".to_owned(), media_type: MediaType::PDF.to_owned() };
    let (link, _) = files::link(ctx, &key, served).await?;
    Ok(Preview { id, key: key.to_string(), link })
}

/// Previews the agreement for a request in any state: the one sent last, or else the one that would be sent.
#[boxed]
pub async fn preview(ctx: &Ctx, scope: &Scope, id: AccessRequestId) -> Result<Preview, Error> {
    let (own, now) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let found = request(t, &own, id).await?;
        let organization = organizations::get(t, &own).await?.ok_or(Error::NotFound("organization"))?;
        let text = match rows::nda_of(t, &own, id).await? {
            Some(nda) if nda.status != NdaStatus::Void => nda.text,
            _ => {
                let portal = portals::of(t, &own).await?;
                let duration = duration(&portal, &found, None);
                text(&portal, &organization, &found, duration, now)
            }
        };
        Ok::<_, Error>((organization, text))
    });
    let (organization, text) = found.await?;
    store_preview(ctx, &organization, id, &text).await
}

/// The agreement that the link in a mail opens.
#[derive(Clone, Debug)]
pub struct Offer {
    pub nda: Nda,
    pub request: AccessRequest,
    pub organization: Organization,
    portal: Portal,
}

async fn find(t: &Tx<'_>, token: &str, host: Option<OrganizationId>) -> Result<Offer, Error> {
    let nda = rows::nda_by_token(t, &sha256(token.as_bytes())).await?;
    let nda = nda.filter(|nda| host.is_none_or(|host| host == nda.organization_id));
    let nda = nda.ok_or(Error::NotFound("agreement"))?;
    let scope = portals::for_the_public(nda.organization_id);
    Ok(Offer {
        request: request(t, &scope, nda.request_id).await?,
        organization: organizations::get(t, &scope).await?.ok_or_else(gone)?,
        portal: portals::of(t, &scope).await?,
        nda,
    })
}

/// The text of an agreement without formatting.
pub fn plain(text: &str) -> String {
    markdown::read(text).map_or_else(|_| text.to_owned(), |Content(blocks)| plain_text(&blocks))
}

/// Opens an agreement that is signed, or can still be signed.
#[boxed]
pub async fn open(ctx: &Ctx, token: &str, host: Option<OrganizationId>) -> Result<Offer, Error> {
    let (token, now) = (token.to_owned(), ctx.now());
    let offer = ctx.db.read(async move |t| find(t, &token, host).await).await?;
    match offer.nda.status {
        NdaStatus::Signed => Ok(offer),
        NdaStatus::Pending if offer.nda.expires_at > now => Ok(offer),
        NdaStatus::Pending | NdaStatus::Void => Err(gone()),
    }
}

/// Previews the agreement that a link opens.
#[boxed]
pub async fn preview_by_token(
    ctx: &Ctx,
    token: &str,
    host: Option<OrganizationId>,
) -> Result<Preview, Error> {
    let offer = open(ctx, token, host).await?;
    store_preview(ctx, &offer.organization, offer.request.id, &offer.nda.text).await
}

/// The input of a signer.
#[derive(Clone, Debug)]
pub struct Signing {
    pub name: PrintableName,
    pub email: Email,
    pub accept: bool,
}

/// The result of signing.
#[derive(Clone, Debug)]
pub struct Signed {
    pub grant: AccessGrant,
    /// The signed file.
    pub file: Link,
    /// A link to the documents.
    pub portal: Link,
}

/// Signs an agreement. Signing twice returns the same grant.
#[boxed]
pub async fn sign(
    ctx: &Ctx,
    token: &str,
    host: Option<OrganizationId>,
    signing: Signing,
    origin: Origin,
) -> Result<Signed, Error> {
    let offer = open(ctx, token, host).await?;
    if !signing.accept {
        return Err(Error::field("accept", "must be true: access requires your agreement"));
    }
    if signing.email.key() != offer.request.email.to_lowercase() {
        return Err(Error::Forbidden {
            code: "not_the_requester",
            message: "Sign with the e-mail address that requested access.".to_owned(),
        });
    }
    let scope = Scope::visitor(offer.nda.organization_id, None, origin);
    let made = match offer.nda.status {
        NdaStatus::Pending => Some(make_file(ctx, &scope, &offer, &signing).await?),
        NdaStatus::Signed | NdaStatus::Void => None,
    };
    let granted = grant(ctx, &scope, &offer, made.clone()).await;
    if let Some(made) = made {
        // The signature was rejected, or another request signed at the same time: this file is not referenced.
        let is_kept = match &granted {
            Ok((nda, ..)) => nda.signature.as_ref() == Some(&made),
            Err(error) => !files::is_certain(error),
        };
        if !is_kept {
            files::discard(ctx, &file_key(offer.nda.organization_id, made.file_id)).await;
        }
    }
    let (nda, grant, portal) = granted?;
    let (file, _) = link_to(ctx, &nda).await?;
    Ok(Signed { grant, file, portal: Link(portal) })
}

fn file_key(organization: OrganizationId, file: NdaFileId) -> Key {
    Key::new(organization, Folder::Agreements, file)
}

/// Prints and stores the signed agreement.
async fn make_file(ctx: &Ctx, scope: &Scope, offer: &Offer, signing: &Signing) -> Result<Signature, Error> {
    let now = ctx.now();
    let code = ctx.keys.code();
    let ip = scope.origin().ip.map(|ip| ip.to_string());
    let date = offer.organization.time_zone.date_of(offer.nda.created_at).to_string();
    let mut agreement = document(&offer.organization, &offer.nda.text, date)?;
    agreement.signer = Some(Signer {
        name: signing.name.as_str().to_owned(),
        email: signing.email.as_str().to_owned(),
        company: offer.request.company.clone(),
        at: now.in_utc(),
        address: ip.clone().unwrap_or_else(|| "unknown".to_owned()),
        document_hash: offer.nda.text_sha256.clone(),
        code: code.clone(),
        verify_url: portals::link(ctx, &offer.portal, &format!("/v1/trust-access/nda/verify/{code}")),
    });
    let bytes = signatures::sign(&ctx.keys, print(ctx, offer.nda.organization_id, agreement).await?)?;
    let signature = Signature {
        name: signing.name.as_str().to_owned(),
        email: signing.email.as_str().to_owned(),
        at: now,
        ip,
        code,
        file_id: ctx.ids.next(),
        file_sha256: hex(&sha256(&bytes)),
    };
    files::store(ctx, &file_key(offer.nda.organization_id, signature.file_id), bytes.into()).await?;
    Ok(signature)
}

/// Creates the grant or finds the existing one, and creates a link to it.
async fn grant(
    ctx: &Ctx,
    scope: &Scope,
    offer: &Offer,
    signature: Option<Signature>,
) -> Result<(Nda, AccessGrant, String), Error> {
    let (id, request_id) = (offer.nda.id, offer.nda.request_id);
    let organization = offer.organization.clone();
    ctx.change(scope, async move |c| {
        let before = lock_request(c, request_id).await?;
        let mut nda = rows::lock_nda(c.t, c.scope, id).await?.ok_or_else(gone)?;
        let portal = portals::of(c.t, c.scope).await?;
        if nda.status == NdaStatus::Signed {
            let grant = match nda.grant_id {
                Some(grant) => rows::lock_grant(c.t, c.scope, grant).await?,
                None => None,
            };
            let is_live = |grant: &AccessGrant| grant.status(c.now) == GrantStatus::Active;
            let grant = grant.filter(is_live).ok_or_else(gone)?;
            let link = give_link(c, &portal, &grant, true).await?;
            return Ok((nda, grant, link));
        }
        let signature =
            signature.clone().filter(|_| nda.status == NdaStatus::Pending && nda.expires_at > c.now);
        let signature = signature.ok_or_else(gone)?;
        let grant = AccessGrant {
            id: c.next_id(),
            organization_id: c.organization(),
            request_id,
            nda_id: id,
            name: signature.name.clone(),
            email: before.email.clone(),
            created_at: c.now,
            expires_at: nda.duration_days.after(c.now),
            revoked_at: None,
            revoked_by: None,
            revocation_reason: None,
        };
        nda.status = NdaStatus::Signed;
        nda.signature = Some(signature);
        nda.grant_id = Some(grant.id);
        rows::update_nda(c.t, c.scope, &nda).await?;
        rows::insert_grant(c.t, c.scope, &grant).await?;
        let mut request = before.clone();
        request.grant_id = Some(grant.id);
        request.updated_at = c.now;
        request.version += 1;
        rows::update(c.t, c.scope, &request).await?;
        record_agreement(c, "nda.signed", &nda)?;
        record_request(c, "access_request.granted", &request)?;
        c.record("access_grant.created", GRANT, grant.id, &grant)?;
        let link = give_link(c, &portal, &grant, true).await?;
        mail_link(c, &organization, &grant, &link).await?;
        Ok((nda, grant, link))
    })
    .await
}

/// A link to the file of a signed agreement.
async fn link_to(ctx: &Ctx, nda: &Nda) -> Result<(Link, Duration), Error> {
    let signature = nda.signature.as_ref().ok_or(Error::NotFound("signed agreement"))?;
    let served =
        Served { file_name: format!("NDA {}.pdf", signature.code), media_type: MediaType::PDF.to_owned() };
    files::link(ctx, &file_key(nda.organization_id, signature.file_id), served).await
}

/// A link to the signed agreement of a request. The download is recorded.
#[boxed]
pub async fn download(ctx: &Ctx, scope: &Scope, id: AccessRequestId) -> Result<(Link, Duration), Error> {
    let nda = ctx
        .change(scope, async move |c| {
            request(c.t, c.scope, id).await?;
            let nda = rows::nda_of(c.t, c.scope, id).await?.filter(|nda| nda.signature.is_some());
            let nda = nda.ok_or(Error::NotFound("signed agreement"))?;
            record_agreement(c, "nda.downloaded", &nda)?;
            Ok(nda)
        })
        .await?;
    link_to(ctx, &nda).await
}

/// The details of a signed agreement that a verification returns.
#[derive(Clone, Debug)]
pub struct Verified {
    pub organization: String,
    pub text_sha256: String,
    pub signature: Signature,
}

async fn verified(t: &Tx<'_>, nda: Option<Nda>) -> Result<Option<Verified>, Error> {
    let Some(nda) = nda else { return Ok(None) };
    let scope = portals::for_the_public(nda.organization_id);
    let organization = organizations::get(t, &scope).await?;
    Ok(organization.zip(nda.signature).map(|(organization, signature)| Verified {
        organization: organization.name,
        text_sha256: nda.text_sha256,
        signature,
    }))
}

/// The signed agreement with this verification code.
#[boxed]
pub async fn by_code(ctx: &Ctx, code: &str, host: Option<OrganizationId>) -> Result<Verified, Error> {
    let code = code.to_ascii_uppercase();
    let found = ctx.db.read(async move |t| {
        let nda = rows::nda_by_code(t, &code).await?;
        verified(t, nda.filter(|nda| host.is_none_or(|host| host == nda.organization_id))).await
    });
    found.await?.ok_or(Error::NotFound("signed agreement"))
}

/// The signed agreement whose file is identical to `content`, if there is one.
#[boxed]
pub async fn by_file(
    ctx: &Ctx,
    content: &[u8],
    host: Option<OrganizationId>,
) -> Result<Option<Verified>, Error> {
    let hash = hex(&sha256(content));
    ctx.db
        .read(async move |t| {
            let nda = rows::nda_by_file(t, &hash).await?;
            verified(t, nda.filter(|nda| host.is_none_or(|host| host == nda.organization_id))).await
        })
        .await
}
