//! All commands except `serve` and `worker`.

use anyhow::{Result, bail};
use attestry_app::Ctx;
use attestry_app::identity::organizations;
use attestry_storage::organizations::OrganizationSummary;

pub(crate) mod admin;
pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod settings;
pub(crate) mod verify;

/// Prints a line to standard output.
#[expect(clippy::print_stdout, reason = "a command answers on standard output")]
pub(crate) fn say(line: impl std::fmt::Display) {
    println!("{line}");
}

/// Formats an organization for people: its name, and its id, which is unambiguous.
pub(crate) fn title(organization: &OrganizationSummary) -> String {
    match (&organization.name, organization.deleted_at, organization.removed_at) {
        (_, _, Some(_)) => format!("{} (removed)", organization.id),
        (name, Some(_), None) => format!("{name} ({}, deleted)", organization.id),
        (name, None, None) => format!("{name} ({})", organization.id),
    }
}

/// Finds an organization by its id or its name.
pub(crate) async fn named_organization(ctx: &Ctx, text: &str) -> Result<OrganizationSummary> {
    let all = organizations::all(ctx).await?;
    let mut fitting: Vec<OrganizationSummary> = all
        .into_iter()
        .filter(|known| {
            known.id.to_string() == text || known.name.to_lowercase() == text.trim().to_lowercase()
        })
        .collect();
    match fitting.len() {
        0 => bail!("there is no organization {text:?}; `attestry admin list` shows them"),
        1 => Ok(fitting.remove(0)),
        _ => {
            let titles: Vec<String> = fitting.iter().map(title).collect();
            bail!("several organizations are named {text:?}; use an id: {}", titles.join(", "))
        }
    }
}
