//! `attestry doctor`: looks at everything the service needs and says what to do.

use std::process::ExitCode;

use anyhow::Result;
use attestry_app::{Ctx, setup};
use attestry_hosting::{Challenge, Failure};
use attestry_storage::instance;
use attestry_storage::schema::MIGRATIONS;

use super::say;
use crate::config::{Config, Domains};
use crate::start;

/// Who is asked about the domains of portals. A name server is asked for nothing: a machine without a network is not ill.
async fn domains(config: &Config, ctx: &Ctx) -> std::result::Result<String, String> {
    let Domains::Vercel(settings) = &config.domains else { return Ok("verified by DNS".to_owned()) };
    let nobodys = Challenge { domain: "doctor.invalid", value: "doctor" };
    match ctx.settings.domains.status(&nobodys).await {
        Ok(_) | Err(Failure::Unknown) => Ok(format!("the project {} at Vercel answers", settings.project)),
        Err(error) => Err(format!("{error} Check vercel.token, vercel.project and vercel.team.")),
    }
}

pub(crate) async fn run(config: &Config) -> Result<ExitCode> {
    let mut healthy = true;
    let mut report = |name: &str, result: std::result::Result<String, String>| match result {
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
    let reached = ctx.db.read(async |t| instance::ping(t).await).await;
    let engine = ctx.db.engine().as_str();
    match reached {
        Ok(()) => {
            report("database", Ok(format!("{engine} answers")));
            match ctx.db.check().await {
                Ok(found) if found.is_empty() => report("integrity", Ok("nothing damaged".to_owned())),
                Ok(found) => report(
                    "integrity",
                    Err(format!("{}. Stop the server and restore a backup.", found.join("; "))),
                ),
                Err(error) => report("integrity", Err(error.to_string())),
            }
        }
        Err(error) => report(
            "database",
            Err(format!("{engine}: {error}. Check database.url and that the server runs.")),
        ),
    }
    match ctx.db.pending(MIGRATIONS).await {
        Ok(pending) if !pending.unknown.is_empty() => {
            report(
                "schema",
                Err(format!("a newer version was here ({}); run that version.", pending.unknown.join(", "))),
            );
        }
        Ok(pending) if pending.missing.is_empty() => {
            report("schema", Ok("up to date".to_owned()));
            let bound = match setup::must_be_whole(&ctx).await {
                Ok(()) => setup::bind_secret_key(&ctx, false).await,
                half => half,
            };
            report("key", bound.map(|()| "fits the database".to_owned()).map_err(|error| error.to_string()));
        }
        Ok(pending) => report(
            "schema",
            Err(format!(
                "missing: {}. Run `attestry migrate`, or start the server.",
                pending.missing.join(", ")
            )),
        ),
        Err(error) => report("schema", Err(error.to_string())),
    }
    let confinement = attestry_sandbox::confinement();
    let told = confinement.to_string();
    report("sandbox", if confinement.is_confined() { Ok(told) } else { Err(told) });
    report(
        "outside",
        match ctx.runner.egress() {
            Ok(_) => Ok("certificates and name servers for automations are there".to_owned()),
            Err(error) => Err(format!("{error} Check dns.servers and that CA certificates are installed.")),
        },
    );
    let files = ctx.blobs.check().await;
    report(
        "files",
        files.map(|()| ctx.blobs.describe()).map_err(|error| {
            format!("{}: {error}. Check blobs.url and the AWS_* variables.", ctx.blobs.describe())
        }),
    );
    report("domains", domains(config, &ctx).await);
    report("assistant", ctx.settings.assistant.check().await);
    let mail = ctx.mailer.check().await;
    report(
        "mail",
        mail.map(|()| ctx.mailer.describe()).map_err(|error| format!("{error}. Check mail.smtp_url.")),
    );
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
