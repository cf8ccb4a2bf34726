//! Context entries about the company, its API keys, and comments.

use anyhow::{Context, Result};
use attestry_app::comments::{self, NewComment};
use attestry_app::identity::api_keys;
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_domain::registers::context_entries::{ContextEntry, ContextPatch, Tags};
use attestry_domain::registers::subjects::{Commentable, Subject};
use futures_util::FutureExt;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

const CONTEXT: &[(i64, &str, &str, &[&str])] = &[
    (
        358,
        "What does the company do?",
        "It designs and builds robots that carry goods in warehouses, and runs the software that directs them.",
        &["scope"],
    ),
    (
        358,
        "Does the company have premises of its own?",
        "Yes. An office and an assembly hall in Aarhus, and since this year a second hall in Gdańsk.",
        &["premises"],
    ),
    (
        357,
        "Does the company develop software?",
        "Yes. Fleet control, navigation and firmware are developed by its own people.",
        &["development"],
    ),
    (
        357,
        "Is development outsourced?",
        "No. Contractors work in our teams, with our tools and under our rules.",
        &["outsourced_development"],
    ),
    (
        356,
        "Which personal data are processed for customers?",
        "Names and shifts of warehouse staff, and pictures of the robots’ cameras, which are blurred on the robot.",
        &["privacy"],
    ),
    (
        356,
        "Where does fleet control run?",
        "At Cumulo Cloud in Frankfurt, with a warm standby in Dublin.",
        &["cloud"],
    ),
    (
        330,
        "How many people work for the company?",
        "About 140, in five countries; 24 of them work with the security programme.",
        &["personnel"],
    ),
    (
        290,
        "Which laws matter most?",
        "The GDPR, the machinery regulation, the Cyber Resilience Act and product liability.",
        &["legal"],
    ),
    (
        230,
        "What do customers ask for most?",
        "ISO/IEC 27001, the result of a penetration test, and where their data are.",
        &["suppliers"],
    ),
    (
        140,
        "How long may fleet control be away?",
        "Two hours: robots go on with their orders that long. Then a warehouse stands still.",
        &["continuity"],
    ),
];

/// API keys: creation day, name, scopes, and the day of revocation.
const KEYS: &[(i64, &str, &[&str], Option<i64>)] = &[
    (200, "Evidence from the build", &["task:read", "attachment:read", "attachment:create"], None),
    (180, "Dashboard of the board", &["risk:read", "vendor:read", "control:read"], None),
    (260, "Trial of a spreadsheet", &["risk:read"], Some(240)),
];

/// Comments. The subject is named by a risk's title, a vendor's name or a task's key.
const COMMENTS: &[(i64, Subject, &str, &str, &str)] = &[
    (
        300,
        Subject::Risk,
        "Backups cannot be restored within eight hours",
        "rafael",
        "The first restore took eleven hours. Two of them were spent looking for the key.",
    ),
    (
        204,
        Subject::Risk,
        "Backups cannot be restored within eight hours",
        "ingrid",
        "Six and a half hours this time. Lowered the likelihood.",
    ),
    (
        12,
        Subject::Risk,
        "Backups cannot be restored within eight hours",
        "helena",
        "Please keep the log of the exercise with the evidence; I will ask for it in the surveillance audit.",
    ),
    (
        60,
        Subject::Risk,
        "The only supplier of lidar sensors stops delivering",
        "claire",
        "The second source has passed the cold test, vibration is still open.",
    ),
    (
        6,
        Subject::Risk,
        "The new customer portal goes live without a security test",
        "rafael",
        "Redwing has a slot in three weeks. Do we move the date?",
    ),
    (
        5,
        Subject::Risk,
        "The new customer portal goes live without a security test",
        "ingrid",
        "Yes. I talk to sales.",
    ),
    (
        70,
        Subject::Risk,
        "Employees paste customers’ drawings into public AI tools",
        "claire",
        "The approved tool is open to everybody now; the policy is a draft.",
    ),
    (
        21,
        Subject::Vendor,
        "Tidewater Analytics",
        "claire",
        "They answered 41 of 60 questions. The ones about deletion are missing.",
    ),
    (18, Subject::Vendor, "Chatterlane AI", "rafael", "Three teams ask for it. What would we send them?"),
    (
        17,
        Subject::Vendor,
        "Chatterlane AI",
        "claire",
        "Code and comments. I want to see where it is processed before anybody tries it.",
    ),
    (
        102,
        Subject::Vendor,
        "Cumulo Cloud",
        "ingrid",
        "New report without exceptions is attached to the assessment.",
    ),
    (
        20,
        Subject::Task,
        "malware",
        "mateo",
        "The new agent does not run on the line controllers. Waiting for the vendor.",
    ),
    (19, Subject::Task, "malware", "rafael", "Then isolate them from the office network until it does."),
    (14, Subject::Task, "transfer", "claire", "Blocked: they have not said in which country support sits."),
    (
        11,
        Subject::Task,
        "firewall",
        "priya",
        "Late because of the move of the test hall; planned for next week.",
    ),
    (
        3,
        Subject::Task,
        "code-review",
        "tomasz",
        "Two changes had one reviewer only. Both were documentation.",
    ),
    (9, Subject::Task, "disaster", "yuki", "Agreed with three customers on a Sunday morning."),
    (
        18,
        Subject::Policy,
        "continuity",
        "rafael",
        "Two hours for fleet control is what contracts say. Where is the plant?",
    ),
];

pub(crate) fn plan(plan: &mut Plan) {
    for (ago, question, answer, tags) in CONTEXT {
        plan.on(*ago, move |story| know(story, question, answer, tags).boxed_local());
    }
    for (ago, name, scopes, revoked) in KEYS {
        plan.on(*ago, move |story| make_key(story, name, scopes).boxed_local());
        if let Some(ago) = revoked {
            plan.on(*ago, move |story| revoke(story, name).boxed_local());
        }
    }
    for (ago, subject, about, by, words) in COMMENTS {
        plan.at(*ago, 16 * 60 + 10, move |story| say(story, *subject, about, by, words).boxed_local());
    }
}

async fn know(story: &mut Story, question: &str, answer: &str, tags: &[&str]) -> Result<()> {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let new = ContextPatch {
        question: Some(text(question)?),
        answer: Some(text(answer)?),
        tags: Some(Tags::new(tags).map_err(anyhow::Error::msg)?),
        assignee_id: Patch::Value(story.member(OWNER)?),
        ..ContextPatch::default()
    };
    registers::create::<ContextEntry>(&story.ctx, &story.by::<grant::ContextCreate>(OWNER)?, new).await?;
    Ok(())
}

async fn make_key(story: &mut Story, name: &'static str, scopes: &[&str]) -> Result<()> {
    let scopes = Scopes::read(scopes.iter().copied()).map_err(anyhow::Error::msg)?;
    let new = NewApiKey { name: name.to_owned(), scopes, expires_at: None };
    let made = api_keys::create(&story.ctx, &story.by::<grant::ApiKeyCreate>(APPROVER)?, new).await?;
    story.keys.insert(name, made.key.id);
    Ok(())
}

async fn revoke(story: &mut Story, name: &'static str) -> Result<()> {
    let id = *story.keys.get(name).context("the key is not there yet")?;
    api_keys::revoke(&story.ctx, &story.by::<grant::ApiKeyDelete>(APPROVER)?, id).await?;
    Ok(())
}

async fn say(story: &mut Story, subject: Subject, about: &str, by: &str, words: &str) -> Result<()> {
    let missing = || format!("{about} is not there yet");
    let entity_id = match subject {
        Subject::Risk => story.risks.get(about).with_context(missing)?.to_string(),
        Subject::Vendor => story.vendors.get(about).with_context(missing)?.to_string(),
        Subject::Policy => story.policy(about)?.to_string(),
        _ => story.task(about)?.to_string(),
    };
    let entity_type = Commentable::of(subject).context("it takes no comments")?;
    let new = NewComment { content: text(words)?, entity_type, entity_id, mentions: Vec::new() };
    comments::create(&story.ctx, &story.by::<grant::CommentCreate>(by)?, new, Vec::new()).await?;
    Ok(())
}
