//! The table of what is known of the organization.

use attestry_domain::context_fields;
use attestry_domain::registers::context_entries::ContextEntry;

context_fields!(stored ContextEntry in "context_entries");
