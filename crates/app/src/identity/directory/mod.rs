//! The directory of an organization: its settings, the tokens of the identity provider, and the roles of groups.

pub mod groups;
pub mod people;

use attestry_domain::Time;
use attestry_domain::access::{Origin, Roles, Scope};
use attestry_domain::hash::sha256;
use attestry_domain::id::{DirectoryGroupId, DirectoryTokenId, MemberId, OrganizationId};
use attestry_domain::identity::directory::{
    Directory, DirectoryGroup, DirectoryRequest, DirectoryToken, DirectoryUser, Fault, MAX_TOKENS,
    Projection, Refusal, Resource, Type,
};
use attestry_domain::identity::mail_domains::MailDomain;
use attestry_domain::identity::members::{Member, Person};
use attestry_domain::page::{After, Page};
use attestry_domain::patch::Patch;
use attestry_domain::text::{Name, Parse};
use attestry_storage::{Tx, directory, mail_domains, members, organizations, ways_in};
use serde_json::{Value, json};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Touch;
use crate::core::error::Error;
use crate::core::keys::{Token, public_part, same};
use crate::core::precondition::Precondition;
use crate::identity::api_keys::must_be_future;
use crate::identity::exemptions::break_glass_required;
use crate::identity::members as people_of;

const TOKEN: &str = "directory_token";
pub(crate) const USER: &str = "directory_user";
pub(crate) const GROUP: &str = "directory_group";

/// The prefix of every token's text.
pub const PREFIX: &str = "ats_";

/// The path below which the identity provider finds everything.
pub const BASE: &str = "/scim/v2";

impl From<Refusal> for Error {
    fn from(Refusal { fault, detail }: Refusal) -> Self {
        Self::BadRequest { code: fault.code(), message: detail }
    }
}

pub(crate) fn wrong_value(message: impl Into<String>) -> Error {
    Error::from(Refusal { fault: Fault::Value, detail: message.into() })
}

pub(crate) fn not_unique(message: impl Into<String>) -> Error {
    Error::Conflict { code: "scim_uniqueness", message: message.into() }
}

/// A page of a list, as the identity provider asks for it.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub filter: Option<String>,
    /// Counted from 1.
    pub start: i64,
    pub count: i64,
    pub projection: Projection,
}

/// A page of resources.
#[derive(Clone, Debug)]
pub struct Found {
    pub total: i64,
    pub start: i64,
    pub items: Vec<Resource>,
}

/// A resource with its ETag.
#[derive(Clone, Debug)]
pub struct Versioned {
    pub resource: Resource,
    pub version: String,
}

/// The rows that a filter may read, because no index helps.
pub(crate) const MAX_SCANNED: i64 = 20_000;

pub(crate) fn too_many() -> Error {
    Error::BadRequest {
        code: "scim_too_many",
        message: format!(
            "There are more than {MAX_SCANNED} resources; filter by userName, externalId or id."
        ),
    }
}

/// Adds what every resource has to its attributes.
pub(crate) fn complete(
    ctx: &Ctx,
    kind: Type,
    id: &str,
    (created, modified): (Time, Time),
    version: &str,
    attributes: Resource,
) -> Resource {
    let extensions = attributes.keys().filter(|name| name.starts_with("urn:")).map(String::as_str);
    let schemas: Vec<&str> = std::iter::once(kind.urn).chain(extensions).collect();
    let mut resource = Resource::new();
    resource.insert("schemas".to_owned(), json!(schemas));
    resource.insert("id".to_owned(), json!(id));
    resource.extend(attributes);
    let location = ctx.link(&format!("{BASE}{}/{id}", kind.endpoint));
    let meta = json!({
        "resourceType": kind.name, "created": created, "lastModified": modified, "location": location, "version": version
    });
    resource.insert("meta".to_owned(), meta);
    resource
}

/// Returns true if a list of ETags has this one. ETags of SCIM are weak, and some clients leave the `W/` out.
pub fn has_tag(tags: &[String], version: &str) -> bool {
    let plain = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    tags.iter().any(|tag| tag == "*" || plain(tag) == plain(version))
}

/// Checks an ETag that the identity provider expects.
pub(crate) fn must_match(expected: Option<&[String]>, version: &str) -> Result<(), Error> {
    match expected {
        Some(tags) if !has_tag(tags, version) => Err(Error::PreconditionFailed),
        _ => Ok(()),
    }
}

/// Returns the page of a list that was filtered, and its total.
pub(crate) fn page_of<T: Clone>(all: &[T], query: &Query) -> (i64, Vec<T>) {
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let at = |number: i64| usize::try_from(number.clamp(0, total)).unwrap_or_default();
    let skipped = query.start - 1;
    (total, all[at(skipped)..at(skipped + query.count)].to_vec())
}

/// The state of a directory.
#[derive(Clone, Debug)]
pub struct Overview {
    pub directory: Directory,
    pub tokens: Vec<DirectoryToken>,
    pub people: i64,
    pub groups: i64,
}

fn defaults() -> Directory {
    Directory {
        default_role: Roles::stored("employee".to_owned()),
        last_request_at: None,
        updated_at: None,
        version: 0,
    }
}

pub(crate) async fn settings(t: &Tx<'_>, scope: &Scope) -> Result<Directory, Error> {
    Ok(directory::get(t, scope).await?.unwrap_or_else(defaults))
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<Overview, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let (people, groups) = directory::counts(t, &scope).await?;
            let tokens = directory::tokens(t, &scope).await?;
            Ok(Overview { directory: settings(t, &scope).await?, tokens, people, groups })
        })
        .await
}

#[boxed]
pub async fn update(ctx: &Ctx, scope: &Scope, default_role: Roles) -> Result<Overview, Error> {
    people_of::may_map(scope, "defaultRole", &default_role)?;
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = settings(c.t, c.scope).await?;
        if before.default_role == default_role {
            return Ok(());
        }
        let after = Directory {
            default_role: default_role.clone(),
            updated_at: Some(c.now),
            version: before.version + 1,
            ..before
        };
        directory::put(c.t, c.scope, &after).await?;
        c.record("directory.updated", "directory", c.organization(), &after)
    })
    .await?;
    get(ctx, scope).await
}

/// A token and its text, which is shown only once.
#[derive(Clone)]
pub struct MadeToken {
    pub token: DirectoryToken,
    pub text: String,
}

impl std::fmt::Debug for MadeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MadeToken({})", self.token.id)
    }
}

/// Creates a token. Where a directory decides who is in, an owner must be exempt from it.
#[boxed]
pub async fn create_token(
    ctx: &Ctx,
    scope: &Scope,
    name: Name,
    expires_at: Option<Time>,
) -> Result<MadeToken, Error> {
    must_be_future(expires_at, ctx.now())?;
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        if directory::tokens(c.t, c.scope).await?.len() >= MAX_TOKENS {
            return Err(Error::Conflict {
                code: "too_many_tokens",
                message: format!(
                    "A directory has at most {MAX_TOKENS} tokens; revoke the one that is no longer used."
                ),
            });
        }
        if !mail_domains::list(c.t, c.scope).await?.iter().any(MailDomain::is_verified) {
            return Err(Error::Conflict {
                code: "domain_required",
                message:
                    "Verify a domain first: a directory manages people with addresses of verified domains."
                        .to_owned(),
            });
        }
        if ways_in::exempt_owners(c.t, c.scope).await?.is_empty() {
            return Err(break_glass_required(
                "Exempt an owner with a second factor first: the directory cannot lock them out.",
            ));
        }
        if directory::get(c.t, c.scope).await?.is_none() {
            directory::put(c.t, c.scope, &Directory { version: 1, ..defaults() }).await?;
        }
        let (prefix, Token { text, hash }) = c.ctx.keys.bearer(PREFIX);
        let token = DirectoryToken {
            id: c.next_id(),
            organization_id: c.organization(),
            name: name.as_str().to_owned(),
            prefix,
            expires_at,
            created_at: c.now,
            last_used_at: None,
        };
        directory::insert_token(c.t, c.scope, &token, &hash).await?;
        c.record("directory_token.created", TOKEN, token.id, &token)?;
        Ok(MadeToken { token, text })
    })
    .await
}

#[boxed]
pub async fn revoke_token(ctx: &Ctx, scope: &Scope, id: DirectoryTokenId) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let token = directory::token(c.t, c.scope, id).await?.ok_or(Error::NotFound("token"))?;
        directory::delete_token(c.t, c.scope, token.id).await?;
        c.record_gone("directory_token.revoked", TOKEN, token.id);
        Ok(())
    })
    .await
}

/// True if the identity provider of an organization has a token and has asked for nothing since a time, for the
/// operator.
#[boxed]
pub async fn is_silent(ctx: &Ctx, organization: OrganizationId, since: Time) -> Result<bool, Error> {
    let scope = Scope::system(organization, "attestry doctor");
    let found = get(ctx, &scope).await?;
    let created = found.tokens.iter().map(|token| token.created_at).min();
    let last = found.directory.last_request_at.or(created);
    Ok(!found.tokens.is_empty() && last.is_some_and(|last| last < since))
}

fn bad_token() -> Error {
    Error::Unauthenticated {
        code: "invalid_directory_token",
        message: "The token is not valid: it may be mistyped, expired or revoked.",
    }
}

/// Returns the scope of a token.
#[boxed]
pub async fn authenticate(ctx: &Ctx, text: &str, origin: Origin) -> Result<Scope, Error> {
    let (prefix, now) = (public_part(PREFIX, text).ok_or_else(bad_token)?.to_owned(), ctx.now());
    let found = ctx.db.find(async move |t| directory::find_token(t, &prefix).await).await?;
    let (token, hash) = found.ok_or_else(bad_token)?;
    if !same(&hash, &sha256(text.as_bytes())) || token.expires_at.is_some_and(|at| at <= now) {
        return Err(bad_token());
    }
    let last = token.last_used_at.map_or(0, Time::as_millis).into();
    ctx.credentials.touch(&last, now, Touch::Directory(token.organization_id, token.id, now));
    Ok(Scope::directory(token.organization_id, token.id, origin))
}

/// Adds a request to the log of the directory, in the background.
pub fn log(ctx: &Ctx, request: DirectoryRequest) {
    ctx.credentials.note(Touch::Request(Box::new(request.cut())));
}

/// Lists the last requests of the identity provider, newest first.
#[boxed]
pub async fn requests(
    ctx: &Ctx,
    scope: &Scope,
    limit: u16,
    after: Option<After>,
) -> Result<Page<DirectoryRequest>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| directory::requests(t, &scope, limit, after.as_ref()).await).await?)
}

/// Lists the groups with the numbers of their members.
#[boxed]
pub async fn list_groups(ctx: &Ctx, scope: &Scope) -> Result<Vec<(DirectoryGroup, i64)>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let counts = directory::count_members(t, &scope).await?;
            let count =
                |id: DirectoryGroupId| counts.iter().find(|(group, _)| *group == id).map_or(0, |one| one.1);
            let groups = directory::groups(t, &scope).await?;
            Ok(groups
                .into_iter()
                .map(|group| {
                    let members = count(group.id);
                    (group, members)
                })
                .collect())
        })
        .await
}

/// Sets the role that a group gives, and the roles of its members with it.
#[boxed]
pub async fn set_role(
    ctx: &Ctx,
    scope: &Scope,
    id: DirectoryGroupId,
    role: Patch<Roles>,
    precondition: Precondition,
) -> Result<(DirectoryGroup, i64), Error> {
    if let Patch::Value(role) = &role {
        people_of::may_map(scope, "role", role)?;
    }
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = directory::lock_group(c.t, c.scope, id).await?.ok_or(Error::NotFound("group"))?;
        precondition.check(&[before.version])?;
        let members = directory::members(c.t, c.scope, id).await?;
        let count = i64::try_from(members.len()).unwrap_or(i64::MAX);
        let role = role.clone().apply(before.role.clone());
        if before.role == role {
            return Ok((before, count));
        }
        // Taking a role away is giving what the other groups give.
        if let Some(role) = &before.role {
            people_of::may_grant(c.scope, role)?;
        }
        let after = DirectoryGroup { role, updated_at: c.now, version: before.version + 1, ..before };
        directory::put_group(c.t, c.scope, &after).await?;
        c.record("directory_group.role_changed", GROUP, id, &after)?;
        for member in members {
            sync_role(c, member).await?;
        }
        Ok((after, count))
    })
    .await
}

/// The roles that groups give; `None` if none of them has one.
fn roles_of(groups: &[DirectoryGroup]) -> Option<Roles> {
    Roles::joined(groups.iter().filter_map(|group| group.role.as_ref()))
}

/// Gives a member the roles of their groups, or the default role. Owners keep theirs.
pub(crate) async fn sync_role(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    let Some(person) = members::lock(c.t, c.scope, member).await? else { return Ok(()) };
    if person.member.role.is_owner() || person.member.is_exempt {
        return Ok(());
    }
    let roles = match roles_of(&directory::groups_of(c.t, c.scope, member).await?) {
        Some(roles) => roles,
        None => settings(c.t, c.scope).await?.default_role,
    };
    if roles != person.member.role {
        people_of::sync_roles(c, &person, roles).await?;
    }
    Ok(())
}

/// True if groups of the directory decide the roles of a person, so that nothing else does.
pub(crate) async fn decides_roles(c: &Change<'_>, person: &Person) -> Result<bool, Error> {
    if !is_active(c).await? {
        return Ok(false);
    }
    if roles_of(&directory::groups_of(c.t, c.scope, person.member.id).await?).is_some() {
        return Ok(true);
    }
    let managed = directory::user(c.t, c.scope, person.member.id).await?;
    if managed.is_none_or(|user| user.deleted_at.is_some()) {
        return Ok(false);
    }
    Ok(roles_of(&directory::groups(c.t, c.scope).await?).is_some())
}

/// True while the directory has a token. Without one it manages no members.
async fn is_active(c: &Change<'_>) -> Result<bool, Error> {
    Ok(!directory::tokens(c.t, c.scope).await?.is_empty())
}

/// Applies the rules of the directory to a change of a member by people of the organization: whom the directory keeps
/// out stays out, and whom the organization deactivates stays so whatever the directory says.
pub(crate) async fn member_changed(c: &Change<'_>, before: &Member, after: &Member) -> Result<(), Error> {
    let is_about = before.is_active != after.is_active || before.user_id != after.user_id;
    if c.scope.directory_token().is_some() || !is_about {
        return Ok(());
    }
    let Some(user) = directory::user(c.t, c.scope, before.id).await? else { return Ok(()) };
    let is_managed = user.deleted_at.is_none() && is_active(c).await?;
    if !is_managed {
        let changed = DirectoryUser { is_suspended: !after.is_active, ..user };
        return Ok(directory::put_user(c.t, c.scope, &changed).await?);
    }
    if before.user_id != after.user_id || (after.is_active && !user.is_active) {
        return Err(Error::Conflict {
            code: "managed_by_directory",
            message: "The directory manages this person; change it at the identity provider.".to_owned(),
        });
    }
    let changed = DirectoryUser { is_suspended: !after.is_active, ..user };
    Ok(directory::put_user(c.t, c.scope, &changed).await?)
}

/// Returns the text of an attribute.
pub(crate) fn text<'r>(resource: &'r Resource, name: &str) -> Option<&'r str> {
    resource.get(name).and_then(Value::as_str)
}

/// Checks a name that is stored for people to read.
pub(crate) fn readable(text: &str) -> Option<Name> {
    Name::parse(text).ok()
}
