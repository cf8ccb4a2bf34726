//! Assembles the server: the context, and the tables by which features extend the core and the registers.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use attestry_blobs::Blobs;
use attestry_domain::clock::{Clock, Entropy, Ids};
use attestry_hosting::{Hosting, TextRecords};
use attestry_mail::Mailer;
use attestry_pdf::StamperSettings;
use attestry_storage::Db;
use futures_util::FutureExt;
use tokio::sync::Notify;

use crate::assistant::{Assistant, streams};
use crate::automations::automation_run::AutomationRun;
use crate::automations::event_runs::EventRuns;
use crate::automations::runner::{Runner, RunnerSettings};
use crate::automations::schedules::Schedules;
use crate::automations::{self, events};
use crate::core::context::{CoreSettings, Ctx, Inner, Parts};
use crate::core::credentials::CredentialCache;
use crate::core::hashing::Hashing;
use crate::core::hooks::Hooks;
use crate::core::keys::Keys;
use crate::core::outages::Outages;
use crate::core::permits::{FairPermits, Limits};
use crate::core::queue::{AccountEntry, Jobs, Mail, QueueClock, kind_of};
use crate::core::refusals::Refusals;
use crate::core::sealing::Sealer;
use crate::core::throttle::Attempts;
use crate::feed::Feed;
use crate::files::attachments;
use crate::files::downloads::Downloads;
use crate::files::removal::Removal;
use crate::files::sweep::Sweep;
use crate::housekeeping::Housekeeping;
use crate::identity::exemptions::ExemptSignIn;
use crate::identity::identity_checks::IdentityChecks;
use crate::identity::mfa_required::MfaRequired;
use crate::identity::organizations;
use crate::identity::passkeys::RelyingParty;
use crate::identity::password_reset::PasswordReset;
use crate::identity::sign_in_failure::SignInFailure;
use crate::identity::sso::SingleSignOn;
use crate::notices::chat::ChatMessage;
use crate::notices::digests::Digests;
use crate::notices::inbox;
use crate::policies::reviews::PolicyReviews;
use crate::policies::sign_requests::SignRequests;
use crate::portals::announcement::Announcement;
use crate::portals::domain_checks::DomainChecks;
use crate::portals::domains::Hosts;
use crate::portals::public::Pages;
use crate::portals::stamping::Stamping;
use crate::tasks::recurrence::Recurrence;
use crate::trust_access::asked::VisitorRequest;
use crate::{comments, notices, policies, programme, soa};

static HOOKS: Hooks = Hooks {
    notify: |c, happened| notices::tell(c, happened).boxed(),
    committed: |ctx, organizations| ctx.feed().grew(organizations),
    validate: |c, record, file| policies::files::must_be_document(c, record, file).boxed(),
    deleted: &[
        |c, record| comments::remove_all(c, record).boxed(),
        |c, record| attachments::remove_all(c, record).boxed(),
        |c, record| automations::remove_all(c, record).boxed(),
        |c, record| policies::remove_all(c, record).boxed(),
        |c, record| inbox::remove_all(c, record).boxed(),
        |c, record| organizations::framework_deleted(c, record).boxed(),
        |c, record| programme::framework_deleted(c, record).boxed(),
    ],
    detached: |c, file| policies::files::must_not_be_used(c, file).boxed(),
    unassigned: &[
        |c, member| soa::release(c, member).boxed(),
        |c, member| policies::release(c, member).boxed(),
    ],
    demoted: |c, member, lost| soa::demoted(c, member, lost).boxed(),
    zone_changed: |c, zone| automations::reschedule(c, zone).boxed(),
};

static JOBS: Jobs = Jobs {
    kinds: &[
        kind_of::<Mail>(),
        kind_of::<PasswordReset>(),
        kind_of::<SignInFailure>(),
        kind_of::<MfaRequired>(),
        kind_of::<ExemptSignIn>(),
        kind_of::<AccountEntry>(),
        kind_of::<AutomationRun>(),
        kind_of::<EventRuns>(),
        kind_of::<Removal>(),
        kind_of::<SignRequests>(),
        kind_of::<Announcement>(),
        kind_of::<VisitorRequest>(),
        kind_of::<ChatMessage>(),
        kind_of::<Digests>(),
        kind_of::<DomainChecks>(),
        kind_of::<Housekeeping>(),
        kind_of::<IdentityChecks>(),
        kind_of::<PolicyReviews>(),
        kind_of::<Recurrence>(),
        kind_of::<Schedules>(),
        kind_of::<Sweep>(),
    ],
    // Starts the first child processes of the sandbox, so that the first run does not wait for them.
    started: |ctx| {
        ctx.runner().sandbox();
    },
    clock_corrected: |ctx| automations::reschedule_all(ctx).boxed(),
};

/// Settings of the use cases.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The public URL, without a trailing slash.
    pub public_url: String,
    pub session_lifetime: Duration,
    pub session_max_age: Duration,
    pub session_idle: Duration,
    pub invitation_lifetime: Duration,
    pub reset_lifetime: Duration,
    /// Settings of the runner of automation scripts.
    pub runner: RunnerSettings,
    /// Settings of the processes that read uploaded PDFs.
    pub stamper: StamperSettings,
    /// The assistant that helps to edit policies.
    pub assistant: Assistant,
    /// Checks whether portal domains point to this server.
    pub domains: Hosting,
    /// Settings of single sign-on.
    pub oidc: attestry_oidc::Settings,
}

impl Ctx {
    pub fn assemble(
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        db: Db,
        keys: Keys,
        mailer: Mailer,
        blobs: Blobs,
        settings: Settings,
    ) -> Self {
        let ids = Ids::new(Arc::clone(&clock), entropy);
        let jobs_at = Arc::new(AtomicI64::new(i64::MIN));
        db.sealed_by(Arc::new(Sealer {
            keys: keys.clone(),
            ids: ids.clone(),
            clock: Arc::clone(&clock),
            jobs_at: Arc::clone(&jobs_at),
            follow: |sealer, t, organization, entries| {
                events::start(sealer, t, organization, entries).boxed()
            },
        }));
        let parts = Parts::default()
            .with(&HOOKS)
            .with(&JOBS)
            .with(QueueClock::default())
            .with(Attempts::default())
            .with(RelyingParty::new(&settings.public_url))
            .with(Refusals::default())
            .with(Runner::new(settings.runner))
            .with(Stamping::new(settings.stamper))
            .with(settings.assistant)
            .with(settings.domains)
            .with(TextRecords::new(settings.oidc.dns_servers.clone()))
            .with(SingleSignOn::new(settings.oidc))
            .with(streams::StreamPermits::default())
            .with(Downloads::default())
            .with(Hosts::default())
            .with(Pages::default())
            .with(Feed::new(db.engine()));
        Self::new(Inner {
            clock,
            ids,
            db,
            keys,
            mailer,
            blobs,
            settings: CoreSettings {
                public_url: settings.public_url,
                session_lifetime: settings.session_lifetime,
                session_max_age: settings.session_max_age,
                session_idle: settings.session_idle,
                invitation_lifetime: settings.invitation_lifetime,
                reset_lifetime: settings.reset_lifetime,
            },
            credentials: CredentialCache::default(),
            hashing: Hashing::default(),
            outages: Outages::default(),
            job_bell: Notify::new(),
            sealed_jobs_at: jobs_at,
            printing: FairPermits::new(Limits::of_requests(2)),
            importing: FairPermits::new(Limits::of_requests(2)),
            comparing: FairPermits::new(Limits::of_requests(2)),
            masking: FairPermits::new(Limits::of_jobs(2)),
            parts,
        })
    }
}
