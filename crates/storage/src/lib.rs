//! All SQL. One file per resource: its statements as constants, then functions that take a transaction and, for
//! tenant data, the [`Scope`](attestry_domain::access::Scope) that proves the permission. Statements are portable; a
//! test prepares every one on both databases.

#[macro_use]
mod sql;
mod table;
mod text;
#[macro_use]
pub mod registers;

pub mod access_review;
pub mod api_keys;
pub mod archive;
pub mod attachments;
pub mod automations;
pub mod bulk_changes;
pub mod chat_channels;
pub mod comments;
mod context_entries;
pub mod controls;
pub mod directory;
pub mod frameworks;
pub mod idempotency;
pub mod inbox;
pub mod instance;
pub mod invitations;
pub mod jobs;
pub mod journal;
pub mod mail_domains;
pub mod members;
pub mod notices;
pub mod organizations;
pub mod passkeys;
pub mod password_resets;
pub mod policies;
pub mod portals;
pub mod programmes;
pub mod releases;
pub mod risk_criteria;
mod risks;
pub mod runs;
pub mod schema;
pub mod second_factors;
pub mod secrets;
pub mod service_accounts;
pub mod session_grants;
pub mod sessions;
pub mod sign_in_policies;
pub mod sign_ins;
pub mod soa;
pub mod sso_connections;
pub mod sso_identities;
pub mod tasks;
pub mod tickets;
pub mod trust_access;
pub mod users;
mod vendors;
pub mod views;
pub mod ways_in;

pub use attestry_db::{Db, Error, Tx};
/// The paths that `#[derive(Row)]` names.
use attestry_domain::{plain, row};
use registers::Stored;
pub use sql::Conflict;

/// Every statement of the product, with the file it is in.
pub fn statements() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("access_review", access_review::statements()),
        ("api_keys", api_keys::statements()),
        ("attachments", attachments::statements()),
        ("automations", automations::statements()),
        ("bulk_changes", bulk_changes::statements()),
        ("chat_channels", chat_channels::statements()),
        ("comments", comments::statements()),
        ("context_entries", attestry_domain::registers::context_entries::ContextEntry::sql().texts()),
        (
            "controls",
            [attestry_domain::frameworks::controls::Control::sql().texts(), controls::statements()].concat(),
        ),
        ("directory", directory::statements()),
        ("frameworks", frameworks::statements()),
        ("idempotency", idempotency::statements()),
        ("inbox", inbox::statements()),
        ("instance", instance::statements()),
        ("invitations", invitations::statements()),
        ("jobs", jobs::statements()),
        ("journal", journal::statements()),
        ("journal inserts", journal::inserts()),
        ("mail_domains", mail_domains::statements()),
        ("members", members::statements()),
        ("notices", notices::statements()),
        ("organizations", organizations::statements()),
        ("passkeys", passkeys::statements()),
        ("password_resets", password_resets::statements()),
        ("policies", [attestry_domain::policies::Policy::sql().texts(), policies::statements()].concat()),
        ("portals", portals::statements()),
        ("programmes", programmes::statements()),
        ("releases", releases::statements()),
        ("registers", registers::statements()),
        ("risks", attestry_domain::registers::risks::Risk::sql().texts()),
        ("risk_criteria", risk_criteria::statements()),
        ("runs", runs::statements()),
        ("second_factors", second_factors::statements()),
        ("secrets", secrets::statements()),
        ("session_grants", session_grants::statements()),
        ("service_accounts", service_accounts::statements()),
        ("sessions", sessions::statements()),
        ("sign_in_policies", sign_in_policies::statements()),
        ("sign_ins", sign_ins::statements()),
        ("soa", soa::statements()),
        ("sso_connections", sso_connections::statements()),
        ("sso_identities", sso_identities::statements()),
        ("task register", attestry_domain::tasks::Task::sql().texts()),
        ("tasks", tasks::statements()),
        ("tickets", tickets::statements()),
        ("trust_access", trust_access::statements()),
        ("users", users::statements()),
        ("vendors", attestry_domain::registers::vendors::Vendor::sql().texts()),
        ("views", views::statements()),
        ("ways_in", ways_in::statements()),
    ]
}
