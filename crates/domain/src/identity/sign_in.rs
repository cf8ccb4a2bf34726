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
        /// An identity provider authenticated the user.
        Sso = "sso",
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

impl SecondFactor {
    /// True for a factor that stays; a recovery code is used up.
    pub fn is_lasting(self) -> bool {
        self != Self::Recovery
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
    /// The demand for single sign-on.
    #[derive(Default)]
    SsoDemand {
        #[default]
        Optional = "optional",
        /// Only sessions that a connection of the organization granted count, except those of exempt members.
        Required = "required",
    }
}

crate::words! {
    /// When single sign-on counts as a second factor.
    #[derive(Default)]
    SsoMfa {
        /// Always: the provider decides.
        #[default]
        Trusted = "trusted",
        /// If the provider names several factors in the claim `amr`.
        Claimed = "claimed",
        Never = "never",
    }
}

crate::words! {
    /// A demand that a session does not meet.
    Unmet {
        /// No connection of the organization granted the session.
        Sso = "sso_required",
        /// The account has a second factor, and the session was started without it.
        SecondFactor = "mfa_required",
        /// The account has no second factor.
        Enrolment = "mfa_enrolment",
        Idle = "idle",
        TooOld = "too_old",
    }
}

/// The ways in which an account can sign in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Row)]
#[expect(clippy::struct_excessive_bools, reason = "each is a way in")]
pub struct WaysIn {
    #[row(column = "u.password_hash IS NOT NULL")]
    pub has_password: bool,
    #[row(column = "EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)")]
    pub has_passkey: bool,
    #[row(
        column = "EXISTS (SELECT 1 FROM totp_secrets s WHERE s.user_id = u.id AND s.activated_at IS NOT NULL)"
    )]
    pub has_app: bool,
    /// A connection that is enabled knows the account.
    #[row(
        column = "EXISTS (SELECT 1 FROM sso_identities i JOIN sso_connections k ON k.id = i.connection_id WHERE i.user_id = u.id AND k.is_enabled = TRUE)"
    )]
    pub has_sso: bool,
}

impl WaysIn {
    /// True if the account has credentials of its own.
    pub fn has_own(self) -> bool {
        self.has_password || self.has_passkey
    }

    pub fn has_any(self) -> bool {
        self.has_own() || self.has_sso
    }

    pub fn has_second_factor(self) -> bool {
        self.has_passkey || self.has_app
    }

    /// True if the account can sign in with both factors while its identity provider fails.
    pub fn is_break_glass(self) -> bool {
        self.has_own() && self.has_second_factor()
    }
}

/// The days before a newly required second factor is enforced, unless the organization sets another number.
const DEFAULT_GRACE_DAYS: i64 = 14;

/// The hours after which a sign-in with a connection ends, unless the organization sets another number.
const DEFAULT_SSO_MAX_HOURS: i64 = 12;

/// A number of days that a policy names.
pub fn days_of(days: i64) -> Duration {
    Duration::from_hours(24 * days.unsigned_abs())
}

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
    pub sso: SsoDemand,
    pub sso_mfa: SsoMfa,
    pub sso_max_hours: i64,
    /// The maximum age of new API keys; `None`: they need not expire.
    pub api_key_max_days: Option<i64>,
    /// New API keys name their scopes: none has all permissions of its member.
    pub api_key_scopes_required: bool,
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
            sso: SsoDemand::default(),
            sso_mfa: SsoMfa::default(),
            sso_max_hours: DEFAULT_SSO_MAX_HOURS,
            api_key_max_days: None,
            api_key_scopes_required: false,
            updated_at: None,
            version: 0,
        }
    }
}

/// The demands of an organization on the sessions of one member, and what one of its connections granted.
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
    #[row(column = "COALESCE(p.sso, 'optional')")]
    pub sso: SsoDemand,
    #[row(column = "COALESCE(p.sso_mfa, 'trusted')")]
    pub sso_mfa: SsoMfa,
    #[row(column = "COALESCE(p.sso_max_hours, 12)")]
    pub sso_max_hours: i64,
    #[row(column = "m.is_exempt")]
    pub is_exempt: bool,
    /// When a connection granted the session.
    #[row(column = "g.granted_at")]
    pub granted_at: Option<Time>,
    #[row(column = "COALESCE(g.has_mfa, FALSE)")]
    pub granted_mfa: bool,
}

impl Demands {
    /// The first demand that the session does not meet.
    pub fn unmet(&self, session: &Session, now: Time) -> Option<Unmet> {
        let is_sso_required = self.sso == SsoDemand::Required && !self.is_exempt;
        let needs_grant = is_sso_required || session.method == SignInMethod::Sso;
        // A grant counts from its own time.
        let began = match (needs_grant, self.granted_at) {
            (true, None) => return Some(Unmet::Sso),
            (true, Some(granted_at)) => granted_at,
            (false, _) => session.created_at,
        };
        let age = now.since(began);
        let is_older = |hours: i64| age >= Duration::from_hours(hours.unsigned_abs());
        if self.signed_out_at.is_some_and(|at| began <= at)
            || self.max_hours.is_some_and(is_older)
            || (needs_grant && is_older(self.sso_max_hours))
        {
            return Some(Unmet::TooOld);
        }
        let gap = now.since(session.last_seen_at).max(session.longest_gap());
        let is_exceeded = |minutes: i64| gap > Duration::from_mins(minutes.unsigned_abs()) + USE_PRECISION;
        if self.idle_minutes.is_some_and(is_exceeded) {
            return Some(Unmet::Idle);
        }
        // Exempt members have the only other way in, so they always need both factors.
        let is_exempted = self.sso == SsoDemand::Required && self.is_exempt;
        let is_enforced = is_exempted || self.mfa_from.is_some_and(|from| from <= now);
        let has_factor = session.second_factor.is_some() || (needs_grant && self.counts_as_factor());
        match (is_enforced, has_factor, self.second_factor_since) {
            (false, ..) | (true, true, _) => None,
            (true, false, Some(_)) => Some(Unmet::SecondFactor),
            (true, false, None) => Some(Unmet::Enrolment),
        }
    }

    /// True if the session may know that its user is a member. A session by single sign-on is one organization's proof, and
    /// shows nothing of the others.
    pub fn is_known_to(&self, session: &Session) -> bool {
        session.method != SignInMethod::Sso || self.granted_at.is_some()
    }

    /// True if the grant counts as a second factor.
    fn counts_as_factor(&self) -> bool {
        match self.sso_mfa {
            SsoMfa::Trusted => true,
            SsoMfa::Claimed => self.granted_mfa,
            SsoMfa::Never => false,
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

    #[test]
    fn session_by_single_sign_on_counts_where_it_was_granted() {
        let by_sso = Session { method: SignInMethod::Sso, ..session(0, None) };
        let stranger = Demands { sso_max_hours: 12, ..Demands::default() };
        assert!(!stranger.is_known_to(&by_sso) && stranger.is_known_to(&session(0, None)));
        assert_eq!(stranger.unmet(&by_sso, at(0)), Some(Unmet::Sso));
        let granted = Demands { granted_at: Some(at(0)), ..stranger };
        assert!(granted.is_known_to(&by_sso));
        let revoked = Demands { granted_at: Some(Time::from_millis(0)), ..stranger };
        assert_eq!(revoked.unmet(&by_sso, at(0)), Some(Unmet::TooOld));
        assert_eq!(granted.unmet(&by_sso, at(0)), None);
        assert_eq!(granted.unmet(&Session { last_seen_at: at(720), ..by_sso }, at(720)), Some(Unmet::TooOld));
    }

    #[test]
    fn required_single_sign_on_exempts_only_both_factors() {
        let required = Demands { sso: SsoDemand::Required, sso_max_hours: 12, ..Demands::default() };
        assert_eq!(required.unmet(&session(0, Some(SecondFactor::Totp)), at(0)), Some(Unmet::Sso));
        let granted = Demands { granted_at: Some(at(0)), ..required };
        assert_eq!(granted.unmet(&session(0, None), at(0)), None, "a grant on a session of one's own");
        let exempt = Demands { is_exempt: true, second_factor_since: Some(at(0)), ..required };
        assert_eq!(exempt.unmet(&session(0, None), at(0)), Some(Unmet::SecondFactor));
        assert_eq!(exempt.unmet(&session(0, Some(SecondFactor::Totp)), at(0)), None);
    }

    #[test]
    fn single_sign_on_is_a_second_factor_as_the_policy_says() {
        let by_sso = Session { method: SignInMethod::Sso, ..session(0, None) };
        let enforced = Demands {
            mfa_from: Some(at(0)),
            granted_at: Some(at(0)),
            sso_max_hours: 12,
            ..Demands::default()
        };
        let unmet = |sso_mfa, granted_mfa| Demands { sso_mfa, granted_mfa, ..enforced }.unmet(&by_sso, at(1));
        assert_eq!(unmet(SsoMfa::Trusted, false), None);
        assert_eq!(unmet(SsoMfa::Claimed, true), None);
        assert_eq!(unmet(SsoMfa::Claimed, false), Some(Unmet::Enrolment));
        assert_eq!(unmet(SsoMfa::Never, true), Some(Unmet::Enrolment));
    }
}
