//! Automations: scripts that gather evidence for a task, when somebody asks, on a schedule, or when something happens.

use std::fmt;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::access::Permission;
use crate::id::{AttachmentId, AutomationId, AutomationVersionId, MemberId, OrganizationId, RunId, TaskId};
use crate::patch::Patch;
use crate::tasks::TaskStatus;
use crate::text::{LongText, Name, Parse};
use crate::time::Time;
use crate::zone::Zone;

/// When an automation runs: five fields of cron, understood in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(String);

fn cron(text: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(text).map_err(|error| {
        format!("must be a cron expression of five fields, such as 0 6 * * 1 (Mondays at 6:00): {error}")
    })
}

impl Schedule {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes what was kept.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// The next time after a moment, by the clocks of a zone; none if there never is one.
    pub fn next(&self, after: Time, zone: &Zone) -> Option<Time> {
        let after = after.timestamp().to_zoned(zone.time_zone().clone());
        let next = cron(&self.0).ok()?.find_next_occurrence(&after, false).ok()?;
        Some(Time::from_millis(next.timestamp().as_millisecond()))
    }
}

impl Parse for Schedule {
    fn parse(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let joined = fields.join(" ");
        if joined.len() > 200 {
            return Err("must have at most 200 characters".to_owned());
        }
        cron(&joined)?;
        if never_comes(&fields) {
            return Err("is a schedule that never comes: none of its months has such a day".to_owned());
        }
        Ok(Self(joined))
    }
}

/// Whether no month of a schedule is long enough for any of its days. Days that are not plain numbers always come.
fn never_comes(fields: &[&str]) -> bool {
    const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let [_, _, days, months, "*" | "?"] = fields else { return false };
    let numbers =
        |text: &str| -> Option<Vec<u32>> { text.split(',').map(|part| part.parse().ok()).collect() };
    let (Some(days), Some(months)) = (numbers(days), numbers(months)) else { return false };
    let longest = months.iter().filter_map(|month| LENGTHS.get((*month as usize).checked_sub(1)?)).max();
    longest.is_some_and(|longest| days.iter().all(|day| day > longest))
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl utoipa::PartialSchema for Schedule {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .examples(["0 6 * * 1"])
            .into()
    }
}

macro_rules! events {
    ($($action:literal)*) => {
        /// The actions of the journal that can start an automation.
        pub const EVENTS: &[&str] = &[$($action),*];
    };
}

events! {
    "risk.created" "risk.updated" "risk.deleted"
    "vendor.created" "vendor.updated" "vendor.deleted"
    "task.created" "task.updated" "task.deleted"
    "comment.created" "comment.updated" "comment.deleted"
    "attachment.created" "attachment.deleted"
    "member.created" "member.invited" "member.joined" "member.updated" "member.deactivated" "member.reactivated"
    "organization.updated"
}

/// An action of the journal that can start an automation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event(&'static str);

impl Event {
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What somebody must be allowed to see to be told of it.
    pub fn permission(self) -> Permission {
        match self.0.split('.').next() {
            Some("risk") => Permission::RiskRead,
            Some("vendor") => Permission::VendorRead,
            Some("task") => Permission::TaskRead,
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

impl utoipa::PartialSchema for Event {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .enum_values(Some(EVENTS.iter().copied()))
            .into()
    }
}

/// The source of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(String);

impl Source {
    pub const MOST: usize = 256 << 10;

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
            0..=Self::MOST => Ok(Self(text.to_owned())),
            _ => Err(format!("is limited to {} KiB", Self::MOST >> 10)),
        }
    }
}

impl utoipa::PartialSchema for Source {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .min_length(Some(1))
            .max_length(Some(Self::MOST))
            .into()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Automation {
    pub id: AutomationId,
    pub organization_id: OrganizationId,
    pub task_id: TaskId,
    pub name: String,
    pub description: Option<String>,
    pub is_enabled: bool,
    pub schedule: Option<Schedule>,
    /// The zone of the schedule; the organization's, if there is none.
    pub time_zone: Option<Zone>,
    /// What else starts it.
    pub events: Vec<Event>,
    pub evaluation_criteria: Option<String>,
    /// The built-in check it runs, with its parameters; else it runs the versions of its own script.
    pub check: Option<String>,
    pub parameters: Option<Value>,
    /// What becomes of the task's status.
    pub status_on_pass: Option<TaskStatus>,
    pub status_on_fail: Option<TaskStatus>,
    /// Whether what a run returns is attached to the task.
    pub keep_evidence: bool,
    /// None before there is a script.
    pub latest_version: Option<i64>,
    pub created_by: Option<MemberId>,
    pub created_at: Time,
    pub updated_at: Time,
    /// When the schedule comes next. Not part of its history.
    #[serde(skip)]
    pub next_run_at: Option<Time>,
    /// Whether its last run went wrong, so that the first failure and the recovery are told.
    #[serde(skip)]
    pub is_failing: bool,
    #[serde(skip)]
    pub version: i64,
}

/// What somebody gives of an automation.
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

    /// What tells it from what it was: its schedule moves on without a change of it.
    pub fn tag(&self) -> [i64; 2] {
        [self.version, self.next_run_at.map_or(0, Time::as_millis)]
    }

    /// When its schedule comes next, if it is enabled and has something to run.
    pub fn next_run(&self, after: Time, organization: &Zone) -> Option<Time> {
        let zone = self.time_zone.as_ref().unwrap_or(organization);
        self.latest_version.filter(|_| self.is_enabled)?;
        self.schedule.as_ref()?.next(after, zone)
    }
}

/// One script of an automation. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    pub id: AutomationVersionId,
    pub automation_id: AutomationId,
    pub version: i64,
    pub script: String,
    pub changelog: Option<String>,
    pub created_by: Option<MemberId>,
    pub created_at: Time,
}

crate::words! {
    /// What started a run.
    Trigger {
        Manual = "MANUAL",
        Scheduled = "SCHEDULED",
        Event = "EVENT",
    }
}

crate::words! {
    /// How far a run is.
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
    /// What a script found.
    Evaluation {
        Pass = "pass",
        Fail = "fail",
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub id: RunId,
    pub organization_id: OrganizationId,
    pub task_id: TaskId,
    pub automation_id: AutomationId,
    /// The version of the script.
    #[serde(rename = "version")]
    pub script: i64,
    pub trigger: Trigger,
    pub status: RunStatus,
    /// The entry that started it, as JSON. It is in the journal itself.
    #[serde(skip)]
    pub event: Option<Value>,
    pub created_at: Time,
    pub started_at: Option<Time>,
    pub completed_at: Option<Time>,
    pub evaluation: Option<Evaluation>,
    pub reason: Option<String>,
    /// What the script returned as evidence, as JSON. The journal knows the file that holds it.
    #[serde(skip)]
    pub output: Option<String>,
    pub error: Option<RunError>,
    /// Where the evidence is attached.
    pub attachment_id: Option<AttachmentId>,
    /// Its log, line by line. Not part of its history.
    #[serde(skip)]
    pub logs: Vec<String>,
}

impl Run {
    /// Whether the script ended as it should; unknown until it did.
    pub fn success(&self) -> Option<bool> {
        self.status.is_over().then_some(self.status == RunStatus::Completed)
    }

    /// Milliseconds from start to end.
    pub fn duration(&self) -> Option<i64> {
        let (start, end) = (self.started_at?, self.completed_at?);
        i64::try_from(end.since(start).as_millis()).ok()
    }
}

/// The name of a secret: capitals, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretName(String);

impl SecretName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Parse for SecretName {
    fn parse(text: &str) -> Result<Self, String> {
        let is_fine = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        if (1..=64).contains(&text.len()) && text.bytes().all(is_fine) {
            return Ok(Self(text.to_owned()));
        }
        Err("must have 1 to 64 characters: capitals, digits and underscores".to_owned())
    }
}

impl utoipa::PartialSchema for SecretName {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .pattern(Some("^[A-Z0-9_]{1,64}$"))
            .examples(["GITHUB_TOKEN"])
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text).expect("a time")
    }

    #[test]
    fn schedules_follow_the_clocks_of_their_zone() {
        let six = Schedule::parse(" 0  6 * * MON ").expect("a schedule");
        assert_eq!(six.as_str(), "0 6 * * MON");
        let berlin = Zone::parse("Europe/Berlin").expect("a zone");
        assert_eq!(six.next(time("2026-11-15T09:30:00Z"), &berlin), Some(time("2026-11-16T05:00:00Z")));
        assert_eq!(six.next(time("2026-06-15T03:00:00Z"), &berlin), Some(time("2026-06-15T04:00:00Z")));
        assert_eq!(
            six.next(time("2026-11-16T06:00:00Z"), &Zone::default()),
            Some(time("2026-11-23T06:00:00Z"))
        );
    }

    #[test]
    fn bad_schedules_are_refused() {
        for bad in ["", "* * * *", "* * * * * *", "61 * * * *", "0 0 31 2 *", "soon", "@never"] {
            assert!(Schedule::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_secrets_are_capitals() {
        assert!(SecretName::parse("GITHUB_TOKEN_2").is_ok());
        for bad in ["", "token", "A-B", "Ä", &"A".repeat(65)] {
            assert!(SecretName::parse(bad).is_err(), "{bad}");
        }
    }
}
