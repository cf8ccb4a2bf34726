//! Parses the settings of each feature.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use attestry_ai::Kind;
use attestry_app::RunnerSettings;
use attestry_app::assistant::Assistant;
use attestry_hosting::VercelSettings;
use attestry_net::Secret;

use super::Reader;

/// Settings of the automation runner.
pub(super) fn runner(read: &Reader<'_>) -> Result<RunnerSettings> {
    let mut settings = RunnerSettings::default();
    let wall = Duration::from_secs(read.number("automations.timeout_seconds", 1..=600)?);
    let memory = read.number::<usize>("automations.memory_mib", 8..=1024)? << 20;
    let limits = &mut settings.sandbox.limits;
    (limits.wall, limits.memory, limits.cpu) = (wall, memory, limits.cpu.min(wall));
    settings.sandbox.ready = 4;
    settings.egress.timeout = settings.egress.timeout.min(wall);
    settings.egress.allow_private_networks = switch(read, "automations.allow_private_networks")?;
    settings.egress.dns_servers = name_servers(read)?;
    Ok(settings)
}

fn switch(read: &Reader<'_>, key: &str) -> Result<bool> {
    match read.text(key) {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => bail!("{}", read.wrong(key, "true or false")),
    }
}

/// Settings of single sign-on.
pub(super) fn identity(read: &Reader<'_>) -> Result<attestry_oidc::Settings> {
    let extra_roots = match read.optional("identity.certificate") {
        None => Vec::new(),
        Some(path) => {
            let all = attestry_oidc::authorities(Path::new(&path));
            all.map_err(|error| anyhow!("{}: {error}", read.wrong("identity.certificate", "a PEM file")))?
        }
    };
    Ok(attestry_oidc::Settings {
        allow_private_networks: switch(read, "identity.allow_private_networks")?,
        dns_servers: name_servers(read)?,
        extra_roots,
        clock_skew: Duration::from_secs(read.number("identity.clock_skew_seconds", 0..=300)?),
    })
}

fn name_servers(read: &Reader<'_>) -> Result<Vec<SocketAddr>> {
    let address = |text: &String| {
        let with_port = text.parse::<SocketAddr>().ok();
        with_port.or_else(|| text.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, 53)))
    };
    let servers: Option<Vec<SocketAddr>> = read.list("dns.servers").iter().map(address).collect();
    servers.ok_or_else(|| {
        anyhow!(read.wrong("dns.servers", "addresses such as 10.0.0.53 or 127.0.0.1:5353, joined by commas"))
    })
}

/// The maximum time until the first byte of a response, below the request timeout.
const AI_BEGINS: Duration = Duration::from_secs(50);

/// The provider of the policy assistant.
pub(super) fn assistant(read: &Reader<'_>) -> Result<Assistant> {
    let kind = match read.text("ai.provider") {
        "" => return Ok(Assistant::Nobody),
        "rules" => return Ok(Assistant::Rules),
        "openai" => Kind::OpenAi,
        "anthropic" => Kind::Anthropic,
        _ => bail!("{}", read.wrong("ai.provider", "rules, openai, anthropic or empty")),
    };
    let Some(model) = read.optional("ai.model") else {
        bail!("{}", read.wrong("ai.model", "the name of a model, because ai.provider is set"));
    };
    let wrong = |error: attestry_ai::Error| anyhow!("ai: {error}");
    let mut settings = attestry_ai::Settings::new(kind, &model).map_err(wrong)?;
    if let Some(base) = read.web_address("ai.base_url")? {
        settings.base_url = url::Url::parse(&base).with_context(|| "ai.base_url")?;
    }
    settings.key = read.optional("ai.api_key").map(|key| Secret::new(&key));
    settings.max_tokens = read.number("ai.max_tokens", 16..=1_000_000)?;
    settings.total_timeout = Duration::from_secs(read.number("ai.timeout_seconds", 1..=600)?);
    settings.first_byte_timeout = settings.total_timeout.min(AI_BEGINS);
    Ok(Assistant::Provider(attestry_ai::Provider::new(settings).map_err(wrong)?))
}

/// The provider that verifies portal domains.
#[derive(Clone, Debug)]
pub(crate) enum Domains {
    /// Verification by DNS. The target defaults to the host of the public URL.
    Dns {
        servers: Vec<SocketAddr>,
        target: Option<String>,
        addresses: Vec<IpAddr>,
    },
    Vercel(VercelSettings),
}

pub(super) fn domains(read: &Reader<'_>) -> Result<Domains> {
    match read.text("domains.provider") {
        "dns" => {
            let addresses =
                read.list("domains.addresses").iter().map(|text| text.parse::<IpAddr>()).collect();
            let addresses: Result<Vec<IpAddr>, _> = addresses;
            Ok(Domains::Dns {
                servers: name_servers(read)?,
                target: read.optional("domains.target"),
                addresses: addresses
                    .map_err(|_| anyhow!(read.wrong("domains.addresses", "IP addresses joined by commas")))?,
            })
        }
        "vercel" => {
            let named = |key, what: &str| {
                let why = format!("{what}, because domains.provider is vercel");
                read.optional(key).ok_or_else(|| anyhow!(read.wrong(key, &why)))
            };
            let token = Secret::new(&named("vercel.token", "a token")?);
            let project = named("vercel.project", "the id or the name of a project")?;
            let mut settings =
                VercelSettings::new(token, project).map_err(|error| anyhow!("vercel: {error}"))?;
            if let Some(base) = read.web_address("vercel.base_url")? {
                settings.base_url = url::Url::parse(&base).with_context(|| "vercel.base_url")?;
            }
            settings.team = read.optional("vercel.team");
            Ok(Domains::Vercel(settings))
        }
        _ => bail!("{}", read.wrong("domains.provider", "dns or vercel")),
    }
}
