//! The directory of an organization: tokens, people and groups.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::hash::Hash;
use attestry_domain::id::{DirectoryGroupId, DirectoryTokenId, MemberId, OrganizationId};
use attestry_domain::identity::directory::{
    Directory, DirectoryGroup, DirectoryRequest, DirectoryToken, DirectoryUser,
};
use attestry_domain::identity::members::Person;
use attestry_domain::page::{After, Order, Page};
use attestry_domain::row::Row;

use crate::sql::{Columns, by_id, id, page_params, read_page, time};
use crate::table::{read, read_with, select};

/// The people that a directory sees: those it manages, and members with an address of a verified domain, unless they
/// are exempt.
macro_rules! visible {
    ($($rest:tt)*) => {
        concat!(
            "members m JOIN users u ON u.id = m.user_id LEFT JOIN directory_users d ON d.id = m.id",
            " WHERE m.org_id = $1 AND m.is_exempt = FALSE AND m.is_service = FALSE AND (d.deleted_at IS NULL AND d.id IS NOT NULL",
            " OR d.id IS NULL AND EXISTS (SELECT 1 FROM mail_domains v WHERE v.org_id = $1",
            " AND v.state IN ('verified', 'failing')",
            " AND SUBSTR(LOWER(u.email), LENGTH(u.email) - LENGTH(v.name)) = '@' || v.name))",
            $($rest)*
        )
    };
}

statements! {
    TOUCH = "UPDATE directories SET last_request_at = $2 WHERE org_id = $1 AND (last_request_at IS NULL OR last_request_at < $2)";
    TOUCH_TOKEN = "UPDATE directory_tokens SET last_used_at = $2 WHERE id = $1";
    SILENT = "SELECT org_id FROM directories WHERE last_request_at > $1 AND last_request_at <= $2 AND EXISTS (SELECT 1 FROM directory_tokens t WHERE t.org_id = directories.org_id)";
    DELETE_TOKEN = "DELETE FROM directory_tokens WHERE org_id = $1 AND id = $2";
    COUNT_PEOPLE = concat!("SELECT COUNT(*) FROM ", visible!());
    COUNT_MANAGED = "SELECT COUNT(*) FROM directory_users WHERE org_id = $1 AND deleted_at IS NULL";
    COUNT_GROUPS = "SELECT COUNT(*) FROM directory_groups WHERE org_id = $1";
    DELETE_GROUP = "DELETE FROM directory_groups WHERE org_id = $1 AND id = $2";
    BUMP_GROUP = "UPDATE directory_groups SET version = version + 1, updated_at = $3 WHERE org_id = $1 AND id = $2";
    BUMP_USER = "UPDATE directory_users SET version = version + 1, updated_at = $3 WHERE org_id = $1 AND id = $2";
    JOIN = "INSERT INTO directory_memberships (group_id, member_id, org_id) VALUES ($1, $2, $3) ON CONFLICT (group_id, member_id) DO NOTHING";
    LEAVE = "DELETE FROM directory_memberships WHERE group_id = $1 AND member_id = $2 AND org_id = $3";
    LEAVE_ALL = "DELETE FROM directory_memberships WHERE org_id = $1 AND member_id = $2";
    TRIM = "DELETE FROM directory_requests WHERE org_id = $1 AND (at < $2 OR id <= (SELECT id FROM directory_requests WHERE org_id = $1 ORDER BY id DESC LIMIT 1 OFFSET 1000))";
    MEMBERS = "SELECT member_id FROM directory_memberships WHERE org_id = $1 AND group_id = $2 ORDER BY member_id";
    COUNT_MEMBERSHIPS = "SELECT COUNT(*) FROM directory_memberships WHERE org_id = $1";
    COUNT_MEMBERS = "SELECT group_id, COUNT(*) FROM directory_memberships WHERE org_id = $1 GROUP BY group_id";
    ;
    tables
    DIRECTORIES: Directory = "directories" by "org_id" {
        GET = " WHERE org_id = $1";
    }
    TOKENS: DirectoryToken = "directory_tokens" + "secret_hash" {
        LIST_TOKENS = " WHERE org_id = $1 ORDER BY id DESC";
        EXPIRING = " WHERE expires_at > $1 AND expires_at <= $2 ORDER BY id";
        GET_TOKEN = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
    }
    USERS: DirectoryUser = "directory_users" + "user_name_key" {
        USER = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        BY_USER_NAME = " WHERE org_id = $1 AND user_name_key = $2 AND deleted_at IS NULL";
        BY_EXTERNAL_ID = " WHERE org_id = $1 AND external_id = $2 AND deleted_at IS NULL";
    }
    GROUPS: DirectoryGroup = "directory_groups" + "name_key" {
        GROUP = " WHERE org_id = $1 AND id = $2";
        LOCK_GROUP = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
        GROUP_BY_NAME = " WHERE org_id = $1 AND name_key = $2";
        ALL_GROUPS = " WHERE org_id = $1 ORDER BY id";
    }
    REQUESTS: DirectoryRequest = "directory_requests" {}
    ;
    built
    FIND_TOKEN = TOKENS.select_with("secret_hash", " WHERE prefix = $1 AND EXISTS (SELECT 1 FROM organizations o WHERE o.id = directory_tokens.org_id AND o.deleted_at IS NULL)");
    PERSON = select::<Listed>(visible!(" AND m.id = $2"));
    PERSON_BY_EMAIL = select::<Listed>(visible!(" AND u.email_key = $2"));
    PEOPLE = select::<Listed>(visible!(" ORDER BY m.id LIMIT $2 OFFSET $3"));
    OF_MEMBER = GROUPS.select(" WHERE org_id = $1 AND id IN (SELECT group_id FROM directory_memberships WHERE org_id = $1 AND member_id = $2) ORDER BY id");
    GROUP_PAGE = GROUPS.select(" WHERE org_id = $1 ORDER BY id LIMIT $2 OFFSET $3");
    MEMBERSHIPS = select::<GroupOf>("directory_memberships g JOIN directory_groups o ON o.id = g.group_id WHERE g.org_id = $1 ORDER BY g.member_id, g.group_id");
    ;
    pages
    LIST_REQUESTS = (REQUESTS.select(" WHERE org_id = $1"), "id", None);
}

/// A person as the directory sees them.
#[derive(Clone, Debug, Row)]
pub struct Listed {
    #[row(flatten)]
    pub person: Person,
    /// `None` for a member that the directory does not manage.
    #[row(flatten, prefix = "d.")]
    pub user: Option<DirectoryUser>,
}

/// A group of a person.
#[derive(Clone, Debug, Row)]
pub struct GroupOf {
    #[row(column = "g.member_id")]
    pub member: MemberId,
    #[row(column = "g.group_id")]
    pub group: DirectoryGroupId,
    #[row(column = "o.display_name")]
    pub display_name: String,
}

/// Returns the settings of the organization's directory; `None` until they are first set.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<Option<Directory>, Error> {
    t.opt(*GET, &[id(scope.organization())], read).await
}

pub async fn put(t: &Tx<'_>, scope: &Scope, directory: &Directory) -> Result<(), Error> {
    DIRECTORIES.upsert(t, scope, directory, Vec::new()).await
}

/// Records that the identity provider asked. No journal entry: this is not part of the history.
pub async fn touch(
    t: &Tx<'_>,
    organization: OrganizationId,
    token: DirectoryTokenId,
    at: Time,
) -> Result<(), Error> {
    t.execute(TOUCH, &[id(organization), time(at)]).await?;
    t.execute(TOUCH_TOKEN, &[id(token), time(at)]).await.map(|_| ())
}

/// Adds a request to the log, which keeps the last 1,000 since a time. No journal entry: this is not part of the history.
pub async fn log_request(t: &Tx<'_>, request: &DirectoryRequest, since: Time) -> Result<(), Error> {
    let organization = request.organization_id;
    REQUESTS.insert_with(t, organization, request, Vec::new()).await?;
    t.execute(TRIM, &[id(organization), time(since)]).await.map(|_| ())
}

/// Returns the requests of the log, newest first.
pub async fn requests(
    t: &Tx<'_>,
    scope: &Scope,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<DirectoryRequest>, Error> {
    let mut params = vec![id(scope.organization())];
    page_params(&mut params, limit, after);
    let sql = LIST_REQUESTS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read, |request: &DirectoryRequest| by_id(request.id)).await
}

/// Returns the tokens of the organization, newest first.
pub async fn tokens(t: &Tx<'_>, scope: &Scope) -> Result<Vec<DirectoryToken>, Error> {
    t.all(*LIST_TOKENS, &[id(scope.organization())], read).await
}

pub async fn token(
    t: &Tx<'_>,
    scope: &Scope,
    token: DirectoryTokenId,
) -> Result<Option<DirectoryToken>, Error> {
    t.opt(*GET_TOKEN, &[id(scope.organization()), id(token)], read).await
}

pub async fn insert_token(
    t: &Tx<'_>,
    scope: &Scope,
    token: &DirectoryToken,
    secret_hash: &Hash,
) -> Result<(), Error> {
    TOKENS.insert_with(t, scope.organization(), token, vec![Value::from(secret_hash)]).await
}

pub async fn delete_token(t: &Tx<'_>, scope: &Scope, token: DirectoryTokenId) -> Result<(), Error> {
    t.execute(DELETE_TOKEN, &[id(scope.organization()), id(token)]).await.map(|_| ())
}

/// Finds a token by its prefix, with the hash of the whole. Runs before a scope exists.
pub async fn find_token(t: &Tx<'_>, prefix: &str) -> Result<Option<(DirectoryToken, Hash)>, Error> {
    t.opt(*FIND_TOKEN, &[Value::from(prefix)], read_with).await
}

/// Returns all tokens that expire in a period, for the daily check.
pub async fn expiring(t: &Tx<'_>, after: Time, until: Time) -> Result<Vec<DirectoryToken>, Error> {
    t.all(*EXPIRING, &[time(after), time(until)], read).await
}

/// Returns the organizations whose identity provider last asked in a period.
pub async fn silent(t: &Tx<'_>, after: Time, until: Time) -> Result<Vec<OrganizationId>, Error> {
    t.all(SILENT, &[time(after), time(until)], |row| row.parse(0)).await
}

pub async fn person(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Listed>, Error> {
    t.opt(*PERSON, &[id(scope.organization()), id(member)], read).await
}

/// Returns the person whose account has an address. `email_key` is as [`crate::users`] stores it.
pub async fn person_by_email(t: &Tx<'_>, scope: &Scope, email_key: &str) -> Result<Option<Listed>, Error> {
    t.opt(*PERSON_BY_EMAIL, &[id(scope.organization()), Value::from(email_key)], read).await
}

/// Returns a page of the people that the directory sees, by their ids.
pub async fn people(t: &Tx<'_>, scope: &Scope, limit: i64, offset: i64) -> Result<Vec<Listed>, Error> {
    t.all(*PEOPLE, &[id(scope.organization()), Value::Int(limit), Value::Int(offset)], read).await
}

pub async fn count_people(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT_PEOPLE, &[id(scope.organization())], |row| row.int(0)).await
}

/// Counts the people whom the directory manages, and its groups.
pub async fn counts(t: &Tx<'_>, scope: &Scope) -> Result<(i64, i64), Error> {
    let own = [id(scope.organization())];
    let people = t.one(COUNT_MANAGED, &own, |row| row.int(0)).await?;
    Ok((people, t.one(COUNT_GROUPS, &own, |row| row.int(0)).await?))
}

/// Locks and returns what the directory says of a member, also after it deleted them.
pub async fn user(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<DirectoryUser>, Error> {
    t.opt(*USER, &[id(scope.organization()), id(member)], read).await
}

pub async fn user_by_name(t: &Tx<'_>, scope: &Scope, name: &str) -> Result<Option<DirectoryUser>, Error> {
    t.opt(*BY_USER_NAME, &[id(scope.organization()), Value::from(name.to_lowercase())], read).await
}

pub async fn user_by_external_id(
    t: &Tx<'_>,
    scope: &Scope,
    external: &str,
) -> Result<Option<DirectoryUser>, Error> {
    t.opt(*BY_EXTERNAL_ID, &[id(scope.organization()), Value::from(external)], read).await
}

pub async fn put_user(t: &Tx<'_>, scope: &Scope, user: &DirectoryUser) -> Result<(), Error> {
    USERS.upsert(t, scope, user, vec![Value::from(user.user_name.to_lowercase())]).await
}

pub async fn group(
    t: &Tx<'_>,
    scope: &Scope,
    group: DirectoryGroupId,
) -> Result<Option<DirectoryGroup>, Error> {
    t.opt(*GROUP, &[id(scope.organization()), id(group)], read).await
}

pub async fn lock_group(
    t: &Tx<'_>,
    scope: &Scope,
    group: DirectoryGroupId,
) -> Result<Option<DirectoryGroup>, Error> {
    t.opt(*LOCK_GROUP, &[id(scope.organization()), id(group)], read).await
}

pub async fn group_by_name(t: &Tx<'_>, scope: &Scope, name: &str) -> Result<Option<DirectoryGroup>, Error> {
    t.opt(*GROUP_BY_NAME, &[id(scope.organization()), Value::from(name.to_lowercase())], read).await
}

pub async fn groups(t: &Tx<'_>, scope: &Scope) -> Result<Vec<DirectoryGroup>, Error> {
    t.all(*ALL_GROUPS, &[id(scope.organization())], read).await
}

pub async fn group_page(
    t: &Tx<'_>,
    scope: &Scope,
    limit: i64,
    offset: i64,
) -> Result<Vec<DirectoryGroup>, Error> {
    t.all(*GROUP_PAGE, &[id(scope.organization()), Value::Int(limit), Value::Int(offset)], read).await
}

pub async fn put_group(t: &Tx<'_>, scope: &Scope, group: &DirectoryGroup) -> Result<(), Error> {
    GROUPS.upsert(t, scope, group, vec![Value::from(group.display_name.to_lowercase())]).await
}

pub async fn delete_group(t: &Tx<'_>, scope: &Scope, group: DirectoryGroupId) -> Result<(), Error> {
    t.execute(DELETE_GROUP, &[id(scope.organization()), id(group)]).await.map(|_| ())
}

/// Counts a change of the members of a group, or of the groups of a member, as a new version of it.
pub async fn bump_group(t: &Tx<'_>, scope: &Scope, group: DirectoryGroupId, at: Time) -> Result<(), Error> {
    t.execute(BUMP_GROUP, &[id(scope.organization()), id(group), time(at)]).await.map(|_| ())
}

pub async fn bump_user(t: &Tx<'_>, scope: &Scope, member: MemberId, at: Time) -> Result<(), Error> {
    t.execute(BUMP_USER, &[id(scope.organization()), id(member), time(at)]).await.map(|_| ())
}

pub async fn join(t: &Tx<'_>, scope: &Scope, group: DirectoryGroupId, member: MemberId) -> Result<(), Error> {
    t.execute(JOIN, &[id(group), id(member), id(scope.organization())]).await.map(|_| ())
}

pub async fn leave(
    t: &Tx<'_>,
    scope: &Scope,
    group: DirectoryGroupId,
    member: MemberId,
) -> Result<(), Error> {
    t.execute(LEAVE, &[id(group), id(member), id(scope.organization())]).await.map(|_| ())
}

/// Removes a member from all groups.
pub async fn leave_all(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<(), Error> {
    t.execute(LEAVE_ALL, &[id(scope.organization()), id(member)]).await.map(|_| ())
}

/// Returns the members of a group.
pub async fn members(t: &Tx<'_>, scope: &Scope, group: DirectoryGroupId) -> Result<Vec<MemberId>, Error> {
    t.all(MEMBERS, &[id(scope.organization()), id(group)], |row| row.parse(0)).await
}

/// Counts the members of each group that has some.
pub async fn count_members(t: &Tx<'_>, scope: &Scope) -> Result<Vec<(DirectoryGroupId, i64)>, Error> {
    let read = |row: &attestry_db::Row<'_>| Ok((row.parse(0)?, row.int(1)?));
    t.all(COUNT_MEMBERS, &[id(scope.organization())], read).await
}

/// Returns the groups of a member.
pub async fn groups_of(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<DirectoryGroup>, Error> {
    t.all(*OF_MEMBER, &[id(scope.organization()), id(member)], read).await
}

pub async fn count_memberships(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(COUNT_MEMBERSHIPS, &[id(scope.organization())], |row| row.int(0)).await
}

/// Returns all memberships in groups, by members.
pub async fn memberships(t: &Tx<'_>, scope: &Scope) -> Result<Vec<GroupOf>, Error> {
    t.all(*MEMBERSHIPS, &[id(scope.organization())], read).await
}
