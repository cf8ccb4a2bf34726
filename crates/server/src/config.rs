//! Configuration: the embedded defaults, then a file, then the environment, then flags. Every setting is one row of
//! one table; an invalid or unknown one stops the start with its name and the allowed values.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use attestry_app::RunnerSettings;
use attestry_app::assistant::Assistant;
use attestry_app::feed::StreamLimits;
use tracing_subscriber::filter::{LevelFilter, Targets};

mod features;

pub(crate) use features::Domains;
use features::{assistant, domains, identity, runner};

const DEFAULTS: &str = include_str!("../config.default.toml");

/// A setting: its key in the configuration file, its environment variable, and its secrecy.
struct Setting {
    key: &'static str,
    env: &'static str,
    secret: bool,
}

const fn setting(key: &'static str, env: &'static str) -> Setting {
    Setting { key, env, secret: false }
}

const fn secret(key: &'static str, env: &'static str) -> Setting {
    Setting { key, env, secret: true }
}

const SETTINGS: &[Setting] = &[
    setting("listen", "ATTESTRY_LISTEN"),
    setting("data_dir", "ATTESTRY_DATA_DIR"),
    setting("public_url", "ATTESTRY_PUBLIC_URL"),
    secret("secret_key", "ATTESTRY_SECRET_KEY"),
    secret("database.url", "ATTESTRY_DATABASE_URL"),
    setting("database.readers", "ATTESTRY_DATABASE_READERS"),
    setting("database.queue", "ATTESTRY_DATABASE_QUEUE"),
    setting("database.connections", "ATTESTRY_DATABASE_CONNECTIONS"),
    setting("blobs.url", "ATTESTRY_BLOBS_URL"),
    secret("mail.smtp_url", "ATTESTRY_SMTP_URL"),
    setting("mail.smtp_certificate", "ATTESTRY_SMTP_CERTIFICATE"),
    setting("mail.from", "ATTESTRY_MAIL_FROM"),
    setting("http.body_limit_mib", "ATTESTRY_HTTP_BODY_LIMIT_MIB"),
    setting("http.body_memory_mib", "ATTESTRY_HTTP_BODY_MEMORY_MIB"),
    setting("http.response_memory_mib", "ATTESTRY_HTTP_RESPONSE_MEMORY_MIB"),
    setting("http.request_timeout_seconds", "ATTESTRY_HTTP_REQUEST_TIMEOUT_SECONDS"),
    setting("http.read_timeout_seconds", "ATTESTRY_HTTP_READ_TIMEOUT_SECONDS"),
    setting("http.event_streams", "ATTESTRY_HTTP_EVENT_STREAMS"),
    setting("http.event_streams_per_organization", "ATTESTRY_HTTP_EVENT_STREAMS_PER_ORGANIZATION"),
    setting("http.cors_origins", "ATTESTRY_HTTP_CORS_ORIGINS"),
    setting("http.trusted_proxies", "ATTESTRY_HTTP_TRUSTED_PROXIES"),
    setting("rate_limit.per_second", "ATTESTRY_RATE_LIMIT_PER_SECOND"),
    setting("rate_limit.public_per_second", "ATTESTRY_RATE_LIMIT_PUBLIC_PER_SECOND"),
    setting("sessions.lifetime_days", "ATTESTRY_SESSIONS_LIFETIME_DAYS"),
    setting("sessions.max_days", "ATTESTRY_SESSIONS_MAX_DAYS"),
    setting("sessions.idle_hours", "ATTESTRY_SESSIONS_IDLE_HOURS"),
    setting("sessions.invitation_days", "ATTESTRY_SESSIONS_INVITATION_DAYS"),
    setting("sessions.reset_minutes", "ATTESTRY_SESSIONS_RESET_MINUTES"),
    setting("automations.allow_private_networks", "ATTESTRY_AUTOMATIONS_ALLOW_PRIVATE_NETWORKS"),
    setting("automations.timeout_seconds", "ATTESTRY_AUTOMATIONS_TIMEOUT_SECONDS"),
    setting("automations.memory_mib", "ATTESTRY_AUTOMATIONS_MEMORY_MIB"),
    setting("identity.allow_private_networks", "ATTESTRY_IDENTITY_ALLOW_PRIVATE_NETWORKS"),
    setting("identity.certificate", "ATTESTRY_IDENTITY_CERTIFICATE"),
    setting("identity.clock_skew_seconds", "ATTESTRY_IDENTITY_CLOCK_SKEW_SECONDS"),
    setting("dns.servers", "ATTESTRY_DNS_SERVERS"),
    setting("ai.provider", "ATTESTRY_AI_PROVIDER"),
    setting("ai.base_url", "ATTESTRY_AI_BASE_URL"),
    secret("ai.api_key", "ATTESTRY_AI_API_KEY"),
    setting("ai.model", "ATTESTRY_AI_MODEL"),
    setting("ai.max_tokens", "ATTESTRY_AI_MAX_TOKENS"),
    setting("ai.timeout_seconds", "ATTESTRY_AI_TIMEOUT_SECONDS"),
    setting("domains.provider", "ATTESTRY_DOMAINS_PROVIDER"),
    setting("domains.target", "ATTESTRY_DOMAINS_TARGET"),
    setting("domains.addresses", "ATTESTRY_DOMAINS_ADDRESSES"),
    setting("vercel.base_url", "ATTESTRY_VERCEL_BASE_URL"),
    secret("vercel.token", "ATTESTRY_VERCEL_TOKEN"),
    setting("vercel.project", "ATTESTRY_VERCEL_PROJECT"),
    setting("vercel.team", "ATTESTRY_VERCEL_TEAM"),
    setting("log.level", "ATTESTRY_LOG_LEVEL"),
    setting("log.format", "ATTESTRY_LOG_FORMAT"),
];

/// Alternative variable for the database URL, because hosting platforms set it.
const DATABASE_URL: &str = "DATABASE_URL";

/// Returns true for variables that Kubernetes sets in every container for a service named `attestry`; they are
/// ignored.
fn is_of_kubernetes(name: &str) -> bool {
    name == "ATTESTRY_PORT" || name.starts_with("ATTESTRY_PORT_") || name.starts_with("ATTESTRY_SERVICE_")
}

/// Command-line flags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) database_url: Option<String>,
    pub(crate) listen: Option<String>,
}

#[derive(Clone, Debug)]
struct Found {
    value: String,
    from: String,
}

/// The address to listen on: a host name or an IP address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listen {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Listen {
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(six) => six.parse::<Ipv6Addr>().ok()?.to_string(),
            None => host.to_owned(),
        };
        let is_name = |host: &str| {
            host.split('.').all(|label| {
                !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            })
        };
        (host.parse::<IpAddr>().is_ok() || is_name(&host)).then_some(Self { host, port })
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// All settings, parsed.
#[derive(Debug)]
pub(crate) struct Config {
    found: BTreeMap<&'static str, Found>,
    pub(crate) listen: Listen,
    pub(crate) data_dir: PathBuf,
    pub(crate) public_url: Option<String>,
    pub(crate) secret_key: Option<String>,
    pub(crate) database: attestry_db::Config,
    pub(crate) blobs_url: Option<String>,
    pub(crate) smtp_url: Option<String>,
    pub(crate) smtp_certificate: Option<String>,
    pub(crate) mail_from: String,
    pub(crate) body_limit: usize,
    pub(crate) body_memory: usize,
    pub(crate) response_memory: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) read_timeout: Duration,
    pub(crate) event_streams: StreamLimits,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) trusted_proxies: Vec<IpAddr>,
    pub(crate) rate_per_credential: u32,
    pub(crate) rate_per_address: u32,
    pub(crate) session_lifetime: Duration,
    pub(crate) session_max_age: Duration,
    pub(crate) session_idle: Duration,
    pub(crate) invitation_lifetime: Duration,
    pub(crate) reset_lifetime: Duration,
    pub(crate) runner: RunnerSettings,
    pub(crate) assistant: Assistant,
    pub(crate) domains: Domains,
    pub(crate) oidc: attestry_oidc::Settings,
    pub(crate) log_level: Targets,
    pub(crate) log_json: bool,
}

impl Config {
    pub(crate) fn load(flags: &Flags) -> Result<Self> {
        Self::from_sources(flags, std::env::vars().collect())
    }

    fn from_sources(flags: &Flags, environment: Vec<(String, String)>) -> Result<Self> {
        let mut found = BTreeMap::new();
        take_file(&mut found, DEFAULTS, "default")?;
        if let Some(path) = &flags.config {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("the configuration file {} cannot be read", path.display()))?;
            take_file(&mut found, &text, &format!("file {}", path.display()))?;
        }
        take_environment(&mut found, environment)?;
        take_flags(&mut found, flags);
        Self::understand(found)?.checked()
    }

    fn understand(found: BTreeMap<&'static str, Found>) -> Result<Self> {
        let read = Reader(&found);
        let data_dir = PathBuf::from(read.text("data_dir"));
        if data_dir.as_os_str().is_empty() {
            bail!("{}", read.wrong("data_dir", "the path of a folder"));
        }
        let url = read.optional("database.url");
        let database = match &url {
            None => attestry_db::Config::Sqlite {
                path: data_dir.join("attestry.db"),
                readers: read.number("database.readers", 1..=64)?,
                queue: read.number("database.queue", 1..=1_000_000)?,
            },
            Some(url) if attestry_db::is_postgres(url) => attestry_db::Config::Postgres {
                url: url.clone(),
                connections: read.number("database.connections", 1..=1000)?,
            },
            Some(_) => bail!("{}", read.wrong("database.url", "empty for SQLite, or postgres://…")),
        };
        if let Err(error) = database.check() {
            bail!("{error}: see database.url (ATTESTRY_DATABASE_URL)");
        }
        let blobs_url = read.optional("blobs.url");
        if blobs_url.as_ref().is_some_and(|url| !url.starts_with("s3://")) {
            bail!("{}", read.wrong("blobs.url", "empty for the data folder, or s3://bucket/prefix"));
        }
        let secret_key = read.optional("secret_key");
        if secret_key.as_ref().is_some_and(|key| key.len() < 32) {
            bail!("{}", read.wrong("secret_key", "32 characters or more"));
        }
        let body_limit = read.number::<usize>("http.body_limit_mib", 1..=1024)? << 20;
        let body_memory = read.number::<usize>("http.body_memory_mib", 1..=65_536)? << 20;
        if body_memory < body_limit {
            bail!("{}", read.wrong("http.body_memory_mib", "at least http.body_limit_mib"));
        }
        let days =
            |key| Ok::<_, anyhow::Error>(Duration::from_hours(24 * read.number::<u64>(key, 1..=3650)?));
        Ok(Self {
            listen: Listen::parse(read.text("listen")).ok_or_else(|| {
                anyhow!(read.wrong("listen", "a host and port such as 127.0.0.1:8080 or localhost:8080"))
            })?,
            public_url: read.web_address("public_url")?,
            secret_key,
            database,
            blobs_url,
            smtp_url: read.optional("mail.smtp_url"),
            smtp_certificate: read.optional("mail.smtp_certificate"),
            mail_from: read.text("mail.from").to_owned(),
            body_limit,
            body_memory,
            response_memory: read.number::<usize>("http.response_memory_mib", 24..=65_536)? << 20,
            read_timeout: Duration::from_secs(read.number("http.read_timeout_seconds", 1..=3600)?),
            request_timeout: Duration::from_secs(read.number("http.request_timeout_seconds", 1..=3600)?),
            event_streams: StreamLimits {
                in_all: read.number("http.event_streams", 0..=1_000_000)?,
                of_one_organization: read.number("http.event_streams_per_organization", 0..=1_000_000)?,
            },
            cors_origins: read.origins("http.cors_origins")?,
            trusted_proxies: read
                .list("http.trusted_proxies")
                .iter()
                .map(|text| text.parse::<IpAddr>())
                .collect::<Result<_, _>>()
                .map_err(|_| anyhow!(read.wrong("http.trusted_proxies", "IP addresses joined by commas")))?,
            rate_per_credential: read.number("rate_limit.per_second", 0..=1_000_000)?,
            rate_per_address: read.number("rate_limit.public_per_second", 0..=1_000_000)?,
            session_lifetime: days("sessions.lifetime_days")?,
            session_max_age: days("sessions.max_days")?,
            session_idle: Duration::from_hours(read.number("sessions.idle_hours", 1..=87_600)?),
            invitation_lifetime: days("sessions.invitation_days")?,
            reset_lifetime: Duration::from_mins(read.number("sessions.reset_minutes", 1..=10_080)?),
            runner: runner(&read)?,
            assistant: assistant(&read)?,
            domains: domains(&read)?,
            oidc: identity(&read)?,
            log_level: read.log_level("log.level")?,
            log_json: match read.text("log.format") {
                "text" => false,
                "json" => true,
                _ => bail!("{}", read.wrong("log.format", "text or json")),
            },
            data_dir,
            found,
        })
    }

    /// Builds everything that needs no network: a setting that fails only when it is used is noticed too late.
    fn checked(self) -> Result<Self> {
        crate::start::mailer(&self)?;
        crate::start::hosting(&self, None)?;
        if self.blobs_url.is_some() {
            crate::start::blobs(&self)?;
        }
        Ok(self)
    }

    /// The folder of stored files.
    pub(crate) fn blobs_dir(&self) -> PathBuf {
        self.data_dir.join("blobs")
    }

    /// The folder mails are written to.
    pub(crate) fn mail_dir(&self) -> PathBuf {
        self.data_dir.join("mail")
    }

    /// Every setting with its value and source; secrets are hidden.
    pub(crate) fn show(&self) -> Vec<(String, String, String)> {
        let row = |setting: &Setting| {
            let found = &self.found[setting.key];
            let value = match (setting.secret, found.value.is_empty()) {
                (_, true) => "\"\"".to_owned(),
                (true, false) => "(hidden)".to_owned(),
                (false, false) => format!("{:?}", found.value),
            };
            (setting.key.to_owned(), value, found.from.clone())
        };
        SETTINGS.iter().map(row).collect()
    }
}

fn names(of: impl Fn(&Setting) -> &'static str) -> String {
    let names: Vec<&str> = SETTINGS.iter().map(of).collect();
    names.join(", ")
}

fn take_file(found: &mut BTreeMap<&'static str, Found>, text: &str, from: &str) -> Result<()> {
    let table: toml::Table = toml::from_str(text).with_context(|| format!("{from} is not TOML"))?;
    let mut flat = Vec::new();
    flatten("", table, &mut flat);
    for (key, value) in flat {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            bail!("{from}: there is no setting {key:?}; the settings are: {}", names(|setting| setting.key));
        };
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            _ => bail!("{from}: {key} must be a text or a whole number"),
        };
        found.insert(setting.key, Found { value, from: from.to_owned() });
    }
    Ok(())
}

fn flatten(prefix: &str, table: toml::Table, flat: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, flat),
            other => flat.push((key, other)),
        }
    }
}

fn take_environment(
    found: &mut BTreeMap<&'static str, Found>,
    environment: Vec<(String, String)>,
) -> Result<()> {
    let mut put = |key, value, name: &str| {
        found.insert(key, Found { value, from: format!("environment {name}") });
    };
    if let Some((_, value)) = environment.iter().find(|(name, _)| name == DATABASE_URL) {
        put("database.url", value.clone(), DATABASE_URL);
    }
    for (name, value) in environment {
        if !name.starts_with("ATTESTRY_") || is_of_kubernetes(&name) {
            continue;
        }
        let Some(setting) = SETTINGS.iter().find(|setting| setting.env == name) else {
            bail!(
                "environment: there is no setting {name}; the settings are: {}",
                names(|setting| setting.env)
            );
        };
        put(setting.key, value, &name);
    }
    Ok(())
}

fn take_flags(found: &mut BTreeMap<&'static str, Found>, flags: &Flags) {
    let given = [
        ("data_dir", "--data-dir", flags.data_dir.as_ref().map(|path| path.display().to_string())),
        ("database.url", "--database-url", flags.database_url.clone()),
        ("listen", "--listen", flags.listen.clone()),
    ];
    for (key, flag, value) in given {
        if let Some(value) = value {
            found.insert(key, Found { value, from: format!("flag {flag}") });
        }
    }
}

/// Parses values and reports invalid ones.
struct Reader<'a>(&'a BTreeMap<&'static str, Found>);

impl Reader<'_> {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).map_or("", |found| found.value.trim())
    }

    fn optional(&self, key: &str) -> Option<String> {
        Some(self.text(key).to_owned()).filter(|text| !text.is_empty())
    }

    fn wrong(&self, key: &str, allowed: &str) -> String {
        let is_secret = SETTINGS.iter().any(|setting| setting.key == key && setting.secret);
        let value = if is_secret { "(hidden)".to_owned() } else { format!("{:?}", self.text(key)) };
        let env = SETTINGS.iter().find(|setting| setting.key == key).map_or("", |setting| setting.env);
        let from = self.0.get(key).map_or("", |found| found.from.as_str());
        format!("the setting {key} ({env}) is {value}, from {from}; it must be {allowed}")
    }

    fn number<T>(&self, key: &str, range: std::ops::RangeInclusive<T>) -> Result<T>
    where
        T: std::str::FromStr + PartialOrd + std::fmt::Display,
    {
        match self.text(key).parse::<T>() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => bail!(
                "{}",
                self.wrong(key, &format!("a whole number from {} to {}", range.start(), range.end()))
            ),
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        self.text(key).split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
    }

    /// Parses a list of web origins: scheme, host and port, nothing else.
    fn origins(&self, key: &str) -> Result<Vec<String>> {
        let origins = self.list(key);
        let is_origin = |text: &String| {
            let text = text.trim_end_matches('/');
            url::Url::parse(text).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text
            })
        };
        if !origins.iter().all(is_origin) {
            bail!("{}", self.wrong(key, "origins such as https://example.com, joined by commas"));
        }
        Ok(origins)
    }

    /// Parses a log level, or several by target. Checks the levels itself, because the library accepts any word as a
    /// target.
    fn log_level(&self, key: &str) -> Result<Targets> {
        const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];
        let is_level = |text: &str| LEVELS.contains(&text.trim().to_lowercase().as_str());
        let is_known = |part: &str| match part.split_once('=') {
            Some((target, level)) => !target.trim().is_empty() && is_level(level),
            None => is_level(part),
        };
        let text = self.text(key);
        match text.to_lowercase().parse::<Targets>() {
            // The pool warns about each lost connection; the effects of that are logged once.
            Ok(targets) if text.split(',').all(is_known) => Ok(match text.contains("deadpool") {
                true => targets,
                false => targets.with_target("deadpool", LevelFilter::OFF),
            }),
            _ => bail!(
                "{}",
                self.wrong(key, "error, warn, info, debug or trace, also by part: info,attestry_api=debug")
            ),
        }
    }

    fn web_address(&self, key: &str) -> Result<Option<String>> {
        let Some(text) = self.optional(key) else { return Ok(None) };
        match url::Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                Ok(Some(text.trim_end_matches('/').to_owned()))
            }
            _ => bail!("{}", self.wrong(key, "an address such as https://compliance.example.com")),
        }
    }
}

/// Creates the data folder, readable by its owner only.
pub(crate) fn make_data_dir(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("the data folder {} cannot be made", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(environment: &[(&str, &str)]) -> Result<Config> {
        let environment =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Config::from_sources(&Flags::default(), environment)
    }

    #[test]
    fn the_defaults_are_the_settings() {
        let mut found = BTreeMap::new();
        take_file(&mut found, DEFAULTS, "default").expect("the defaults are understood");
        for setting in SETTINGS {
            assert!(found.contains_key(setting.key), "{} has no default", setting.key);
            assert!(DEFAULTS.contains(setting.env), "{} is not documented", setting.env);
        }
        assert!(load(&[]).is_ok());
    }

    #[test]
    fn a_wrong_or_unknown_setting_is_named() {
        for (name, value, part) in [
            ("ATTESTRY_LISTEN", "here", "host and port"),
            ("ATTESTRY_LISTEN", "127.0.0.1:99999", "host and port"),
            ("ATTESTRY_LISTEN", "a b:80", "host and port"),
            ("ATTESTRY_LOG_LEVEL", "verbose", "trace"),
            ("ATTESTRY_LOG_LEVEL", "info,attestry_api=loud", "trace"),
            ("ATTESTRY_HTTP_CORS_ORIGINS", "example.com", "https://example.com"),
            ("ATTESTRY_HTTP_CORS_ORIGINS", "https://example.com/app", "https://example.com"),
            ("ATTESTRY_HTTP_TRUSTED_PROXIES", "proxy", "IP addresses"),
            ("ATTESTRY_HTTP_BODY_MEMORY_MIB", "8", "at least http.body_limit_mib"),
            ("ATTESTRY_MAIL_FROM", "nobody", "sender"),
            ("ATTESTRY_SMTP_URL", "gopher://x", "SMTP"),
            ("ATTESTRY_BLOBS_URL", "s3://", "s3://bucket"),
            ("ATTESTRY_AI_PROVIDER", "openai", "the name of a model"),
            ("ATTESTRY_AI_PROVIDER", "oracle", "openai"),
            ("ATTESTRY_LISTN", "127.0.0.1:1", "ATTESTRY_LISTN"),
            ("ATTESTRY_DATABASE_URL", "mysql://x", "postgres://"),
            ("ATTESTRY_DATABASE_URL", "postgres://u@a/db?sslmode=maybe", "sslmode=maybe"),
            ("ATTESTRY_DATABASE_URL", "postgres://u:short@a:x/db", "port"),
            ("ATTESTRY_SECRET_KEY", "short", "32 characters"),
            ("ATTESTRY_RATE_LIMIT_PER_SECOND", "-1", "whole number"),
            ("ATTESTRY_PUBLIC_URL", "ftp://x", "https://"),
            ("ATTESTRY_LOG_FORMAT", "xml", "text or json"),
            ("ATTESTRY_DNS_SERVERS", "dns.example.com", "127.0.0.1:5353"),
            ("ATTESTRY_AUTOMATIONS_ALLOW_PRIVATE_NETWORKS", "yes", "true or false"),
            ("ATTESTRY_AUTOMATIONS_TIMEOUT_SECONDS", "0", "whole number"),
            ("ATTESTRY_AUTOMATIONS_MEMORY_MIB", "1", "whole number"),
        ] {
            let error = format!("{:#}", load(&[(name, value)]).expect_err(name));
            assert!(error.contains(part), "{error}");
            assert!(!error.contains("short"), "a secret is shown: {error}");
        }
    }

    #[test]
    fn what_kubernetes_sets_is_ignored() {
        let injected = [
            ("ATTESTRY_PORT", "tcp://10.0.0.1:80"),
            ("ATTESTRY_PORT_80_TCP_ADDR", "10.0.0.1"),
            ("ATTESTRY_SERVICE_HOST", "10.0.0.1"),
            ("ATTESTRY_SERVICE_PORT", "80"),
        ];
        load(&injected).expect("none of ours");
    }

    #[test]
    fn a_host_name_can_be_listened_on() {
        for (text, host, port) in [
            ("localhost:8080", "localhost", 8080),
            ("[::1]:80", "::1", 80),
            ("0.0.0.0:0", "0.0.0.0", 0),
            ("attestry.internal:443", "attestry.internal", 443),
        ] {
            let listen = load(&[("ATTESTRY_LISTEN", text)]).expect(text).listen;
            assert_eq!((listen.host.as_str(), listen.port), (host, port));
        }
    }
}
