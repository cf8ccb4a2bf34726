//! Subscribers to news. An address is confirmed when its owner follows the link in a mail.

use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{OrganizationId, PortalPostId, SubscriberId};
use attestry_domain::portals::{Anonymous, Subscriber};
use attestry_domain::text::{Email, Parse};
use attestry_storage::{organizations, portals};
use serde::{Deserialize, Serialize};

use super::{link, lock, of};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::queue::Mail;
use crate::notices::mail_templates::{self, To};
use crate::portals::announcement::Announcement;
use crate::trust_access::asked::VisitorRequest;

const ENTITY: &str = "subscriber";
const PURPOSE: &str = "subscription";
/// The number of subscribers that one job mails.
const BATCH: usize = 200;

/// The payload of links in mails to a subscriber.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Ticket {
    organization: OrganizationId,
    subscriber: SubscriberId,
}

impl Ticket {
    fn of(subscriber: &Subscriber) -> Self {
        Self { organization: subscriber.organization_id, subscriber: subscriber.id }
    }

    fn seal(self, ctx: &Ctx) -> Result<String, Error> {
        ctx.keys.ticket(PURPOSE, &self)
    }

    fn open(ctx: &Ctx, token: &str, host: Option<OrganizationId>) -> Result<Self, Error> {
        let ticket: Option<Self> = ctx.keys.read_ticket(PURPOSE, token);
        ticket.filter(|ticket| host.is_none_or(|host| host == ticket.organization)).ok_or_else(gone)
    }
}

fn gone() -> Error {
    Error::Gone {
        code: "link_expired",
        message: "This link is no longer valid. Subscribe again on the portal.",
    }
}

/// Accepts an address; the response does not reveal whether it is subscribed.
#[boxed]
pub async fn subscribe(
    ctx: &Ctx,
    organization: OrganizationId,
    email: Email,
    origin: Origin,
) -> Result<(), Error> {
    let asked = VisitorRequest::Subscription { organization, email: email.as_str().to_owned(), origin };
    ctx.work(async move |work| work.enqueue(&asked).await).await
}

/// Stores an address and mails a link to confirm it, unless it is confirmed already.
pub(crate) async fn add(c: &Change<'_>, email: &str) -> Result<(), Error> {
    let email = Email::parse(email).map_err(Error::internal)?;
    let (portal, organization) = match lock(c).await {
        Ok((portal, organization)) if portal.is_published() => (portal, organization),
        // The portal was unpublished, or the organization deleted, after the address was entered.
        Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let subscriber = match portals::lock_subscriber_by_email(c.t, c.scope, &email.key()).await? {
        Some(known) if known.confirmed_at.is_some() => return Ok(()),
        Some(known) => known,
        None => {
            let new = Subscriber {
                id: c.next_id(),
                organization_id: c.organization(),
                email: email.as_str().to_owned(),
                created_at: c.now,
                confirmed_at: None,
            };
            portals::insert_subscriber(c.t, c.scope, &new).await?;
            c.record("subscriber.added", ENTITY, new.id, &Anonymous {})?;
            new
        }
    };
    let token = Ticket::of(&subscriber).seal(c.ctx)?;
    let (to, name) = (To::address(&subscriber.email), &organization.name);
    let confirm = link(c.ctx, &portal, &format!("/trust/confirm?token={token}"));
    let leave = link(c.ctx, &portal, &format!("/trust/leave?token={token}"));
    let letter = mail_templates::confirmation(c.ctx, &to, name, &confirm, &leave);
    c.enqueue(&Mail(letter)).await
}

/// Confirms a subscription with the link from the mail.
#[boxed]
pub async fn confirm(
    ctx: &Ctx,
    token: &str,
    host: Option<OrganizationId>,
    origin: Origin,
) -> Result<(), Error> {
    let ticket = Ticket::open(ctx, token, host)?;
    let scope = Scope::visitor(ticket.organization, None, origin);
    ctx.change(&scope, async move |c| {
        organizations::get(c.t, c.scope).await?.ok_or_else(gone)?;
        let found = portals::lock_subscriber(c.t, c.scope, ticket.subscriber).await?.ok_or_else(gone)?;
        if found.confirmed_at.is_none() {
            portals::confirm_subscriber(c.t, c.scope, found.id, c.now).await?;
            c.record("subscriber.confirmed", ENTITY, found.id, &Anonymous {})?;
        }
        Ok(())
    })
    .await
}

/// Removes a subscription; succeeds when there is none.
#[boxed]
pub async fn unsubscribe(
    ctx: &Ctx,
    token: &str,
    host: Option<OrganizationId>,
    origin: Origin,
) -> Result<(), Error> {
    let ticket = Ticket::open(ctx, token, host)?;
    let scope = Scope::visitor(ticket.organization, None, origin);
    ctx.change(&scope, async move |c| {
        if let Some(found) = portals::lock_subscriber(c.t, c.scope, ticket.subscriber).await? {
            portals::delete_subscriber(c.t, c.scope, found.id).await?;
            c.record_gone("subscriber.removed", ENTITY, found.id);
        }
        Ok(())
    })
    .await
}

/// Mails a post to a batch of subscribers; returns the job for the next batch.
pub(crate) async fn announce(
    c: &Change<'_>,
    post: PortalPostId,
    after: &str,
) -> Result<Option<Announcement>, Error> {
    // The post may have been withdrawn meanwhile.
    let Some(post) = portals::post(c.t, c.scope, post).await?.filter(|post| post.is_published) else {
        return Ok(None);
    };
    let Some(organization) = organizations::get(c.t, c.scope).await? else {
        return Ok(None);
    };
    let portal = of(c.t, c.scope).await?;
    let limit = i64::try_from(BATCH).map_err(Error::internal)?;
    let some = portals::subscribers(c.t, c.scope, after, limit).await?;
    for subscriber in &some {
        let token = Ticket::of(subscriber).seal(c.ctx)?;
        let leave = link(c.ctx, &portal, &format!("/trust/leave?token={token}"));
        let url = super::url(c.ctx, &portal);
        let to = To::address(&subscriber.email);
        c.enqueue(&Mail(mail_templates::news(c.ctx, &to, &organization.name, &post, &url, &leave))).await?;
    }
    let next = some.last().filter(|_| some.len() == BATCH).map(|last| Announcement {
        organization: c.organization(),
        post: post.id,
        after: last.id.to_string(),
    });
    Ok(next)
}
