//! All SQL. A file a resource: its statements as constants, then functions over a transaction and,
//! for tenant data, the [`Scope`](attestry_domain::access::Scope) that proves the permission.
//! Statements are portable text; every one is prepared on both databases by a test.

#[macro_use]
mod sql;
mod text;

pub mod api_keys;
pub mod archive;
pub mod attachments;
pub mod comments;
pub mod idempotency;
pub mod instance;
pub mod invitations;
pub mod jobs;
pub mod journal;
pub mod members;
pub mod organizations;
pub mod password_resets;
pub mod risks;
pub mod schema;
pub mod sessions;
pub mod sign_ins;
pub mod users;
pub mod vendors;

pub use attestry_db::{Db, Error, Tx};
pub use sql::Conflict;

/// Every statement of the product, with the file it stands in.
pub const STATEMENTS: &[(&str, &[&str])] = &[
    ("api_keys", api_keys::STATEMENTS),
    ("attachments", attachments::STATEMENTS),
    ("comments", comments::STATEMENTS),
    ("idempotency", idempotency::STATEMENTS),
    ("instance", instance::STATEMENTS),
    ("invitations", invitations::STATEMENTS),
    ("jobs", jobs::STATEMENTS),
    ("journal", journal::STATEMENTS),
    ("members", members::STATEMENTS),
    ("organizations", organizations::STATEMENTS),
    ("password_resets", password_resets::STATEMENTS),
    ("risks", risks::STATEMENTS),
    ("sessions", sessions::STATEMENTS),
    ("sign_ins", sign_ins::STATEMENTS),
    ("users", users::STATEMENTS),
    ("vendors", vendors::STATEMENTS),
];
