//! [`TestApp`]: the real router on a real database of either engine, with a fixed clock and mail in memory. Every
//! response is validated against the OpenAPI document; at the end no job may be left and no unexpected error logged.

#![expect(clippy::missing_panics_doc, clippy::expect_used, clippy::panic, reason = "this crate is test code")]

pub mod authenticator;
pub mod binary;
pub mod certified;
pub mod client;
pub mod database;
mod document;
mod logs;
pub mod provider;
pub mod proxy;
pub mod s3;
pub mod two_servers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use attestry_ai::fake::{FakeProvider, Reply as Script};
use attestry_ai::{Kind, Provider};
use attestry_api::{Api, HttpSettings};
use attestry_app::assistant::Assistant;
use attestry_app::core::keys::Keys;
use attestry_app::core::queue;
use attestry_app::feed::StreamLimits;
use attestry_app::identity::setup;
use attestry_app::identity::setup::{Founded, NewInstallation};
use attestry_app::{Ctx, RunnerSettings, Settings, StamperSettings};
use attestry_blobs::Blobs;
use attestry_domain::clock::{Clock, Entropy, ManualClock};
use attestry_domain::{Parse, Time};
use attestry_hosting::testing::NameServer;
use attestry_hosting::{DnsSettings, Hosting};
use attestry_mail::{Mailer, Message, Sent};
use attestry_storage::schema::MIGRATIONS;
use axum::Router;
use serde_json::{Value, json};
use tracing::Level;
use tracing::instrument::WithSubscriber;

pub use client::{Call, Reply};
pub use database::Engine;

/// The time at which every test starts.
pub const START: &str = "2026-11-15T09:30:00.000Z";
pub const PASSWORD: &str = "correct horse battery";

/// Runs each of these functions as a test on both databases.
#[macro_export]
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    $crate::run($crate::Engine::Sqlite, async |app| super::$name(app).await);
                }

                #[test]
                fn postgres() {
                    $crate::run($crate::Engine::Postgres, async |app| super::$name(app).await);
                }
            }
        )*
    };
}

/// Runs one test on one engine.
pub fn run(engine: Engine, body: impl AsyncFnOnce(&TestApp)) {
    run_with(engine, |_| {}, body);
}

/// Runs a test on one engine with other HTTP settings.
pub fn run_with(engine: Engine, change: impl FnOnce(&mut HttpSettings), body: impl AsyncFnOnce(&TestApp)) {
    let mut settings = http();
    change(&mut settings);
    on_app(engine, settings, async || (self::settings(), ()), async |app, ()| body(app).await);
}

/// Runs a test on one engine with domain settings that point to real peers.
pub fn run_with_domains<P>(
    engine: Engine,
    domains: impl AsyncFnOnce() -> (attestry_hosting::Settings, P),
    body: impl AsyncFnOnce(&TestApp, P),
) {
    let peers = async || {
        let (domains, peer) = domains().await;
        let domains = Hosting::new(domains).expect("settings of domains");
        (Settings { domains, ..settings() }, peer)
    };
    on_app(engine, http(), peers, body);
}

/// Runs a test on one engine with a name server for the mail domains and the portals' domains.
pub fn run_with_name_server(engine: Engine, zones: &[&str], body: impl AsyncFnOnce(&TestApp, NameServer)) {
    let peers = async || {
        let server = NameServer::start(zones).await.expect("a name server");
        let own = settings();
        let oidc = attestry_oidc::Settings { dns_servers: vec![server.address()], ..own.oidc.clone() };
        let domains = domains(server.settings(TARGET));
        (Settings { oidc, domains, ..own }, server)
    };
    on_app(engine, http(), peers, body);
}

/// Runs a test on one engine with a scripted provider.
pub fn run_assisted(engine: Engine, kind: Kind, body: impl AsyncFnOnce(&TestApp, &FakeProvider)) {
    let assistant = async || {
        let fake = FakeProvider::start(kind, [Script::no_answer()]).await.expect("a provider");
        let provider = Provider::new(fake.settings().expect("settings")).expect("a provider");
        (Settings { assistant: Assistant::Provider(provider), ..settings() }, fake)
    };
    on_app(engine, http(), assistant, async |app, fake| body(app, &fake).await);
}

/// Runs a test on one engine with the rule-based assistant.
pub fn run_by_rules(engine: Engine, body: impl AsyncFnOnce(&TestApp)) {
    let rules = async || (Settings { assistant: Assistant::Rules, ..settings() }, ());
    on_app(engine, http(), rules, async |app, ()| body(app).await);
}

/// Runs a test on one engine with this program in place of the one that reads uploaded PDFs.
pub fn run_with_pdf_reader(engine: Engine, program: &str, body: impl AsyncFnOnce(&TestApp)) {
    let mut stamper = stamper();
    stamper.0.program = program.into();
    let settings = async || (Settings { stamper, ..settings() }, ());
    on_app(engine, http(), settings, async |app, ()| body(app).await);
}

fn on_app<P>(
    engine: Engine,
    http: HttpSettings,
    settings: impl AsyncFnOnce() -> (Settings, P),
    body: impl AsyncFnOnce(&TestApp, P),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let logs = logs::Logs::default();
    runtime.block_on(
        async {
            let (settings, peer) = settings().await;
            let app = TestApp::start(engine, http, logs.clone(), settings).await;
            body(&app, peer).await;
            app.finish().await;
        }
        .with_subscriber(logs.subscriber()),
    );
}

fn http() -> HttpSettings {
    HttpSettings {
        body_limit: 16 << 20,
        body_memory: 128 << 20,
        response_memory: 128 << 20,
        request_timeout: Duration::from_secs(30),
        keep_alive: Duration::from_millis(50),
        event_streams: StreamLimits { in_all: 100, of_one_organization: 50 },
        cors_origins: Vec::new(),
        trusted_proxies: Vec::new(),
        rate_per_credential: 0,
        rate_per_address: 0,
        secure: false,
        version: "0.0.0-test",
    }
}

/// A source of random numbers that are the same in every run of a test.
#[derive(Debug, Default)]
struct Seeded(AtomicU64);

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            // SplitMix64: well distributed, but not cryptographic.
            let mut z = self
                .0
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_be_bytes()[..chunk.len()]);
        }
    }
}

fn settings() -> Settings {
    Settings {
        public_url: "https://compliance.example.com".to_owned(),
        session_lifetime: Duration::from_hours(30 * 24),
        session_max_age: Duration::from_hours(90 * 24),
        session_idle: Duration::from_hours(12),
        invitation_lifetime: Duration::from_hours(7 * 24),
        reset_lifetime: Duration::from_hours(1),
        runner: runner(),
        stamper: stamper(),
        assistant: Assistant::default(),
        domains: domains(DnsSettings { servers: vec![UNREACHABLE_DNS], ..DnsSettings::new(TARGET) }),
        oidc: attestry_oidc::Settings {
            allow_private_networks: true,
            dns_servers: vec![UNREACHABLE_DNS],
            ..attestry_oidc::Settings::default()
        },
    }
}

/// The CNAME target of custom domains.
pub const TARGET: &str = "compliance.example.com";
/// An address without a name server.
const UNREACHABLE_DNS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

fn domains(settings: DnsSettings) -> Hosting {
    Hosting::new(attestry_hosting::Settings::Dns(settings)).expect("settings of domains")
}

/// Runs scripts in the child process of the real binary, with access to the tests' own servers.
fn runner() -> RunnerSettings {
    let mut settings = RunnerSettings::default();
    settings.sandbox.program = binary::path();
    settings.sandbox.ready = 1;
    settings.sandbox.limits.cpu = Duration::from_secs(1);
    settings.sandbox.limits.wall = Duration::from_secs(20);
    settings.egress.allow_private_networks = true;
    settings
}

/// Reads uploaded PDFs in the child process of the real binary.
fn stamper() -> StamperSettings {
    let mut settings = StamperSettings::default();
    settings.0.program = binary::path();
    settings.0.limits.cpu = Duration::from_secs(2);
    settings
}

/// An organization with its owner and an API key with all permissions.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub organization: String,
    pub user: String,
    pub member: String,
    pub email: String,
    pub key: String,
}

#[derive(Debug)]
pub struct TestApp {
    pub ctx: Ctx,
    pub clock: Arc<ManualClock>,
    pub mail: Sent,
    /// The organization that most tests use.
    pub home: Tenant,
    router: Router,
    logs: logs::Logs,
    database: database::Database,
}

impl TestApp {
    async fn start(engine: Engine, http: HttpSettings, logs: logs::Logs, settings: Settings) -> Self {
        let database = database::Database::create(engine).await;
        let db = database.open();
        db.migrate(MIGRATIONS).await.expect("the migrations run");
        let clock = Arc::new(ManualClock::at(Time::parse(START).expect("a time")));
        let entropy: Arc<dyn Entropy> = Arc::new(Seeded::default());
        let keys = Keys::new(b"a secret that only the tests know", Arc::clone(&entropy)).expect("keys");
        let (mailer, mail) = Mailer::memory("Attestry <attestry@example.com>").expect("a mailer");
        let shared: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let ctx = Ctx::assemble(shared, entropy, db, keys, mailer, Blobs::memory(), settings);
        let router = attestry_api::router(Api::new(ctx.clone(), http));
        let home = tenant(&ctx, "Home", "ada@example.com").await;
        Self { ctx, clock, mail, home, router, logs, database }
    }

    /// Creates another organization with its own owner.
    pub async fn tenant(&self, name: &str, email: &str) -> Tenant {
        tenant(&self.ctx, name, email).await
    }

    pub fn engine(&self) -> Engine {
        self.database.engine()
    }

    /// Serves HTTP on a port of its own for programs outside of this process, until the test ends.
    pub async fn serve(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = self.router.clone().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// Creates a call without credentials.
    pub fn call(&self, method: &str, path: &str) -> Call<'_> {
        Call::new(&self.router, method, path)
    }

    pub fn get(&self, path: &str) -> Call<'_> {
        self.call("GET", path).key(&self.home.key)
    }

    pub fn post(&self, path: &str, body: &Value) -> Call<'_> {
        self.call("POST", path).key(&self.home.key).json(body)
    }

    pub fn patch(&self, path: &str, body: &Value) -> Call<'_> {
        self.call("PATCH", path).key(&self.home.key).json(body)
    }

    pub fn delete(&self, path: &str) -> Call<'_> {
        self.call("DELETE", path).key(&self.home.key)
    }

    /// Runs the jobs that are due.
    pub async fn work(&self) {
        queue::drain(&self.ctx).await.expect("the jobs run");
    }

    /// Runs the jobs that are due and returns the mail that they sent.
    pub async fn mails(&self) -> Vec<Message> {
        self.work().await;
        self.mail.take()
    }

    /// Creates a user with a password who is an active member of `tenant` with `role`; returns the member.
    pub async fn member(&self, tenant: &Tenant, email: &str, role: &str) -> Value {
        let invited = self
            .call("POST", "/v1/people/invite")
            .key(&tenant.key)
            .json(&json!({"email": email, "name": email.split('@').next(), "role": role}))
            .send()
            .await
            .expect(201);
        let token = token_in(&self.mails().await);
        self.call("POST", "/v1/auth/accept-invitation")
            .json(&json!({"token": token, "password": PASSWORD}))
            .send()
            .await
            .expect(200);
        invited
    }

    /// Makes the owner of another tenant an active member of `tenant` with `role`, as themselves; returns the member.
    pub async fn join(&self, tenant: &Tenant, other: &Tenant, role: &str) -> Value {
        let body = json!({"userId": other.user, "role": role});
        let call = self.call("POST", "/v1/people").key(&tenant.key).json(&body);
        let invited = call.send().await.expect(201);
        self.accept(&token_in(&self.mails().await)).await.expect(200);
        let path = format!("/v1/people/{}", id(&invited));
        self.call("GET", &path).key(&tenant.key).send().await.expect(200)
    }

    /// Signs in and returns the token.
    pub async fn sign_in(&self, email: &str) -> String {
        let body = json!({"email": email, "password": PASSWORD});
        let session = self.call("POST", "/v1/auth/login").json(&body).send().await.expect(200);
        // A job writes the journal entry.
        self.work().await;
        session["token"].as_str().expect("a token").to_owned()
    }

    /// Starts to write the last use of credentials, as the server does in the background.
    pub fn write_touches(&self) {
        tokio::spawn(attestry_app::identity::principals::write_touches(self.ctx.clone()));
    }

    /// Waits until the use of a session at this moment is stored.
    pub async fn used(&self, token: &str) {
        let (hash, now) = (attestry_domain::hash::sha256(token.as_bytes()), self.ctx.now());
        loop {
            let found =
                self.ctx.db.read(async move |t| attestry_storage::sessions::find(t, &hash).await).await;
            let (session, _) = found.expect("a read").expect("a session");
            if session.last_seen_at == now {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Runs the hourly job and the jobs that it enqueues.
    pub async fn housekeeping(&self) {
        queue::schedule(&self.ctx).await.expect("scheduled");
        self.work().await;
        self.ctx
            .db
            .write(async |t| t.execute("DELETE FROM jobs WHERE unique_key IS NOT NULL", &[]).await)
            .await
            .expect("the recurring jobs are taken out again");
    }

    /// Creates a risk in the home organization with these fields and the required ones.
    pub async fn risk(&self, fields: Value) -> Value {
        let body = merged(
            json!({"title": "Laptops are lost", "description": "With data on them.", "category": "technology"}),
            fields,
        );
        self.post("/v1/risks", &body).send().await.expect(201)
    }

    /// Creates a vendor in the home organization with these fields and the required ones.
    pub async fn vendor(&self, fields: Value) -> Value {
        let body = merged(json!({"name": "Cloudy", "description": "Hosts everything."}), fields);
        self.post("/v1/vendors", &body).send().await.expect(201)
    }

    /// Creates a task in the home organization with these fields and the required ones.
    pub async fn task(&self, fields: Value) -> Value {
        let body = merged(json!({"title": "Review access"}), fields);
        self.post("/v1/tasks", &body).send().await.expect(201)
    }

    /// Accepts an invitation and returns the reply.
    pub async fn accept(&self, token: &str) -> Reply {
        let body = json!({"token": token, "password": PASSWORD});
        self.call("POST", "/v1/auth/accept-invitation").json(&body).send().await
    }

    /// Creates an API key with these scopes as the owner.
    pub async fn key(&self, scopes: &[&str]) -> String {
        let made =
            self.post("/v1/organization/api-keys", &json!({"name": "test", "scopes": scopes})).send().await;
        made.expect(201)["key"].as_str().expect("a key").to_owned()
    }

    /// Returns the number of entries in an organization's journal.
    pub async fn entries(&self, tenant: &Tenant) -> i64 {
        let head = self.call("GET", "/v1/audit-logs/head").key(&tenant.key).send().await.expect(200);
        head["sequence"].as_i64().expect("a number")
    }

    /// Takes the errors logged so far, so that they no longer count as unexpected.
    pub fn take_errors(&self) -> Vec<String> {
        self.logs.take(Level::ERROR)
    }

    /// Takes the warnings logged so far.
    pub fn take_warnings(&self) -> Vec<String> {
        self.logs.take(Level::WARN)
    }

    async fn finish(self) {
        // A journal entry about an account may be pending; a test must process all other jobs itself.
        let sql = "SELECT COUNT(*) FROM jobs WHERE kind <> 'account_entry'";
        let asked = self.ctx.db.read(async |t| t.one(sql, &[], |row| row.int(0)).await).await;
        assert_eq!(asked.expect("the queue can be read"), 0, "jobs were left in the queue");
        self.work().await;
        let counts = self.ctx.db.read(async |t| attestry_storage::jobs::counts(t).await).await;
        let (jobs, failed) = counts.expect("the queue can be read");
        assert_eq!((jobs, failed), (0, 0), "jobs were left in the queue");
        let errors = self.take_errors();
        assert!(errors.is_empty(), "unexpected errors were logged: {errors:#?}");
        let Self { ctx, router, database, .. } = self;
        drop((ctx, router));
        database.remove().await;
    }
}

async fn tenant(ctx: &Ctx, name: &str, email: &str) -> Tenant {
    let new = NewInstallation {
        organization: Parse::parse(name).expect("a name"),
        email: Parse::parse(email).expect("an address"),
        password: Some(Parse::parse(PASSWORD).expect("a password")),
        name: Some(Parse::parse("Ada Byron").expect("a name")),
    };
    let (Founded { organization, user, member }, made) =
        setup::by_operator(ctx, new).await.expect("an organization");
    Tenant {
        organization: organization.to_string(),
        user: user.to_string(),
        member: member.to_string(),
        email: email.to_owned(),
        key: made.text,
    }
}

/// Merges one object over another.
pub fn merged(mut base: Value, over: Value) -> Value {
    if let (Value::Object(base), Value::Object(over)) = (&mut base, over) {
        base.extend(over);
    }
    base
}

/// Returns the id of an object in a response.
pub fn id(value: &Value) -> &str {
    value["id"].as_str().expect("an id")
}

/// The token of the link in the only message.
pub fn token_in(mails: &[Message]) -> String {
    let [mail] = mails else { panic!("not one message but {}", mails.len()) };
    let (_, rest) = mail.text.split_once("token=").expect("a link");
    rest.split_whitespace().next().expect("a token").to_owned()
}
