//! The migrations, and what the tests need to know of the schema: which tables belong to a tenant.

use attestry_db::Migration;

macro_rules! migrations {
    ($($number:literal $file:literal $name:literal)*) => {
        &[$(Migration {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
        }),*]
    };
}

pub const MIGRATIONS: &[Migration] = migrations! {
    1 "0001_identity" "identity"
    2 "0002_journal" "journal"
    3 "0003_work" "work"
    4 "0004_registers" "registers"
    5 "0005_comments" "comments"
    6 "0006_attachments" "attachments"
    7 "0007_titles" "titles"
};

/// All tables, in an order in which rows can be inserted without breaking a foreign key.
pub const TABLES: &[&str] = &[
    "instance",
    "organizations",
    "users",
    "members",
    "api_keys",
    "risks",
    "vendors",
    "comments",
    "attachments",
    "sessions",
    "invitations",
    "password_resets",
    "sign_in_failures",
    "journal",
    "journal_heads",
    "jobs",
    "idempotency_keys",
];

/// The tables without `org_id`: the tenant itself, what belongs to a user across organizations, and
/// what belongs to the installation.
pub const WITHOUT_ORGANIZATION: &[&str] = &[
    "instance",
    "organizations",
    "users",
    "sessions",
    "password_resets",
    "sign_in_failures",
    "idempotency_keys",
];
