//! Tests against a real name server, and a local fake of a hosting provider with the real protocol.

#![expect(clippy::expect_used, reason = "test code")]

mod dns;
mod remembered;
mod vercel;

use attestry_hosting::testing::NameServer;
use attestry_hosting::{CHALLENGE_LABEL, Challenge, DnsSettings, Failure, Hosting, Record, Settings, Status};

/// The host name that domains must point to.
pub(crate) const TARGET: &str = "portal.attestry.test";
/// The value of all challenges.
pub(crate) const VALUE: &str = "attestry-3f9c2b7a51e04d68";

/// A name server with the target and a customer's domains, and a checker that uses it.
pub(crate) struct Names {
    pub(crate) server: NameServer,
    pub(crate) hosting: Hosting,
}

impl Names {
    pub(crate) async fn with(records: &str) -> Self {
        Self::changed(records, |_| {}).await
    }

    pub(crate) async fn changed(records: &str, change: impl FnOnce(&mut DnsSettings)) -> Self {
        let server = NameServer::start(&["attestry.test", "customer.test"]).await.expect("a name server");
        server
            .set("attestry.test", "portal 300 A 192.0.2.10\nportal 300 AAAA 2001:db8::10")
            .await
            .expect("the zone of the target");
        server.set("customer.test", records).await.expect("the zone of a customer");
        let mut settings = server.settings(TARGET);
        change(&mut settings);
        let hosting = Hosting::new(Settings::Dns(settings)).expect("settings");
        Self { server, hosting }
    }

    pub(crate) async fn set(&self, records: &str) {
        self.server.set("customer.test", records).await.expect("a zone");
    }

    pub(crate) async fn ask(&self, domain: &str) -> Result<Status, Failure> {
        self.hosting.status(&Challenge { domain, value: VALUE }).await
    }

    pub(crate) async fn status(&self, domain: &str) -> Status {
        self.ask(domain).await.expect("a status")
    }
}

pub(crate) fn record(kind: &str, domain: &str, value: &str, reason: &str) -> Record {
    Record {
        kind: kind.to_owned(),
        domain: domain.to_owned(),
        value: value.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The TXT record to create.
pub(crate) fn txt(domain: &str, reason: &str) -> Record {
    record("TXT", &format!("{CHALLENGE_LABEL}.{domain}"), VALUE, reason)
}

pub(crate) fn cname(domain: &str, reason: &str) -> Record {
    record("CNAME", domain, TARGET, reason)
}

/// The status of a correctly configured domain.
pub(crate) fn well() -> Status {
    Status {
        verified: true,
        verification: Vec::new(),
        cname_target: Some(TARGET.to_owned()),
        misconfigured: false,
    }
}
