//! A session: a signed-in user, until sign-out, expiry or the idle timeout.

use std::time::Duration;

use crate::id::{SessionId, UserId};
use crate::identity::sign_in::{SecondFactor, SignInMethod};
use crate::row::Row;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    pub created_at: Time,
    pub last_seen_at: Time,
    pub expires_at: Time,
    /// The IP address from which it was started.
    pub ip: Option<String>,
    /// The user agent of the browser or program.
    pub user_agent: Option<String>,
    /// The time at which the user last proved their identity.
    pub confirmed_at: Time,
    pub method: SignInMethod,
    pub second_factor: Option<SecondFactor>,
    /// The longest time between two uses since it was confirmed, in milliseconds.
    pub longest_gap: i64,
}

/// The period for which a confirmation counts for actions that require one.
const CONFIRMED_FOR: Duration = Duration::from_mins(10);

/// True while a confirmation counts.
pub fn is_recent(confirmed_at: Time, now: Time) -> bool {
    now.since(confirmed_at) < CONFIRMED_FOR
}

/// The time until which a confirmation counts.
pub fn confirmed_until(confirmed_at: Time) -> Time {
    confirmed_at.plus(CONFIRMED_FOR)
}

impl Session {
    /// True while credentials of the account confirm the session for changes of the account itself. A recovery code
    /// does: whoever uses one has to replace what they lost.
    pub fn is_fresh(&self, now: Time) -> bool {
        is_recent(self.confirmed_at, now)
    }

    /// True while credentials of the account confirm the session for signing and approving. Signing in with a recovery
    /// code confirms nothing.
    pub fn is_confirmed(&self, now: Time) -> bool {
        let is_by_recovery =
            self.second_factor == Some(SecondFactor::Recovery) && self.confirmed_at == self.created_at;
        self.is_fresh(now) && !is_by_recovery
    }

    pub fn confirmed_until(&self) -> Time {
        confirmed_until(self.confirmed_at)
    }

    pub fn longest_gap(&self) -> Duration {
        Duration::from_millis(self.longest_gap.unsigned_abs())
    }
}
