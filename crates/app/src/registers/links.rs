//! Links between records. The target must exist when a record is linked to it, and is unlinked when it is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attestry_domain::access::Scope;
use attestry_domain::frameworks::controls::Control;
use attestry_domain::frameworks::{Framework, shipped};
use attestry_domain::id::{Id, Kind, RequirementId, kind};
use attestry_domain::policies::Policy;
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::links::Links;
use attestry_domain::registers::risks::Risk;
use attestry_domain::registers::vendors::Vendor;
use attestry_domain::tasks::Task;
use attestry_storage::registers::Stored;
use attestry_storage::{Tx, controls, frameworks as own, registers as rows};

use crate::core::change::Change;
use crate::core::error::{Error, FieldError};
use crate::registers;
use crate::registers::subjects::Hold;

/// Checks that all link targets exist, and locks them until the transaction ends, so that none is deleted meanwhile.
/// Targets are locked before the linked row, because a deletion locks the target first, too.
pub(crate) async fn must_exist(c: &Change<'_>, links: &Links) -> Result<(), Error> {
    let wrong = wrong(c.t, c.scope, links, Hold::Yes).await?;
    if wrong.is_empty() { Ok(()) } else { Err(Error::Invalid(wrong)) }
}

/// Returns a field error for each link target that does not exist.
pub(crate) async fn wrong(
    t: &Tx<'_>,
    scope: &Scope,
    links: &Links,
    hold: Hold,
) -> Result<Vec<FieldError>, Error> {
    Ok(missing(t, scope, links, hold).await?.into_iter().map(FieldError::from).collect())
}

/// A link whose target does not exist.
#[derive(Clone, Debug)]
pub(crate) struct MissingLink {
    pub(crate) id: String,
    noun: &'static str,
    field: &'static str,
}

impl MissingLink {
    fn to<K: Kind>(id: Id<K>, field: &'static str) -> Self {
        Self { id: id.to_string(), noun: K::NOUN, field }
    }
}

impl From<MissingLink> for FieldError {
    fn from(MissingLink { id, noun, field }: MissingLink) -> Self {
        Self {
            field: field.to_owned(),
            message: format!("must hold ids of what is in this organization; the {noun} {id} is not"),
        }
    }
}

/// Returns the links whose targets do not exist, and locks the targets of the others if requested.
pub(crate) async fn missing(
    t: &Tx<'_>,
    scope: &Scope,
    links: &Links,
    hold: Hold,
) -> Result<Vec<MissingLink>, Error> {
    let mut missing = Vec::new();
    if links.is_empty() {
        return Ok(missing);
    }
    missing.extend(look_for::<Risk>(t, scope, links, hold).await?);
    missing.extend(look_for::<Vendor>(t, scope, links, hold).await?);
    missing.extend(look_for::<Task>(t, scope, links, hold).await?);
    missing.extend(look_for::<Policy>(t, scope, links, hold).await?);
    missing.extend(look_for_requirements(t, scope, links).await?);
    Ok(missing)
}

async fn look_for<R: Stored>(
    t: &Tx<'_>,
    scope: &Scope,
    links: &Links,
    hold: Hold,
) -> Result<Vec<MissingLink>, Error> {
    let wanted: BTreeMap<Id<R::Kind>, &'static str> = links.of::<R::Kind>().collect();
    let ids: Vec<Id<R::Kind>> = wanted.keys().copied().collect();
    let found = match hold {
        Hold::Yes => rows::lock_some::<R>(t, scope, &ids).await?,
        Hold::No => rows::some_of::<R>(t, scope, &ids).await?,
    };
    let found: BTreeSet<Id<R::Kind>> =
        found.iter().filter(|found| found.is_visible(scope)).map(|found| found.id).collect();
    let gone = wanted.into_iter().filter(|(id, _)| !found.contains(id));
    Ok(gone.map(|(id, field)| MissingLink::to(id, field)).collect())
}

async fn look_for_requirements(t: &Tx<'_>, scope: &Scope, links: &Links) -> Result<Vec<MissingLink>, Error> {
    let wanted: BTreeMap<RequirementId, &'static str> = links.of::<kind::Requirement>().collect();
    let ids = |all: &[Arc<Framework>]| -> BTreeSet<RequirementId> {
        all.iter().flat_map(|framework| &framework.requirements).map(|one| one.id).collect()
    };
    let mut known = if wanted.is_empty() { BTreeSet::new() } else { ids(shipped()) };
    if wanted.keys().any(|id| !known.contains(id)) {
        known.extend(ids(&own::all(t, scope).await?));
    }
    let gone = wanted.into_iter().filter(|(id, _)| !known.contains(id));
    Ok(gone.map(|(id, field)| MissingLink::to(id, field)).collect())
}

/// Removes deleted requirements from the controls that meet them.
pub(crate) async fn remove_requirements(
    c: &Change<'_>,
    gone: &IdSet<kind::Requirement>,
) -> Result<(), Error> {
    for control in registers::all::<Control>(c.t, c.scope).await? {
        if !control.requirement_ids.iter().any(|id| gone.contains(id)) {
            continue;
        }
        let Some(before) = rows::lock::<Control>(c.t, c.scope, control.id).await? else { continue };
        let mut after = before.clone();
        after.fields.requirement_ids = before.requirement_ids.without(gone);
        registers::save(c, &before, after).await?;
    }
    Ok(())
}

/// Removes a deleted record from the controls that are linked to it.
pub(crate) async fn remove_all(c: &Change<'_>, id: &str) -> Result<(), Error> {
    fn gone<K: Kind>(id: &str) -> IdSet<K> {
        IdSet::new(Id::read(id).into_iter().collect())
    }
    if Id::<kind::Control>::read(id).is_some() || Id::<kind::ContextEntry>::read(id).is_some() {
        return Ok(());
    }
    for control in controls::linked(c.t, c.scope, id).await? {
        let Some(before) = rows::lock::<Control>(c.t, c.scope, control).await? else { continue };
        let mut after = before.clone();
        let fields = &mut after.fields;
        fields.policy_ids = fields.policy_ids.without(&gone(id));
        fields.task_ids = fields.task_ids.without(&gone(id));
        fields.risk_ids = fields.risk_ids.without(&gone(id));
        fields.vendor_ids = fields.vendor_ids.without(&gone(id));
        registers::save(c, &before, after).await?;
    }
    Ok(())
}
