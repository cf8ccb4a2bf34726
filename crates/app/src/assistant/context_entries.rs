//! What is known of the organization, as those who use it need it.

use attestry_domain::access::{Permission, Scope};
use attestry_domain::registers::Record;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_storage::Tx;

use crate::core::error::Error;
use crate::registers;

/// How much of it a model is told, in characters.
const MOST_TOLD: usize = 30_000;

/// All entries, for whoever may see them; to anybody else nothing is known.
pub(crate) async fn visible(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Record<ContextEntry>>, Error> {
    match scope.allows(Permission::ContextRead) {
        true => registers::all(t, scope).await,
        false => Ok(Vec::new()),
    }
}

/// Entries as a model is told of them.
pub(crate) fn facts(entries: &[Record<ContextEntry>]) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for entry in entries {
        let next = format!("{} {}\n{}\n\n", entry.reference(), entry.question, entry.answer);
        length += next.chars().count();
        if length > MOST_TOLD {
            break;
        }
        text.push_str(&next);
    }
    text
}
