//! Answers to the questions of a statement of applicability: saved or confirmed by people, proposed by rules and
//! models.

use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, RequirementId, SoaDocumentId};
use attestry_domain::patch::Patch;
use attestry_domain::soa::rules::Proposal;
use attestry_domain::soa::{
    AnswerSource, AnswerState, ImplementationStatus, SoaAnswer, SoaDocument, SoaStatus,
};
use attestry_storage::soa;

use super::{ANSWER, framework_of, lock, save};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers::assignees;

/// A person's answer. Omitted fields keep their values, unless the applicability changes.
#[derive(Clone, Debug)]
pub struct AnswerInput {
    pub question: RequirementId,
    pub is_applicable: bool,
    pub justification: Patch<String>,
    pub implementation_status: Patch<ImplementationStatus>,
    pub owner: Patch<MemberId>,
    pub obligation: Patch<String>,
}

fn unknown_question() -> Error {
    Error::field("questionId", "is not one of the questions; POST /v1/soa/ensure-setup lists them")
}

/// Saves a person's answer.
#[boxed]
pub async fn save_one(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    given: AnswerInput,
) -> Result<(SoaAnswer, SoaDocument), Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, id).await?;
        let framework = framework_of(c.t, c.scope, &before).await?;
        if !framework.questions().any(|question| question.id == given.question) {
            return Err(unknown_question());
        }
        let known = soa::answer(c.t, c.scope, id, given.question).await?;
        let kept = known.as_ref().filter(|answer| answer.is_applicable == given.is_applicable);
        let text = |patch: &Patch<String>, kept: Option<&String>| {
            patch.clone().apply(kept.cloned()).filter(|text| !text.is_empty())
        };
        let answer = SoaAnswer {
            id: known.as_ref().map_or_else(|| c.next_id(), |known| known.id),
            document_id: id,
            question_id: given.question,
            is_applicable: given.is_applicable,
            justification: text(&given.justification, kept.and_then(|kept| kept.justification.as_ref())),
            implementation_status: given
                .implementation_status
                .clone()
                .apply(kept.and_then(|kept| kept.implementation_status)),
            owner_id: given.owner.clone().apply(known.as_ref().and_then(|known| known.owner_id)),
            obligation: text(&given.obligation, kept.and_then(|kept| kept.obligation.as_ref())),
            source: AnswerSource::Person,
            state: AnswerState::Confirmed,
            updated_at: c.now,
            updated_by: c.scope.member(),
        };
        if !answer.is_applicable && answer.justification.is_none() {
            return Err(Error::field("justification", "is required when the control is not applicable"));
        }
        if let Patch::Value(owner) = given.owner {
            assignees::must_be_active(c.t, c.scope, "ownerId", Some(owner)).await?;
        }
        let is_known = known.is_some();
        let is_open =
            matches!(before.status, SoaStatus::Draft | SoaStatus::InProgress | SoaStatus::Completed);
        let is_same = |known: &SoaAnswer| known.is_confirmed() && known.says_the_same(&answer);
        if let Some(known) = known.filter(|known| is_open && is_same(known)) {
            return Ok((known, before));
        }
        put(c, &answer, is_known, "soa.answered").await?;
        let document = count(c, &before).await?;
        Ok((answer, document))
    })
    .await
}

async fn put(c: &Change<'_>, answer: &SoaAnswer, is_known: bool, action: &'static str) -> Result<(), Error> {
    match is_known {
        true => soa::update_answer(c.t, c.scope, answer).await?,
        false => soa::insert_answer(c.t, c.scope, answer).await?,
    }
    c.record(action, ANSWER, answer.id, answer)
}

/// Updates the counts and the status of a document after answers changed.
async fn count(c: &Change<'_>, before: &SoaDocument) -> Result<SoaDocument, Error> {
    let answered = soa::count_confirmed(c.t, c.scope, before.id).await?;
    save(c, before, before.answered(answered, c.now), "soa.updated").await
}

/// Confirms proposed answers: all of them, or those to the named questions.
#[boxed]
pub async fn confirm(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    named: Option<Vec<RequirementId>>,
) -> Result<(Vec<SoaAnswer>, SoaDocument), Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, id).await?;
        let mut answers = soa::answers(c.t, c.scope, id).await?;
        if let Some(named) = &named {
            let is_unknown =
                |question: &&RequirementId| !answers.iter().any(|one| one.question_id == **question);
            if let Some(unknown) = named.iter().find(is_unknown) {
                return Err(Error::field(
                    "questionIds",
                    format!("must hold questions that have an answer; {unknown} has none"),
                ));
            }
        }
        answers.retain(|answer| {
            !answer.is_confirmed() && named.as_ref().is_none_or(|named| named.contains(&answer.question_id))
        });
        if answers.is_empty() {
            return Ok((answers, before));
        }
        for answer in &mut answers {
            answer.state = AnswerState::Confirmed;
            answer.updated_at = c.now;
            answer.updated_by = c.scope.member();
            put(c, answer, true, "soa.answered").await?;
        }
        let document = count(c, &before).await?;
        Ok((answers, document))
    })
    .await
}

/// Proposes answers to unanswered questions, and deletes outdated proposals of rules. Answers that a person confirmed
/// meanwhile stay.
pub(super) async fn propose(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    proposals: Vec<(RequirementId, Proposal)>,
    outdated: Vec<RequirementId>,
    source: AnswerSource,
) -> Result<Vec<SoaAnswer>, Error> {
    if proposals.is_empty() && outdated.is_empty() {
        return Ok(Vec::new());
    }
    ctx.change(scope, async move |c| {
        let document = lock(c, id).await?;
        let known = soa::answers(c.t, c.scope, id).await?;
        let mut made = Vec::new();
        let is_outdated = |answer: &&SoaAnswer| {
            outdated.contains(&answer.question_id)
                && answer.source == AnswerSource::Rule
                && can_be_replaced(answer)
        };
        let mut is_changed = false;
        for answer in known.iter().filter(is_outdated) {
            soa::delete_answer(c.t, c.scope, answer.id).await?;
            c.record_gone("soa.answer_withdrawn", ANSWER, answer.id);
            is_changed = true;
        }
        for (question, proposal) in &proposals {
            let known = known.iter().find(|answer| answer.question_id == *question);
            if known.is_some_and(|known| !can_be_replaced(known)) {
                continue;
            }
            let Proposal { is_applicable, justification, implementation_status } = proposal.clone();
            let answer = SoaAnswer {
                id: known.map_or_else(|| c.next_id(), |known| known.id),
                document_id: id,
                question_id: *question,
                is_applicable,
                justification: Some(justification).filter(|text| !text.is_empty()),
                implementation_status,
                owner_id: known.and_then(|known| known.owner_id),
                obligation: known.and_then(|known| known.obligation.clone()),
                source,
                state: AnswerState::Proposed,
                updated_at: c.now,
                updated_by: None,
            };
            if known.is_some_and(|known| known.source == source && known.says_the_same(&answer)) {
                continue;
            }
            put(c, &answer, known.is_some(), "soa.answer_proposed").await?;
            made.push(answer);
        }
        if is_changed || !made.is_empty() {
            save(c, &document, document.clone(), "soa.updated").await?;
        }
        Ok(made)
    })
    .await
}

/// Returns true for an unconfirmed proposal of a rule or a model, which a new proposal may replace. An answer that a
/// person confirmed before is never replaced.
pub(super) fn can_be_replaced(answer: &SoaAnswer) -> bool {
    !answer.is_confirmed() && matches!(answer.source, AnswerSource::Rule | AnswerSource::Ai)
}

#[cfg(test)]
mod tests {
    use attestry_domain::Time;
    use attestry_domain::id::SoaAnswerId;

    use super::*;

    #[test]
    fn only_unconfirmed_proposals_of_rules_and_models_are_replaced() {
        use AnswerSource::{Ai, Person, Previous, Rule};
        use AnswerState::{Confirmed, Proposed};
        let answer = |source, state| SoaAnswer {
            id: SoaAnswerId::from_u128(1),
            document_id: SoaDocumentId::from_u128(2),
            question_id: RequirementId::from_u128(3),
            is_applicable: true,
            justification: None,
            implementation_status: None,
            owner_id: None,
            obligation: None,
            source,
            state,
            updated_at: Time::from_millis(0),
            updated_by: None,
        };
        for (source, state, expected) in [
            (Rule, Proposed, true),
            (Ai, Proposed, true),
            (Previous, Proposed, false),
            (Person, Proposed, false),
            (Rule, Confirmed, false),
            (Ai, Confirmed, false),
            (Person, Confirmed, false),
        ] {
            assert_eq!(can_be_replaced(&answer(source, state)), expected, "{source:?} {state:?}");
        }
    }
}
