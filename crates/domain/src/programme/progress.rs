//! The progress of a programme: its policies and tasks by week, and a forecast from the pace of the last weeks.

use std::collections::BTreeMap;

use crate::date::Date;
use crate::id::MemberId;

/// The number of days from which the pace is taken.
const PACE_DAYS: i64 = 28;
/// A forecast further away says nothing.
const MAX_FORECAST_DAYS: i64 = 5 * 365;

crate::words! {
    /// The kind of an item.
    ItemKind {
        Policy = "policy",
        Task = "task",
    }
}

crate::words! {
    /// The state of an item.
    ItemState {
        Done = "done",
        Due = "due",
        Late = "late",
        Blocked = "blocked",
    }
}

/// A policy or a task of the programme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    pub id: String,
    pub reference: String,
    pub title: String,
    pub assignee: Option<MemberId>,
    pub due: Option<Date>,
    /// The day on which it was completed for the first time.
    pub completed: Option<Date>,
    /// The day on which it was opened again, if it does not recur and is still open.
    pub reopened: Option<Date>,
    pub is_done: bool,
    pub is_blocked: bool,
    /// It opens again after it was completed.
    pub recurs: bool,
}

impl Item {
    pub fn state(&self, today: Date) -> ItemState {
        match self.due {
            _ if self.is_done => ItemState::Done,
            _ if self.is_blocked => ItemState::Blocked,
            Some(due) if due < today => ItemState::Late,
            _ => ItemState::Due,
        }
    }

    /// Returns true when it was completed by a day and not opened again by then.
    fn was_done(&self, on: Date) -> bool {
        self.completed.is_some_and(|day| day <= on) && self.reopened.is_none_or(|day| day > on)
    }

    /// The day by which it was to be completed for the first time. The due date of one that recurs moves on with each
    /// completion.
    fn planned(&self) -> Option<Date> {
        let first = self.completed.filter(|_| self.recurs);
        first.or(self.due).or(self.completed)
    }

    /// The day that places it in a week: that of its completion, or its due date.
    fn day(&self) -> Option<Date> {
        if self.is_done { self.completed.or(self.due) } else { self.due }
    }
}

/// The number of items in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub done: usize,
    pub due: usize,
    pub late: usize,
    pub blocked: usize,
}

impl Counts {
    fn of<'a>(items: impl IntoIterator<Item = &'a Item>, today: Date) -> Self {
        let mut counts = Self::default();
        for item in items {
            match item.state(today) {
                ItemState::Done => counts.done += 1,
                ItemState::Due => counts.due += 1,
                ItemState::Late => counts.late += 1,
                ItemState::Blocked => counts.blocked += 1,
            }
        }
        counts
    }
}

/// The items of a week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeekItems {
    pub starts_on: Date,
    pub ends_on: Date,
    pub counts: Counts,
    pub items: Vec<Item>,
}

/// The expected end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The items that are open. One that recurs counts until it was completed once.
    pub remaining: usize,
    /// The items completed for the first time in the last four weeks.
    pub completed_lately: usize,
    /// The day on which the last item is completed at this pace; `None` without a pace.
    pub finishes_on: Option<Date>,
}

/// A point of the burn-up line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnUp {
    pub on: Date,
    /// The items that were done at the end of the day. One that recurs counts once it was completed.
    pub done: usize,
    /// The items that were to be completed by then.
    pub planned: usize,
}

/// The progress of a programme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub counts: Counts,
    pub weeks: Vec<WeekItems>,
    /// The items without a date.
    pub unscheduled: Vec<Item>,
    pub forecast: Forecast,
    pub burn_up: Vec<BurnUp>,
}

impl Progress {
    /// Derives the progress on a day. The weeks run from the start to the end of the plan; earlier and later weeks are
    /// added where they have items.
    pub fn of(items: Vec<Item>, start: Date, end: Date, today: Date) -> Self {
        let counts = Counts::of(&items, today);
        let days = || items.iter().filter_map(Item::day);
        let last = days().max().map_or(end, |day| day.max(end));
        let burn_up = burn_up(&items, start, last, today);
        let forecast = forecast(&items, today);
        let (scheduled, unscheduled): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| item.day().is_some());
        let mut weeks: BTreeMap<Date, Vec<Item>> = BTreeMap::new();
        let mut monday = start.monday();
        while monday <= end {
            weeks.insert(monday, Vec::new());
            monday = monday.plus_days(7);
        }
        for item in scheduled {
            if let Some(day) = item.day() {
                weeks.entry(day.monday()).or_default().push(item);
            }
        }
        let weeks = weeks.into_iter().map(|(starts_on, mut items)| {
            items.sort_by(|a, b| (a.day(), a.kind, &a.title).cmp(&(b.day(), b.kind, &b.title)));
            WeekItems { starts_on, ends_on: starts_on.plus_days(6), counts: Counts::of(&items, today), items }
        });
        Self { counts, weeks: weeks.collect(), unscheduled, forecast, burn_up }
    }
}

fn forecast(items: &[Item], today: Date) -> Forecast {
    let remaining =
        items.iter().filter(|item| !item.is_done && (item.completed.is_none() || !item.recurs)).count();
    let since = today.plus_days(-PACE_DAYS);
    let is_recent = |item: &&Item| item.completed.is_some_and(|day| day > since && day <= today);
    let completed_lately = items.iter().filter(is_recent).count();
    let days = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let needed = match completed_lately {
        _ if remaining == 0 => Some(0),
        0 => None,
        pace => Some((days(remaining).saturating_mul(PACE_DAYS) + days(pace) - 1) / days(pace)),
    };
    let finishes_on =
        needed.filter(|needed| *needed <= MAX_FORECAST_DAYS).map(|needed| today.plus_days(needed));
    Forecast { remaining, completed_lately, finishes_on }
}

/// One point for the end of each week.
fn burn_up(items: &[Item], start: Date, last: Date, today: Date) -> Vec<BurnUp> {
    let mut points = Vec::new();
    let mut on = start.monday().plus_days(-1);
    loop {
        let done = items.iter().filter(|item| item.was_done(on.min(today))).count();
        let planned = items.iter().filter(|item| item.planned().is_some_and(|day| day <= on)).count();
        points.push(BurnUp { on, done, planned });
        if on >= last || points.len() >= 1000 {
            return points;
        }
        on = on.plus_days(7);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Parse;

    fn date(text: &str) -> Date {
        Date::parse(text).expect("a date")
    }

    fn item(title: &str, due: Option<&str>, completed: Option<&str>) -> Item {
        Item {
            kind: ItemKind::Task,
            id: title.to_owned(),
            reference: "T-1".to_owned(),
            title: title.to_owned(),
            assignee: None,
            due: due.map(date),
            completed: completed.map(date),
            reopened: None,
            is_done: completed.is_some(),
            is_blocked: false,
            recurs: false,
        }
    }

    #[test]
    fn a_date_far_away_makes_no_empty_weeks() {
        let items = vec![item("far", Some("9999-12-31"), None), item("old", Some("1990-01-01"), None)];
        let found = Progress::of(items, date("2026-11-11"), date("2026-12-11"), date("2026-11-18"));
        assert_eq!(found.weeks.len(), 7);
        assert!(found.burn_up.len() <= 1000);
    }

    #[test]
    fn an_item_that_was_opened_again_remains() {
        let open = |recurs| Item { is_done: false, recurs, ..item("a", None, Some("2026-11-10")) };
        assert_eq!(forecast(&[open(false)], date("2026-11-18")).remaining, 1);
        assert_eq!(forecast(&[open(true)], date("2026-11-18")).remaining, 0);
    }

    #[test]
    fn an_item_that_was_opened_again_lowers_the_line() {
        let open = Item { is_done: false, ..item("a", Some("2026-11-20"), Some("2026-11-18")) };
        let open = Item { reopened: Some(date("2026-11-25")), ..open };
        let (start, today) = (date("2026-11-18"), date("2026-11-26"));
        let done = |item: &Item| -> Vec<usize> {
            let line = burn_up(std::slice::from_ref(item), start, date("2026-12-04"), today);
            line.iter().map(|point| point.done).collect()
        };
        assert_eq!(done(&open), [0, 1, 0, 0]);
        assert_eq!(done(&Item { is_done: true, reopened: None, ..open.clone() }), [0, 1, 1, 1]);
        assert_eq!(forecast(&[open], today).completed_lately, 1, "the pace counts first completions");
    }

    #[test]
    fn items_stand_in_the_week_in_which_they_are_due_or_done() {
        let items = vec![
            item("late", Some("2026-11-13"), None),
            item("due", Some("2026-11-27"), None),
            item("done early", Some("2026-12-04"), Some("2026-11-17")),
            item("undated", None, None),
            Item { is_blocked: true, ..item("blocked", Some("2026-11-20"), None) },
        ];
        let found = Progress::of(items, date("2026-11-11"), date("2026-12-11"), date("2026-11-18"));
        assert_eq!(found.counts, Counts { done: 1, due: 2, late: 1, blocked: 1 });
        assert_eq!(found.weeks.len(), 5);
        assert_eq!(found.weeks[0].starts_on, date("2026-11-09"));
        let titles: Vec<&str> = found.weeks[1].items.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["done early", "blocked"]);
        assert_eq!(found.unscheduled.len(), 1);
    }

    #[test]
    fn the_forecast_follows_the_pace() {
        let today = date("2026-11-18");
        let mut items = vec![item("a", None, Some("2026-11-01")), item("b", None, Some("2026-11-10"))];
        items.extend(["c", "d", "e"].map(|title| item(title, None, None)));
        let found = forecast(&items, today);
        assert_eq!((found.remaining, found.completed_lately), (3, 2));
        assert_eq!(found.finishes_on, Some(today.plus_days(42)));
        assert_eq!(forecast(&items[2..], today).finishes_on, None);
        assert_eq!(forecast(&items[..2], today).finishes_on, Some(today));
    }

    #[test]
    fn the_line_burns_up() {
        let items =
            vec![item("a", Some("2026-11-20"), Some("2026-11-18")), item("b", Some("2026-11-27"), None)];
        let line = burn_up(&items, date("2026-11-18"), date("2026-11-27"), date("2026-11-30"));
        let counts: Vec<(usize, usize)> = line.iter().map(|point| (point.done, point.planned)).collect();
        assert_eq!(counts, [(0, 0), (1, 1), (1, 2)]);
        // One that recurs stays where it was completed first, wherever its due date has moved to.
        let again =
            Item { recurs: true, is_done: false, ..item("a", Some("2027-02-20"), Some("2026-11-18")) };
        let line = burn_up(&[again], date("2026-11-18"), date("2026-11-27"), date("2026-11-30"));
        assert!(line.iter().skip(1).all(|point| (point.done, point.planned) == (1, 1)), "{line:?}");
    }
}
