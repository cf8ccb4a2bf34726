//! `attestry audit verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use attestry_app::Ctx;
use attestry_app::core::verification::{Verdict, verify};
use attestry_app::files::file_checks::{self, Inspection};
use attestry_app::identity::organizations;
use attestry_domain::Time;
use attestry_domain::hash::Hash;
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::Head;
use attestry_storage::organizations::OrganizationSummary;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Subcommand;
use serde::Deserialize;

use super::{named_organization, say, title};
use crate::config::Config;
use crate::start;

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Verify the chain of every organization; exit with 1 and name the first entry that does not verify
    Verify {
        /// Only this organization, by name or id
        #[arg(long, value_name = "ORGANIZATION")]
        organization: Option<String>,
        /// A head that was exported earlier (GET /v1/audit-logs/head): the chain must still contain it
        #[arg(long, value_name = "FILE")]
        head: Vec<PathBuf>,
        /// Also read every stored file and check it against its SHA-256
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
    at: Time,
    key_id: String,
    signature: String,
}

/// Reads an exported head and checks the signature of this installation.
fn read_head(ctx: &Ctx, path: &PathBuf) -> Result<Head> {
    let file = path.display();
    let text = std::fs::read(path).with_context(|| format!("{file} cannot be read"))?;
    let exported: ExportedHead =
        serde_json::from_slice(&text).with_context(|| format!("{file} is not an exported head"))?;
    let mut hash: Hash = [0; 32];
    for (place, byte) in hash.iter_mut().enumerate() {
        let pair = exported.hash.get(2 * place..2 * place + 2).unwrap_or_default();
        *byte = u8::from_str_radix(pair, 16).map_err(|_| anyhow!("{file}: the hash is damaged"))?;
    }
    let ExportedHead { organization_id, sequence, at, key_id, signature, .. } = exported;
    let head = Head { organization_id, sequence, hash, at };
    if key_id != ctx.keys.signer_id() {
        bail!(
            "{file} was signed with the key {key_id}; this installation signs with {}",
            ctx.keys.signer_id()
        );
    }
    let signature = STANDARD.decode(signature).unwrap_or_default();
    if !ctx.keys.is_signed(head.message()?.as_bytes(), &signature) {
        bail!(
            "{file}: the signature does not match, so the file was changed; use the head as it was exported"
        );
    }
    Ok(head)
}

pub(crate) async fn run(command: Audit, config: &Config) -> Result<ExitCode> {
    let Audit::Verify { organization, head: files_of_heads, files } = command;
    let ctx = start::existing(config)?;
    let mut heads = Vec::new();
    for path in &files_of_heads {
        heads.push((path, read_head(&ctx, path)?));
    }
    let chosen = match organization {
        Some(text) => vec![named_organization(&ctx, &text).await?],
        None => organizations::all(&ctx).await?,
    };
    let mut code = ExitCode::SUCCESS;
    if chosen.is_empty() {
        say("There are no organizations yet.");
    }
    for (path, head) in &heads {
        let id = head.organization_id;
        if !chosen.iter().any(|organization| organization.id == id) {
            say(format_args!(
                "BROKEN: {} is a head of {id}, which is not among what was checked",
                path.display()
            ));
            code = ExitCode::FAILURE;
        }
    }
    for organization in chosen {
        let own = heads.iter().filter(|(_, head)| head.organization_id == organization.id);
        let known: Vec<(i64, Hash)> = own.map(|(_, head)| (head.sequence, head.hash)).collect();
        let name = title(&organization);
        match verify(&ctx, organization.id, &known).await? {
            Verdict::Intact { entries } if known.is_empty() => {
                say(format_args!("{name}: {entries} entries, intact"));
            }
            Verdict::Intact { entries } => {
                say(format_args!("{name}: {entries} entries, intact; contains the exported head"));
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

/// Prints every stored file of an organization that does not match its hash; returns true if all match.
pub(super) async fn inspect(ctx: &Ctx, organization: &OrganizationSummary) -> Result<bool> {
    let Inspection { files, broken } = file_checks::inspect(ctx, organization.id).await?;
    let name = title(organization);
    for (attachment, flaw) in &broken {
        say(format_args!("{name}: BROKEN {attachment}: {flaw}"));
    }
    match broken.len() {
        0 => say(format_args!("{name}: {files} files, all intact")),
        count => say(format_args!("{name}: {files} files, {count} BROKEN")),
    }
    Ok(broken.is_empty())
}
