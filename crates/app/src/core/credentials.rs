//! What a process remembers of credentials, and forgets when it is no longer true.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Credential, Principal};
use attestry_domain::id::{ApiKeyId, MemberId, OrganizationId, SessionId, UserId};
use attestry_domain::identity::sessions::Session;
use attestry_domain::journal::Hash;
use quick_cache::sync::Cache;
use tokio::sync::mpsc;

/// How often the use of a credential is written down at most.
const TOUCH_EVERY: Duration = Duration::from_mins(1);

/// What is remembered of a credential.
#[derive(Debug)]
pub struct Known {
    pub principal: Arc<Principal>,
    pub(crate) until: Time,
    pub(crate) touched: AtomicI64,
}

/// What is remembered of a session apart from any organization.
#[derive(Debug)]
pub struct KnownSession {
    pub session: Session,
    pub email: String,
    pub(crate) until: Time,
    pub(crate) touched: AtomicI64,
}

/// The credentials that were used lately.
#[derive(Debug)]
pub struct CredentialCache {
    pub(crate) known: Cache<Hash, Arc<Known>>,
    pub(crate) sessions: Cache<Hash, Arc<KnownSession>>,
    /// Counts what was forgotten, so that a look-up that was under way meanwhile is not remembered.
    pub(crate) forgotten: AtomicU64,
    pub(crate) touches: (mpsc::Sender<Touch>, std::sync::Mutex<Option<mpsc::Receiver<Touch>>>),
}

impl Default for CredentialCache {
    fn default() -> Self {
        let (send, receive) = mpsc::channel(1024);
        Self {
            known: Cache::new(20_000),
            sessions: Cache::new(20_000),
            forgotten: AtomicU64::new(0),
            touches: (send, std::sync::Mutex::new(Some(receive))),
        }
    }
}

/// What is no longer what it was.
#[derive(Clone, Copy, Debug)]
pub enum Invalidate {
    Key(ApiKeyId),
    Member(MemberId),
    Organization(OrganizationId),
    Session(SessionId),
    User(UserId),
}

impl Invalidate {
    fn is_about(self, principal: &Principal) -> bool {
        match self {
            Self::Key(key) => principal.credential == Credential::ApiKey(key),
            Self::Member(member) => principal.member == member,
            Self::Organization(organization) => principal.organization == organization,
            Self::Session(session) => principal.credential == Credential::Session(session),
            Self::User(user) => principal.user == user,
        }
    }
}

/// A credential that was used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touch {
    Key(ApiKeyId, Time),
    Session(SessionId, Time),
}

impl CredentialCache {
    /// Forgets what is no longer true, in this process at once.
    pub fn invalidate(&self, what: Invalidate) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.known.retain(|_, known| !what.is_about(&known.principal));
        self.sessions.retain(|_, known| match what {
            Invalidate::Session(session) => known.session.id != session,
            Invalidate::User(user) => known.session.user_id != user,
            Invalidate::Key(_) | Invalidate::Member(_) | Invalidate::Organization(_) => true,
        });
    }

    pub(crate) fn touch(&self, touched: &AtomicI64, now: Time, touch: Touch) {
        let last = Time::from_millis(touched.load(Ordering::Relaxed));
        if now.since(last) >= TOUCH_EVERY {
            touched.store(now.as_millis(), Ordering::Relaxed);
            // A full channel loses a note of use, nothing else.
            let _ = self.touches.0.try_send(touch);
        }
    }
}
