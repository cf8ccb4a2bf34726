//! The migrations, and the list of tables with their tenancy.

use attestry_db::Migration;

macro_rules! migrations {
    ($($number:literal $name:literal $file:literal)*) => {
        &[$(Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../migrations/", $file)),
        }),*]
    };
}

pub const MIGRATIONS: &[Migration] = migrations! {
    1 "accounts" "0001_accounts.sql"
    2 "journal" "0002_journal.sql"
    3 "work" "0003_work.sql"
    4 "registers" "0004_registers.sql"
    5 "tasks" "0005_tasks.sql"
    6 "policies" "0006_policies.sql"
    7 "frameworks" "0007_frameworks.sql"
    8 "portals" "0008_portals.sql"
    9 "programmes" "0009_programmes.sql"
    10 "inbox" "0010_inbox.sql"
    11 "sign_in" "0011_sign_in.sql"
    12 "sso" "0012_sso.sql"
    13 "directory" "0013_directory.sql"
    14 "credentials" "0014_credentials.sql"
};

/// The relation of a table's rows to an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// Belongs to no organization: the tenant itself, or data of a user across organizations or of the installation.
    ToNone,
    /// Belongs to one organization and is removed with it.
    ToOne,
    /// Belongs to one organization and remains as a record after it is removed.
    ForTheRecord,
}

#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    pub belongs: Belongs,
    /// The statement that deletes an organization's rows.
    pub(crate) remove: &'static str,
}

macro_rules! tables {
    ($($name:literal $belongs:ident)*) => {
        &[$(Table {
            name: $name,
            belongs: Belongs::$belongs,
            remove: concat!("DELETE FROM ", $name, " WHERE org_id = $1"),
        }),*]
    };
}

/// All tables, in an order in which rows can be inserted without breaking a foreign key.
pub const TABLES: &[Table] = tables! {
    "instance" ToNone
    "organizations" ToNone
    "users" ToNone
    "members" ToOne
    "api_keys" ToOne
    "service_accounts" ToOne
    "register_numbers" ToOne
    "risks" ToOne
    "vendors" ToOne
    "tasks" ToOne
    "policies" ToOne
    "policy_versions" ToOne
    "policy_signatures" ToOne
    "policy_reminders" ToOne
    "frameworks" ToOne
    "controls" ToOne
    "context_entries" ToOne
    "programmes" ToOne
    "programme_runs" ToOne
    "inbox_items" ToOne
    "chat_channels" ToOne
    "risk_criteria" ToOne
    "soa_documents" ToOne
    "soa_answers" ToOne
    "soa_approvals" ToOne
    "soa_files" ToOne
    "portals" ToOne
    "certificates" ToOne
    "access_requests" ToOne
    "ndas" ToOne
    "access_grants" ToOne
    "access_tokens" ToOne
    "visits" ToOne
    "portal_posts" ToOne
    "subscribers" ToOne
    "automations" ToOne
    "automation_versions" ToOne
    "automation_events" ToOne
    "automation_runs" ToOne
    "automation_hosts" ToOne
    "secrets" ToOne
    "views" ToOne
    "bulk_changes" ToOne
    "comments" ToOne
    "attachments" ToOne
    "sessions" ToNone
    "sign_in_policies" ToOne
    "sso_connections" ToOne
    "mail_domains" ToOne
    "sso_identities" ToOne
    "session_grants" ToOne
    "sso_sign_ins" ToOne
    "directories" ToOne
    "directory_tokens" ToOne
    "directory_users" ToOne
    "directory_groups" ToOne
    "directory_memberships" ToOne
    "directory_requests" ToOne
    "releases" ToOne
    "totp_secrets" ToNone
    "recovery_codes" ToNone
    "passkeys" ToNone
    "used_tickets" ToNone
    "invitations" ToOne
    "password_resets" ToNone
    "sign_in_failures" ToNone
    "journal" ForTheRecord
    "journal_heads" ForTheRecord
    "jobs" ToOne
    "idempotency_keys" ToNone
};

/// Returns the tables whose rows are removed with their organization, in an order that respects foreign keys.
pub(crate) fn of_an_organization() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().rev().filter(|table| table.belongs == Belongs::ToOne)
}
