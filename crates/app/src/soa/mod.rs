//! Statements of applicability: creating, answering, submitting, approving and declining them.

use std::collections::BTreeSet;
use std::sync::Arc;

use attestry_domain::access::{Permission, Permissions, Scope};
use attestry_domain::frameworks::{Framework, FrameworkName};
use attestry_domain::id::{MemberId, SoaDocumentId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::{After, Page};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::soa::{AnswerSource, AnswerState, SoaAnswer, SoaDocument, SoaStatus};
pub use attestry_storage::soa::SoaFilter;
use attestry_storage::{Tx, soa};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::{members, organizations};
use crate::{frameworks, notices};

pub mod answers;
pub mod approval;
pub mod filling;
pub mod rows;

const MISSING: Error = Error::NotFound("statement of applicability");
const DOCUMENT: &str = "soa_document";
const ANSWER: &str = "soa_answer";

/// A document with its answers, ordered by question id.
#[derive(Clone, Debug)]
pub struct SoaWithAnswers {
    pub document: SoaDocument,
    pub answers: Vec<SoaAnswer>,
}

async fn load(t: &Tx<'_>, scope: &Scope, id: SoaDocumentId) -> Result<SoaWithAnswers, Error> {
    let document = soa::get(t, scope, id).await?.ok_or(MISSING)?;
    let answers = soa::answers(t, scope, id).await?;
    Ok(SoaWithAnswers { document, answers })
}

async fn framework_of(t: &Tx<'_>, scope: &Scope, document: &SoaDocument) -> Result<Arc<Framework>, Error> {
    frameworks::find(t, scope, &FrameworkName::Id(document.framework_id)).await
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: SoaDocumentId) -> Result<SoaWithAnswers, Error> {
    let own = scope.clone();
    ctx.db.read(async move |t| load(t, &own, id).await).await
}

/// The documents, newest first.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    wanted: SoaFilter,
    limit: u16,
    after: Option<After>,
) -> Result<Page<SoaDocument>, Error> {
    let own = scope.clone();
    Ok(ctx.db.read(async move |t| soa::list(t, &own, wanted, limit, after.as_ref()).await).await?)
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, wanted: SoaFilter) -> Result<i64, Error> {
    let own = scope.clone();
    Ok(ctx.db.read(async move |t| soa::count(t, &own, wanted).await).await?)
}

/// Adds an empty document.
async fn add(c: &Change<'_>, framework: &Framework, version: VersionNumber) -> Result<SoaDocument, Error> {
    let document = SoaDocument {
        id: c.next_id(),
        framework_id: framework.id,
        organization_id: c.organization(),
        version,
        is_latest: true,
        status: SoaStatus::Draft,
        total_questions: i64::try_from(framework.questions().count()).map_err(Error::internal)?,
        answered_questions: 0,
        prepared_by: c.scope.member(),
        approver_id: None,
        submitted_at: None,
        submitted_by: None,
        approved_at: None,
        declined_at: None,
        decline_reason: None,
        completed_at: None,
        content_hash: None,
        created_at: c.now,
        updated_at: c.now,
        revision: 1,
    };
    soa::insert(c.t, c.scope, &document).await?;
    c.record("soa.created", DOCUMENT, document.id, &document)?;
    Ok(document)
}

/// The latest document for a framework; created if there is none yet.
#[boxed]
pub async fn ensure(
    ctx: &Ctx,
    scope: &Scope,
    name: FrameworkName,
) -> Result<(Arc<Framework>, SoaWithAnswers), Error> {
    let own = scope.clone();
    let asked = name.clone();
    let found = ctx.db.read(async move |t| {
        let framework = frameworks::named(t, &own, &asked).await?;
        let latest = soa::latest(t, &own, framework.id).await?;
        Ok::<_, Error>(latest.map(|document| (framework, document)))
    });
    let (framework, document) = match found.await? {
        Some(found) => found,
        None => {
            let made = ctx.change(scope, async move |c| {
                frameworks::hold(c).await?;
                let framework = frameworks::named(c.t, c.scope, &name).await?;
                let document = match soa::latest(c.t, c.scope, framework.id).await? {
                    Some(document) => document,
                    None => add(c, &framework, VersionNumber::after(0)).await?,
                };
                Ok((framework, document))
            });
            made.await?
        }
    };
    let statement = get(ctx, scope, document.id).await?;
    Ok((framework, statement))
}

/// Creates the next version for a framework. It starts with the answers of the previous one, which a person has to
/// confirm again.
#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, name: FrameworkName) -> Result<SoaWithAnswers, Error> {
    ctx.change(scope, async move |c| {
        frameworks::hold(c).await?;
        let framework = frameworks::named(c.t, c.scope, &name).await?;
        let Some(previous) = soa::lock_latest(c.t, c.scope, framework.id).await? else {
            let document = add(c, &framework, VersionNumber::after(0)).await?;
            return Ok(SoaWithAnswers { document, answers: Vec::new() });
        };
        let superseded = SoaDocument { is_latest: false, ..withdrawn(&previous) };
        save(c, &previous, superseded, "soa.superseded").await?;
        let document = add(c, &framework, VersionNumber::after(previous.version.get())).await?;
        let mut answers = soa::answers(c.t, c.scope, previous.id).await?;
        answers.retain(|answer| framework.questions().any(|question| question.id == answer.question_id));
        for answer in &mut answers {
            answer.id = c.next_id();
            answer.document_id = document.id;
            // Unconfirmed answers keep their source.
            if answer.is_confirmed() {
                answer.source = AnswerSource::Previous;
                answer.state = AnswerState::Proposed;
            }
            answer.updated_at = c.now;
            soa::insert_answer(c.t, c.scope, answer).await?;
            c.record("soa.answer_proposed", ANSWER, answer.id, answer)?;
        }
        Ok(SoaWithAnswers { document, answers })
    })
    .await
}

/// The document without its pending submission.
fn withdrawn(document: &SoaDocument) -> SoaDocument {
    match document.status {
        SoaStatus::NeedsReview => SoaDocument {
            status: SoaStatus::Completed,
            approver_id: None,
            submitted_at: None,
            submitted_by: None,
            ..document.clone()
        },
        _ => document.clone(),
    }
}

/// Saves a locked document, and records the change.
async fn save(
    c: &Change<'_>,
    before: &SoaDocument,
    after: SoaDocument,
    action: &'static str,
) -> Result<SoaDocument, Error> {
    let after = store(c, before, after).await?;
    c.record(action, DOCUMENT, after.id, &after)?;
    Ok(after)
}

/// Saves a locked document; the caller records the change.
async fn store(c: &Change<'_>, before: &SoaDocument, mut after: SoaDocument) -> Result<SoaDocument, Error> {
    after.revision = before.revision + 1;
    after.updated_at = c.now;
    soa::update(c.t, c.scope, &after).await?;
    Ok(after)
}

/// Fails for a superseded version, which can no longer be changed.
fn must_be_latest(document: &SoaDocument) -> Result<(), Error> {
    match document.is_latest {
        true => Ok(()),
        false => Err(Error::Conflict {
            code: "soa_superseded",
            message: format!(
                "There is a later version than {}; this one no longer changes.",
                document.version
            ),
        }),
    }
}

/// Locks the latest version of a document until the transaction ends.
async fn lock(c: &Change<'_>, id: SoaDocumentId) -> Result<SoaDocument, Error> {
    let document = soa::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
    must_be_latest(&document)?;
    Ok(document)
}

fn tell(c: &Change<'_>, whom: Option<MemberId>, document: SoaDocumentId, line: &str) {
    notices::tell_others(c, whom, Notice::Policies, &About::new(DOCUMENT, document), line, None);
}

async fn label(c: &Change<'_>, document: &SoaDocument) -> Result<String, Error> {
    let framework = framework_of(c.t, c.scope, document).await?;
    Ok(format!("the statement of applicability for {}, version {}", framework.name, document.version))
}

/// Asks a member to approve a document in its current state.
#[boxed]
pub async fn submit(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    approver: MemberId,
) -> Result<SoaDocument, Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, id).await?;
        let refused = |code, message: &str| Err(Error::Conflict { code, message: message.to_owned() });
        match before.status {
            SoaStatus::NeedsReview => {
                return refused("soa_pending", "The statement is awaiting approval already.");
            }
            SoaStatus::Approved => {
                return refused(
                    "soa_approved",
                    "The statement is approved. Change an answer, or create a new version.",
                );
            }
            _ if !before.is_complete() => {
                let open = before.total_questions - before.answered_questions;
                let message = format!(
                    "{open} of {} questions have no answer that a person has confirmed. Answer them first.",
                    before.total_questions
                );
                return refused("soa_incomplete", &message);
            }
            _ => {}
        }
        if !members::may(c, approver, Permission::SoaApprove).await? {
            let message = "must be an active member who may approve statements: an owner or an admin";
            return Err(Error::field("approverId", message));
        }
        organizations::reject_self_approval(c, c.scope.member(), approver).await?;
        let after = SoaDocument {
            status: SoaStatus::NeedsReview,
            approver_id: Some(approver),
            submitted_at: Some(c.now),
            submitted_by: c.scope.member(),
            completed_at: before.completed_at.or(Some(c.now)),
            declined_at: None,
            decline_reason: None,
            ..before.clone()
        };
        let after = save(c, &before, after, "soa.submitted").await?;
        tell(c, Some(approver), id, &format!("Please approve {}", label(c, &after).await?));
        Ok(after)
    })
    .await
}

/// Fails unless the document waits for the caller's decision.
fn must_be_approver(scope: &Scope, document: &SoaDocument) -> Result<MemberId, Error> {
    match (document.status, document.approver_id) {
        (SoaStatus::NeedsReview, Some(approver)) if Some(approver) == scope.member() => Ok(approver),
        (SoaStatus::NeedsReview, _) => Err(Error::Forbidden {
            code: "not_the_approver",
            message: "Only the member who was asked to approve this statement can approve or decline it."
                .to_owned(),
        }),
        _ => Err(Error::Conflict {
            code: "not_submitted",
            message: "The statement is not awaiting approval: it was not submitted, or was decided or changed since."
                .to_owned(),
        }),
    }
}

/// Declines a document that waits for the caller's decision.
#[boxed]
pub async fn decline(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    reason: Option<String>,
) -> Result<SoaDocument, Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, id).await?;
        must_be_approver(c.scope, &before)?;
        let after = SoaDocument {
            status: SoaStatus::Declined,
            declined_at: Some(c.now),
            decline_reason: reason.clone(),
            ..before.clone()
        };
        let after = save(c, &before, after, "soa.declined").await?;
        let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        tell(c, before.prepared_by, id, &format!("Not approved: {}{why}", label(c, &after).await?));
        Ok(after)
    })
    .await
}

/// Clears a leaving member as approver and as owner of answers.
pub(crate) async fn release(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    release_approvals(c, member).await?;
    let mut documents = BTreeSet::new();
    for mut answer in soa::lock_owned(c.t, c.scope, member).await? {
        answer.owner_id = None;
        answer.updated_at = c.now;
        soa::update_answer(c.t, c.scope, &answer).await?;
        c.record("soa.answer_updated", ANSWER, answer.id, &answer)?;
        documents.insert(answer.document_id);
    }
    for id in documents {
        if let Some(before) = soa::lock(c.t, c.scope, id).await? {
            save(c, &before, before.clone(), "soa.updated").await?;
        }
    }
    Ok(())
}

/// Withdraws the submissions that wait for a member who lost the permission to approve them.
pub(crate) async fn demoted(c: &Change<'_>, member: MemberId, lost: Permissions) -> Result<(), Error> {
    match lost.contains(Permission::SoaApprove) {
        true => release_approvals(c, member).await,
        false => Ok(()),
    }
}

async fn release_approvals(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for before in soa::lock_awaiting(c.t, c.scope, member).await? {
        save(c, &before, withdrawn(&before), "soa.updated").await?;
    }
    Ok(())
}
