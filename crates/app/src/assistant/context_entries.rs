//! Reads an organization's context entries, and formats them for language models.

use attestry_domain::access::{Permission, Scope};
use attestry_domain::registers::Record;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_storage::Tx;

use crate::core::error::Error;
use crate::registers;

/// The maximum length of the context entries in a prompt, in characters.
const MAX_PROMPT_CONTEXT_CHARS: usize = 30_000;

/// All entries if the caller has permission to read them, otherwise none.
pub(crate) async fn visible(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Record<ContextEntry>>, Error> {
    match scope.allows(Permission::ContextRead) {
        true => registers::all(t, scope).await,
        false => Ok(Vec::new()),
    }
}

/// Formats entries for the prompt of a language model; entries beyond the length limit are left out.
pub(crate) fn facts(entries: &[Record<ContextEntry>]) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for entry in entries {
        let next = format!("{} {}\n{}\n\n", entry.reference(), entry.question, entry.answer);
        length += next.chars().count();
        if length > MAX_PROMPT_CONTEXT_CHARS {
            break;
        }
        text.push_str(&next);
    }
    text
}
