//! The table of what is known of the organization.

use attestry_domain::context_entries::ContextEntry;
use attestry_domain::context_fields;

context_fields!(stored ContextEntry in "context_entries");
