//! The people of a directory, as the identity provider reads and changes them.

use std::collections::HashMap;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{DirectoryGroupId, MemberId};
use attestry_domain::identity::directory::filter::Filter;
use attestry_domain::identity::directory::{DirectoryUser, Resource, USERS, address_of, name_of, patch};
use attestry_domain::identity::mail_domains::domain_of;
use attestry_domain::identity::members::{Member, Person};
use attestry_domain::identity::users::invited_key;
use attestry_domain::text::{Email, Parse};
use attestry_storage::directory::{self, Listed};
use attestry_storage::{Tx, invitations, mail_domains, members, organizations, password_resets, users};
use serde_json::{Value, json};

use super::{
    BASE, Found, MAX_SCANNED, Query, USER, Versioned, complete, must_match, not_unique, page_of, readable,
    sync_role, text, too_many, wrong_value,
};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::joining::{self, Joining};
use crate::identity::members as people_of;

const MISSING: Error = Error::NotFound("user");

/// The attributes of a person, without their groups.
fn attributes(listed: &Listed) -> Resource {
    let Listed { person, user } = listed;
    let Some(user) = user else {
        // An unmanaged member appears with the data of the account.
        let email = &person.user.email;
        let known = json!({
            "userName": email, "displayName": person.user.name, "active": person.member.is_active,
            "emails": [{"value": email, "type": "work", "primary": true}]
        });
        return known.as_object().cloned().unwrap_or_default();
    };
    let mut resource = user.resource.clone();
    if resource.contains_key("active") || !user.is_active {
        resource.insert("active".to_owned(), json!(user.is_active));
    }
    resource
}

fn version(Listed { person, user }: &Listed) -> String {
    match user {
        Some(user) => format!("W/\"{}\"", user.version),
        None => format!("W/\"0.{}.{}\"", person.member.version, person.user.version),
    }
}

fn times(Listed { person, user }: &Listed) -> (Time, Time) {
    match user {
        Some(user) => (user.created_at, user.updated_at),
        None => (person.member.created_at, person.member.updated_at.max(person.user.updated_at)),
    }
}

fn group_values(ctx: &Ctx, groups: impl Iterator<Item = (DirectoryGroupId, String)>) -> Option<Value> {
    let all: Vec<Value> = groups
        .map(|(id, name)| {
            let address = ctx.link(&format!("{BASE}/Groups/{id}"));
            json!({"value": id, "display": name, "$ref": address, "type": "direct"})
        })
        .collect();
    (!all.is_empty()).then_some(Value::Array(all))
}

fn shown(ctx: &Ctx, listed: &Listed, groups: Option<Value>) -> Versioned {
    let (version, mut attributes) = (version(listed), attributes(listed));
    if let Some(groups) = groups {
        attributes.insert("groups".to_owned(), groups);
    }
    let id = listed.person.member.id.to_string();
    Versioned { resource: complete(ctx, USERS, &id, times(listed), &version, attributes), version }
}

async fn whole(t: &Tx<'_>, ctx: &Ctx, scope: &Scope, listed: &Listed) -> Result<Versioned, Error> {
    let groups = directory::groups_of(t, scope, listed.person.member.id).await?;
    let groups = group_values(ctx, groups.into_iter().map(|group| (group.id, group.display_name)));
    Ok(shown(ctx, listed, groups))
}

async fn reread(c: &Change<'_>, id: MemberId) -> Result<Versioned, Error> {
    let listed = directory::person(c.t, c.scope, id).await?.ok_or(MISSING)?;
    whole(c.t, c.ctx, c.scope, &listed).await
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: MemberId) -> Result<Versioned, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.db
        .read(async move |t| {
            let listed = directory::person(t, &scope, id).await?.ok_or(MISSING)?;
            whole(t, &own, &scope, &listed).await
        })
        .await
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope, query: Query) -> Result<Found, Error> {
    let filter = query.filter.as_deref().map(|filter| Filter::parse(USERS, filter)).transpose()?;
    let (own, scope) = (ctx.clone(), scope.clone());
    let sees_groups = query.projection.has("groups");
    ctx.db
        .read(async move |t| {
            let Some(filter) = &filter else {
                let total = directory::count_people(t, &scope).await?;
                let page = directory::people(t, &scope, query.count, query.start - 1).await?;
                return Ok(Found {
                    total,
                    start: query.start,
                    items: render(t, &own, &scope, page, sees_groups).await?,
                });
            };
            let (total, page) = page_of(&candidates(t, &own, &scope, filter).await?, &query);
            Ok(Found { total, start: query.start, items: render(t, &own, &scope, page, sees_groups).await? })
        })
        .await
}

async fn render(
    t: &Tx<'_>,
    ctx: &Ctx,
    scope: &Scope,
    page: Vec<Listed>,
    sees_groups: bool,
) -> Result<Vec<Resource>, Error> {
    let mut items = Vec::with_capacity(page.len());
    for listed in page {
        let one = if sees_groups { whole(t, ctx, scope, &listed).await? } else { shown(ctx, &listed, None) };
        items.push(one.resource);
    }
    Ok(items)
}

/// Returns the people who match a filter, by their ids.
async fn candidates(t: &Tx<'_>, ctx: &Ctx, scope: &Scope, filter: &Filter) -> Result<Vec<Listed>, Error> {
    for (place, text) in filter.equalities().into_iter().filter(|(place, _)| place.part.is_none()) {
        let by_id = async |id: Option<MemberId>| match id {
            Some(id) => directory::person(t, scope, id).await,
            None => Ok(None),
        };
        let found = match place.attribute.name {
            "id" => Some(by_id(MemberId::read(text)).await?),
            "externalId" => {
                let user = directory::user_by_external_id(t, scope, text).await?;
                Some(by_id(user.map(|user| user.id)).await?)
            }
            "userName" => match directory::user_by_name(t, scope, text).await? {
                Some(user) => Some(by_id(Some(user.id)).await?),
                None => {
                    let key = text.to_lowercase();
                    let invited = invited_key(&key, scope.organization());
                    let found = match directory::person_by_email(t, scope, &key).await? {
                        None => directory::person_by_email(t, scope, &invited).await?,
                        found => found,
                    };
                    Some(found.filter(|listed| listed.user.is_none()))
                }
            },
            _ => None,
        };
        if let Some(found) = found {
            let mut matching = Vec::new();
            if let Some(listed) = found {
                let whole = whole(t, ctx, scope, &listed).await?;
                matching.extend(filter.matches(&whole.resource).then_some(listed));
            }
            return Ok(matching);
        }
    }
    let all = directory::people(t, scope, MAX_SCANNED + 1, 0).await?;
    if i64::try_from(all.len()).is_ok_and(|count| count > MAX_SCANNED) {
        return Err(too_many());
    }
    let mut groups: HashMap<MemberId, Vec<(DirectoryGroupId, String)>> = HashMap::new();
    for one in directory::memberships(t, scope).await? {
        groups.entry(one.member).or_default().push((one.group, one.display_name));
    }
    let matches = |listed: &Listed| {
        let own = groups.get(&listed.person.member.id).cloned().unwrap_or_default();
        filter.matches(&shown(ctx, listed, group_values(ctx, own.into_iter())).resource)
    };
    Ok(all.into_iter().filter(matches).collect())
}

/// The attributes of a person after they were checked.
struct Wanted {
    resource: Resource,
    user_name: String,
    external_id: Option<String>,
    email: Email,
    is_active: bool,
}

impl Wanted {
    /// Returns the person as the directory describes them from now on.
    fn user(
        self,
        c: &Change<'_>,
        id: MemberId,
        before: Option<&DirectoryUser>,
        is_suspended: bool,
    ) -> DirectoryUser {
        DirectoryUser {
            id,
            organization_id: c.organization(),
            user_name: self.user_name,
            external_id: self.external_id,
            resource: self.resource,
            is_active: self.is_active,
            is_suspended,
            deleted_at: None,
            created_at: before.map_or(c.now, |user| user.created_at),
            updated_at: c.now,
            version: before.map_or(1, |user| user.version + 1),
        }
    }
}

/// Checks the attributes of a person. `own` is the member that they are about, if there is one.
async fn wanted(c: &Change<'_>, resource: Resource, own: Option<MemberId>) -> Result<Wanted, Error> {
    let user_name = text(&resource, "userName").unwrap_or_default().to_owned();
    let external_id = text(&resource, "externalId").map(str::to_owned);
    let is_other = |user: &DirectoryUser| Some(user.id) != own;
    if directory::user_by_name(c.t, c.scope, &user_name).await?.as_ref().is_some_and(is_other) {
        return Err(not_unique(format!("Another person has the userName {user_name:?}.")));
    }
    if let Some(external) = &external_id
        && directory::user_by_external_id(c.t, c.scope, external).await?.as_ref().is_some_and(is_other)
    {
        return Err(not_unique(format!("Another person has the externalId {external:?}.")));
    }
    let address = address_of(&resource);
    let address = address.ok_or_else(|| {
        wrong_value("The person has no e-mail address: emails is empty, and userName is none.")
    })?;
    let email = Email::parse(address)
        .map_err(|message| wrong_value(format!("The e-mail address {address:?} {message}.")))?;
    let is_active = resource.get("active").is_none_or(|active| *active == json!(true));
    Ok(Wanted { resource, user_name, external_id, email, is_active })
}

/// Checks that an address is of a domain that the organization has verified.
async fn must_be_ours(c: &Change<'_>, email: &Email) -> Result<(), Error> {
    if is_ours(c, email.as_str()).await? {
        return Ok(());
    }
    let domain = email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
    Err(wrong_value(format!("The domain {domain} is not verified by this organization.")))
}

async fn is_ours(c: &Change<'_>, address: &str) -> Result<bool, Error> {
    let Some(domain) = domain_of(address) else { return Ok(false) };
    let verified = mail_domains::verified(c.t, &domain).await?;
    Ok(verified.is_some_and(|domain| domain.organization_id == c.organization()))
}

/// Adds a person, adopts a member, or brings back one who was deleted.
#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, body: Resource) -> Result<Versioned, Error> {
    let mut resource = USERS.read(&body)?;
    resource.entry("active").or_insert(json!(true));
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let address = address_of(&resource).and_then(|address| Email::parse(address).ok());
        let known = match &address {
            Some(email) => joining::known(c, email).await?,
            None => Joining::default(),
        };
        let member = known.person.as_ref().map(|person| person.member.id);
        let wanted = wanted(c, resource.clone(), member).await?;
        must_be_ours(c, &wanted.email).await?;
        let before = match member {
            Some(member) => directory::user(c.t, c.scope, member).await?,
            None => None,
        };
        let is_exempt = known.person.as_ref().is_some_and(|person| person.member.is_exempt);
        if is_exempt || before.as_ref().is_some_and(|user| user.deleted_at.is_none()) {
            return Err(not_unique(format!("{} is here already.", wanted.email.as_str())));
        }
        // A suspension by the organization outlives the deletion.
        let is_suspended = match (&before, &known.person) {
            (Some(before), _) => before.is_suspended,
            (None, Some(person)) => !person.member.is_active && !known.is_invited,
            (None, None) => false,
        };
        let role = super::settings(c.t, c.scope).await?.default_role;
        let name = name_of(&wanted.resource).as_deref().and_then(readable);
        let person = joining::admit(c, known, &wanted.email, name.as_ref(), role).await?;
        let Some(person) = person else {
            return Err(not_unique("The account with this address is exempt from single sign-on elsewhere."));
        };
        let user = wanted.user(c, person.member.id, before.as_ref(), is_suspended);
        directory::put_user(c.t, c.scope, &user).await?;
        c.record("directory_user.created", USER, user.id, &user)?;
        let person = rename(c, person, &user.resource).await?;
        activate(c, &person, user.is_active && !user.is_suspended).await?;
        reread(c, user.id).await
    })
    .await
}

/// Gives an account the name that the directory has, unless other organizations show it, too.
async fn rename(c: &Change<'_>, person: Person, resource: &Resource) -> Result<Person, Error> {
    let Some(name) = name_of(resource).as_deref().and_then(readable) else { return Ok(person) };
    if name.as_str() == person.user.name {
        return Ok(person);
    }
    let memberships = members::of_user(c.t, person.user.id).await?;
    if memberships.iter().any(|membership| membership.organization != c.organization()) {
        return Ok(person);
    }
    users::set_name(c.t, person.user.id, name.as_str(), c.now).await?;
    let user = users::get(c.t, person.user.id).await?.ok_or(MISSING)?;
    c.record("user.updated", "user", user.id, &user)?;
    Ok(Person { user, ..person })
}

/// Activates or deactivates a member.
async fn activate(c: &Change<'_>, person: &Person, is_active: bool) -> Result<(), Error> {
    if person.member.is_active == is_active {
        return Ok(());
    }
    let after = Member { is_active, ..person.member.clone() };
    people_of::change(c, person, after, !is_active).await.map(drop)
}

/// The part of a resource that a request gives.
#[derive(Clone, Debug)]
pub enum Given {
    /// All of it; an absent `active` stays as it is.
    Whole(Resource),
    /// Operations.
    Part(Resource),
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: MemberId,
    given: Given,
    expected: Option<Vec<String>>,
) -> Result<Versioned, Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let listed = directory::person(c.t, c.scope, id).await?.ok_or(MISSING)?;
        must_match(expected.as_deref(), &version(&listed))?;
        let before = attributes(&listed);
        let after = match &given {
            Given::Part(body) => patch::apply(USERS, &before, body)?,
            Given::Whole(body) => {
                let mut after = USERS.read(body)?;
                if let Some(active) = before.get("active") {
                    after.entry("active").or_insert_with(|| active.clone());
                }
                after
            }
        };
        if after == before && listed.user.is_some() {
            return whole(c.t, c.ctx, c.scope, &listed).await;
        }
        let wanted = wanted(c, after, Some(id)).await?;
        let person = readdress(c, adopted(c, &listed).await?, &wanted.email).await?;
        let person = rename(c, person, &wanted.resource).await?;
        let is_suspended = match &listed.user {
            Some(user) => user.is_suspended,
            None => !person.member.is_active,
        };
        let user = wanted.user(c, id, listed.user.as_ref(), is_suspended);
        directory::put_user(c.t, c.scope, &user).await?;
        let action = if listed.user.is_some() { "directory_user.updated" } else { "directory_user.created" };
        c.record(action, USER, id, &user)?;
        activate(c, &person, user.is_active && !user.is_suspended).await?;
        reread(c, id).await
    })
    .await
}

/// Returns the person of a listed member, locked; an invited one is admitted by the first change.
async fn adopted(c: &Change<'_>, listed: &Listed) -> Result<Person, Error> {
    let person = members::lock(c.t, c.scope, listed.person.member.id).await?.ok_or(MISSING)?;
    if listed.user.is_some() {
        return Ok(person);
    }
    let email = Email::parse(&person.user.email).map_err(wrong_value)?;
    must_be_ours(c, &email).await?;
    let known = joining::known(c, &email).await?;
    let role = person.member.role.clone();
    let admitted = joining::admit(c, known, &email, None, role).await?;
    admitted
        .ok_or_else(|| not_unique("The account with this address is exempt from single sign-on elsewhere."))
}

/// Moves the account to a new address that is free, if both addresses are of verified domains of the organization.
async fn readdress(c: &Change<'_>, person: Person, email: &Email) -> Result<Person, Error> {
    if person.user.email.to_lowercase() == email.key() {
        return Ok(person);
    }
    must_be_ours(c, email).await?;
    if !is_ours(c, &person.user.email).await? {
        return Ok(person);
    }
    if users::by_email(c.t, &email.key()).await?.is_some() {
        return Err(not_unique(format!("Another account has the address {}.", email.as_str())));
    }
    users::set_email(c.t, person.user.id, email.as_str(), c.now).await?;
    // Links that were mailed to the old address.
    password_resets::delete_of_user(c.t, person.user.id).await?;
    c.invalidate(crate::core::credentials::Invalidate::User(person.user.id));
    let user = users::get(c.t, person.user.id).await?.ok_or(MISSING)?;
    c.record("user.email_changed", "user", user.id, &user)?;
    Ok(Person { user, ..person })
}

/// Deactivates a person, and ends the management by the directory.
#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: MemberId,
    expected: Option<Vec<String>>,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let listed = directory::person(c.t, c.scope, id).await?.ok_or(MISSING)?;
        must_match(expected.as_deref(), &version(&listed))?;
        let person = members::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        activate(c, &person, false).await?;
        // An invitation that waits is withdrawn.
        invitations::delete_open(c.t, c.scope, id).await?;
        let groups = directory::groups_of(c.t, c.scope, id).await?;
        directory::leave_all(c.t, c.scope, id).await?;
        for group in &groups {
            directory::bump_group(c.t, c.scope, group.id, c.now).await?;
        }
        if groups.iter().any(|group| group.role.is_some()) {
            sync_role(c, id).await?;
        }
        let resource = attributes(&listed);
        let before = listed.user.unwrap_or_else(|| DirectoryUser {
            id,
            organization_id: c.organization(),
            user_name: person.user.email.clone(),
            external_id: None,
            resource,
            is_active: false,
            is_suspended: false,
            deleted_at: None,
            created_at: c.now,
            updated_at: c.now,
            version: 0,
        });
        let gone = DirectoryUser {
            is_active: false,
            deleted_at: Some(c.now),
            updated_at: c.now,
            version: before.version + 1,
            ..before
        };
        directory::put_user(c.t, c.scope, &gone).await?;
        c.record_gone("directory_user.deleted", USER, id);
        Ok(())
    })
    .await
}
