//! What a use case may touch: clock, ids, database, keys, mail, files, settings.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use attestry_blobs::Blobs;
use attestry_domain::Time;
use attestry_domain::clock::{Clock, Entropy, Ids};
use attestry_domain::id::OrganizationId;
use attestry_hosting::Hosting;
use attestry_mail::Mailer;
use attestry_storage::Db;
use tokio::sync::Notify;

use crate::assistant::Assistant;
use crate::assistant_streams::StreamPermits;
use crate::downloads::Downloader;
use crate::events::Events;
use crate::feed::Feed;
use crate::hashing::Hashing;
use crate::jobs::QueueClock;
use crate::keys::Keys;
use crate::outages::Outages;
use crate::permits::{FairPermits, Limits};
use crate::portals::domains::Hosts;
use crate::portals::public::Pages;
use crate::refusals::Refusals;
use crate::remembered::Principals;
use crate::runner::{Runner, RunnerSettings};
use crate::sealing::Sealer;
use crate::turns::Attempts;

/// Settings the use cases look at.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL people use, without a slash at the end.
    pub public_url: String,
    pub session_lifetime: Duration,
    pub session_idle: Duration,
    pub invitation_lifetime: Duration,
    pub reset_lifetime: Duration,
    /// How the scripts of automations are run.
    pub runner: RunnerSettings,
    /// Who helps to edit policies.
    pub assistant: Assistant,
    /// Who says whether the domains of portals lead here.
    pub domains: Hosting,
}

/// The context. Cheap to clone.
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
    pub settings: Settings,
    pub runner: Runner,
    pub principals: Principals,
    pub(crate) attempts: Attempts,
    pub hashing: Hashing,
    pub outages: Outages,
    pub(crate) refusals: Refusals,
    pub(crate) queue_clock: QueueClock,
    /// Rung when a job was enqueued in this process.
    pub job_bell: Notify,
    /// Laying out documents, which also takes memory.
    pub printing: FairPermits<OrganizationId>,
    /// Reading and marking files that came from outside.
    pub(crate) stamping: FairPermits<OrganizationId>,
    /// Files that were marked for a reader and are on their way, each of them in memory.
    pub(crate) downloads: FairPermits<Downloader>,
    /// The same for public files, apart, so that strangers never keep readers waiting.
    pub(crate) public_downloads: FairPermits<Downloader>,
    /// Reading tables that are imported.
    pub importing: FairPermits<OrganizationId>,
    /// Comparing texts.
    pub comparing: FairPermits<OrganizationId>,
    /// Masking what scripts return and log.
    pub(crate) masking: FairPermits<OrganizationId>,
    /// When a commit started an automation last, in milliseconds.
    pub(crate) started: Arc<AtomicI64>,
    /// Which host names are portals.
    pub(crate) portal_hosts: Hosts,
    /// Portals as the public sees them.
    pub portal_pages: Pages,
    /// Streams of the assistant.
    pub(crate) assistant_streams: StreamPermits,
    /// Who follows what happens.
    pub feed: Feed,
}

impl Ctx {
    pub fn new(
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        db: Db,
        keys: Keys,
        mailer: Mailer,
        blobs: Blobs,
        settings: Settings,
    ) -> Self {
        let ids = Ids::new(Arc::clone(&clock), entropy);
        let started = Arc::new(AtomicI64::new(i64::MIN));
        let events = Events {
            keys: keys.clone(),
            ids: ids.clone(),
            clock: Arc::clone(&clock),
            started: Arc::clone(&started),
        };
        db.sealed_by(Arc::new(Sealer { keys: keys.clone(), ids: ids.clone(), events }));
        let feed = Feed::new(db.engine());
        Self(Arc::new(Inner {
            clock,
            ids,
            db,
            keys,
            mailer,
            blobs,
            runner: Runner::new(settings.runner.clone()),
            settings,
            principals: Principals::default(),
            attempts: Attempts::default(),
            hashing: Hashing::default(),
            outages: Outages::default(),
            refusals: Refusals::default(),
            queue_clock: QueueClock::default(),
            job_bell: Notify::new(),
            printing: FairPermits::new(Limits::of_requests(2)),
            stamping: FairPermits::new(Limits::of_requests(2)),
            downloads: FairPermits::new(Limits { per_key: 4, ..Limits::of_requests(16) }),
            public_downloads: FairPermits::new(Limits { per_key: 4, ..Limits::of_requests(16) }),
            importing: FairPermits::new(Limits::of_requests(2)),
            comparing: FairPermits::new(Limits::of_requests(2)),
            masking: FairPermits::new(Limits::of_jobs(2)),
            started,
            portal_hosts: Hosts::default(),
            portal_pages: Pages::default(),
            assistant_streams: StreamPermits::default(),
            feed,
        }))
    }

    pub fn now(&self) -> Time {
        self.0.clock.now()
    }

    /// A link into the console.
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
