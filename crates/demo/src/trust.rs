//! The trust portal: its public content, access requests, grants, and visits.

use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::portals::{self, certificates, posts, subscribers};
use attestry_app::trust_access::agreements::{self, Signing};
use attestry_app::trust_access::{reading, requests};
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::portals::trust_access::NewRequest;
use attestry_domain::portals::{
    CertificateFramework, Days, PortalDocument, PortalPatch, PortalStatus, PostKind, Progress, Shown,
    Visibility,
};
use futures_util::FutureExt;
use serde::Deserialize;

use crate::evidence::pdf;
use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, email, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    ago: i64,
    kind: PostKind,
    title: &'static str,
    words: &'static str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certificate {
    ago: i64,
    framework: CertificateFramework,
    name: &'static str,
    lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscriber {
    ago: i64,
    address: &'static str,
}

/// A request for access. It waits unless it was denied or granted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    ago: i64,
    name: &'static str,
    email: &'static str,
    company: &'static str,
    job: &'static str,
    purpose: &'static str,
    /// The reason of the denial.
    denied: Option<&'static str>,
    granted: Option<Granted>,
}

/// An access: signed a day after the request, granted for this many days, with the days of the visits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Granted {
    days: i64,
    visits: Vec<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Portal {
    overview: &'static str,
    posts: Vec<Post>,
    certificates: Vec<Certificate>,
    subscribers: Vec<Subscriber>,
    requests: Vec<Request>,
}

table!(PORTAL: Portal = "portal");

pub(crate) fn plan(plan: &mut Plan) {
    plan.at(170, 9 * 60, |story| prepare(story).boxed_local());
    plan.at(163, 8 * 60, |story| choose(story).boxed_local());
    plan.at(163, 9 * 60, |story| publish(story).boxed_local());
    plan.at(120, 9 * 60, |story| choose(story).boxed_local());
    for one in &PORTAL.posts {
        plan.on(one.ago, move |story| post(story, one).boxed_local());
    }
    for one in &PORTAL.certificates {
        plan.on(one.ago, move |story| upload(story, one).boxed_local());
    }
    for one in &PORTAL.subscribers {
        plan.on(one.ago, move |story| subscribe(story, one.address).boxed_local());
    }
    for request in &PORTAL.requests {
        plan.at(request.ago, 10 * 60, move |story| ask(story, request).boxed_local());
        if let Some(why) = request.denied {
            plan.on(request.ago - 2, move |story| deny(story, request, why).boxed_local());
        }
        let Some(Granted { days, visits }) = &request.granted else { continue };
        plan.at(request.ago - 1, 8 * 60, move |story| approve(story, request, *days).boxed_local());
        plan.at(request.ago - 1, 15 * 60, move |story| sign(story, request).boxed_local());
        for (place, ago) in visits.iter().enumerate() {
            plan.at(*ago, 15 * 60 + 30, move |story| read(story, request, place).boxed_local());
        }
    }
}

async fn update(story: &Story, patch: PortalPatch) -> Result<()> {
    let scope = story.by::<grant::PortalUpdate>(OWNER)?;
    portals::update(&story.ctx, &scope, patch, Precondition::default()).await?;
    Ok(())
}

async fn prepare(story: &mut Story) -> Result<()> {
    let shown = |status| Shown { enabled: true, status };
    let patch = PortalPatch {
        friendly_url: Patch::Value(text("northwind")?),
        contact_email: Patch::Value(email("security@northwind.example")?),
        overview: Patch::Value(text(PORTAL.overview)?),
        frameworks: vec![
            (CertificateFramework::Iso27001, shown(Progress::InProgress)),
            (CertificateFramework::Gdpr, shown(Progress::Compliant)),
            (CertificateFramework::Soc2Type2, shown(Progress::Started)),
        ],
        default_duration_days: Days::new(90),
        ..PortalPatch::default()
    };
    update(story, patch).await
}

async fn publish(story: &mut Story) -> Result<()> {
    update(story, PortalPatch { status: Some(PortalStatus::Published), ..PortalPatch::default() }).await
}

async fn post(story: &mut Story, one: &'static Post) -> Result<()> {
    let new = posts::NewPost {
        kind: one.kind,
        title: text(one.title)?,
        text: text(one.words)?,
        is_published: true,
    };
    posts::create(&story.ctx, &story.by::<grant::PortalUpdate>(OWNER)?, new).await?;
    Ok(())
}

async fn upload(story: &mut Story, one: &'static Certificate) -> Result<()> {
    let framework = one.framework;
    let file = pdf(framework.title(), &one.lines)?;
    let scope = story.by::<grant::PortalUpdate>(APPROVER)?;
    certificates::upload(&story.ctx, &scope, framework, text(one.name)?, file.into()).await?;
    let shown = Shown { enabled: true, status: Progress::Compliant };
    let documents = vec![(PortalDocument::Certificate(framework), Visibility::Nda)];
    update(story, PortalPatch { frameworks: vec![(framework, shown)], documents, ..PortalPatch::default() })
        .await
}

/// Requires an agreement for the policies that are still hidden, and makes the general one public.
async fn choose(story: &mut Story) -> Result<()> {
    let scope = story.by::<grant::PortalUpdate>(OWNER)?;
    let settings = portals::get(&story.ctx, &scope).await?;
    let hidden = settings.documents.iter().filter(|one| one.visibility == Visibility::Hidden);
    let choice = |one: &portals::Listed| match one.title.as_str() {
        "Information Security Policy" => (one.document, Visibility::Public),
        _ => (one.document, Visibility::Nda),
    };
    let documents = hidden.map(choice).collect();
    update(story, PortalPatch { documents, ..PortalPatch::default() }).await
}

/// The IP address of portal visitors.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 44);

async fn subscribe(story: &mut Story, address: &'static str) -> Result<()> {
    let (organization, origin) = (story.organization, story.from(PUBLIC));
    subscribers::subscribe(&story.ctx, organization, email(address)?, origin).await?;
    let token = story.mailed(address, "/trust/confirm").await?;
    let origin = story.from(PUBLIC);
    subscribers::confirm(&story.ctx, &token, None, origin).await?;
    Ok(())
}

async fn ask(story: &mut Story, request: &'static Request) -> Result<()> {
    let new = NewRequest {
        name: text(request.name)?,
        email: email(request.email)?,
        company: Some(text(request.company)?),
        job_title: Some(text(request.job)?),
        purpose: Some(text(request.purpose)?),
        requested_duration_days: None,
        documents: Vec::new(),
    };
    let origin = story.from(PUBLIC);
    let id = requests::create(&story.ctx, story.organization, new, origin).await?;
    story.requests.insert(request.email, id);
    story.work().await
}

async fn deny(story: &mut Story, request: &'static Request, why: &'static str) -> Result<()> {
    let id = *story.requests.get(request.email).context("nobody asked yet")?;
    requests::deny(&story.ctx, &story.by::<grant::AccessReview>(OWNER)?, id, text(why)?).await?;
    Ok(())
}

async fn approve(story: &mut Story, request: &'static Request, days: i64) -> Result<()> {
    let id = *story.requests.get(request.email).context("nobody asked yet")?;
    let scope = story.by::<grant::AccessReview>(OWNER)?;
    requests::approve(&story.ctx, &scope, id, Days::new(days), None).await?;
    Ok(())
}

async fn sign(story: &mut Story, request: &'static Request) -> Result<()> {
    let token = story.mailed(request.email, "/trust/nda").await?;
    let signing = Signing { name: text(request.name)?, email: email(request.email)?, accept: true };
    let origin = story.from(PUBLIC);
    agreements::sign(&story.ctx, &token, None, signing, origin).await?;
    let token = story.mailed(request.email, "/trust/access").await?;
    story.readers.insert(request.email, token);
    Ok(())
}

/// Opens the portal as an authorized visitor; the first two visits download a document.
async fn read(story: &mut Story, request: &'static Request, visit: usize) -> Result<()> {
    let token = story.readers.get(request.email).context("the agreement is not signed yet")?;
    let reader = reading::open(&story.ctx, token, None, story.from(PUBLIC)).await?;
    reading::arrive(&story.ctx, &reader).await?;
    match visit {
        0 => drop(reading::certificate(&story.ctx, &reader, CertificateFramework::Iso27001, true).await?),
        1 => drop(reading::policy(&story.ctx, &reader, story.policy("incidents")?, true).await?),
        _ => {}
    }
    Ok(())
}
