//! The table of context entries: facts about the organization.

use attestry_domain::registers::context_entries::ContextEntry;

stored!(ContextEntry in "context_entries");
