//! Builds the application context from the settings.

use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use attestry_app::assistant::Assistant;
use attestry_app::core::keys::Keys;
use attestry_app::identity::setup;
use attestry_app::{Ctx, RunnerSettings, Settings, StamperSettings};
use attestry_blobs::Blobs;
use attestry_db::Pending;
use attestry_domain::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use attestry_domain::hash::hex;
use attestry_hosting::{DnsSettings, Error as HostingError, Hosting, Settings as Provider};
use attestry_mail::Mailer;
use attestry_storage::Db;
use attestry_storage::schema::MIGRATIONS;

use crate::config::{Config, Domains, Listen, make_data_dir};

pub(crate) fn key_file(config: &Config) -> PathBuf {
    config.data_dir.join("attestry.key")
}

/// The secret of this installation: the setting, or the key file, which is created at the first start.
fn secret(config: &Config) -> Result<Vec<u8>> {
    if let Some(key) = &config.secret_key {
        return Ok(key.clone().into_bytes());
    }
    let path = key_file(config);
    match std::fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= 32 => Ok(text.trim().to_owned().into_bytes()),
        Ok(_) => bail!("the key file {} is damaged: it must hold 32 characters or more", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => make_key_file(&path),
        Err(error) => Err(error).with_context(|| format!("the key file {} cannot be read", path.display())),
    }
}

fn make_key_file(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = [0; 32];
    SystemEntropy.fill(&mut bytes);
    let text = hex(&bytes);
    write_private(path, format!("{text}\n").as_bytes())?;
    Ok(text.into_bytes())
}

/// Creates a file that only its owner can read and syncs it to disk; fails if it exists.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

pub(crate) fn mailer(config: &Config) -> Result<Mailer> {
    let made = match (&config.smtp_url, &config.smtp_certificate) {
        (Some(url), None) => Mailer::smtp(url, &config.mail_from),
        (Some(url), Some(certificate)) => Mailer::smtp_trusting(url, &config.mail_from, certificate),
        (None, _) => Mailer::folder(config.mail_dir(), &config.mail_from),
    };
    made.map_err(|error| anyhow::anyhow!("mail: {error}"))
}

/// Builds the client that checks whether portal domains point to this server. `port` is the port the server listens
/// on.
pub(crate) fn hosting(config: &Config, port: Option<u16>) -> Result<Hosting> {
    let wrong = |error: HostingError| anyhow::anyhow!("domains: {error}");
    let (servers, target, addresses) = match &config.domains {
        Domains::Vercel(settings) => return Hosting::new(Provider::Vercel(settings.clone())).map_err(wrong),
        Domains::Dns { servers, target, addresses } => (servers, target, addresses),
    };
    let url = url::Url::parse(&public_url(config, port)).ok();
    let own = url.as_ref().and_then(url::Url::host);
    let name = match &own {
        Some(url::Host::Domain(name)) => (*name).to_owned(),
        _ => "localhost".to_owned(),
    };
    let mut settings = DnsSettings::new(target.clone().unwrap_or(name));
    settings.servers.clone_from(servers);
    settings.addresses.clone_from(addresses);
    let address = match own {
        Some(url::Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(url::Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        _ => None,
    };
    if settings.addresses.is_empty() && target.is_none() {
        settings.addresses.extend(address);
    }
    Hosting::new(Provider::Dns(settings)).map_err(wrong)
}

pub(crate) fn blobs(config: &Config) -> Result<Blobs> {
    let opened = match &config.blobs_url {
        Some(url) => Blobs::bucket(url, std::env::vars()),
        None => Blobs::folder(&config.blobs_dir()),
    };
    opened.context("files: blobs.url or the data folder cannot be used")
}

/// The public URL: the setting, or the address the server listens on. `port` is the bound port, if the setting leaves
/// it to the system.
pub(crate) fn public_url(config: &Config, port: Option<u16>) -> String {
    if let Some(url) = &config.public_url {
        return url.clone();
    }
    let Listen { host, port: wanted } = &config.listen;
    let port = port.unwrap_or(*wanted);
    match host.parse::<IpAddr>() {
        Ok(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{port}"),
        Ok(IpAddr::V6(ip)) => format!("http://[{ip}]:{port}"),
        _ => format!("http://{host}:{port}"),
    }
}

/// Returns true if the database exists; always true for PostgreSQL, whose database is created by its administrator.
pub(crate) fn database_exists(config: &Config) -> bool {
    match &config.database {
        attestry_db::Config::Sqlite { path, .. } => path.exists(),
        attestry_db::Config::Postgres { .. } => true,
    }
}

/// The keys of this installation. Fails if there are none, instead of creating them.
pub(crate) fn own_keys(config: &Config) -> Result<Keys> {
    if config.secret_key.is_none() && !key_file(config).exists() {
        bail!("there is no key file at {}; give --keys", key_file(config).display());
    }
    Ok(Keys::new(&secret(config)?, Arc::new(SystemEntropy))?)
}

/// Opens an existing database: a read-only command must not create one because of a mistyped path.
pub(crate) fn existing(config: &Config) -> Result<Ctx> {
    if let attestry_db::Config::Sqlite { path, .. } = &config.database
        && !database_exists(config)
    {
        bail!("there is no database at {}; check --data-dir and --database-url", path.display());
    }
    if config.secret_key.is_none() && !key_file(config).exists() {
        bail!(
            "there is no key file at {}; check --data-dir, or set ATTESTRY_SECRET_KEY",
            key_file(config).display()
        );
    }
    open(config, None)
}

/// Opens an existing database, which must have the schema of this version.
pub(crate) async fn current(config: &Config) -> Result<Ctx> {
    let ctx = existing(config)?;
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    must_be_known(&pending)?;
    if !pending.missing.is_empty() {
        bail!("the database is of an older version; run `attestry migrate`, or start the server");
    }
    setup::must_be_whole(&ctx).await?;
    setup::bind_secret_key(&ctx, false).await?;
    Ok(ctx)
}

/// Rejects a schema with migrations that this version does not know.
pub(crate) fn must_be_known(pending: &Pending) -> Result<()> {
    if pending.unknown.is_empty() {
        return Ok(());
    }
    bail!(
        "the schema is of another version, newer or from before the first release ({}); run that version",
        pending.unknown.join(", ")
    )
}

/// The external dependencies of a context.
pub(crate) struct Dependencies {
    pub(crate) clock: Arc<dyn Clock>,
    /// Random source of ids; secrets always come from the system's.
    pub(crate) ids: Arc<dyn Entropy>,
    pub(crate) mailer: Mailer,
    pub(crate) runner: RunnerSettings,
    pub(crate) assistant: Assistant,
}

impl Dependencies {
    /// The dependencies in production.
    fn real(config: &Config) -> Result<Self> {
        Ok(Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemEntropy),
            mailer: mailer(config)?,
            runner: config.runner.clone(),
            assistant: config.assistant.clone(),
        })
    }
}

/// Opens the context without changing the schema.
pub(crate) fn open(config: &Config, port: Option<u16>) -> Result<Ctx> {
    open_in(Dependencies::real(config)?, config, port)
}

fn open_in(world: Dependencies, config: &Config, port: Option<u16>) -> Result<Ctx> {
    let Dependencies { clock, ids, mailer, runner, assistant } = world;
    make_data_dir(&config.data_dir)?;
    let keys = Keys::new(&secret(config)?, Arc::new(SystemEntropy))?;
    let db = Db::open(&config.database).context("the database cannot be opened")?;
    let settings = Settings {
        public_url: public_url(config, port),
        session_lifetime: config.session_lifetime,
        session_max_age: config.session_max_age,
        session_idle: config.session_idle,
        invitation_lifetime: config.invitation_lifetime,
        reset_lifetime: config.reset_lifetime,
        runner,
        stamper: StamperSettings::default(),
        assistant,
        domains: hosting(config, port)?,
        oidc: config.oidc.clone(),
    };
    Ok(Ctx::assemble(clock, ids, db, keys, mailer, blobs(config)?, settings))
}

/// Opens the context and migrates the schema, creating the database if there is none. `port` is the port the server
/// listens on.
pub(crate) async fn migrated(config: &Config, port: Option<u16>) -> Result<Ctx> {
    migrated_in(Dependencies::real(config)?, config, port).await
}

pub(crate) async fn migrated_in(world: Dependencies, config: &Config, port: Option<u16>) -> Result<Ctx> {
    let ctx = open_in(world, config, port)?;
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    must_be_known(&pending)?;
    if !pending.missing.is_empty() {
        ctx.db.migrate(MIGRATIONS).await?;
    }
    setup::must_be_whole(&ctx).await?;
    setup::bind_secret_key(&ctx, false).await?;
    Ok(ctx)
}
