//! The groups of a directory, as the identity provider reads and changes them.

use std::collections::BTreeSet;

use attestry_domain::access::Scope;
use attestry_domain::id::{DirectoryGroupId, MemberId};
use attestry_domain::identity::directory::filter::Filter;
use attestry_domain::identity::directory::{DirectoryGroup, GROUPS, Resource, patch};
use attestry_storage::{Tx, directory, organizations};
use serde::Serialize;
use serde_json::{Value, json};

use super::people::Given;
use super::{
    BASE, Found, GROUP, MAX_SCANNED, Query, Versioned, complete, must_match, not_unique, page_of, sync_role,
    text, too_many, wrong_value,
};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;

const MISSING: Error = Error::NotFound("group");
/// The maximum number of groups of an organization.
const MAX_GROUPS: i64 = 2000;

fn version(group: &DirectoryGroup) -> String {
    format!("W/\"{}\"", group.version)
}

/// The attributes of a group, with its members as `member` writes them.
fn attributes<'a>(
    group: &DirectoryGroup,
    members: impl Iterator<Item = &'a MemberId>,
    member: impl Fn(&MemberId) -> Value,
) -> Resource {
    let mut attributes = Resource::new();
    attributes.insert("displayName".to_owned(), json!(group.display_name));
    if let Some(external) = &group.external_id {
        attributes.insert("externalId".to_owned(), json!(external));
    }
    let members: Vec<Value> = members.map(member).collect();
    if !members.is_empty() {
        attributes.insert("members".to_owned(), Value::Array(members));
    }
    attributes
}

fn shown(ctx: &Ctx, group: &DirectoryGroup, members: &[MemberId]) -> Versioned {
    let address = |id: &MemberId| ctx.link(&format!("{BASE}/Users/{id}"));
    let attributes = attributes(group, members.iter(), |id| json!({"value": id, "$ref": address(id)}));
    let (version, times) = (version(group), (group.created_at, group.updated_at));
    Versioned { resource: complete(ctx, GROUPS, &group.id.to_string(), times, &version, attributes), version }
}

async fn whole(t: &Tx<'_>, ctx: &Ctx, scope: &Scope, group: &DirectoryGroup) -> Result<Versioned, Error> {
    Ok(shown(ctx, group, &directory::members(t, scope, group.id).await?))
}

#[boxed]
pub async fn get(
    ctx: &Ctx,
    scope: &Scope,
    id: DirectoryGroupId,
    has_members: bool,
) -> Result<Versioned, Error> {
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.db
        .read(async move |t| {
            let group = directory::group(t, &scope, id).await?.ok_or(MISSING)?;
            if has_members { whole(t, &own, &scope, &group).await } else { Ok(shown(&own, &group, &[])) }
        })
        .await
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope, query: Query) -> Result<Found, Error> {
    let filter = query.filter.as_deref().map(|filter| Filter::parse(GROUPS, filter)).transpose()?;
    let (own, scope) = (ctx.clone(), scope.clone());
    ctx.db
        .read(async move |t| {
            let has_members = query.projection.has("members");
            let (total, page) = match &filter {
                None => {
                    let total = directory::counts(t, &scope).await?.1;
                    (total, directory::group_page(t, &scope, query.count, query.start - 1).await?)
                }
                Some(filter) => page_of(&matching(t, &own, &scope, filter).await?, &query),
            };
            let mut items = Vec::with_capacity(page.len());
            for group in page {
                let one = if has_members {
                    whole(t, &own, &scope, &group).await?
                } else {
                    shown(&own, &group, &[])
                };
                items.push(one.resource);
            }
            Ok(Found { total, start: query.start, items })
        })
        .await
}

/// Returns the groups that match a filter, by their ids.
async fn matching(
    t: &Tx<'_>,
    ctx: &Ctx,
    scope: &Scope,
    filter: &Filter,
) -> Result<Vec<DirectoryGroup>, Error> {
    for (place, text) in filter.equalities() {
        let candidates: Vec<DirectoryGroup> = match (place.attribute.name, place.part.map(|part| part.name)) {
            ("displayName", None) => directory::group_by_name(t, scope, text).await?.into_iter().collect(),
            ("id", None) => match DirectoryGroupId::read(text) {
                Some(id) => directory::group(t, scope, id).await?.into_iter().collect(),
                None => Vec::new(),
            },
            ("members", None | Some("value")) => match MemberId::read(text) {
                Some(member) => directory::groups_of(t, scope, member).await?,
                None => Vec::new(),
            },
            _ => continue,
        };
        return among(t, ctx, scope, filter, candidates).await;
    }
    if directory::count_memberships(t, scope).await? > MAX_SCANNED * 10 {
        return Err(too_many());
    }
    among(t, ctx, scope, filter, directory::groups(t, scope).await?).await
}

async fn among(
    t: &Tx<'_>,
    ctx: &Ctx,
    scope: &Scope,
    filter: &Filter,
    candidates: Vec<DirectoryGroup>,
) -> Result<Vec<DirectoryGroup>, Error> {
    // Of a group that is named by an equality alone, nothing else needs to be read.
    if filter.equality().is_some() {
        return Ok(candidates);
    }
    let mut found = Vec::new();
    for group in candidates {
        if filter.matches(&whole(t, ctx, scope, &group).await?.resource) {
            found.push(group);
        }
    }
    Ok(found)
}

/// The state of a group in the journal: how many it has, and who came and went.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    #[serde(flatten)]
    group: &'a DirectoryGroup,
    member_count: usize,
    #[serde(skip_serializing_if = "<[MemberId]>::is_empty")]
    added: &'a [MemberId],
    #[serde(skip_serializing_if = "<[MemberId]>::is_empty")]
    removed: &'a [MemberId],
}

/// The members that a resource names, each of whom must be visible to the directory.
async fn members_of(
    c: &Change<'_>,
    resource: &Resource,
    known: &BTreeSet<MemberId>,
) -> Result<BTreeSet<MemberId>, Error> {
    let items = resource.get("members").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut found = BTreeSet::new();
    for item in items {
        let text = item["value"].as_str().unwrap_or_default();
        let unknown = || wrong_value(format!("There is no user {text:?}."));
        let id = MemberId::read(text).ok_or_else(unknown)?;
        if !known.contains(&id) && directory::person(c.t, c.scope, id).await?.is_none() {
            return Err(unknown());
        }
        found.insert(id);
    }
    Ok(found)
}

/// Checks that no other group has the name.
async fn must_be_unique(c: &Change<'_>, name: &str, own: Option<DirectoryGroupId>) -> Result<(), Error> {
    match directory::group_by_name(c.t, c.scope, name).await? {
        Some(other) if Some(other.id) != own => {
            Err(not_unique(format!("Another group has the displayName {name:?}.")))
        }
        _ => Ok(()),
    }
}

/// Stores a group with its members, and gives the members their roles.
async fn save(
    c: &Change<'_>,
    group: &DirectoryGroup,
    before: &BTreeSet<MemberId>,
    after: &BTreeSet<MemberId>,
    action: &'static str,
) -> Result<(), Error> {
    directory::put_group(c.t, c.scope, group).await?;
    let added: Vec<MemberId> = after.difference(before).copied().collect();
    let removed: Vec<MemberId> = before.difference(after).copied().collect();
    for member in &added {
        directory::join(c.t, c.scope, group.id, *member).await?;
    }
    for member in &removed {
        directory::leave(c.t, c.scope, group.id, *member).await?;
    }
    let state = State { group, member_count: after.len(), added: &added, removed: &removed };
    c.record(action, GROUP, group.id, &state)?;
    changed(c, group, added.iter().chain(&removed).copied()).await
}

/// Follows a change of a group's members: their versions, and their roles if the group gives one.
async fn changed(
    c: &Change<'_>,
    group: &DirectoryGroup,
    members: impl Iterator<Item = MemberId>,
) -> Result<(), Error> {
    for member in members {
        directory::bump_user(c.t, c.scope, member, c.now).await?;
        if group.role.is_some() {
            sync_role(c, member).await?;
        }
    }
    Ok(())
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, body: Resource) -> Result<Versioned, Error> {
    let resource = GROUPS.read(&body)?;
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let name = text(&resource, "displayName").unwrap_or_default();
        must_be_unique(c, name, None).await?;
        if directory::counts(c.t, c.scope).await?.1 >= MAX_GROUPS {
            return Err(wrong_value(format!("A directory has at most {MAX_GROUPS} groups.")));
        }
        let group = DirectoryGroup {
            id: c.next_id(),
            organization_id: c.organization(),
            display_name: name.to_owned(),
            external_id: text(&resource, "externalId").map(str::to_owned),
            role: None,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        let members = members_of(c, &resource, &BTreeSet::new()).await?;
        save(c, &group, &BTreeSet::new(), &members, "directory_group.created").await?;
        whole(c.t, c.ctx, c.scope, &group).await
    })
    .await
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: DirectoryGroupId,
    given: Given,
    expected: Option<Vec<String>>,
) -> Result<Versioned, Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = directory::lock_group(c.t, c.scope, id).await?.ok_or(MISSING)?;
        must_match(expected.as_deref(), &version(&before))?;
        let known: BTreeSet<MemberId> = directory::members(c.t, c.scope, id).await?.into_iter().collect();
        let after = match &given {
            Given::Whole(body) => GROUPS.read(body)?,
            Given::Part(body) => {
                let before = attributes(&before, known.iter(), |id| json!({"value": id}));
                patch::apply(GROUPS, &before, body)?
            }
        };
        let name = text(&after, "displayName").unwrap_or_default();
        must_be_unique(c, name, Some(id)).await?;
        let members = members_of(c, &after, &known).await?;
        let renamed = DirectoryGroup {
            display_name: name.to_owned(),
            external_id: text(&after, "externalId").map(str::to_owned),
            ..before.clone()
        };
        if renamed == before && members == known {
            return whole(c.t, c.ctx, c.scope, &before).await;
        }
        let action =
            if renamed == before { "directory_group.members_changed" } else { "directory_group.updated" };
        let group = DirectoryGroup { updated_at: c.now, version: before.version + 1, ..renamed };
        save(c, &group, &known, &members, action).await?;
        whole(c.t, c.ctx, c.scope, &group).await
    })
    .await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: DirectoryGroupId,
    expected: Option<Vec<String>>,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let group = directory::lock_group(c.t, c.scope, id).await?.ok_or(MISSING)?;
        must_match(expected.as_deref(), &version(&group))?;
        let members = directory::members(c.t, c.scope, id).await?;
        directory::delete_group(c.t, c.scope, id).await?;
        c.record_gone("directory_group.deleted", GROUP, id);
        changed(c, &group, members.into_iter()).await
    })
    .await
}
