//! What a use case may touch: clock, ids, database, keys, mail, files, settings.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use attestry_blobs::Blobs;
use attestry_domain::Time;
use attestry_domain::clock::{Clock, Entropy, Ids};
use attestry_domain::id::AccessGrantId;
use attestry_hosting::Hosting;
use attestry_mail::Mailer;
use attestry_storage::Db;
use tokio::sync::Notify;

use crate::assistant::Assistant;
use crate::events::Events;
use crate::feed::Feed;
use crate::keys::Keys;
use crate::places::{Places, SharedPlaces};
use crate::portals::domains::Hosts;
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
    /// Rung when a job was enqueued in this process.
    pub job_bell: Notify,
    /// Laying out documents, which also takes memory.
    pub printing: Places,
    /// Reading and marking files that came from outside.
    pub(crate) stamping: Places,
    /// Files that were marked for a reader and are on their way, each of them in memory.
    pub(crate) leaving: SharedPlaces<AccessGrantId>,
    /// Comparing texts.
    pub comparing: Places,
    /// When a commit started an automation last, in milliseconds.
    pub(crate) started: Arc<AtomicI64>,
    /// Which host names are portals.
    pub(crate) portal_hosts: Hosts,
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
            job_bell: Notify::new(),
            printing: Places::new(2),
            stamping: Places::new(2),
            leaving: SharedPlaces::new(16, 4),
            comparing: Places::new(2),
            started,
            portal_hosts: Hosts::default(),
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
