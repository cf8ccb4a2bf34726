//! API keys. A key is looked up by its public prefix only, through one index.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{ApiKeyId, MemberId, UserId};
use attestry_domain::identity::api_keys::{ApiKey, Scopes};
use attestry_domain::journal::Hash;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::{Time, Zone};

use crate::sql::{Columns, by_id, id, opt_time, page_params, read_page, time};

macro_rules! columns {
    () => {
        "k.id, k.org_id, k.member_id, k.name, k.prefix, k.scopes, k.expires_at, k.created_at, k.last_used_at, k.revoked_at"
    };
}

statements! {
    INSERT = "INSERT INTO api_keys (id, org_id, member_id, name, prefix, secret_hash, scopes, expires_at, created_at) VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9)";
    LOCK = concat!("SELECT ", columns!(), " FROM api_keys k WHERE k.org_id = $1 AND k.id = $2 AND k.revoked_at IS NULL FOR UPDATE");
    OF_MEMBER = concat!("SELECT ", columns!(), " FROM api_keys k WHERE k.org_id = $1 AND k.member_id = $2 AND k.revoked_at IS NULL ORDER BY k.id FOR UPDATE");
    REVOKE = "UPDATE api_keys SET revoked_at = $3 WHERE org_id = $1 AND id = $2";
    FIND = concat!("SELECT ", columns!(), ", k.secret_hash, m.role, u.id, u.email, o.time_zone FROM api_keys k JOIN members m ON m.id = k.member_id AND m.org_id = k.org_id JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = k.org_id WHERE k.prefix = $1 AND k.revoked_at IS NULL AND m.is_active = TRUE AND o.deleted_at IS NULL");
    TOUCH = "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    COUNT = "SELECT COUNT(*) FROM api_keys WHERE org_id = $1 AND revoked_at IS NULL";
    ;
    pages
    LIST = (concat!("SELECT ", columns!(), " FROM api_keys k WHERE k.org_id = $1 AND k.revoked_at IS NULL"), "k.id", None);
}

fn read(row: &Row<'_>) -> Result<ApiKey, Error> {
    Ok(ApiKey {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        member_id: row.parse(2)?,
        name: row.text(3)?,
        prefix: row.text(4)?,
        scopes: Scopes::stored(row.str(5)?),
        expires_at: row.opt_time(6)?,
        created_at: row.time(7)?,
        last_used_at: row.opt_time(8)?,
        revoked_at: row.opt_time(9)?,
    })
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, key: &ApiKey, secret_hash: &Hash) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(key.id),
        id(key.member_id),
        Value::from(&key.name),
        Value::from(&key.prefix),
        Value::from(secret_hash),
        Value::from(key.scopes.words().join(" ")),
        opt_time(key.expires_at),
        time(key.created_at),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
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
    read_page(t, sql, &params, limit, read, |key| by_id(key.id)).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, key: ApiKeyId) -> Result<Option<ApiKey>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(key)], read).await
}

/// Locks and returns the live keys of a member.
pub async fn of_member(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<ApiKey>, Error> {
    t.all(OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

pub async fn revoke(t: &Tx<'_>, scope: &Scope, key: ApiKeyId, at: Time) -> Result<(), Error> {
    t.execute(REVOKE, &[id(scope.organization()), id(key), time(at)]).await.map(|_| ())
}

/// A key and the member that it acts as, for the authentication of a request.
#[derive(Clone, Debug)]
pub struct FoundKey {
    pub key: ApiKey,
    pub secret_hash: Hash,
    pub role: Roles,
    pub user: UserId,
    pub email: String,
    pub zone: Zone,
}

/// Finds a live key of an active member by its prefix. Runs before a scope exists.
pub async fn find(t: &Tx<'_>, prefix: &str) -> Result<Option<FoundKey>, Error> {
    t.opt(FIND, &[Value::from(prefix)], |row| {
        Ok(FoundKey {
            key: read(row)?,
            secret_hash: row.hash(10)?,
            role: Roles::stored(row.text(11)?),
            user: row.parse(12)?,
            email: row.text(13)?,
            zone: row.parse(14)?,
        })
    })
    .await
}

/// Records that a key was used. No journal entry and no scope: this is not part of the history.
pub async fn touch(t: &Tx<'_>, key: ApiKeyId, at: Time) -> Result<(), Error> {
    t.execute(TOUCH, &[id(key), time(at)]).await.map(|_| ())
}
