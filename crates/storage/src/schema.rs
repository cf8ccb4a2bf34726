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
    8 "0008_invited" "invited"
    9 "0009_removal" "removal"
    10 "0010_claims" "claims"
    11 "0011_references" "references"
    12 "0012_tasks" "tasks"
    13 "0013_automations" "automations"
    14 "0014_notices" "notices"
    15 "0015_policies" "policies"
    16 "0016_controls" "controls"
    17 "0017_soa" "soa"
    18 "0018_portal" "portal"
    19 "0019_sessions" "sessions"
    20 "0020_invitations_and_ratings" "invitations and ratings"
    21 "0021_views" "views"
    22 "0022_documents_and_approvals" "documents and approvals"
};

/// What becomes of a table's rows with their organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// To no organization: the tenant itself, what belongs to a user across organizations, what belongs to the
    /// installation.
    ToNone,
    /// To one, and goes with it.
    ToOne,
    /// To one, and stays as the proof of what happened.
    ForTheRecord,
}

#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    pub belongs: Belongs,
    /// Removes what an organization has in it.
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
    "invitations" ToOne
    "password_resets" ToNone
    "sign_in_failures" ToNone
    "journal" ForTheRecord
    "journal_heads" ForTheRecord
    "jobs" ToOne
    "idempotency_keys" ToNone
};

/// The tables whose rows go with their organization, in an order in which they can be removed.
pub(crate) fn of_an_organization() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().rev().filter(|table| table.belongs == Belongs::ToOne)
}
