//! Automations: scripts that gather evidence for a task on demand, on a schedule or on an event.

pub mod checks;
pub mod hosts;
pub mod masking;
pub mod schedules;
pub mod secrets;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::access::Permission;
use crate::automations::schedules::Schedule;
use crate::id::{AttachmentId, AutomationId, AutomationVersionId, MemberId, OrganizationId, RunId, TaskId};
use crate::json::JsonSchema;
use crate::patch::Patch;
use crate::plain::{Keep, Plain, PlainKind, text_of};
use crate::row::Row;
use crate::tasks::TaskStatus;
use crate::text::{LongText, Name, Parse};
use crate::time::Time;
use crate::zone::Zone;

macro_rules! events {
    ($($action:literal)*) => {
        /// The journal actions that can start an automation.
        pub const EVENTS: &[&str] = &[$($action),*];
    };
}

events! {
    "risk.created" "risk.updated" "risk.deleted"
    "vendor.created" "vendor.updated" "vendor.deleted"
    "task.created" "task.updated" "task.deleted"
    "policy.created" "policy.updated" "policy.deleted" "policy.submitted" "policy.denied" "policy.published"
    "policy.review_due" "policy.signed"
    "control.created" "control.updated" "control.deleted"
    "context_entry.created" "context_entry.updated" "context_entry.deleted"
    "framework.created" "framework.updated" "framework.deleted"
    "soa.created" "soa.submitted" "soa.approved" "soa.declined"
    "comment.created" "comment.updated" "comment.deleted"
    "attachment.created" "attachment.deleted"
    "member.created" "member.invited" "member.joined" "member.updated" "member.deactivated" "member.reactivated"
    "organization.updated"
}

/// A journal action that can start an automation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(&'static str);

impl Event {
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The permission needed to subscribe an automation to the event.
    pub fn permission(self) -> Permission {
        match self.0.split('.').next() {
            Some("risk") => Permission::RiskRead,
            Some("vendor") => Permission::VendorRead,
            Some("task") => Permission::TaskRead,
            Some("policy") => Permission::PolicyRead,
            Some("control") => Permission::ControlRead,
            Some("context_entry") => Permission::ContextRead,
            Some("framework") => Permission::FrameworkRead,
            Some("soa") => Permission::SoaRead,
            Some("comment") => Permission::CommentRead,
            Some("attachment") => Permission::AttachmentRead,
            Some("member") => Permission::MemberRead,
            _ => Permission::OrganizationRead,
        }
    }
}

impl Parse for Event {
    fn parse(text: &str) -> Result<Self, String> {
        let known = EVENTS.iter().find(|known| **known == text);
        known.map(|known| Self(known)).ok_or_else(|| format!("must be one of: {}", EVENTS.join(", ")))
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Stored with a space between the words. Events that no longer exist are ignored.
impl Keep for Vec<Event> {
    const KIND: PlainKind = PlainKind::Words;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.iter().map(|event| event.0).collect::<Vec<_>>().join(" ").into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        Ok(text_of(value)?.split_whitespace().filter_map(|event| Event::parse(event).ok()).collect())
    }
}

impl JsonSchema for Event {
    fn json_schema() -> Value {
        json!({"type": "string", "enum": EVENTS})
    }
}

/// The source of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(String);

impl Source {
    pub const MAX: usize = 256 << 10;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl Parse for Source {
    fn parse(text: &str) -> Result<Self, String> {
        match text.len() {
            _ if text.trim().is_empty() => Err("must not be empty".to_owned()),
            _ if text.contains('\0') => Err("must not contain a NUL character".to_owned()),
            0..=Self::MAX => Ok(Self(text.to_owned())),
            _ => Err(format!("is limited to {} KiB", Self::MAX >> 10)),
        }
    }
}

impl JsonSchema for Source {
    fn json_schema() -> Value {
        json!({"type": "string", "minLength": 1, "maxLength": Self::MAX})
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Automation {
    pub id: AutomationId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub task_id: TaskId,
    pub name: String,
    pub description: Option<String>,
    pub is_enabled: bool,
    pub schedule: Option<Schedule>,
    /// The time zone of the schedule; the organization's by default.
    pub time_zone: Option<Zone>,
    /// The events that start it.
    pub events: Vec<Event>,
    pub evaluation_criteria: Option<String>,
    /// The built-in check that it runs with `parameters`; without one it runs the latest version of its own script.
    #[row(column = "check_name")]
    pub check: Option<String>,
    #[row(json)]
    pub parameters: Option<Value>,
    /// The status that the task gets when a run passes or fails.
    pub status_on_pass: Option<TaskStatus>,
    pub status_on_fail: Option<TaskStatus>,
    /// Attaches the evidence that a run returns to the task.
    pub keep_evidence: bool,
    /// `None` before there is a script.
    pub latest_version: Option<i64>,
    pub created_by: Option<MemberId>,
    pub created_at: Time,
    pub updated_at: Time,
    /// The time of the next scheduled run. Not part of its history.
    #[serde(skip)]
    pub next_run_at: Option<Time>,
    /// True when the last run failed. Notifications are sent only for the first failure and for the recovery.
    #[serde(skip)]
    pub is_failing: bool,
    #[serde(skip)]
    pub version: i64,
}

/// The input that creates or changes an automation.
#[derive(Clone, Debug, Default)]
pub struct AutomationPatch {
    pub name: Option<Name>,
    pub description: Patch<LongText>,
    pub is_enabled: Option<bool>,
    pub schedule: Patch<Schedule>,
    pub time_zone: Patch<Zone>,
    pub events: Option<Vec<Event>>,
    pub evaluation_criteria: Patch<LongText>,
    pub parameters: Option<Value>,
    pub status_on_pass: Patch<TaskStatus>,
    pub status_on_fail: Patch<TaskStatus>,
    pub keep_evidence: Option<bool>,
}

impl Automation {
    #[must_use]
    pub fn patched(&self, patch: AutomationPatch) -> Self {
        let AutomationPatch {
            name,
            description,
            is_enabled,
            schedule,
            time_zone,
            events,
            evaluation_criteria,
            parameters,
            status_on_pass,
            status_on_fail,
            keep_evidence,
        } = patch;
        let mut after = self.clone();
        if let Some(name) = name {
            after.name = name.into_string();
        }
        if let Some(mut events) = events {
            events.sort_unstable();
            events.dedup();
            after.events = events;
        }
        after.description = description.map(String::from).apply(after.description);
        after.is_enabled = is_enabled.unwrap_or(after.is_enabled);
        after.schedule = schedule.apply(after.schedule);
        after.time_zone = time_zone.apply(after.time_zone);
        after.evaluation_criteria = evaluation_criteria.map(String::from).apply(after.evaluation_criteria);
        after.parameters = parameters.or(after.parameters);
        after.status_on_pass = status_on_pass.apply(after.status_on_pass);
        after.status_on_fail = status_on_fail.apply(after.status_on_fail);
        after.keep_evidence = keep_evidence.unwrap_or(after.keep_evidence);
        after
    }

    /// The entity tag. It includes the next run, which changes without a new version.
    pub fn tag(&self) -> [i64; 2] {
        [self.version, self.next_run_at.map_or(0, Time::as_millis)]
    }

    /// The next scheduled run, if the automation is enabled and has a version to run.
    pub fn next_run(&self, after: Time, organization: &Zone) -> Option<Time> {
        let zone = self.time_zone.as_ref().unwrap_or(organization);
        self.latest_version.filter(|_| self.is_enabled)?;
        self.schedule.as_ref()?.next(after, zone)
    }
}

/// An immutable version of an automation's script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    pub id: AutomationVersionId,
    pub automation_id: AutomationId,
    #[row(column = "number")]
    pub version: i64,
    pub script: String,
    pub changelog: Option<String>,
    pub created_by: Option<MemberId>,
    pub created_at: Time,
}

crate::words! {
    /// The cause of a run.
    Trigger {
        Manual = "MANUAL",
        Scheduled = "SCHEDULED",
        Event = "EVENT",
    }
}

crate::words! {
    RunStatus {
        Pending = "PENDING",
        Running = "RUNNING",
        Completed = "COMPLETED",
        Failed = "FAILED",
        Cancelled = "CANCELLED",
    }
}

impl RunStatus {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

crate::words! {
    /// The verdict of a script.
    Evaluation {
        Pass = "pass",
        Fail = "fail",
    }
}

/// The reason that a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub id: RunId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub task_id: TaskId,
    pub automation_id: AutomationId,
    /// The version of the script.
    #[serde(rename = "version")]
    pub script: i64,
    pub trigger: Trigger,
    pub status: RunStatus,
    /// The journal entry that started it, as JSON. Not recorded again, since the journal has it.
    #[serde(skip)]
    #[row(json)]
    pub event: Option<Value>,
    pub created_at: Time,
    pub started_at: Option<Time>,
    pub completed_at: Option<Time>,
    pub evaluation: Option<Evaluation>,
    pub reason: Option<String>,
    /// The evidence that the script returned, as JSON. The journal records only the file that contains it.
    #[serde(skip)]
    pub output: Option<String>,
    #[row(flatten, prefix = "error_")]
    pub error: Option<RunError>,
    /// The attachment that contains the evidence.
    pub attachment_id: Option<AttachmentId>,
    /// Its log, line by line. Not part of its history.
    #[serde(skip)]
    pub logs: Vec<String>,
}

impl Run {
    /// Returns true when the script completed; `None` until the run is over.
    pub fn success(&self) -> Option<bool> {
        self.status.is_over().then_some(self.status == RunStatus::Completed)
    }

    /// The time from start to end in milliseconds.
    pub fn duration(&self) -> Option<i64> {
        let (start, end) = (self.started_at?, self.completed_at?);
        i64::try_from(end.since(start).as_millis()).ok()
    }
}

crate::given_as_text!(Source);
