//! Context entries about the company, its API keys, and comments.

use anyhow::{Context, Result};
use attestry_app::comments::{self, NewComment};
use attestry_app::identity::api_keys;
use attestry_app::registers;
use attestry_domain::Patch;
use attestry_domain::access::grant;
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_domain::registers::context_entries::{ContextEntry, ContextEntryPatch, Tags};
use attestry_domain::registers::subjects::{Commentable, Subject};
use futures_util::FutureExt;
use serde::Deserialize;

use crate::people::{APPROVER, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    ago: i64,
    question: &'static str,
    answer: &'static str,
    tags: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    ago: i64,
    name: &'static str,
    scopes: Vec<&'static str>,
    /// The day of its revocation.
    revoked: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    ago: i64,
    subject: Subject,
    /// A risk's title, a vendor's name, or the key of a policy or a task.
    about: &'static str,
    by: &'static str,
    words: &'static str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Company {
    context: Vec<Fact>,
    keys: Vec<Key>,
    comments: Vec<Said>,
}

table!(COMPANY: Company = "company");

pub(crate) fn plan(plan: &mut Plan) {
    for fact in &COMPANY.context {
        plan.on(fact.ago, move |story| know(story, fact).boxed_local());
    }
    for key in &COMPANY.keys {
        plan.on(key.ago, move |story| make_key(story, key).boxed_local());
        if let Some(ago) = key.revoked {
            plan.on(ago, move |story| revoke(story, key.name).boxed_local());
        }
    }
    for said in &COMPANY.comments {
        plan.at(said.ago, 16 * 60 + 10, move |story| say(story, said).boxed_local());
    }
}

async fn know(story: &mut Story, fact: &'static Fact) -> Result<()> {
    let new = ContextEntryPatch {
        question: Some(text(fact.question)?),
        answer: Some(text(fact.answer)?),
        tags: Some(Tags::new(fact.tags.clone()).map_err(anyhow::Error::msg)?),
        assignee_id: Patch::Value(story.member(OWNER)?),
        ..ContextEntryPatch::default()
    };
    registers::create::<ContextEntry>(&story.ctx, &story.by::<grant::ContextCreate>(OWNER)?, new).await?;
    Ok(())
}

async fn make_key(story: &mut Story, key: &'static Key) -> Result<()> {
    let scopes = Scopes::read(key.scopes.iter().copied()).map_err(anyhow::Error::msg)?;
    let new = NewApiKey { name: key.name.to_owned(), scopes, expires_at: None };
    let made = api_keys::create(&story.ctx, &story.by::<grant::ApiKeyCreate>(APPROVER)?, new).await?;
    story.keys.insert(key.name, made.key.id);
    Ok(())
}

async fn revoke(story: &mut Story, name: &'static str) -> Result<()> {
    let id = *story.keys.get(name).context("the key is not there yet")?;
    api_keys::revoke(&story.ctx, &story.by::<grant::ApiKeyDelete>(APPROVER)?, id).await?;
    Ok(())
}

async fn say(story: &mut Story, said: &'static Said) -> Result<()> {
    let Said { subject, about, by, words, .. } = *said;
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
