//! The table of context entries: facts about the organization.

use attestry_domain::context_fields;
use attestry_domain::registers::context_entries::ContextEntry;

context_fields!(stored ContextEntry in "context_entries");
