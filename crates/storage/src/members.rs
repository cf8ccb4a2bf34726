//! Members, always with their users.

use attestry_db::{Error, Row, RowChange, Tx, Value};
use attestry_domain::Zone;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::members::{Member, MemberFilter, MemberSort, Person};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::registers::any_of::AnyOf;
use attestry_domain::text::Name;

use crate::sql::{Columns, contains, id, owned, page_params, read_page, time};
use crate::table::any_of;
use crate::users::{self, user_columns};

macro_rules! person {
    () => {
        concat!(
            "SELECT m.id, m.org_id, m.user_id, m.role, m.department, m.is_active, m.device_label_id, ",
            "m.created_at, m.updated_at, m.version, ",
            user_columns!(),
            " FROM members m JOIN users u ON u.id = m.user_id"
        )
    };
}

macro_rules! list {
    () => {
        concat!(person!(), narrowed!())
    };
}

macro_rules! narrowed {
    () => {
        concat!(
            " WHERE m.org_id = $1 AND (CAST($2 AS BOOLEAN) IS NULL OR m.is_active = $2)",
            " AND (CAST($3 AS TEXT) IS NULL OR REPLACE($3, '\n' || m.role || '\n', '') <> $3)",
            " AND (CAST($4 AS TEXT) IS NULL OR $4 LIKE '%,' || m.department || ',%')",
            " AND (CAST($5 AS TEXT) IS NULL OR u.name_key LIKE $5 ESCAPE '\\' OR u.email_key LIKE $5 ESCAPE '\\')"
        )
    };
}

/// The unfiltered list: without the optional conditions, both query planners choose the fast plan.
macro_rules! whole_list {
    () => {
        concat!(person!(), " WHERE m.org_id = $1 AND m.is_active = $2")
    };
}

statements! {
    INSERT = "INSERT INTO members (id, org_id, user_id, role, department, is_active, device_label_id, created_at, updated_at, version) VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9, $10)";
    GET = concat!(person!(), " WHERE m.org_id = $1 AND m.id = $2");
    LOCK = concat!(person!(), " WHERE m.org_id = $1 AND m.id = $2 FOR UPDATE OF m");
    LOCK_BY_USER = concat!(person!(), " WHERE m.org_id = $1 AND m.user_id = $2 FOR UPDATE OF m");
    UPDATE = "UPDATE members SET user_id = $3, role = $4, department = $5, is_active = $6, device_label_id = $7, updated_at = $8, version = $9 WHERE org_id = $1 AND id = $2";
    ACTIVE = "SELECT id FROM members WHERE org_id = $1 AND is_active = TRUE";
    NAMES = "SELECT m.id, u.name FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1";
    DIRECTORY = "SELECT m.id, u.name, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE ORDER BY m.id";
    ROLES = "SELECT DISTINCT role FROM members WHERE org_id = $1";
    COUNT = concat!("SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id", narrowed!());
    OTHER_OWNERS = "SELECT role FROM members WHERE org_id = $1 AND id <> $2 AND is_active = TRUE AND role LIKE '%owner%'";
    OF_USER = "SELECT m.id, m.org_id, o.name, m.role FROM members m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1 AND m.is_active = TRUE AND o.deleted_at IS NULL ORDER BY m.id";
    MEMBERSHIP = "SELECT m.id, m.role, m.is_active, o.time_zone FROM members m JOIN organizations o ON o.id = m.org_id WHERE m.org_id = $1 AND m.user_id = $2 AND o.deleted_at IS NULL";
    ;
    pages
    WHOLE_BY_ID = (whole_list!(), "m.id", None);
    BY_ID = (list!(), "m.id", None);
    BY_NAME = (list!(), "m.id", Some("u.name_key"));
    BY_EMAIL = (list!(), "m.id", Some("u.email_key"));
    BY_ROLE = (list!(), "m.id", Some("m.role"));
    BY_DEPARTMENT = (list!(), "m.id", Some("m.department"));
    BY_STATUS = (list!(), "m.id", Some("CASE WHEN m.is_active = TRUE THEN 1 WHEN u.invited_to IS NOT NULL THEN 2 ELSE 3 END"));
    BY_LAST_LOGIN = (list!(), "m.id", Some("COALESCE(u.last_login, 0)"));
}

fn read(row: &Row<'_>) -> Result<Person, Error> {
    Ok(Person {
        member: Member {
            id: row.parse(0)?,
            organization_id: row.parse(1)?,
            user_id: row.parse(2)?,
            role: Roles::stored(row.text(3)?),
            department: row.parse(4)?,
            is_active: row.bool(5)?,
            device_label_id: row.opt_int(6)?,
            created_at: row.time(7)?,
            updated_at: row.time(8)?,
            version: row.int(9)?,
        },
        user: users::read(row, 10)?,
    })
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, member: &Member) -> Result<(), Error> {
    let Member {
        id: own,
        organization_id: _,
        user_id,
        role,
        department,
        is_active,
        device_label_id,
        created_at,
        updated_at,
        version,
    } = member;
    let params = [
        id(scope.organization()),
        id(*own),
        id(*user_id),
        Value::from(role.as_str()),
        Value::from(department.as_str()),
        Value::Bool(*is_active),
        Value::from(*device_label_id),
        time(*created_at),
        time(*updated_at),
        Value::Int(*version),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

pub async fn get(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Person>, Error> {
    t.opt(GET, &[id(scope.organization()), id(member)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Person>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(member)], read).await
}

pub async fn lock_by_user(t: &Tx<'_>, scope: &Scope, user: UserId) -> Result<Option<Person>, Error> {
    t.opt(LOCK_BY_USER, &[id(scope.organization()), id(user)], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, member: &Member) -> Result<(), Error> {
    let Member {
        id: own,
        organization_id: _,
        user_id,
        role,
        department,
        is_active,
        device_label_id,
        created_at: _,
        updated_at,
        version,
    } = member;
    let values = vec![
        id(scope.organization()),
        id(*own),
        id(*user_id),
        Value::from(role.as_str()),
        Value::from(department.as_str()),
        Value::Bool(*is_active),
        Value::from(*device_label_id),
        time(*updated_at),
        Value::Int(*version),
    ];
    t.execute_later(RowChange::Single(UPDATE), owned(values)).await
}

async fn conditions<'a>(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &'a MemberFilter,
) -> Result<Vec<Value<'a>>, Error> {
    let MemberFilter { is_active, includes_inactive, role, department, q } = filter;
    let roles = match role {
        Some(any) => Some(with_role(t, scope, any).await?),
        None => None,
    };
    Ok(vec![
        id(scope.organization()),
        match is_active {
            None if *includes_inactive => Value::Null,
            is_active => Value::Bool(is_active.unwrap_or(true)),
        },
        Value::from(roles),
        any_of(department.as_ref()),
        Value::from(q.as_deref().map(contains)),
    ])
}

/// Returns the stored roles with one of these among them, a line for each. A member may have several, and a few
/// combinations serve an organization.
async fn with_role(t: &Tx<'_>, scope: &Scope, any: &AnyOf<Name>) -> Result<String, Error> {
    let stored = t.all(ROLES, &[id(scope.organization())], |row| row.text(0)).await?;
    let has_one = |roles: &Roles| roles.words().any(|word| any.has(&Name::stored(word.to_owned())));
    let matching = stored.into_iter().map(Roles::stored).filter(has_one);
    Ok(matching.fold("\n".to_owned(), |lines, roles| lines + roles.as_str() + "\n"))
}

pub async fn count(t: &Tx<'_>, scope: &Scope, filter: &MemberFilter) -> Result<i64, Error> {
    t.one(COUNT, &conditions(t, scope, filter).await?, |row| row.int(0)).await
}

/// The names of all members, active or not.
pub async fn names(t: &Tx<'_>, scope: &Scope) -> Result<Vec<(MemberId, String)>, Error> {
    t.all(NAMES, &[id(scope.organization())], |row| Ok((row.parse(0)?, row.text(1)?))).await
}

/// The active members with their names and addresses.
pub async fn directory(t: &Tx<'_>, scope: &Scope) -> Result<Vec<(MemberId, String, String)>, Error> {
    t.all(DIRECTORY, &[id(scope.organization())], |row| Ok((row.parse(0)?, row.text(1)?, row.text(2)?))).await
}

pub async fn active(t: &Tx<'_>, scope: &Scope) -> Result<Vec<MemberId>, Error> {
    t.all(ACTIVE, &[id(scope.organization())], |row| row.parse(0)).await
}

pub async fn list(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &MemberFilter,
    page: &PageRequest<MemberSort>,
) -> Result<Page<Person>, Error> {
    let MemberFilter { is_active, includes_inactive, role, department, q } = filter;
    let of_one_kind = is_active.is_some() || !includes_inactive;
    let whole = of_one_kind && role.is_none() && department.is_none() && q.is_none();
    let sql = match page.sort {
        MemberSort::CreatedAt if whole => &WHOLE_BY_ID,
        MemberSort::CreatedAt => &BY_ID,
        MemberSort::Name => &BY_NAME,
        MemberSort::Email => &BY_EMAIL,
        MemberSort::Role => &BY_ROLE,
        MemberSort::Department => &BY_DEPARTMENT,
        MemberSort::Status => &BY_STATUS,
        MemberSort::LastLogin => &BY_LAST_LOGIN,
    };
    let mut params = conditions(t, scope, filter).await?;
    if whole && page.sort == MemberSort::CreatedAt {
        params.truncate(2);
    }
    page_params(&mut params, page.limit, page.after.as_ref());
    let sql = sql.pick(page.order, page.after.is_some());
    read_page(t, sql, &params, page.limit, read, |person| person.place(page.sort)).await
}

/// Returns true when the organization has an active owner other than this member. Lock the organization first.
pub async fn has_other_owner(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<bool, Error> {
    let roles = t.all(OTHER_OWNERS, &[id(scope.organization()), id(member)], |row| row.text(0)).await?;
    Ok(roles.into_iter().any(|role| Roles::stored(role).is_owner()))
}

/// A user's membership in one organization.
#[derive(Clone, Debug)]
pub struct Membership {
    pub member: MemberId,
    pub organization: OrganizationId,
    pub organization_name: String,
    pub role: Roles,
}

/// The organizations a user is active in. Belongs to the user, so it takes no scope.
pub async fn of_user(t: &Tx<'_>, user: UserId) -> Result<Vec<Membership>, Error> {
    t.all(OF_USER, &[id(user)], |row| {
        Ok(Membership {
            member: row.parse(0)?,
            organization: row.parse(1)?,
            organization_name: row.text(2)?,
            role: Roles::stored(row.text(3)?),
        })
    })
    .await
}

/// Returns a user's membership in an organization, for the authentication of a session.
pub async fn membership(
    t: &Tx<'_>,
    organization: OrganizationId,
    user: UserId,
) -> Result<Option<(MemberId, Roles, bool, Zone)>, Error> {
    t.opt(MEMBERSHIP, &[id(organization), id(user)], |row| {
        Ok((row.parse(0)?, Roles::stored(row.text(1)?), row.bool(2)?, row.parse(3)?))
    })
    .await
}
