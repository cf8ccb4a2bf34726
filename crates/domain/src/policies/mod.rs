//! Policies: rules of the organization that are written, approved, published and signed.
//!
//! A policy has one working text, and versions. A version is frozen when the policy is published, and is the text
//! that members read and sign, whatever happens to the working text later.

pub mod assistant;
pub mod templates;
pub mod version;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::{Denied, Permission, Scope};
use crate::any_of::AnyOf;
use crate::content::{self, Body};
use crate::date::Date;
use crate::id::{
    AttachmentId, MemberId, OrganizationId, PolicyId, PolicySignatureId, PolicyTemplateId, PolicyVersionId,
    kind,
};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind};
use crate::policies::version::VersionNumber;
use crate::registers::{Actions, Computed, Fields, Filter, Register, SEARCH_TEXT, Visibility};
use crate::tasks::Frequency;
use crate::text::{AnyText, Name};
use crate::time::Time;
use crate::words::Department;

crate::words! {
    #[derive(Default)]
    PolicyStatus {
        #[default]
        Draft = "draft",
        NeedsReview = "needs_review",
        Published = "published",
    }
}

crate::words! {
    /// The interval between reviews.
    ReviewFrequency {
        Monthly = "monthly",
        Quarterly = "quarterly",
        Yearly = "yearly",
    }
}

impl ReviewFrequency {
    pub fn after(self, date: Date) -> Date {
        let frequency = match self {
            Self::Monthly => Frequency::Monthly,
            Self::Quarterly => Frequency::Quarterly,
            Self::Yearly => Frequency::Yearly,
        };
        frequency.after(date)
    }
}

/// A switch that is on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct On(pub bool);

impl Default for On {
    fn default() -> Self {
        Self(true)
    }
}

impl Keep for On {
    const KIND: PlainKind = PlainKind::Bool;

    fn plain(&self) -> Plain<'_> {
        Plain::Bool(self.0)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        bool::kept(value).map(Self)
    }
}

impl JsonSchema for On {
    fn json_schema() -> Value {
        json!({"type": "boolean", "default": true})
    }
}

impl Given for On {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        bool::given(json).map(Self)
    }
}

use crate::row::Row;
/// The fields of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct Policy {
    /// The policy's name.
    pub name: Name,
    /// Its subject, in a sentence or two.
    #[field(default)]
    pub description: AnyText,
    /// The status. Changing the name, the description, the content or the file makes it a draft again; members go on
    /// seeing the version that is published.
    #[field(own)]
    pub status: PolicyStatus,
    /// Its text, as the nodes of a rich-text editor.
    #[field(default)]
    pub content: content::Body,
    /// A PDF or Word file attached to the policy, which is its text in place of `content`.
    pub file_id: Option<AttachmentId>,
    /// The review interval. Publishing sets the next `reviewDate`.
    pub frequency: Option<ReviewFrequency>,
    /// The department it belongs to.
    pub department: Option<Department>,
    /// True if members have to sign it.
    #[field(default)]
    pub is_required_to_sign: On,
    /// The day by which it is to be published.
    pub due_date: Option<Date>,
    /// When it is to be reviewed. On that day a published policy goes back to `needs_review`.
    pub review_date: Option<Date>,
    /// True if it is out of use. Members no longer see it.
    #[field(default)]
    pub is_archived: bool,
    /// The active member who looks after it.
    pub assignee_id: Option<MemberId>,
    /// The member who is asked to approve it, or approved it.
    #[field(own)]
    pub approver_id: Option<MemberId>,
    /// The member who asked for the approval.
    #[field(own)]
    pub submitted_by_id: Option<MemberId>,
    /// The template it was made from.
    #[field(own)]
    pub policy_template_id: Option<PolicyTemplateId>,
    /// True if a version is published.
    #[field(own)]
    pub is_published: bool,
    /// The number of the version that is published.
    #[field(own)]
    pub current_version: Option<VersionNumber>,
    /// The version that is published.
    #[field(own)]
    pub current_version_id: Option<PolicyVersionId>,
    /// When its first version was published.
    #[field(own)]
    pub first_published_at: Option<Time>,
    /// When it was published last.
    #[field(own)]
    pub last_published_at: Option<Time>,
    /// When it was archived last.
    #[field(own)]
    pub last_archived_at: Option<Time>,
}

/// The filter values of a list of policies.
#[derive(Clone, Debug, Default, Filter)]
pub struct PolicyFilter {
    /// Only policies with this status.
    pub status: Option<AnyOf<PolicyStatus>>,
    /// Only policies of this department.
    pub department: Option<AnyOf<Department>>,
    /// Only policies that are reviewed this often.
    pub frequency: Option<AnyOf<ReviewFrequency>>,
    /// Only policies this member looks after.
    pub assignee_id: Option<AnyOf<MemberId>>,
    /// Only policies this member is asked to approve, or approved.
    pub approver_id: Option<AnyOf<MemberId>>,
    /// Only policies that members have to sign, or only the others.
    pub is_required_to_sign: Option<bool>,
    /// Only policies of which a version is published, or only the others.
    pub is_published: Option<bool>,
    /// true lists the archived policies, which are left out otherwise.
    pub is_archived: Option<bool>,
}

crate::register_sort! {
    /// The sort keys of the list of policies.
    PolicySort {
        Name = "name", name_key Text;
        Status = "status", status Words(PolicyStatus);
        Department = "department", department Words(crate::words::Department);
        Frequency = "frequency", frequency Words(ReviewFrequency);
        Assignee = "assignee", assignee_id Member;
        ReviewDate = "reviewDate", review_date Date;
        CurrentVersion = "currentVersion", current_version Whole;
        LastPublishedAt = "lastPublishedAt", last_published_at Whole;
        Signatures = "signatures", signed_by Derived;
    }
}

impl Policy {
    /// The number by which policies are sorted by their signatures: policies that nobody has to sign come first.
    pub fn signature_rank(&self, signatures: i64) -> i64 {
        match (self.is_published, self.is_required_to_sign.0) {
            (false, _) => -2,
            (true, false) => -1,
            (true, true) => signatures,
        }
    }

    /// Returns true when the parts that are approved and signed are equal.
    fn says_the_same(&self, other: &Self) -> bool {
        let said = |policy: &Self| (policy.name.clone(), policy.description.clone(), policy.file_id);
        said(self) == said(other) && self.content == other.content
    }

    pub fn has_text(&self) -> bool {
        self.file_id.is_some() || !self.content.is_empty()
    }

    /// The policy after it is submitted for approval.
    #[must_use]
    pub fn submitted(&self, approver: MemberId, by: Option<MemberId>) -> Self {
        Self {
            status: PolicyStatus::NeedsReview,
            approver_id: Some(approver),
            submitted_by_id: by,
            ..self.clone()
        }
    }

    #[must_use]
    pub fn denied(&self) -> Self {
        Self { status: PolicyStatus::Draft, approver_id: None, ..self.clone() }
    }

    /// The policy after a version of it is published.
    #[must_use]
    pub fn published(&self, version: &PolicyVersion, today: Date) -> Self {
        let next = self.frequency.map(|frequency| frequency.after(today));
        Self {
            status: PolicyStatus::Published,
            is_published: true,
            current_version: Some(version.number),
            current_version_id: Some(version.id),
            first_published_at: self
                .first_published_at
                .or(self.last_published_at)
                .or(Some(version.published_at)),
            last_published_at: Some(version.published_at),
            // A review date in the future is preserved.
            review_date: next.or(self.review_date.filter(|date| *date > today)),
            ..self.clone()
        }
    }

    /// The policy as members see it: the published version, not the working text.
    #[must_use]
    pub fn as_published(&self, version: PolicyVersion) -> Self {
        Self {
            status: PolicyStatus::Published,
            name: crate::text::Text::stored(version.name),
            description: crate::text::Text::stored(version.description),
            content: version.content,
            file_id: version.file.map(|file| file.id),
            approver_id: version.approver_id,
            submitted_by_id: None,
            ..self.clone()
        }
    }

    /// Returns true when members see a difference: another version, or a change of a field outside of the text.
    /// Changes of the working text are not revealed.
    pub fn looks_different(before: Option<&Self>, after: Option<&Self>) -> bool {
        let seen = |policy: &Self| {
            (policy.is_published && !policy.is_archived).then_some((
                policy.current_version_id,
                policy.department,
                policy.frequency,
                policy.review_date,
                policy.assignee_id,
                policy.is_required_to_sign,
            ))
        };
        before.and_then(seen) != after.and_then(seen)
    }

    /// Returns true when its review is due.
    pub fn is_due(&self, today: Date) -> bool {
        self.status == PolicyStatus::Published
            && !self.is_archived
            && self.review_date.is_some_and(|date| date <= today)
    }
}

impl Register for Policy {
    type Kind = kind::Policy;
    type Filter = PolicyFilter;
    type Sort = PolicySort;

    const REFERENCE: &'static str = "P";
    const ENTITY: &'static str = "policy";
    const ACTIONS: Actions = crate::actions!("policy");
    const HIDDEN: Option<&'static str> = Some("archived");
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("name_key", |policy| Plain::Text(policy.name.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |policy| {
            Plain::Text(format!("{}\n{}", policy.name, policy.description).to_lowercase().into())
        }),
        Computed::hidden("archived", |policy| Plain::Bool(policy.is_archived)),
    ];
    const TELLS: bool = true;

    crate::register_basics!(name, reviewed);

    fn visibility(filter: &PolicyFilter) -> Visibility {
        match filter.is_archived {
            Some(true) => Visibility::Hidden,
            _ => Visibility::Shown,
        }
    }

    fn file(&self) -> Option<AttachmentId> {
        self.file_id
    }

    fn follow(&mut self, before: Option<&Self>, _given: &PolicyPatch, now: Time) {
        let Some(before) = before else {
            self.last_archived_at = self.is_archived.then_some(now);
            return;
        };
        if !self.says_the_same(before) && self.status != PolicyStatus::Draft {
            // The approver has not read the changed text, so it has to be submitted again.
            self.status = PolicyStatus::Draft;
            self.approver_id = None;
            self.submitted_by_id = None;
        }
        if self.is_archived && !before.is_archived {
            self.last_archived_at = Some(now);
        }
    }

    fn is_visible(&self, scope: &Scope) -> bool {
        scope.allows(Permission::PolicyRead) || (self.is_published && !self.is_archived)
    }

    fn narrow(filter: &mut PolicyFilter, scope: &Scope) -> bool {
        if scope.allows(Permission::PolicyRead) {
            return true;
        }
        let asks_for_others = filter.is_archived == Some(true) || filter.is_published == Some(false);
        // Members see neither working texts nor their status.
        *filter = PolicyFilter {
            is_published: Some(true),
            status: None,
            approver_id: None,
            department: filter.department.take(),
            frequency: filter.frequency.take(),
            assignee_id: filter.assignee_id.take(),
            is_required_to_sign: filter.is_required_to_sign,
            is_archived: None,
        };
        !asks_for_others
    }

    fn may_look_back(scope: &Scope) -> Result<(), Denied> {
        scope.require(Permission::PolicyRead)
    }
}

/// A file that is the text of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Row)]
pub struct PolicyFile {
    #[row(column = "file_id")]
    pub id: AttachmentId,
    #[row(column = "file_name")]
    pub name: String,
    /// The SHA-256 of its content, in hexadecimal.
    #[row(column = "file_sha256")]
    pub sha256: String,
}

/// A policy as it was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVersion {
    pub id: PolicyVersionId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub policy_id: PolicyId,
    #[serde(rename = "version")]
    pub number: VersionNumber,
    pub name: String,
    pub description: String,
    pub content: Body,
    #[row(flatten)]
    pub file: Option<PolicyFile>,
    /// True when its text differs from the previous version, so that it has to be signed again.
    pub is_changed: bool,
    pub approver_id: Option<MemberId>,
    pub submitted_by_id: Option<MemberId>,
    pub published_at: Time,
}

impl PolicyVersion {
    /// Returns true when both have the same name, content and file.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let file = |version: &Self| version.file.as_ref().map(|file| file.sha256.clone());
        (&self.name, &self.content, file(self)) == (&other.name, &other.content, file(other))
    }
}

/// The signature of a version by a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct PolicySignature {
    pub id: PolicySignatureId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub policy_id: PolicyId,
    pub version_id: PolicyVersionId,
    #[row(column = "number")]
    pub version: VersionNumber,
    pub member_id: MemberId,
    pub signed_at: Time,
    /// The time at which a version was published that has to be signed again.
    pub ended_at: Option<Time>,
}
