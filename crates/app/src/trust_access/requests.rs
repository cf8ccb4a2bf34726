//! Requests for access: made by portal visitors, reviewed by members with the permission.

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::any_of::AnyOf;
use attestry_domain::content::markdown;
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{AccessRequestId, OrganizationId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::organizations::Organization;
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::portals::trust_access::{
    AccessRequest, Nda, NdaStatus, NewRequest, Parties, RequestSort, RequestStatus,
};
use attestry_domain::portals::{Days, Portal, PortalDocument, Visibility};
use attestry_domain::text::{Email, LongText};
use attestry_storage::trust_access as rows;

use super::{lock_request, record_agreement, record_request, request, send_link};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::notices::mail_templates::{self, To};
use crate::portals;
use crate::trust_access::asked::VisitorRequest;

/// The time within which an agreement can be signed.
const SIGN_WITHIN: std::time::Duration = std::time::Duration::from_hours(7 * 24);

/// Accepts a request from a portal visitor. The response is the same for everyone: a visitor who has access already
/// gets a new link by mail, and such a request needs no review.
#[boxed]
pub async fn create(
    ctx: &Ctx,
    organization: OrganizationId,
    new: NewRequest,
    origin: Origin,
) -> Result<AccessRequestId, Error> {
    let scope = Scope::visitor(organization, None, origin);
    ctx.change(&scope, async move |c| {
        let mut request = AccessRequest::new(c.next_id(), c.organization(), new.clone(), c.now);
        request.documents = on_request(&portals::of(c.t, c.scope).await?, new.documents.clone())?;
        rows::insert(c.t, c.scope, &request).await?;
        record_request(c, "access_request.created", &request)?;
        let asked = VisitorRequest::Request { organization: c.organization(), request: request.id };
        c.enqueue(&asked).await?;
        Ok(request.id)
    })
    .await
}

/// The documents that need an approval of their own. A document that the portal does not list is an error.
fn on_request(portal: &Portal, mut wanted: Vec<PortalDocument>) -> Result<Vec<PortalDocument>, Error> {
    for (place, document) in wanted.iter().enumerate() {
        if portal.visibility(*document) == Visibility::Hidden {
            return Err(Error::field(&format!("documents[{place}]"), "is not a document of this portal"));
        }
    }
    wanted.retain(|document| portal.visibility(*document) == Visibility::OnRequest);
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// Processes a request: mails a new link to a visitor who has access already, or asks for a review. A job does it, so
/// that the response time reveals nothing.
pub(crate) async fn follow(c: &Change<'_>, id: AccessRequestId) -> Result<(), Error> {
    let Some(request) = rows::lock(c.t, c.scope, id).await? else { return Ok(()) };
    if request.status != RequestStatus::UnderReview {
        return Ok(());
    }
    let email_key = request.email.to_lowercase();
    let granted = rows::granted_documents(c.t, c.scope, &email_key, c.now).await?;
    if let Some(grant) = rows::live_grant(c.t, c.scope, &email_key, c.now).await?
        && request.documents.iter().all(|document| granted.contains(document))
    {
        let mut answered = request.reviewed(RequestStatus::Approved, None, c.now);
        answered.grant_id = Some(grant.id);
        rows::update(c.t, c.scope, &answered).await?;
        record_request(c, "access_request.answered", &answered)?;
        let (portal, organization) = portals::lock(c).await?;
        return send_link(c, &portal, &organization, &grant).await;
    }
    let company = request.company.as_ref().map_or_else(String::new, |company| format!(" ({company})"));
    let line = format!("{}{company} asks for access to the trust portal", request.name);
    portals::tell_reviewers(c, &About::new("access_request", request.id), &line).await
}

/// Mails a new link if the address has access; the response does not reveal whether it has.
#[boxed]
pub async fn reclaim(
    ctx: &Ctx,
    organization: OrganizationId,
    email: Email,
    origin: Origin,
) -> Result<(), Error> {
    let scope = Scope::visitor(organization, None, origin);
    ctx.change(&scope, async move |c| {
        c.enqueue(&VisitorRequest::Link { organization: c.organization(), email: email.key() }).await
    })
    .await
}

/// Mails the link if the address has an active grant.
pub(crate) async fn send_fresh_link(c: &Change<'_>, email_key: &str) -> Result<(), Error> {
    if let Some(grant) = rows::live_grant(c.t, c.scope, email_key, c.now).await? {
        let (portal, organization) = portals::lock(c).await?;
        send_link(c, &portal, &organization, &grant).await?;
        c.record("access_grant.reclaimed", super::GRANT, grant.id, &grant)?;
    }
    Ok(())
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    status: Option<AnyOf<RequestStatus>>,
    page: PageRequest<RequestSort>,
) -> Result<Page<AccessRequest>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::list(t, &scope, status.as_ref(), &page).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, status: Option<AnyOf<RequestStatus>>) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| rows::count(t, &scope, status.as_ref()).await).await?)
}

/// A request, and the agreement sent last for it.
#[boxed]
pub async fn get(
    ctx: &Ctx,
    scope: &Scope,
    id: AccessRequestId,
) -> Result<(AccessRequest, Option<Nda>), Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let found = request(t, &scope, id).await?;
            Ok((found, rows::nda_of(t, &scope, id).await?))
        })
        .await
}

fn must_be_open(request: &AccessRequest) -> Result<(), Error> {
    match request.status {
        RequestStatus::UnderReview => Ok(()),
        decided => Err(Error::Conflict {
            code: "request_reviewed",
            message: format!("The request has already been {decided}."),
        }),
    }
}

/// The current text of an agreement for a request.
pub(super) fn text(
    portal: &Portal,
    organization: &Organization,
    request: &AccessRequest,
    duration: Days,
    now: Time,
) -> String {
    let date = organization.time_zone.date_of(now);
    Parties { organization: &organization.name, request, date, duration }.agree(portal.nda_text.as_deref())
}

/// The duration of access: as set on approval, or else as requested, or else the portal's default.
pub(super) fn duration(portal: &Portal, request: &AccessRequest, wanted: Option<Days>) -> Days {
    wanted.or(request.requested_duration_days).unwrap_or(portal.default_duration_days)
}

/// Creates an agreement for a request and mails the link to it. An earlier one can no longer be signed.
async fn send_agreement(
    c: &Change<'_>,
    portal: &Portal,
    organization: &Organization,
    request: &AccessRequest,
    duration: Days,
) -> Result<Nda, Error> {
    // The request is locked, so the earlier agreement is not signed meanwhile.
    if let Some(mut before) = rows::nda_of(c.t, c.scope, request.id).await?
        && before.status == NdaStatus::Pending
    {
        before.status = NdaStatus::Void;
        rows::update_nda(c.t, c.scope, &before).await?;
        record_agreement(c, "nda.voided", &before)?;
    }
    let text = text(portal, organization, request, duration, c.now);
    // Checked here, because the approver can fix the text and the signer cannot.
    markdown::read(&text).map_err(|message| Error::Conflict {
        code: "agreement_unprintable",
        message: format!(
            "The agreement cannot be printed with the details of this request: {message}. Change ndaText."
        ),
    })?;
    let nda = Nda {
        id: c.next_id(),
        organization_id: c.organization(),
        request_id: request.id,
        status: NdaStatus::Pending,
        text_sha256: hex(&sha256(text.as_bytes())),
        text,
        duration_days: duration,
        created_at: c.now,
        expires_at: c.now.plus(SIGN_WITHIN),
        signature: None,
        grant_id: None,
    };
    let token = c.ctx.keys.token();
    rows::insert_nda(c.t, c.scope, &nda, &token.hash).await?;
    record_agreement(c, "nda.sent", &nda)?;
    let link = portals::link(c.ctx, portal, &format!("/trust/nda?token={}", token.text));
    let to = To { name: request.name.clone(), email: request.email.clone() };
    c.enqueue(&Mail(mail_templates::agreement(c.ctx, &to, &organization.name, nda.expires_at, &link)))
        .await?;
    Ok(nda)
}

/// Approves a request: the requester gets the agreement by mail. `documents`: the documents on request to grant; by
/// default the requested ones.
#[boxed]
pub async fn approve(
    ctx: &Ctx,
    scope: &Scope,
    id: AccessRequestId,
    wanted: Option<Days>,
    documents: Option<Vec<PortalDocument>>,
) -> Result<(AccessRequest, Nda), Error> {
    ctx.change(scope, async move |c| {
        let before = lock_request(c, id).await?;
        must_be_open(&before)?;
        let (portal, organization) = portals::lock(c).await?;
        let mut after = before.reviewed(RequestStatus::Approved, c.scope.member(), c.now);
        if let Some(documents) = documents.clone() {
            after.documents = on_request(&portal, documents)?;
        }
        rows::update(c.t, c.scope, &after).await?;
        record_request(c, "access_request.approved", &after)?;
        let duration = duration(&portal, &after, wanted);
        let nda = send_agreement(c, &portal, &organization, &after, duration).await?;
        Ok((after, nda))
    })
    .await
}

/// Denies a request, and mails the reason to the requester.
#[boxed]
pub async fn deny(
    ctx: &Ctx,
    scope: &Scope,
    id: AccessRequestId,
    reason: LongText,
) -> Result<AccessRequest, Error> {
    ctx.change(scope, async move |c| {
        let before = lock_request(c, id).await?;
        must_be_open(&before)?;
        let (portal, organization) = portals::lock(c).await?;
        let mut after = before.reviewed(RequestStatus::Denied, c.scope.member(), c.now);
        after.denial_reason = Some(reason.as_str().to_owned());
        rows::update(c.t, c.scope, &after).await?;
        record_request(c, "access_request.denied", &after)?;
        let to = To { name: after.name.clone(), email: after.email.clone() };
        let link = portals::url(c.ctx, &portal);
        c.enqueue(&Mail(mail_templates::denial(c.ctx, &to, &organization.name, reason.as_str(), &link)))
            .await?;
        Ok(after)
    })
    .await
}

/// Mails the agreement of an approved request again, with a new link. The previous link stops working.
#[boxed]
pub async fn resend(ctx: &Ctx, scope: &Scope, id: AccessRequestId) -> Result<(AccessRequest, Nda), Error> {
    ctx.change(scope, async move |c| {
        let found = lock_request(c, id).await?;
        let last = rows::nda_of(c.t, c.scope, id).await?;
        let last = last.filter(|_| found.status == RequestStatus::Approved).ok_or_else(|| Error::Conflict {
            code: "nothing_to_sign",
            message: "There is no agreement to sign: the request has not been approved, or the requester already had access."
                .to_owned(),
        })?;
        if last.status == NdaStatus::Signed {
            return Err(Error::Conflict {
                code: "already_signed",
                message: "The agreement has already been signed; `reclaim` sends a new link.".to_owned(),
            });
        }
        let (portal, organization) = portals::lock(c).await?;
        let nda = send_agreement(c, &portal, &organization, &found, last.duration_days).await?;
        Ok((found, nda))
    })
    .await
}

#[cfg(test)]
mod tests {
    use attestry_domain::id::PolicyId;
    use attestry_domain::portals::CertificateFramework;
    use attestry_domain::text::Parse;

    use super::*;

    fn portal() -> Portal {
        Portal::untouched(OrganizationId::from_u128(1), Time::from_millis(0))
    }

    fn policy(number: u128) -> PortalDocument {
        PortalDocument::Policy(PolicyId::from_u128(number))
    }

    #[test]
    fn only_documents_on_request_need_an_approval() {
        let mut portal = portal();
        portal.documents = [
            (policy(1), Visibility::OnRequest),
            (policy(2), Visibility::Nda),
            (policy(3), Visibility::Public),
            (policy(4), Visibility::OnRequest),
        ]
        .into();
        let wanted = vec![policy(4), policy(3), policy(1), policy(2), policy(4)];
        assert_eq!(on_request(&portal, wanted).unwrap(), [policy(1), policy(4)]);
        assert!(on_request(&portal, Vec::new()).unwrap().is_empty());
        let hidden = PortalDocument::Certificate(CertificateFramework::Iso27001);
        for unlisted in [policy(9), hidden] {
            match on_request(&portal, vec![policy(1), unlisted]) {
                Err(Error::Invalid(errors)) => assert_eq!(errors[0].field, "documents[1]"),
                result => panic!("{result:?}"),
            }
        }
    }

    #[test]
    fn duration_is_the_reviewers_then_the_visitors_then_the_portals() {
        let days = |days| Days::new(days).unwrap();
        let portal = portal();
        let new = NewRequest {
            name: Parse::parse("Grace Hopper").unwrap(),
            email: Parse::parse("grace@customer.example").unwrap(),
            company: None,
            job_title: None,
            purpose: None,
            requested_duration_days: None,
            documents: Vec::new(),
        };
        let mut request =
            AccessRequest::new(AccessRequestId::from_u128(2), portal.organization_id, new, portal.created_at);
        assert_eq!(duration(&portal, &request, None), portal.default_duration_days);
        request.requested_duration_days = Some(days(7));
        assert_eq!(duration(&portal, &request, None), days(7));
        assert_eq!(duration(&portal, &request, Some(days(90))), days(90));
    }
}
