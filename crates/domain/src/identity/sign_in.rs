//! The ways to sign in, and what an organization demands of the sessions of its members.

use std::time::Duration;

use serde::Serialize;

use crate::identity::sessions::Session;
use crate::row::Row;
use crate::time::Time;

crate::words! {
    /// The first factor of a sign-in.
    #[derive(Default)]
    SignInMethod {
        #[default]
        Password = "password",
        Passkey = "passkey",
    }
}

crate::words! {
    /// A second factor. A passkey that verifies its user is both factors at once.
    SecondFactor {
        Totp = "totp",
        Recovery = "recovery",
        Passkey = "passkey",
    }
}

crate::words! {
    /// The demand for a second factor.
    #[derive(Default)]
    Mfa {
        #[default]
        Optional = "optional",
        Required = "required",
    }
}

crate::words! {
    /// A demand that a session does not meet.
    Unmet {
        /// The account has a second factor, and the session was started without it.
        SecondFactor = "mfa_required",
        /// The account has no second factor.
        Enrolment = "mfa_enrolment",
        Idle = "idle",
        TooOld = "too_old",
    }
}

/// The days before a newly required second factor is enforced, unless the organization sets another number.
const DEFAULT_GRACE_DAYS: i64 = 14;

/// The last use of a session is stored to within a minute.
const USE_PRECISION: Duration = Duration::from_mins(1);

/// The rules of an organization for the sessions of its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct SignInPolicy {
    pub mfa: Mfa,
    pub grace_days: i64,
    /// The time from which the second factor is enforced; `None` while it is optional.
    pub mfa_from: Option<Time>,
    pub idle_minutes: Option<i64>,
    pub max_hours: Option<i64>,
    /// `None` while these are the defaults.
    #[serde(skip)]
    pub updated_at: Option<Time>,
    #[serde(skip)]
    pub version: i64,
}

impl Default for SignInPolicy {
    fn default() -> Self {
        Self {
            mfa: Mfa::default(),
            grace_days: DEFAULT_GRACE_DAYS,
            mfa_from: None,
            idle_minutes: None,
            max_hours: None,
            updated_at: None,
            version: 0,
        }
    }
}

/// The demands of an organization on the sessions of one member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Row)]
pub struct Demands {
    #[row(column = "p.mfa_from")]
    pub mfa_from: Option<Time>,
    #[row(column = "p.idle_minutes")]
    pub idle_minutes: Option<i64>,
    #[row(column = "p.max_hours")]
    pub max_hours: Option<i64>,
    /// When the member was signed out of the organization.
    #[row(column = "m.signed_out_at")]
    pub signed_out_at: Option<Time>,
    /// When the account got its second factor.
    #[row(column = "u.second_factor_since")]
    pub second_factor_since: Option<Time>,
}

impl Demands {
    /// The first demand that the session does not meet.
    pub fn unmet(&self, session: &Session, now: Time) -> Option<Unmet> {
        let age = now.since(session.created_at);
        let is_older = |hours: i64| age >= Duration::from_hours(hours.unsigned_abs());
        if self.signed_out_at.is_some_and(|at| session.created_at <= at)
            || self.max_hours.is_some_and(is_older)
        {
            return Some(Unmet::TooOld);
        }
        let gap = now.since(session.last_seen_at).max(session.longest_gap());
        let is_exceeded = |minutes: i64| gap > Duration::from_mins(minutes.unsigned_abs()) + USE_PRECISION;
        if self.idle_minutes.is_some_and(is_exceeded) {
            return Some(Unmet::Idle);
        }
        let is_enforced = self.mfa_from.is_some_and(|from| from <= now);
        match (is_enforced, session.second_factor, self.second_factor_since) {
            (false, ..) | (true, Some(_), _) => None,
            (true, None, Some(_)) => Some(Unmet::SecondFactor),
            (true, None, None) => Some(Unmet::Enrolment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{SessionId, UserId};

    fn at(minute: i64) -> Time {
        Time::from_millis(1_800_000_000_000 + minute * 60_000)
    }

    /// A session that began at minute 0 and was last used at minute `seen`.
    fn session(seen: i64, second_factor: Option<SecondFactor>) -> Session {
        Session {
            id: SessionId::from_u128(1),
            user_id: UserId::from_u128(2),
            created_at: at(0),
            last_seen_at: at(seen),
            expires_at: at(100_000),
            ip: None,
            user_agent: None,
            confirmed_at: at(0),
            method: SignInMethod::Password,
            second_factor,
            longest_gap: 0,
        }
    }

    #[test]
    fn second_factor_is_demanded_from_its_day_on() {
        let demands = Demands { mfa_from: Some(at(10)), ..Demands::default() };
        assert_eq!(demands.unmet(&session(0, None), at(9)), None);
        assert_eq!(demands.unmet(&session(0, None), at(10)), Some(Unmet::Enrolment));
        let enrolled = Demands { second_factor_since: Some(at(3)), ..demands };
        assert_eq!(enrolled.unmet(&session(0, None), at(10)), Some(Unmet::SecondFactor));
        assert_eq!(enrolled.unmet(&session(0, Some(SecondFactor::Totp)), at(10)), None);
    }

    #[test]
    fn idle_time_counts_also_when_the_session_was_used_again() {
        let demands = Demands { idle_minutes: Some(5), ..Demands::default() };
        assert_eq!(demands.unmet(&session(0, None), at(6)), None, "the last use is known to within a minute");
        assert_eq!(demands.unmet(&session(0, None), at(7)), Some(Unmet::Idle));
        let used_again = Session { longest_gap: 7 * 60_000, ..session(7, None) };
        assert_eq!(demands.unmet(&used_again, at(8)), Some(Unmet::Idle));
        assert_eq!(Demands::default().unmet(&used_again, at(8)), None);
    }

    #[test]
    fn age_counts_from_the_sign_in() {
        let demands = Demands { max_hours: Some(1), ..Demands::default() };
        assert_eq!(demands.unmet(&session(59, None), at(59)), None);
        assert_eq!(demands.unmet(&session(60, None), at(60)), Some(Unmet::TooOld));
        let signed_out = Demands { signed_out_at: Some(at(0)), ..Demands::default() };
        assert_eq!(signed_out.unmet(&session(1, None), at(1)), Some(Unmet::TooOld));
    }
}
