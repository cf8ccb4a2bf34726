//! The dependencies of a use case: clock, ids, database, keys, mail, files, settings, and the in-memory state of its
//! feature.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use attestry_blobs::Blobs;
use attestry_domain::Time;
use attestry_domain::clock::{Clock, Ids};
use attestry_domain::id::OrganizationId;
use attestry_mail::Mailer;
use attestry_storage::Db;
use tokio::sync::Notify;

use crate::core::credentials::CredentialCache;
use crate::core::hashing::Hashing;
use crate::core::keys::Keys;
use crate::core::outages::Outages;
use crate::core::permits::FairPermits;

/// Settings of the core.
#[derive(Clone, Debug)]
pub struct CoreSettings {
    /// The public URL, without a trailing slash.
    pub public_url: String,
    pub session_lifetime: Duration,
    /// The time after which a session ends even if it is in use.
    pub session_max_age: Duration,
    pub session_idle: Duration,
    pub invitation_lifetime: Duration,
    pub reset_lifetime: Duration,
}

/// The application context. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ctx(Arc<Inner>);

#[derive(Debug)]
pub struct Inner {
    pub clock: Arc<dyn Clock>,
    pub ids: Ids,
    pub db: Db,
    pub keys: Keys,
    pub mailer: Mailer,
    pub blobs: Blobs,
    pub settings: CoreSettings,
    pub credentials: CredentialCache,
    pub hashing: Hashing,
    pub outages: Outages,
    /// Notified when this process enqueues a job.
    pub job_bell: Notify,
    /// Time at which a commit enqueued jobs that follow from its entries, in milliseconds.
    pub(crate) sealed_jobs_at: Arc<AtomicI64>,
    /// Permits for rendering documents, which also takes memory.
    pub printing: FairPermits<OrganizationId>,
    /// Permits for reading imported tables.
    pub importing: FairPermits<OrganizationId>,
    /// Permits for comparing texts.
    pub comparing: FairPermits<OrganizationId>,
    /// Permits for masking the output and logs of scripts.
    pub(crate) masking: FairPermits<OrganizationId>,
    pub(crate) parts: Parts,
}

/// The in-memory state and settings of the features, one value per type.
#[derive(Debug, Default)]
pub(crate) struct Parts(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Parts {
    #[must_use]
    pub(crate) fn with<T: Any + Send + Sync>(mut self, part: T) -> Self {
        self.0.insert(TypeId::of::<T>(), Box::new(part));
        self
    }
}

impl Ctx {
    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// Returns the value of this type that the server was assembled with.
    pub(crate) fn part<T: Any + Send + Sync>(&self) -> &T {
        let part = self.parts.0.get(&TypeId::of::<T>()).and_then(|part| part.downcast_ref());
        part.unwrap_or_else(|| unreachable!("the server was put together without {}", type_name::<T>()))
    }

    pub fn now(&self) -> Time {
        self.0.clock.now()
    }

    /// Returns a link into the console.
    pub fn link(&self, path: &str) -> String {
        format!("{}{path}", self.0.settings.public_url)
    }
}

impl Deref for Ctx {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
