//! `attestry doctor`: checks everything the server needs and reports what to do.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use attestry_app::Ctx;
use attestry_app::core::queue;
use attestry_app::identity::{directory, organizations, setup, sso};

use attestry_domain::identity::sso::SsoConnection;
use attestry_hosting::{Challenge, Failure};
use attestry_storage::instance;
use attestry_storage::organizations::OrganizationSummary;
use attestry_storage::schema::MIGRATIONS;
use futures_util::future::join_all;

use super::say;
use crate::config::{Config, Domains};
use crate::start;

/// Checks the provider that verifies portal domains. With DNS nothing is queried: a machine without a network is
/// healthy.
async fn domains(config: &Config, ctx: &Ctx) -> Finding {
    let Domains::Vercel(settings) = &config.domains else { return Ok("verified by DNS".to_owned()) };
    let nobodys = Challenge { domain: "doctor.invalid", value: "doctor" };
    match ctx.hosting().status(&nobodys).await {
        Ok(_) | Err(Failure::Unknown) => Ok(format!("the project {} at Vercel answers", settings.project)),
        Err(error) => Err(format!("{error} Check vercel.token, vercel.project and vercel.team.")),
    }
}

/// The maximum duration of one check, so that the report ends even if a check hangs.
const CHECK_TIMEOUT: Duration = Duration::from_secs(8);

/// Result of a check: the state, or the fault and what to do about it.
type Finding = std::result::Result<String, String>;

async fn within(check: impl Future<Output = Finding>) -> Finding {
    let seconds = CHECK_TIMEOUT.as_secs();
    let found = tokio::time::timeout(CHECK_TIMEOUT, check).await;
    found.unwrap_or_else(|_| Err(format!("does not answer within {seconds} s.")))
}

async fn database(ctx: &Ctx) -> Finding {
    let engine = ctx.db.engine().as_str();
    match ctx.db.read(async |t| instance::ping(t).await).await {
        Ok(()) => Ok(format!("{engine} answers")),
        Err(error) => Err(format!("{engine}: {error}. Check database.url and that the server runs.")),
    }
}

async fn integrity(ctx: &Ctx) -> Finding {
    match ctx.db.check().await {
        Ok(found) if found.is_empty() => Ok("nothing damaged".to_owned()),
        Ok(found) => Err(format!("{}. Stop the server and restore a backup.", found.join("; "))),
        Err(error) => Err(error.to_string()),
    }
}

async fn schema(ctx: &Ctx) -> Finding {
    match ctx.db.pending(MIGRATIONS).await {
        Ok(pending) => match start::must_be_known(&pending) {
            Err(error) => Err(format!("{error}.")),
            Ok(()) if pending.missing.is_empty() => Ok("up to date".to_owned()),
            Ok(()) => Err(format!(
                "missing: {}. Run `attestry migrate`, or start the server.",
                pending.missing.join(", ")
            )),
        },
        Err(error) => Err(error.to_string()),
    }
}

async fn key(ctx: &Ctx) -> Finding {
    let bound = match setup::must_be_whole(ctx).await {
        Ok(()) => setup::bind_secret_key(ctx, false).await,
        half => half,
    };
    bound.map(|()| "fits the database".to_owned()).map_err(|error| error.to_string())
}

/// Compares the clock of this machine with the database's, which job leases are based on.
async fn clock(ctx: &Ctx) -> Finding {
    match queue::clock_skew(ctx).await {
        Ok(None) => Ok("the only one".to_owned()),
        Ok(Some(skew)) if queue::is_tolerable(skew) => {
            Ok(format!("within {} ms of the database's", skew.unsigned_abs()))
        }
        Ok(Some(skew)) => Err(format!(
            "{} s {} the database's. Set the clock of this machine; until then no jobs are run here.",
            skew.unsigned_abs() / 1000,
            if skew > 0 { "behind" } else { "ahead of" }
        )),
        Err(error) => Err(error.to_string()),
    }
}

async fn files(ctx: &Ctx) -> Finding {
    ctx.blobs.check().await.map(|()| ctx.blobs.describe()).map_err(|error| {
        format!("{}: {error}. Check blobs.url and the AWS_* variables.", ctx.blobs.describe())
    })
}

async fn mail(ctx: &Ctx) -> Finding {
    let checked = ctx.mailer.check().await;
    checked.map(|()| ctx.mailer.describe()).map_err(|error| format!("{error}. Check mail.smtp_url."))
}

/// Asks the identity provider of one connection.
async fn examine(ctx: &Ctx, organization: &OrganizationSummary, connection: &SsoConnection) -> Finding {
    let found = within(async {
        let found = sso::examine(ctx, organization.id, connection.id).await;
        let steps = found.map_err(|error| error.to_string())?.steps;
        match steps.iter().find(|step| !step.is_ok) {
            Some(step) => Err(format!("{}: {}", step.name, step.detail)),
            None => Ok(String::new()),
        }
    });
    found.await.map_err(|fault| {
        format!("{}, {}: {}", organization.name, connection.name, fault.trim_end_matches('.'))
    })
}

/// Asks the identity providers of all enabled connections.
async fn single_sign_on(ctx: &Ctx) -> Finding {
    let wrong = |error: attestry_app::Error| error.to_string();
    let (mut checked, mut faults) = (0_usize, Vec::new());
    for organization in organizations::all(ctx).await.map_err(wrong)? {
        if organization.deleted_at.is_some() {
            continue;
        }
        let connections = sso::enabled(ctx, organization.id).await.map_err(wrong)?;
        checked += connections.len();
        let found = connections.iter().map(|connection| examine(ctx, &organization, connection));
        faults.extend(join_all(found).await.into_iter().filter_map(Result::err));
        if sso::lacks_way_in(ctx, organization.id).await.map_err(wrong)? {
            faults.push(format!("{} requires single sign-on and has no exempt owner", organization.name));
        }
    }
    if !faults.is_empty() {
        return Err(format!(
            "{}. See docs/identity.md; `attestry admin disable-sso` is the way back in.",
            faults.join("; ")
        ));
    }
    Ok(if checked == 0 { "not used".to_owned() } else { format!("connections that work: {checked}") })
}

/// The time after which a directory that asks for nothing is silent.
const SILENT_AFTER: Duration = Duration::from_hours(7 * 24);

/// Looks for identity providers that no longer keep people in step.
async fn directories(ctx: &Ctx) -> Finding {
    let wrong = |error: attestry_app::Error| error.to_string();
    let since = ctx.now().minus(SILENT_AFTER);
    let mut silent = Vec::new();
    for organization in organizations::all(ctx).await.map_err(wrong)? {
        if organization.deleted_at.is_none()
            && directory::is_silent(ctx, organization.id, since).await.map_err(wrong)?
        {
            silent.push(organization.name);
        }
    }
    match silent.is_empty() {
        true => Ok("none is silent".to_owned()),
        false => Err(format!(
            "no request in 7 days for: {}. Check the provisioning at the identity provider.",
            silent.join(", ")
        )),
    }
}

pub(crate) async fn run(config: &Config) -> Result<ExitCode> {
    let mut healthy = true;
    let mut report = |name: &str, result: Finding| match result {
        Ok(text) => say(format_args!("ok    {name:<10} {text}")),
        Err(text) => {
            healthy = false;
            say(format_args!("FAIL  {name:<10} {text}"));
        }
    };
    let ctx = match start::existing(config) {
        Ok(ctx) => ctx,
        Err(error) => {
            report("start", Err(format!("{error:#}")));
            return Ok(ExitCode::FAILURE);
        }
    };
    report("data", Ok(format!("{} can be written", config.data_dir.display())));
    let reached = within(database(&ctx)).await;
    let is_reached = reached.is_ok();
    let mut is_current = false;
    report("database", reached);
    if is_reached {
        // Without a timeout: a large file takes a while, and it is local.
        report("integrity", integrity(&ctx).await);
        let found = within(schema(&ctx)).await;
        is_current = found.is_ok();
        report("schema", found);
        if is_current {
            report("key", within(key(&ctx)).await);
            report("clock", within(clock(&ctx)).await);
        }
    }
    let confinement = attestry_sandbox::confinement();
    let told = confinement.to_string();
    report("sandbox", if confinement.is_confined() { Ok(told) } else { Err(told) });
    report(
        "outside",
        match ctx.runner().egress() {
            Ok(_) => Ok("certificates and name servers for automations are there".to_owned()),
            Err(error) => Err(format!("{error} Check dns.servers and that CA certificates are installed.")),
        },
    );
    // Concurrently, so that a check that hangs does not delay the others.
    let (files, domains, assistant, mail) = tokio::join!(
        within(files(&ctx)),
        within(domains(config, &ctx)),
        within(ctx.assistant().check()),
        within(mail(&ctx))
    );
    if is_current {
        report("sso", single_sign_on(&ctx).await);
        report("directory", within(directories(&ctx)).await);
    }
    report("files", files);
    report("domains", domains);
    report("assistant", assistant);
    report("mail", mail);
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
