//! `attestry audit verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use attestry_app::inspection::{self, Inspection};
use attestry_app::proof::{Verdict, verify};
use attestry_app::{Ctx, organizations};
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::Hash;
use attestry_storage::organizations::Listed;
use clap::Subcommand;
use serde::Deserialize;

use super::{named_organization, say, title};
use crate::config::Config;
use crate::start;

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Walk the chain of every organization; exit 1 and name the first entry that does not hold
    Verify {
        /// Only this organization, by name or id
        #[arg(long, value_name = "ORGANIZATION")]
        organization: Option<String>,
        /// A head that was exported earlier (GET /v1/audit-logs/head): the chain must still contain it
        #[arg(long, value_name = "FILE")]
        head: Vec<PathBuf>,
        /// Read every stored file, too, and hold it against its SHA-256
        #[arg(long)]
        files: bool,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportedHead {
    organization_id: OrganizationId,
    sequence: i64,
    hash: String,
}

fn read_head(path: &PathBuf) -> Result<(OrganizationId, i64, Hash)> {
    let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let head: ExportedHead =
        serde_json::from_slice(&text).with_context(|| format!("{} is not a head", path.display()))?;
    let mut hash: Hash = [0; 32];
    for (place, byte) in hash.iter_mut().enumerate() {
        let pair = head.hash.get(2 * place..2 * place + 2).unwrap_or_default();
        *byte =
            u8::from_str_radix(pair, 16).map_err(|_| anyhow!("{}: the hash is damaged", path.display()))?;
    }
    Ok((head.organization_id, head.sequence, hash))
}

pub(crate) async fn run(command: Audit, config: &Config) -> Result<ExitCode> {
    let Audit::Verify { organization, head, files } = command;
    let heads = head.iter().map(read_head).collect::<Result<Vec<_>>>()?;
    let ctx = start::existing(config)?;
    let chosen = match organization {
        Some(text) => vec![named_organization(&ctx, &text).await?],
        None => organizations::all(&ctx).await?,
    };
    let mut code = ExitCode::SUCCESS;
    for organization in chosen {
        let known: Vec<(i64, Hash)> =
            heads.iter().filter(|head| head.0 == organization.id).map(|head| (head.1, head.2)).collect();
        let name = title(&organization);
        match verify(&ctx, organization.id, &known).await? {
            Verdict::Intact { entries } if known.is_empty() => {
                say(format_args!("{name}: {entries} entries, intact"));
            }
            Verdict::Intact { entries } => {
                say(format_args!("{name}: {entries} entries, intact, with every head that was exported"));
            }
            Verdict::Broken { sequence, reason } => {
                say(format_args!("{name}: BROKEN at entry {sequence}: {reason}"));
                code = ExitCode::FAILURE;
            }
        }
        if files && !inspect(&ctx, &organization).await? {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Tells of every stored file of an organization that is not what it was; whether all are.
pub(super) async fn inspect(ctx: &Ctx, organization: &Listed) -> Result<bool> {
    let Inspection { files, broken } = inspection::inspect(ctx, organization.id).await?;
    let name = title(organization);
    for (attachment, flaw) in &broken {
        say(format_args!("{name}: BROKEN {attachment}: {flaw}"));
    }
    say(format_args!("{name}: {files} files, {} of them broken", broken.len()));
    Ok(broken.is_empty())
}
