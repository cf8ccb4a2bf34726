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

use crate::evidence::pdf;
use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, email, text};

const OVERVIEW: &str = "Northwind Robotics builds robots that carry goods in warehouses, and runs the software that directs \
them. Customers trust us with plans of their sites and with machines that work beside their people. Here is what we do about \
it: our certificates, our policies and who processes data for us.";

const POSTS: &[(i64, PostKind, &str, &str)] = &[
    (
        162,
        PostKind::Update,
        "Our trust portal is open",
        "Certificates, policies and answers to what customers ask most are here from now on.",
    ),
    (
        131,
        PostKind::Update,
        "ISO/IEC 27001: certified",
        "The auditor found no major nonconformity. The certificate is among the documents.",
    ),
    (
        83,
        PostKind::Update,
        "Degraded fleet console, and what we learned",
        "For forty minutes operators saw old positions. Robots were never without orders. We have changed how the console falls back.",
    ),
    (
        58,
        PostKind::Update,
        "New sub-processor: Translingo",
        "It translates tickets for our support and stores nothing.",
    ),
    (
        11,
        PostKind::Update,
        "Penetration test of fleet control",
        "Two findings of medium weight, both mended. Customers find the summary among the documents.",
    ),
    (
        160,
        PostKind::Question,
        "Where is our data?",
        "In Frankfurt and Dublin. Backups are kept in the EU as well.",
    ),
    (
        160,
        PostKind::Question,
        "Do robots film people?",
        "Cameras see people to drive around them. Faces are blurred on the robot, and pictures are deleted after seven days.",
    ),
    (
        159,
        PostKind::Question,
        "What happens if the cloud is away?",
        "Robots finish their orders for two hours. After that they park and wait.",
    ),
    (
        159,
        PostKind::Question,
        "How fast do you mend flaws?",
        "Critical ones within 14 days, most within two. Updates are announced five working days ahead unless safety is at stake.",
    ),
    (
        120,
        PostKind::Question,
        "Who may connect to our site?",
        "Support, after somebody of yours has agreed to the session in the console. Each session is logged.",
    ),
];

const CERTIFICATES: &[(i64, CertificateFramework, &str, &[&str])] = &[
    (
        132,
        CertificateFramework::Iso27001,
        "northwind-iso-27001.pdf",
        &[
            "Northwind Robotics, Aarhus and Gdansk",
            "Design, production and operation of mobile robots",
            "A sample: this certificate was issued by nobody.",
        ],
    ),
    (
        128,
        CertificateFramework::Iso9001,
        "northwind-iso-9001.pdf",
        &[
            "Northwind Robotics, Aarhus",
            "Design and production of mobile robots",
            "A sample: this certificate was issued by nobody.",
        ],
    ),
    (
        64,
        CertificateFramework::Gdpr,
        "northwind-gdpr-report.pdf",
        &[
            "Northwind Robotics",
            "Report of the data protection officer",
            "A sample: this report was written for nobody.",
        ],
    ),
];

const SUBSCRIBERS: &[(i64, &str)] = &[
    (150, "security@meridian-retail.example"),
    (92, "it@harlow-logistics.example"),
    (35, "vendors@bluefin-foods.example"),
];

/// The state of a request at the end of the story.
#[derive(Clone, Copy, Debug)]
enum RequestOutcome {
    Waits,
    Denied(&'static str),
    /// Signed a day later, granted for this many days, with visits this many days ago.
    Reads(i64, &'static [i64]),
}

struct Request {
    ago: i64,
    name: &'static str,
    email: &'static str,
    company: &'static str,
    job: &'static str,
    purpose: &'static str,
    fate: RequestOutcome,
}

const REQUESTS: &[Request] = &[
    Request {
        ago: 76,
        name: "Marta Kowalczyk",
        email: "marta.kowalczyk@meridian-retail.example",
        company: "Meridian Retail",
        job: "Head of information security",
        purpose: "Yearly review of our suppliers.",
        fate: RequestOutcome::Reads(180, &[74, 71, 30, 5]),
    },
    Request {
        ago: 41,
        name: "A. Nonymous",
        email: "curious@webmail.example",
        company: "Private",
        job: "Researcher",
        purpose: "Interested in robots.",
        fate: RequestOutcome::Denied(
            "Please ask from an address of a company that is a customer or is about to become one.",
        ),
    },
    Request {
        ago: 9,
        name: "Henrik Aalto",
        email: "henrik.aalto@harlow-logistics.example",
        company: "Harlow Logistics",
        job: "Procurement",
        purpose: "Tender for the new hub; we need the certificate and the incident policy.",
        fate: RequestOutcome::Waits,
    },
    Request {
        ago: 4,
        name: "Sunita Rao",
        email: "sunita.rao@bluefin-foods.example",
        company: "Bluefin Foods",
        job: "Data protection officer",
        purpose: "Assessment under article 28.",
        fate: RequestOutcome::Waits,
    },
    Request {
        ago: 1,
        name: "Peter Haugen",
        email: "peter.haugen@nordkap-pharma.example",
        company: "Nordkap Pharma",
        job: "Quality auditor",
        purpose: "Qualification of suppliers for the cold store.",
        fate: RequestOutcome::Waits,
    },
];

pub(crate) fn plan(plan: &mut Plan) {
    plan.at(170, 9 * 60, |story| prepare(story).boxed_local());
    plan.at(163, 8 * 60, |story| choose(story).boxed_local());
    plan.at(163, 9 * 60, |story| publish(story).boxed_local());
    plan.at(120, 9 * 60, |story| choose(story).boxed_local());
    for (ago, kind, title, words) in POSTS {
        plan.on(*ago, move |story| post(story, *kind, title, words).boxed_local());
    }
    for (ago, framework, name, lines) in CERTIFICATES {
        let visibility = match framework {
            CertificateFramework::Soc2Type2 => Visibility::OnRequest,
            _ => Visibility::Nda,
        };
        plan.on(*ago, move |story| upload(story, *framework, name, visibility, lines).boxed_local());
    }
    for (ago, address) in SUBSCRIBERS {
        plan.on(*ago, move |story| subscribe(story, address).boxed_local());
    }
    for request in REQUESTS {
        plan.at(request.ago, 10 * 60, move |story| ask(story, request).boxed_local());
        match request.fate {
            RequestOutcome::Waits => {}
            RequestOutcome::Denied(why) => {
                plan.on(request.ago - 2, move |story| deny(story, request, why).boxed_local());
            }
            RequestOutcome::Reads(days, visits) => {
                plan.at(request.ago - 1, 8 * 60, move |story| approve(story, request, days).boxed_local());
                plan.at(request.ago - 1, 15 * 60, move |story| sign(story, request).boxed_local());
                for (place, ago) in visits.iter().enumerate() {
                    plan.at(*ago, 15 * 60 + 30, move |story| read(story, request, place).boxed_local());
                }
            }
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
        overview: Patch::Value(text(OVERVIEW)?),
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

async fn post(story: &mut Story, kind: PostKind, title: &str, words: &str) -> Result<()> {
    let new = posts::NewPost { kind, title: text(title)?, text: text(words)?, is_published: true };
    posts::create(&story.ctx, &story.by::<grant::PortalUpdate>(OWNER)?, new).await?;
    Ok(())
}

async fn upload(
    story: &mut Story,
    framework: CertificateFramework,
    name: &str,
    visibility: Visibility,
    lines: &[&str],
) -> Result<()> {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let file = pdf(framework.title(), &lines)?;
    let scope = story.by::<grant::PortalUpdate>(APPROVER)?;
    certificates::upload(&story.ctx, &scope, framework, text(name)?, file.into()).await?;
    let shown = Shown { enabled: true, status: Progress::Compliant };
    let documents = vec![(PortalDocument::Certificate(framework), visibility)];
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
