//! The schedule of the story. Days are counted back from today; weekends are skipped.

use anyhow::Result;
use attestry_domain::Time;
use attestry_domain::date::Date;
use futures_util::future::LocalBoxFuture;

use crate::story::Story;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// An action of a member.
pub(crate) type Act = Box<dyn for<'a> FnOnce(&'a mut Story) -> LocalBoxFuture<'a, Result<()>>>;

pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) act: Act,
}

pub(crate) struct Plan {
    today: Date,
    steps: Vec<(Time, Act)>,
}

impl Plan {
    pub(crate) fn new(today: Date) -> Self {
        Self { today, steps: Vec::new() }
    }

    /// Schedules an action this many days ago, at a time of the working day that varies between steps.
    pub(crate) fn on(
        &mut self,
        ago: i64,
        act: impl for<'a> FnOnce(&'a mut Story) -> LocalBoxFuture<'a, Result<()>> + 'static,
    ) {
        let spread = i64::try_from(self.steps.len()).unwrap_or(0) * 97 % 540;
        self.at(ago, 7 * 60 + spread, act);
    }

    /// Schedules an action at a minute of the day in UTC.
    pub(crate) fn at(
        &mut self,
        ago: i64,
        minute: i64,
        act: impl for<'a> FnOnce(&'a mut Story) -> LocalBoxFuture<'a, Result<()>> + 'static,
    ) {
        // Nothing is scheduled for today, because it must lie in the past at any time of the day.
        let day = self.today.plus_days(-ago.max(1)).start();
        self.steps.push((Time::from_millis(day.as_millis() + minute * MINUTE), Box::new(act)));
    }

    /// All steps in chronological order.
    pub(crate) fn in_order(mut self) -> Vec<Step> {
        self.steps.sort_by_key(|(at, _)| *at);
        let mut last = Time::from_millis(0);
        let mut after = |at: Time| {
            last = at.max(Time::from_millis(last.as_millis() + MINUTE));
            last
        };
        self.steps.into_iter().map(|(at, act)| Step { at: after(on_a_weekday(at)), act }).collect()
    }
}

/// Moves a time on a weekend to the preceding Friday.
fn on_a_weekday(at: Time) -> Time {
    // 1 January 1970 was a Thursday.
    let back = match (at.as_millis().div_euclid(DAY) + 4).rem_euclid(7) {
        6 => 1,
        0 => 2,
        _ => 0,
    };
    Time::from_millis(at.as_millis() - back * DAY)
}
