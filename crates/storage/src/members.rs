//! Members, always with their users.

use attestry_db::{Error, Tx, Value};
use attestry_domain::access::{Roles, Scope};
use attestry_domain::any_of::AnyOf;
use attestry_domain::id::{MemberId, OrganizationId, UserId};
use attestry_domain::identity::members::{Member, MemberFilter, MemberSort, Person};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::Demands;
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::row::Row;
use attestry_domain::text::Name;
use attestry_domain::{Time, Zone};

use crate::sql::{Columns, contains, id, page_params, read_page, time};
use crate::table::{any_of, read, select};

macro_rules! people {
    ($($where:tt)*) => {
        select::<Person>(concat!("members m JOIN users u ON u.id = m.user_id", $($where)*))
    };
}

macro_rules! narrowed {
    () => {
        concat!(
            " WHERE m.org_id = $1 AND m.is_service = FALSE AND (CAST($2 AS BOOLEAN) IS NULL OR m.is_active = $2)",
            " AND (CAST($3 AS TEXT) IS NULL OR REPLACE($3, '\n' || m.role || '\n', '') <> $3)",
            " AND (CAST($4 AS TEXT) IS NULL OR $4 LIKE '%,' || m.department || ',%')",
            " AND (CAST($5 AS TEXT) IS NULL OR u.name_key LIKE $5 ESCAPE '\\' OR u.email_key LIKE $5 ESCAPE '\\')",
            " AND (CAST($6 AS BOOLEAN) IS NULL OR (u.second_factor_since IS NOT NULL) = $6)"
        )
    };
}

macro_rules! standing {
    ($rest:literal) => {
        select::<Standing>(concat!(
            "members m JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = m.org_id",
            " LEFT JOIN sign_in_policies p ON p.org_id = m.org_id",
            " LEFT JOIN session_grants g ON g.org_id = m.org_id AND g.session_id = $2",
            " WHERE m.user_id = $1 AND o.deleted_at IS NULL",
            $rest
        ))
    };
}

statements! {
    ACTIVE = "SELECT id FROM members WHERE org_id = $1 AND is_active = TRUE AND is_service = FALSE";
    NAMES = "SELECT m.id, u.name FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1";
    DIRECTORY = "SELECT m.id, u.name, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE AND m.is_service = FALSE ORDER BY m.id";
    ROLES = "SELECT DISTINCT role FROM members WHERE org_id = $1 AND is_service = FALSE";
    COUNT = concat!("SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id", narrowed!());
    OTHER_OWNERS = "SELECT role FROM members WHERE org_id = $1 AND id <> $2 AND is_active = TRUE AND role LIKE '%owner%'";
    EXEMPT = "SELECT id FROM members WHERE org_id = $1 AND is_active = TRUE AND is_exempt = TRUE ORDER BY id";
    SIGN_OUT_ALL = "UPDATE members SET signed_out_at = $2 WHERE org_id = $1";
    SIGN_OUT = "UPDATE members SET signed_out_at = $3 WHERE org_id = $1 AND id = $2";
    WITHOUT_SECOND_FACTOR = "SELECT COUNT(*) FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE AND m.is_service = FALSE AND u.second_factor_since IS NULL";
    ;
    tables
    MEMBERS: Member = "members" {}
    ;
    built
    GET = people!(" WHERE m.org_id = $1 AND m.id = $2 AND m.is_service = FALSE");
    GET_ANY = people!(" WHERE m.org_id = $1 AND m.id = $2");
    LOCK = people!(" WHERE m.org_id = $1 AND m.id = $2 AND m.is_service = FALSE FOR UPDATE OF m");
    LOCK_BY_USER = people!(" WHERE m.org_id = $1 AND m.user_id = $2 AND m.is_service = FALSE FOR UPDATE OF m");
    PEOPLE_WITHOUT_SECOND_FACTOR = people!(" WHERE m.org_id = $1 AND m.is_active = TRUE AND m.is_service = FALSE AND u.second_factor_since IS NULL");
    OWNERS = people!(" WHERE m.org_id = $1 AND m.is_active = TRUE AND m.role LIKE '%owner%' ORDER BY m.id");
    STANDING = standing!(" AND m.org_id = $3");
    STANDINGS = standing!("");
    OF_USER = select::<Membership>("members m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1 AND m.is_active = TRUE AND o.deleted_at IS NULL ORDER BY m.id");
    ;
    pages
    WHOLE_BY_ID = (people!(" WHERE m.org_id = $1 AND m.is_active = $2 AND m.is_service = FALSE"), "m.id", None);
    BY_ID = (people!(narrowed!()), "m.id", None);
    BY_NAME = (people!(narrowed!()), "m.id", Some("u.name_key"));
    BY_EMAIL = (people!(narrowed!()), "m.id", Some("u.email_key"));
    BY_ROLE = (people!(narrowed!()), "m.id", Some("m.role"));
    BY_DEPARTMENT = (people!(narrowed!()), "m.id", Some("m.department"));
    BY_STATUS = (people!(narrowed!()), "m.id", Some("CASE WHEN m.is_active = TRUE THEN 1 WHEN u.invited_to IS NOT NULL THEN 2 ELSE 3 END"));
    BY_LAST_LOGIN = (people!(narrowed!()), "m.id", Some("COALESCE(u.last_login, 0)"));
}

pub async fn insert(t: &Tx<'_>, scope: &Scope, member: &Member) -> Result<(), Error> {
    MEMBERS.insert(t, scope, member).await
}

pub async fn get(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Person>, Error> {
    t.opt(*GET, &[id(scope.organization()), id(member)], read).await
}

/// Returns the member as which a credential acts: a person, or a service account.
pub async fn get_any(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Person>, Error> {
    t.opt(*GET_ANY, &[id(scope.organization()), id(member)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Option<Person>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(member)], read).await
}

pub async fn lock_by_user(t: &Tx<'_>, scope: &Scope, user: UserId) -> Result<Option<Person>, Error> {
    t.opt(*LOCK_BY_USER, &[id(scope.organization()), id(user)], read).await
}

pub async fn update(t: &Tx<'_>, scope: &Scope, member: &Member) -> Result<(), Error> {
    MEMBERS.update_later(t, scope, member).await
}

async fn conditions<'a>(
    t: &Tx<'_>,
    scope: &Scope,
    filter: &'a MemberFilter,
) -> Result<Vec<Value<'a>>, Error> {
    let MemberFilter { is_active, includes_inactive, role, department, has_second_factor, q } = filter;
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
        has_second_factor.map_or(Value::Null, Value::Bool),
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

/// The names of all members, active or not, and of service accounts.
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
    let MemberFilter { is_active, includes_inactive, role, department, has_second_factor, q } = filter;
    let of_one_kind = is_active.is_some() || !includes_inactive;
    let whole =
        of_one_kind && role.is_none() && department.is_none() && has_second_factor.is_none() && q.is_none();
    // Without the optional conditions, both query planners choose the fast plan.
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
    read_page(t, sql, &params, page.limit, read, |person: &Person| person.place(page.sort)).await
}

/// Returns true when the organization has an active owner other than this member. Lock the organization first.
pub async fn has_other_owner(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<bool, Error> {
    let roles = t.all(OTHER_OWNERS, &[id(scope.organization()), id(member)], |row| row.text(0)).await?;
    Ok(roles.into_iter().any(|role| Roles::stored(role).is_owner()))
}

/// The active owners of the organization.
pub async fn owners(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Person>, Error> {
    let found: Vec<Person> = t.all(*OWNERS, &[id(scope.organization())], read).await?;
    Ok(found.into_iter().filter(|person| person.member.role.is_owner()).collect())
}

/// The active members who are exempt from single sign-on.
pub async fn exempt(t: &Tx<'_>, scope: &Scope) -> Result<Vec<MemberId>, Error> {
    t.all(EXEMPT, &[id(scope.organization())], |row| row.parse(0)).await
}

/// A user's membership in one organization.
#[derive(Clone, Debug, Row)]
pub struct Membership {
    #[row(column = "m.id")]
    pub member: MemberId,
    #[row(column = "org_id")]
    pub organization: OrganizationId,
    #[row(column = "name")]
    pub organization_name: String,
    pub role: Roles,
}

/// The organizations a user is active in. Belongs to the user, so it takes no scope.
pub async fn of_user(t: &Tx<'_>, user: UserId) -> Result<Vec<Membership>, Error> {
    t.all(*OF_USER, &[id(user)], read).await
}

/// A user's membership in one organization, for the authentication of a session.
#[derive(Clone, Debug, Row)]
pub struct Standing {
    #[row(column = "m.id")]
    pub member: MemberId,
    #[row(column = "m.org_id")]
    pub organization: OrganizationId,
    #[row(column = "m.role")]
    pub role: Roles,
    #[row(column = "m.is_active")]
    pub is_active: bool,
    #[row(column = "o.time_zone")]
    pub zone: Zone,
    #[row(flatten)]
    pub demands: Demands,
}

pub async fn standing(
    t: &Tx<'_>,
    organization: OrganizationId,
    session: &Session,
) -> Result<Option<Standing>, Error> {
    t.opt(*STANDING, &[id(session.user_id), id(session.id), id(organization)], read).await
}

/// The memberships of a session's user in all organizations, active or not.
pub async fn standings(t: &Tx<'_>, session: &Session) -> Result<Vec<Standing>, Error> {
    t.all(*STANDINGS, &[id(session.user_id), id(session.id)], read).await
}

/// Invalidates the sessions of a member in the organization that began before `at`.
pub async fn sign_out(t: &Tx<'_>, scope: &Scope, member: MemberId, at: Time) -> Result<(), Error> {
    t.execute(SIGN_OUT, &[id(scope.organization()), id(member), time(at)]).await.map(|_| ())
}

/// Ends what all sessions of the members may do in the organization.
pub async fn sign_out_all(t: &Tx<'_>, scope: &Scope, at: Time) -> Result<(), Error> {
    t.execute(SIGN_OUT_ALL, &[id(scope.organization()), time(at)]).await.map(|_| ())
}

/// The active members whose accounts have no second factor.
pub async fn people_without_second_factor(t: &Tx<'_>, scope: &Scope) -> Result<Vec<Person>, Error> {
    t.all(*PEOPLE_WITHOUT_SECOND_FACTOR, &[id(scope.organization())], read).await
}

/// Counts the active members whose accounts have no second factor.
pub async fn without_second_factor(t: &Tx<'_>, scope: &Scope) -> Result<i64, Error> {
    t.one(WITHOUT_SECOND_FACTOR, &[id(scope.organization())], |row| row.int(0)).await
}
