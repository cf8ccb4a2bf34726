//! From settings to a working context.

use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use attestry_app::assistant::Assistant;
use attestry_app::core::keys::Keys;
use attestry_app::identity::setup;
use attestry_app::{Ctx, RunnerSettings, Settings};
use attestry_blobs::Blobs;
use attestry_db::Pending;
use attestry_domain::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use attestry_domain::journal::hex;
use attestry_hosting::{DnsSettings, Error as HostingError, Hosting, Settings as Provider};
use attestry_mail::Mailer;
use attestry_storage::Db;
use attestry_storage::schema::MIGRATIONS;

use crate::config::{Config, Domains, Listen, make_data_dir};

pub(crate) fn key_file(config: &Config) -> PathBuf {
    config.data_dir.join("attestry.key")
}

/// The secret of this installation: the setting, or a file that is made at the first start.
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

/// Writes a file that only its owner can read, and that is whole or not there.
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

/// Who says whether the domains of portals lead here. `port`: where the server listens.
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

/// The URL people use: the setting, or where the server listens. `port`: the one it got, where the setting leaves that
/// open.
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

/// Whether there is a database already. PostgreSQL's is made by somebody else.
pub(crate) fn database_exists(config: &Config) -> bool {
    match &config.database {
        attestry_db::Config::Sqlite { path, .. } => path.exists(),
        attestry_db::Config::Postgres { .. } => true,
    }
}

/// The keys of this installation, if it has any.
pub(crate) fn own_keys(config: &Config) -> Result<Keys> {
    if config.secret_key.is_none() && !key_file(config).exists() {
        bail!("there is no key file at {}; give --keys", key_file(config).display());
    }
    Ok(Keys::new(&secret(config)?, Arc::new(SystemEntropy))?)
}

/// Opens what is there already: a command that only looks must not make a database by a mistyped path.
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

/// The same, with the schema of this version.
pub(crate) async fn current(config: &Config) -> Result<Ctx> {
    let ctx = existing(config)?;
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    must_not_be_newer(&pending)?;
    if !pending.missing.is_empty() {
        bail!("the database is of an older version; run `attestry migrate`, or start the server");
    }
    setup::must_be_whole(&ctx).await?;
    setup::bind_secret_key(&ctx, false).await?;
    Ok(ctx)
}

fn must_not_be_newer(pending: &Pending) -> Result<()> {
    if pending.unknown.is_empty() {
        return Ok(());
    }
    bail!("the database was migrated by a newer version ({}); run that version", pending.unknown.join(", "))
}

/// What a context takes from the world around it.
pub(crate) struct World {
    pub(crate) clock: Arc<dyn Clock>,
    /// The random part of ids; secrets are made by the system alone.
    pub(crate) ids: Arc<dyn Entropy>,
    pub(crate) mailer: Mailer,
    pub(crate) runner: RunnerSettings,
    pub(crate) assistant: Assistant,
}

impl World {
    /// The world as it is.
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

/// Opens everything, without touching the schema.
pub(crate) fn open(config: &Config, port: Option<u16>) -> Result<Ctx> {
    open_in(World::real(config)?, config, port)
}

fn open_in(world: World, config: &Config, port: Option<u16>) -> Result<Ctx> {
    let World { clock, ids, mailer, runner, assistant } = world;
    make_data_dir(&config.data_dir)?;
    let keys = Keys::new(&secret(config)?, Arc::new(SystemEntropy))?;
    let db = Db::open(&config.database).context("the database cannot be opened")?;
    let settings = Settings {
        public_url: public_url(config, port),
        session_lifetime: config.session_lifetime,
        session_idle: config.session_idle,
        invitation_lifetime: config.invitation_lifetime,
        reset_lifetime: config.reset_lifetime,
        runner,
        assistant,
        domains: hosting(config, port)?,
    };
    Ok(Ctx::assemble(clock, ids, db, keys, mailer, blobs(config)?, settings))
}

/// Opens everything and brings the schema up to date; a database is made if there is none. `port`: where the server
/// listens.
pub(crate) async fn migrated(config: &Config, port: Option<u16>) -> Result<Ctx> {
    migrated_in(World::real(config)?, config, port).await
}

pub(crate) async fn migrated_in(world: World, config: &Config, port: Option<u16>) -> Result<Ctx> {
    let ctx = open_in(world, config, port)?;
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    must_not_be_newer(&pending)?;
    if !pending.missing.is_empty() {
        ctx.db.migrate(MIGRATIONS).await?;
    }
    setup::must_be_whole(&ctx).await?;
    setup::bind_secret_key(&ctx, false).await?;
    Ok(ctx)
}
