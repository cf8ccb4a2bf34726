//! Tasks: one-time or recurring work that is proven by evidence.

pub mod templates;

use serde_json::{Value, json};

use crate::access::{Denied, Permission, Scope};
use crate::any_of::AnyOf;
use crate::date::Date;
use crate::id::{MemberId, kind};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::patch::Patch;
use crate::plain::{Keep, Plain, PlainKind};
use crate::registers::{Actions, Computed, Due, Fields, Filter, Live, NEVER, Register, SEARCH_TEXT};
use crate::row::Row;
use crate::tasks::templates::TemplateId;
use crate::text::{AnyText, Name};
use crate::time::Time;
use crate::words::Department;

crate::words! {
    /// The status of a task. Any status may follow any other.
    #[derive(Default)]
    TaskStatus {
        #[default]
        Todo = "todo",
        InProgress = "in_progress",
        Done = "done",
        Blocked = "blocked",
    }
}

crate::words! {
    /// The interval of a recurring task.
    Frequency {
        Daily = "daily",
        Weekly = "weekly",
        Monthly = "monthly",
        Quarterly = "quarterly",
        Yearly = "yearly",
    }
}

impl Frequency {
    /// The same day one period later; the last day of a month that is too short.
    pub fn after(self, date: Date) -> Date {
        match self {
            Self::Daily => date.plus_days(1),
            Self::Weekly => date.plus_days(7),
            Self::Monthly => date.plus_months(1),
            Self::Quarterly => date.plus_months(3),
            Self::Yearly => date.plus_months(12),
        }
    }
}

crate::words! {
    /// The status of a task's evidence in the current period.
    EvidenceStatus {
        None = "none",
        Fresh = "fresh",
        Stale = "stale",
    }
}

/// The position of a task among those of the same status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position(i64);

impl Position {
    pub const MAX: i64 = 1_000_000_000;

    pub fn new(place: i64) -> Option<Self> {
        (0..=Self::MAX).contains(&place).then_some(Self(place))
    }
}

impl serde::Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self)
    }
}

impl Keep for Position {
    const KIND: PlainKind = PlainKind::Int;

    fn plain(&self) -> Plain<'_> {
        Plain::Int(self.0)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        i64::kept(value).map(Self)
    }
}

impl JsonSchema for Position {
    fn json_schema() -> Value {
        json!({"type": "integer", "minimum": 0, "maximum": Self::MAX})
    }
}

impl Given for Position {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        let place = json.whole().and_then(Self::new);
        place.ok_or_else(|| format!("must be a whole number from 0 to {}", Self::MAX))
    }
}

/// The fields of a task.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct Task {
    /// The work to do, in a few words.
    pub title: Name,
    /// The steps, and what counts as good evidence.
    #[field(default)]
    pub description: AnyText,
    /// Any status may follow any other. A recurring task that is done opens again when its period has passed.
    #[field(default)]
    pub status: TaskStatus,
    /// The active member who does it.
    pub assignee_id: Option<MemberId>,
    /// The department the task belongs to.
    pub department: Option<Department>,
    /// The interval at which it recurs; null for a task that is done once.
    pub frequency: Option<Frequency>,
    /// Its place among the tasks of the same status.
    #[field(default, wire = "order")]
    pub position: Position,
    /// The day by which it has to be done.
    pub due_date: Option<Date>,
    /// When it was done for the first time.
    #[field(own)]
    pub first_completed_at: Option<Time>,
    /// When it was done last.
    #[field(own)]
    pub last_completed_at: Option<Time>,
    /// The effective date of its latest evidence.
    #[field(own)]
    pub last_evidence_date: Option<Date>,
    /// The template it was made from.
    pub task_template_id: Option<TemplateId>,
}

/// The filter values of a list of tasks.
#[derive(Clone, Debug, Default, Filter)]
pub struct TaskFilter {
    /// Only tasks with this status.
    pub status: Option<AnyOf<TaskStatus>>,
    /// Only tasks assigned to this member.
    pub assignee_id: Option<AnyOf<MemberId>>,
    /// Only tasks of this department.
    pub department: Option<AnyOf<Department>>,
    /// Only tasks that recur this often.
    pub frequency: Option<AnyOf<Frequency>>,
}

crate::register_sort! {
    /// The sort keys of the list of tasks. `board`: status, then order, then oldest first.
    TaskSort {
        default Board = "board", board_rank Number;
        Title = "title", title_key Text;
        DueDate = "dueDate", due_key Text;
        Status = "status", status Words(TaskStatus);
        Department = "department", department Words(crate::words::Department);
        Frequency = "frequency", frequency Words(Frequency);
        Assignee = "assignee", assignee_id Member;
        LastEvidenceDate = "lastEvidenceDate", last_evidence_date Date;
    }
}

/// A number of days that exceeds the difference between any two time zones.
const ZONES: i64 = 3;

impl Task {
    /// The day on which a completed recurring task reopens.
    pub fn reopens_on(&self, completed_on: Date) -> Option<Date> {
        (self.status == TaskStatus::Done).then_some(self.frequency?.after(completed_on))
    }

    /// A time before which the task does not reopen in any time zone.
    fn reopens_from(&self) -> Option<Time> {
        let day = self.reopens_on(Date::of(self.last_completed_at?))?;
        Some(day.plus_days(-ZONES).start())
    }

    /// The task for its next period, which begins today.
    #[must_use]
    pub fn reopened(&self, today: Date) -> Self {
        let mut next = self.clone();
        next.status = TaskStatus::Todo;
        if let (Some(due), Some(frequency)) = (self.due_date, self.frequency) {
            let mut due = frequency.after(due);
            while due < today {
                due = frequency.after(due);
            }
            next.due_date = Some(due);
        }
        next
    }

    pub fn evidence_status(&self, today: Date) -> EvidenceStatus {
        match self.last_evidence_date {
            None => EvidenceStatus::None,
            Some(last) if is_fresh(last, self.frequency, today) => EvidenceStatus::Fresh,
            Some(_) => EvidenceStatus::Stale,
        }
    }

    /// Returns true when it is done and has evidence of the current period.
    pub fn is_proven(&self, today: Date) -> bool {
        self.status == TaskStatus::Done && self.evidence_status(today) == EvidenceStatus::Fresh
    }
}

/// Returns true when evidence is of the current period of a task with this frequency.
pub fn is_fresh(last: Date, frequency: Option<Frequency>, today: Date) -> bool {
    frequency.is_none_or(|frequency| frequency.after(last) > today)
}

impl Register for Task {
    type Kind = kind::Task;
    type Filter = TaskFilter;
    type Sort = TaskSort;

    const REFERENCE: &'static str = "T";
    const ENTITY: &'static str = "task";
    const ACTIONS: Actions = crate::actions!("task");
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("title_key", |task| Plain::Text(task.title.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |task| {
            Plain::Text(format!("{}\n{}", task.title, task.description).to_lowercase().into())
        }),
        Computed::hidden("board_rank", |task| Plain::Int(((task.status as i64) << 40) | task.position.0)),
        Computed::hidden("open_due", |task| task.due().map_or(Plain::Null, Plain::Date)),
        Computed::hidden("due_key", |task| {
            Plain::Text(task.due_date.map_or_else(|| NEVER.to_owned(), |date| date.to_string()).into())
        }),
        Computed::hidden("reopens_from", |task| task.reopens_from().map_or(Plain::Null, Plain::Time)),
    ];
    const LIVE: &'static [Live<Self>] = &[Live {
        wire: "evidenceStatus",
        about: "The state of its evidence, which is fresh if it is younger than one period.",
        words: &[
            EvidenceStatus::None.as_str(),
            EvidenceStatus::Fresh.as_str(),
            EvidenceStatus::Stale.as_str(),
        ],
        of: |task, today| task.evidence_status(today).as_str(),
    }];
    const TELLS: bool = true;
    const DUE: Due = Due {
        column: "open_due",
        wire: "overdue",
        about: "true lists only tasks that are not done and whose `dueDate` has passed.",
        on_the_day: false,
    };

    crate::register_basics!(title);

    fn due(&self) -> Option<Date> {
        self.due_date.filter(|_| self.status != TaskStatus::Done)
    }

    fn follow(&mut self, before: Option<&Self>, _given: &TaskPatch, now: Time) {
        let was_done = before.is_some_and(|before| before.status == TaskStatus::Done);
        if self.status == TaskStatus::Done && !was_done {
            self.first_completed_at = self.first_completed_at.or(self.last_completed_at).or(Some(now));
            self.last_completed_at = Some(now);
        }
    }

    fn is_visible(&self, scope: &Scope) -> bool {
        scope.allows(Permission::TaskRead) || (scope.member().is_some() && self.assignee_id == scope.member())
    }

    fn narrow(filter: &mut TaskFilter, scope: &Scope) -> bool {
        if scope.allows(Permission::TaskRead) {
            return true;
        }
        let own = scope.member();
        let asked = std::mem::replace(&mut filter.assignee_id, own.map(AnyOf::one));
        own.is_some_and(|own| asked.is_none_or(|asked| asked.has(&own)))
    }

    fn may_look_back(scope: &Scope) -> Result<(), Denied> {
        scope.require(Permission::TaskRead)
    }

    fn permits_change(before: &Self, after: &Self, scope: &Scope) -> Result<(), Denied> {
        let Self { status, first_completed_at, last_completed_at, .. } = after.clone();
        let status_alone = Self { status, first_completed_at, last_completed_at, ..before.clone() } == *after;
        if status_alone { Ok(()) } else { scope.require(Permission::TaskUpdate) }
    }

    fn permits(patch: &TaskPatch, scope: &Scope) -> Result<(), Denied> {
        let TaskPatch {
            title,
            description,
            status: _,
            assignee_id,
            department,
            frequency,
            position,
            due_date,
            task_template_id,
        } = patch;
        let status_alone = title.is_none()
            && description.is_none()
            && *assignee_id == Patch::Absent
            && *department == Patch::Absent
            && *frequency == Patch::Absent
            && position.is_none()
            && *due_date == Patch::Absent
            && *task_template_id == Patch::Absent;
        if status_alone { Ok(()) } else { scope.require(Permission::TaskUpdate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::Fields;
    use crate::text::Parse;

    fn date(text: &str) -> Date {
        Date::parse(text).expect("a date")
    }

    fn task(frequency: Option<Frequency>) -> Task {
        let title = Parse::parse("Review access").expect("a title");
        let given = TaskPatch { title: Some(title), ..TaskPatch::default() };
        Task { frequency, ..Task::given(given).expect("a task") }
    }

    #[test]
    fn periods_end_with_short_months() {
        assert_eq!(Frequency::Monthly.after(date("2027-01-31")), date("2027-02-28"));
        assert_eq!(Frequency::Quarterly.after(date("2026-11-30")), date("2027-02-28"));
        assert_eq!(Frequency::Yearly.after(date("2028-02-29")), date("2029-02-28"));
        assert_eq!(Frequency::Weekly.after(date("2026-12-28")), date("2027-01-04"));
        assert_eq!(Frequency::Daily.after(date("9999-12-31")), date("9999-12-31"), "the calendar ends");
    }

    #[test]
    fn a_reopened_task_is_due_in_its_new_period() {
        let mut done = task(Some(Frequency::Monthly));
        (done.status, done.due_date) = (TaskStatus::Done, Some(date("2026-01-31")));
        let next = done.reopened(date("2026-06-10"));
        assert_eq!((next.status, next.due_date), (TaskStatus::Todo, Some(date("2026-06-28"))));
        assert_eq!(task(None).reopens_on(date("2026-01-31")), None);
    }

    #[test]
    fn evidence_grows_stale_with_its_period() {
        let mut task = task(Some(Frequency::Monthly));
        assert_eq!(task.evidence_status(date("2026-11-15")), EvidenceStatus::None);
        task.last_evidence_date = Some(date("2026-10-16"));
        assert_eq!(task.evidence_status(date("2026-11-15")), EvidenceStatus::Fresh);
        assert_eq!(task.evidence_status(date("2026-11-16")), EvidenceStatus::Stale);
        task.frequency = None;
        assert_eq!(task.evidence_status(date("2036-11-16")), EvidenceStatus::Fresh);
    }
}
