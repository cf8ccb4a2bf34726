//! `attestry verify`: checks offline that a signed file is unchanged. Needs no server and no database.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use attestry_app::files::signatures::{Verdict, check};
use serde::Deserialize;

use super::say;
use crate::config::Config;
use crate::start;

/// Public keys in the format of a server's `/.well-known/attestry-keys.json`.
#[derive(Deserialize)]
struct Published {
    keys: Vec<PublishedKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublishedKey {
    id: String,
    public_key: String,
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |place: usize| u8::from_str_radix(text.get(place..place + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digit).collect()
}

fn published(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let what = || format!("{} does not hold keys as a server publishes them", path.display());
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let Published { keys } = serde_json::from_str(&text).with_context(what)?;
    let read = |key: PublishedKey| Some((key.id, bytes(&key.public_key)?));
    keys.into_iter().map(read).collect::<Option<_>>().ok_or_else(|| anyhow!(what()))
}

pub(crate) fn run(config: &Config, file: &Path, keys: Option<&Path>) -> Result<ExitCode> {
    let content = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let known = match keys {
        Some(path) => published(path)?,
        None => {
            let own = start::own_keys(config)?;
            vec![(own.signer_id().to_owned(), own.public_key().to_vec())]
        }
    };
    let (line, code) = match check(&content, &known) {
        Verdict::Intact { key } => (format!("unchanged, signed with the key {key}"), ExitCode::SUCCESS),
        Verdict::Changed => ("CHANGED since it was signed".to_owned(), ExitCode::FAILURE),
        Verdict::UnknownKey(key) => (
            format!(
                "signed with the key {key}, which is not known here; give --keys with the keys of its server"
            ),
            ExitCode::FAILURE,
        ),
        Verdict::Unsigned => ("not signed".to_owned(), ExitCode::FAILURE),
    };
    say(format_args!("{}: {line}", file.display()));
    Ok(code)
}
