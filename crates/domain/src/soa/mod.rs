//! A statement of applicability: which controls of a framework apply to the organization, and why. The framework is the
//! same for everyone; the answers belong to a document of one organization.

use serde::{Deserialize, Serialize};

use crate::date::Date;
use crate::frameworks::controls::Missing;
use crate::frameworks::{Framework, Requirement};
use crate::id::{
    FrameworkId, MemberId, OrganizationId, RequirementId, SoaAnswerId, SoaApprovalId, SoaConfigurationId,
    SoaDocumentId,
};
use crate::policies::version::VersionNumber;
use crate::row::Row;
use crate::time::Time;

pub mod rules;

crate::words! {
    SoaStatus {
        Draft = "draft",
        InProgress = "in_progress",
        /// All questions are answered.
        Completed = "completed",
        NeedsReview = "needs_review",
        Approved = "approved",
        Declined = "declined",
    }
}

crate::words! {
    /// The implementation status of an applicable control.
    ImplementationStatus {
        NotStarted = "not_started",
        InProgress = "in_progress",
        Implemented = "implemented",
    }
}

crate::words! {
    /// The origin of an answer.
    AnswerSource {
        Person = "person",
        Rule = "rule",
        Ai = "ai",
        /// The previous version.
        Previous = "previous",
    }
}

crate::words! {
    /// The state of an answer: proposed, or confirmed by a person.
    AnswerState {
        Proposed = "proposed",
        Confirmed = "confirmed",
    }
}

/// The justification of an answer.
pub type Justification = crate::text::Text<0, 4_000>;

/// A statement of applicability, without its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct SoaDocument {
    pub id: SoaDocumentId,
    pub framework_id: FrameworkId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    #[row(column = "number")]
    pub version: VersionNumber,
    pub is_latest: bool,
    pub status: SoaStatus,
    pub total_questions: i64,
    /// The number of questions with an answer that a person has confirmed.
    pub answered_questions: i64,
    pub prepared_by: Option<MemberId>,
    pub approver_id: Option<MemberId>,
    pub submitted_at: Option<Time>,
    /// The member who submitted it for approval.
    pub submitted_by: Option<MemberId>,
    pub approved_at: Option<Time>,
    pub declined_at: Option<Time>,
    pub decline_reason: Option<String>,
    pub completed_at: Option<Time>,
    /// The SHA-256 of the approved content, in hexadecimal.
    pub content_hash: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
    /// Counts the changes to the document and to its answers.
    #[serde(skip)]
    pub revision: i64,
}

impl SoaDocument {
    pub fn is_complete(&self) -> bool {
        self.answered_questions == self.total_questions
    }

    /// The document after a change of its answers, which withdraws a submission or a decision.
    #[must_use]
    pub fn answered(&self, answered_questions: i64, now: Time) -> Self {
        let mut after = Self { answered_questions, ..self.clone() };
        let was_decided = matches!(self.status, SoaStatus::Approved | SoaStatus::Declined);
        after.status = match !was_decided && after.is_complete() {
            true => SoaStatus::Completed,
            false => SoaStatus::InProgress,
        };
        after.completed_at = match after.status {
            SoaStatus::Completed => self.completed_at.or(Some(now)),
            _ => None,
        };
        after.approver_id = None;
        after.submitted_at = None;
        after.submitted_by = None;
        after.approved_at = None;
        after.declined_at = None;
        after.decline_reason = None;
        after.content_hash = None;
        after
    }
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct SoaAnswer {
    pub id: SoaAnswerId,
    pub document_id: SoaDocumentId,
    pub question_id: RequirementId,
    pub is_applicable: bool,
    pub justification: Option<String>,
    pub implementation_status: Option<ImplementationStatus>,
    pub owner_id: Option<MemberId>,
    /// A law or a contract that requires it.
    pub obligation: Option<String>,
    pub source: AnswerSource,
    pub state: AnswerState,
    pub updated_at: Time,
    pub updated_by: Option<MemberId>,
}

impl SoaAnswer {
    pub fn is_confirmed(&self) -> bool {
        self.state == AnswerState::Confirmed
    }

    /// Returns true when both have the same content, whatever their source.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |one: &Self| {
            (
                one.is_applicable,
                one.justification.clone(),
                one.implementation_status,
                one.owner_id,
                one.obligation.clone(),
            )
        };
        said(self) == said(other)
    }
}

/// The questions about a framework, which are the same for every organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    pub id: SoaConfigurationId,
    pub framework_id: FrameworkId,
    pub version: i64,
    pub is_latest: bool,
    pub columns: Vec<ConfigurationColumn>,
    pub questions: Vec<Question>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigurationColumn {
    pub name: &'static str,
    #[serde(rename = "type")]
    pub kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub id: RequirementId,
    pub text: String,
    pub column_mapping: ColumnMapping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnMapping {
    pub closure: String,
    pub title: String,
    pub control_objective: String,
    /// Always null: answers are stored in the document of an organization.
    #[serde(rename = "isApplicable")]
    pub is_applicable: (),
    pub justification: (),
}

impl Configuration {
    pub fn of(framework: &Framework) -> Self {
        let question = |one: &Requirement| Question {
            id: one.id,
            text: format!("Does {} {} apply to your organization?", one.code, one.title),
            column_mapping: ColumnMapping {
                closure: one.code.clone(),
                title: one.title.clone(),
                control_objective: one.objective.clone(),
                is_applicable: (),
                justification: (),
            },
        };
        let column = |(name, kind)| ConfigurationColumn { name, kind };
        Self {
            // The same for every organization, like the framework.
            id: SoaConfigurationId::from_u128(framework.id.as_u128()),
            framework_id: framework.id,
            version: 1,
            is_latest: true,
            columns: [
                ("closure", "string"),
                ("title", "string"),
                ("control_objective", "string"),
                ("isApplicable", "boolean"),
                ("justification", "string"),
            ]
            .map(column)
            .to_vec(),
            questions: framework.questions().map(question).collect(),
        }
    }
}

crate::words! {
    /// A missing part of a row.
    Gap {
        /// An answer that a person has confirmed.
        Answer = "answer",
        /// A treated risk, or a law or contract that requires it.
        Reason = "reason",
        Control = "control",
        /// A published policy of its controls, although it is marked as implemented.
        Policy = "policy",
        /// A policy or a task for each of its controls, although it is marked as implemented.
        Task = "task",
        /// Fresh evidence, although it is marked as implemented.
        Evidence = "evidence",
        /// An owner of each of its controls, or of the row where there is none.
        Owner = "owner",
    }
}

/// The facts behind a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowFacts<'a> {
    pub risks: usize,
    pub controls: usize,
    /// The missing parts of the controls.
    pub missing: &'a [Missing],
}

/// The gaps of a row. A row that does not apply needs only an answer.
pub fn gaps(answer: Option<&SoaAnswer>, behind: RowFacts<'_>) -> Vec<Gap> {
    let Some(answer) = answer else { return vec![Gap::Answer] };
    let mut gaps = Vec::new();
    let mut lacks = |is_missing: bool, gap| {
        if is_missing {
            gaps.push(gap);
        }
    };
    lacks(!answer.is_confirmed(), Gap::Answer);
    if answer.is_applicable {
        let is_implemented = answer.implementation_status == Some(ImplementationStatus::Implemented);
        let misses = |piece| behind.missing.contains(&piece);
        lacks(behind.risks == 0 && answer.obligation.is_none(), Gap::Reason);
        lacks(behind.controls == 0, Gap::Control);
        lacks(is_implemented && misses(Missing::Policy), Gap::Policy);
        lacks(is_implemented && misses(Missing::Task), Gap::Task);
        lacks(is_implemented && misses(Missing::Evidence), Gap::Evidence);
        lacks(misses(Missing::Owner) || (behind.controls == 0 && answer.owner_id.is_none()), Gap::Owner);
    }
    gaps
}

/// A row of the approved content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrozenRow {
    pub question_id: RequirementId,
    pub theme: String,
    pub code: String,
    pub title: String,
    pub is_applicable: Option<bool>,
    pub justification: String,
    pub status: Option<ImplementationStatus>,
    pub owner: Option<String>,
    pub obligation: String,
    pub is_proposed: bool,
}

/// A statement for printing, with the names of people at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SoaSnapshot {
    pub document_id: SoaDocumentId,
    pub framework_id: FrameworkId,
    pub organization: String,
    pub framework: String,
    pub attribution: String,
    pub version: VersionNumber,
    pub status: SoaStatus,
    pub date: Date,
    pub prepared_by: Option<String>,
    pub approved_by: Option<String>,
    pub rows: Vec<FrozenRow>,
}

crate::words! {
    /// The file format of a statement.
    SoaFormat {
        Pdf = "pdf",
        Xlsx = "xlsx",
        Csv = "csv",
    }
}

/// The approval of a statement, with the approved content.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct SoaApproval {
    pub id: SoaApprovalId,
    pub document_id: SoaDocumentId,
    pub framework_id: FrameworkId,
    pub approver_id: MemberId,
    pub approved_at: Time,
    pub content_hash: String,
    #[row(json)]
    pub content: SoaSnapshot,
}
