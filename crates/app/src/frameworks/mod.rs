//! The frameworks an organization has: those that ship with the product, and its own.

pub mod controls;
pub mod readiness;
pub mod trace;

use std::collections::HashSet;
use std::sync::Arc;

use attestry_domain::access::Scope;
use attestry_domain::frameworks::{self, Framework, FrameworkDraft, FrameworkName, Wrong};
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{FrameworkId, RequirementId};
use attestry_domain::journal::canonical::canonical;
use attestry_domain::registers::id_set::IdSet;
use attestry_storage::{Tx, frameworks as own, registers as held, soa};
use serde::Serialize;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::core::precondition::Precondition;
use crate::registers::links;
use crate::registers::subjects::Hold;

const ENTITY: &str = "framework";

pub(crate) const MISSING: Error = Error::NotFound("framework");

/// All frameworks, ordered by id.
#[boxed]
pub async fn all(ctx: &Ctx, scope: &Scope) -> Result<Vec<Arc<Framework>>, Error> {
    let who = scope.clone();
    let mut all = ctx.db.read(async move |t| own::all(t, &who).await).await?;
    all.extend(frameworks::shipped().iter().cloned());
    all.sort_by_key(|framework| framework.id);
    Ok(all)
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, name: FrameworkName) -> Result<Arc<Framework>, Error> {
    // Shipped frameworks need no database.
    if let Some(shipped) = name.shipped() {
        return Ok(shipped);
    }
    let own = scope.clone();
    ctx.db.read(async move |t| find(t, &own, &name).await).await
}

/// Finds a framework that a request body names; a missing one is a field error.
pub(crate) async fn named(t: &Tx<'_>, scope: &Scope, name: &FrameworkName) -> Result<Arc<Framework>, Error> {
    find(t, scope, name).await.map_err(|error| match error {
        Error::NotFound(_) => {
            Error::field("frameworkId", "is not one of the frameworks; GET /v1/frameworks lists them")
        }
        other => other,
    })
}

pub(crate) async fn find(t: &Tx<'_>, scope: &Scope, name: &FrameworkName) -> Result<Arc<Framework>, Error> {
    if let Some(shipped) = name.shipped() {
        return Ok(shipped);
    }
    let found = match name {
        FrameworkName::Id(id) => own::get(t, scope, *id).await?,
        FrameworkName::Alias(alias) => own::by_alias(t, scope, alias).await?,
    };
    found.ok_or(MISSING)
}

async fn is_taken(
    t: &Tx<'_>,
    scope: &Scope,
    alias: &str,
    replaced: Option<FrameworkId>,
) -> Result<bool, Error> {
    let is_shipped = frameworks::shipped().iter().any(|framework| framework.alias == alias);
    let others = own::by_alias(t, scope, alias).await?.filter(|found| Some(found.id) != replaced);
    Ok(is_shipped || others.is_some())
}

/// Validates a draft and, if it has no alias, gives it the one of the previous edition or a free one. The inner error
/// lists the invalid fields.
async fn checked(
    t: &Tx<'_>,
    scope: &Scope,
    mut draft: FrameworkDraft,
    before: Option<&Framework>,
) -> Result<Result<FrameworkDraft, Vec<FieldError>>, Error> {
    let replaced = before.map(|before| before.id);
    if draft.alias.is_none() {
        let (made, mut number) = (draft.alias(), 1);
        let mut alias = before.map_or_else(|| made.clone(), |before| before.alias.clone());
        while is_taken(t, scope, &alias, replaced).await? {
            number += 1;
            alias = format!("{}_{number}", made.chars().take(45).collect::<String>());
        }
        draft.alias = Some(alias);
    }
    let of_draft = |wrong: Wrong| FieldError { field: wrong.field, message: wrong.message };
    let mut wrong: Vec<FieldError> = draft.wrong().into_iter().map(of_draft).collect();
    let alias = draft.alias();
    if is_taken(t, scope, &alias, replaced).await? {
        let message = format!("must be its own; {alias} is the alias of another framework");
        wrong.push(FieldError { field: "alias".to_owned(), message });
    }
    Ok(if wrong.is_empty() { Ok(draft) } else { Err(wrong) })
}

/// Locks the frameworks until the transaction ends, so that no other transaction adds, replaces, deletes or begins to
/// use one.
pub(crate) async fn hold(c: &Change<'_>) -> Result<(), Error> {
    Ok(held::hold(c.t, c.scope, ENTITY).await?)
}

/// A framework as recorded in the journal: only the number and the hash of its requirements, which can be megabytes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Recorded<'a> {
    id: FrameworkId,
    alias: &'a str,
    name: &'a str,
    description: &'a str,
    version: &'a str,
    source: &'a str,
    licence: &'a str,
    attribution: &'a str,
    total_requirements: usize,
    requirements_hash: String,
}

fn recorded(framework: &Framework) -> Result<Recorded<'_>, Error> {
    let requirements = canonical(&framework.requirements).map_err(Error::internal)?;
    Ok(Recorded {
        id: framework.id,
        alias: &framework.alias,
        name: &framework.name,
        description: &framework.description,
        version: &framework.version,
        source: &framework.source,
        licence: &framework.licence,
        attribution: &framework.attribution,
        total_requirements: framework.requirements.len(),
        requirements_hash: hex(&sha256(requirements.as_bytes())),
    })
}

/// The framework that a draft would become, or its invalid fields.
pub type Checked = Result<Framework, Vec<FieldError>>;

/// Validates a draft without saving it.
#[boxed]
pub async fn check(
    ctx: &Ctx,
    scope: &Scope,
    draft: FrameworkDraft,
    replaced: Option<FrameworkId>,
) -> Result<Checked, Error> {
    let (own, ids) = (scope.clone(), ctx.clone());
    let found = ctx.db.read(async move |t| {
        let before = match replaced {
            None => None,
            Some(id) => Some(replaceable(t, &own, id, Hold::No).await?),
        };
        let draft = checked(t, &own, draft.clone(), before.as_deref()).await?;
        let id = replaced.unwrap_or_else(|| ids.ids.next());
        Ok::<_, Error>(draft.map(|draft| draft.into_framework(id, before.as_deref(), || ids.ids.next())))
    });
    found.await
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, draft: FrameworkDraft) -> Result<Framework, Error> {
    ctx.change(scope, async move |c| {
        hold(c).await?;
        let draft = checked(c.t, c.scope, draft.clone(), None).await?.map_err(Error::Invalid)?;
        let framework = draft.into_framework(c.next_id(), None, || c.next_id());
        own::insert(c.t, c.scope, &framework, c.now).await?;
        c.record("framework.created", ENTITY, framework.id, &recorded(&framework)?)?;
        Ok(framework)
    })
    .await
}

/// Finds a framework that can be replaced or deleted: one of the organization's own that has no statement of
/// applicability.
async fn replaceable(
    t: &Tx<'_>,
    scope: &Scope,
    id: FrameworkId,
    hold: Hold,
) -> Result<Arc<Framework>, Error> {
    if FrameworkName::Id(id).shipped().is_some() {
        return Err(Error::Conflict {
            code: "framework_ships",
            message: "This framework ships with the product and cannot be changed.".to_owned(),
        });
    }
    let found = match hold {
        Hold::Yes => own::lock(t, scope, id).await?,
        Hold::No => own::get(t, scope, id).await?,
    };
    let found = found.ok_or(MISSING)?;
    if soa::uses_framework(t, scope, id).await? {
        return Err(Error::Conflict {
            code: "framework_in_use",
            message:
                "There are statements of applicability for this framework, so it stays as it is. Add the new \
                      edition as a framework of its own."
                    .to_owned(),
        });
    }
    Ok(found)
}

/// Unlinks controls from the requirements that `after` no longer has.
async fn unlink(c: &Change<'_>, before: &Framework, after: Option<&Framework>) -> Result<(), Error> {
    let stays: HashSet<RequirementId> =
        after.iter().flat_map(|after| &after.requirements).map(|one| one.id).collect();
    let gone = before.requirements.iter().map(|one| one.id).filter(|id| !stays.contains(id));
    links::remove_requirements(c, &IdSet::new(gone.collect())).await
}

/// Replaces a framework with a new edition. Requirements with the same code keep their ids.
#[boxed]
pub async fn replace(
    ctx: &Ctx,
    scope: &Scope,
    id: FrameworkId,
    draft: FrameworkDraft,
    precondition: Precondition,
) -> Result<Framework, Error> {
    ctx.change(scope, async move |c| {
        hold(c).await?;
        let before = replaceable(c.t, c.scope, id, Hold::Yes).await?;
        precondition.check(&[before.tag()])?;
        let draft = checked(c.t, c.scope, draft.clone(), Some(&before)).await?.map_err(Error::Invalid)?;
        let after = draft.into_framework(id, Some(&before), || c.next_id());
        unlink(c, &before, Some(&after)).await?;
        own::update(c.t, c.scope, &after, c.now).await?;
        c.record("framework.updated", ENTITY, id, &recorded(&after)?)?;
        Ok(after)
    })
    .await
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: FrameworkId,
    precondition: Precondition,
) -> Result<Arc<Framework>, Error> {
    ctx.change(scope, async move |c| {
        hold(c).await?;
        let before = replaceable(c.t, c.scope, id, Hold::Yes).await?;
        precondition.check(&[before.tag()])?;
        unlink(c, &before, None).await?;
        own::delete(c.t, c.scope, id).await?;
        for deleted in c.ctx.hooks().deleted {
            deleted(c, &id.to_string()).await?;
        }
        c.record_gone("framework.deleted", ENTITY, id);
        Ok(before)
    })
    .await
}
