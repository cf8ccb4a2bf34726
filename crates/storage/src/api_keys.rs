//! API keys. A key is looked up by its public prefix only, through one index.

use std::net::IpAddr;

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::{Roles, Scope};
use attestry_domain::hash::Hash;
use attestry_domain::id::{ApiKeyId, MemberId, UserId};
use attestry_domain::identity::api_keys::ApiKey;
use attestry_domain::identity::sign_in::{SignInPolicy, days_of};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::row::Row;
use attestry_domain::{Time, Zone};

use crate::sql::{by_id, id, page_params, read_page, time};
use crate::table::{read, select};

statements! {
    REVOKE = "UPDATE api_keys SET revoked_at = $3 WHERE org_id = $1 AND id = $2";
    END_AT = "UPDATE api_keys SET expires_at = $3 WHERE org_id = $1 AND id = $2";
    TOUCH = "UPDATE api_keys SET last_used_at = $2, last_used_ip = $3 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    COUNT_BEYOND = "SELECT COUNT(*) FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) AND ((CAST($3 AS BIGINT) > 0 AND (expires_at IS NULL OR expires_at > created_at + CAST($3 AS BIGINT))) OR (CAST($4 AS BOOLEAN) = TRUE AND scopes = '*'))";
    COUNT = "SELECT COUNT(*) FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL";
    ;
    tables
    KEYS: ApiKey = "api_keys" + "secret_hash" {
        LOCK = " WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL FOR UPDATE";
        LIST_OF_MEMBER = " WHERE org_id = $1 AND member_id = $2 AND revoked_at IS NULL ORDER BY id DESC";
        OF_MEMBER = " WHERE org_id = $1 AND member_id = $2 AND revoked_at IS NULL ORDER BY id FOR UPDATE";
        EXPIRING = " WHERE expires_at > $1 AND expires_at <= $2 AND revoked_at IS NULL ORDER BY id";
    }
    ;
    built
    FIND = select::<FoundKey>("api_keys k JOIN members m ON m.id = k.member_id AND m.org_id = k.org_id JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = k.org_id WHERE k.prefix = $1 AND k.revoked_at IS NULL AND m.is_active = TRUE AND o.deleted_at IS NULL");
    ;
    pages
    LIST = (KEYS.select(" WHERE org_id = $1 AND revoked_at IS NULL"), "id", None);
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, key: &ApiKey, secret_hash: &Hash) -> Result<(), Error> {
    KEYS.insert_with(t, scope.organization(), key, vec![Value::from(secret_hash)]).await
}

pub async fn count(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT, &[id(scope.organization())], |row| row.int(0)).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<ApiKey>, Error> {
    let mut params = vec![id(scope.organization())];
    page_params(&mut params, limit, after);
    let sql = LIST.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |key: &ApiKey| by_id(key.id)).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, key: ApiKeyId) -> Result<Option<ApiKey>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(key)], read).await
}

/// Locks and returns the live keys of a member.
pub async fn of_member(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<ApiKey>, Error> {
    t.all(*OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

/// Returns the keys of a member that have not been revoked, newest first.
pub async fn list_of_member(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<ApiKey>, Error> {
    t.all(*LIST_OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

/// Counts the live keys that a policy allows no more.
pub async fn count_beyond(t: &Tx<'_>, scope: &Scope, policy: &SignInPolicy, now: Time) -> Result<i64, Error> {
    let longest = policy.api_key_max_days.map_or(0, |days| days_of(days).as_millis());
    let params = [
        id(scope.organization()),
        time(now),
        Value::Int(i64::try_from(longest).unwrap_or(i64::MAX)),
        Value::Bool(policy.api_key_scopes_required),
    ];
    t.one(COUNT_BEYOND, &params, |row| row.int(0)).await
}

pub async fn revoke(t: &Tx<'_>, scope: &Scope, key: ApiKeyId, at: Time) -> Result<(), Error> {
    t.execute(REVOKE, &[id(scope.organization()), id(key), time(at)]).await.map(|_| ())
}

/// Sets the time at which a key ends.
pub async fn end_at(t: &Tx<'_>, scope: &Scope, key: ApiKeyId, at: Time) -> Result<(), Error> {
    t.execute(END_AT, &[id(scope.organization()), id(key), time(at)]).await.map(|_| ())
}

/// Returns all live keys that expire in a period, for the daily check.
pub async fn expiring(t: &Tx<'_>, after: Time, until: Time) -> Result<Vec<ApiKey>, Error> {
    t.all(*EXPIRING, &[time(after), time(until)], read).await
}

/// A key and the member that it acts as, for the authentication of a request.
#[derive(Clone, Debug, Row)]
pub struct FoundKey {
    #[row(flatten, prefix = "k.")]
    pub key: ApiKey,
    pub secret_hash: Hash,
    pub role: Roles,
    #[row(column = "u.id")]
    pub user: UserId,
    #[row(column = "u.email")]
    pub email: String,
    #[row(column = "o.time_zone")]
    pub zone: Zone,
}

/// Finds a live key of an active member by its prefix. Runs before a scope exists.
pub async fn find(t: &Tx<'_>, prefix: &str) -> Result<Option<FoundKey>, Error> {
    t.opt(*FIND, &[Value::from(prefix)], read).await
}

/// Records that a key was used. No journal entry and no scope: this is not part of the history.
pub async fn touch(t: &Tx<'_>, key: ApiKeyId, at: Time, ip: Option<IpAddr>) -> Result<(), Error> {
    let ip = ip.map(|ip| ip.to_string());
    t.execute(TOUCH, &[id(key), time(at), Value::from(ip)]).await.map(|_| ())
}
