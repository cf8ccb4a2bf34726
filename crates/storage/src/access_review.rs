//! The people who can get into an organization, and how.

use attestry_db::{Error, Tx};
use attestry_domain::Time;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::MemberId;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::row::Row;

use crate::sql::{by_id, id, page_params, read_page, time};
use crate::table::{read, select};

statements! {
    COUNT = "SELECT COUNT(*) FROM members WHERE org_id = $1 AND is_active = TRUE AND is_service = FALSE";
    ;
    pages
    LIST = (select::<Reviewed>("members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE AND m.is_service = FALSE AND $2 > 0"), "m.id", None);
}

/// An active member, with everything that lets them in.
#[derive(Clone, Debug, Row)]
#[expect(clippy::struct_excessive_bools, reason = "each is a way in")]
pub struct Reviewed {
    #[row(column = "m.id")]
    pub member: MemberId,
    #[row(column = "u.name")]
    pub name: String,
    #[row(column = "u.email")]
    pub email: String,
    #[row(column = "m.role")]
    pub role: Roles,
    #[row(column = "m.is_exempt")]
    pub is_exempt: bool,
    #[row(column = "u.password_hash IS NOT NULL")]
    pub has_password: bool,
    #[row(column = "EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)")]
    pub has_passkey: bool,
    #[row(
        column = "EXISTS (SELECT 1 FROM sso_identities i JOIN sso_connections k ON k.id = i.connection_id WHERE i.org_id = $1 AND i.user_id = u.id AND k.is_enabled = TRUE)"
    )]
    pub has_sso: bool,
    #[row(column = "u.second_factor_since IS NOT NULL")]
    pub has_second_factor: bool,
    #[row(column = "EXISTS (SELECT 1 FROM directory_users d WHERE d.id = m.id AND d.deleted_at IS NULL)")]
    pub is_managed: bool,
    #[row(
        column = "(SELECT COUNT(*) FROM api_keys a WHERE a.org_id = $1 AND a.member_id = m.id AND a.revoked_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > $2))"
    )]
    pub api_keys: i64,
    #[row(column = "u.last_login")]
    pub last_login: Option<Time>,
}

/// Returns the active members by their ids, with what lets them in at a time.
pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    now: Time,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<Reviewed>, Error> {
    let mut params = vec![id(scope.organization()), time(now)];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Ascending, after.is_some());
    read_page(t, sql, &params, limit, read, |reviewed: &Reviewed| by_id(reviewed.member)).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization())], |row| row.int(0)).await
}
