//! The credential cache of a process, and its invalidation.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::{Credential, Principal};
use attestry_domain::hash::Hash;
use attestry_domain::id::{ApiKeyId, DirectoryTokenId, MemberId, OrganizationId, SessionId, UserId};
use attestry_domain::identity::directory::DirectoryRequest;
use attestry_domain::identity::sessions::Session;
use quick_cache::sync::Cache;
use tokio::sync::mpsc;

/// The minimum interval between two writes of a credential's last use.
const TOUCH_EVERY: Duration = Duration::from_mins(1);

/// A cached credential.
#[derive(Debug)]
pub struct CachedPrincipal {
    pub principal: Arc<Principal>,
    pub(crate) until: Time,
    pub(crate) touched: AtomicI64,
}

/// A cached session, independent of any organization.
#[derive(Debug)]
pub struct CachedSession {
    pub session: Session,
    pub email: String,
    pub(crate) until: Time,
    pub(crate) touched: AtomicI64,
}

/// The recently used credentials.
#[derive(Debug)]
pub struct CredentialCache {
    pub(crate) known: Cache<Hash, Arc<CachedPrincipal>>,
    pub(crate) sessions: Cache<Hash, Arc<CachedSession>>,
    /// The number of invalidations; a look-up during which it changes is not cached.
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

/// The subject of an invalidation.
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
#[derive(Clone, Debug)]
pub(crate) enum Touch {
    Key(ApiKeyId, Time, Option<IpAddr>),
    Session(SessionId, Time),
    Directory(OrganizationId, DirectoryTokenId, Time),
    /// What a directory's token was used for.
    Request(Box<DirectoryRequest>),
}

impl CredentialCache {
    /// Removes matching entries from the cache of this process.
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
            self.note(touch);
        }
    }

    /// Writes a use in the background. A full channel only loses that it was used.
    pub(crate) fn note(&self, touch: Touch) {
        let _ = self.touches.0.try_send(touch);
    }
}
