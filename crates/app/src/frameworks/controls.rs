//! Operations specific to controls: linking them, and creating them from a framework.

use std::collections::HashSet;

use attestry_domain::access::Scope;
use attestry_domain::frameworks::controls::{Control, ControlPatch, ControlSort};
use attestry_domain::frameworks::{FrameworkName, Requirement, mapped};
use attestry_domain::id::{ControlId, RequirementId};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::links::Linking;
use attestry_domain::registers::{Record, Register, RegisterSort, SortKey, Wanted};
use attestry_domain::text::{AnyText, Name};
use attestry_domain::{Parse, Time};
use attestry_storage::registers as rows;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::core::precondition::Precondition;
use crate::frameworks::readiness;
use crate::{frameworks, registers};

/// Lists the controls, also in the orders that depend on the policies and tasks that are in place.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<Control>,
    page: PageRequest<ControlSort>,
    at: Option<Time>,
) -> Result<Page<Record<Control>>, Error> {
    let sort = page.sort;
    if !matches!(sort.key(), SortKey::Derived(_)) {
        return registers::list(ctx, scope, wanted, page, at).await;
    }
    let in_place = readiness::in_place(ctx, scope, at).await?;
    let rank = |control: &Record<Control>| sort.rank(control, &in_place);
    registers::list_by(ctx, scope, wanted, page, at, rank).await
}

/// Adds or removes the links that `given` names; the other links stay.
#[boxed]
pub async fn link(
    ctx: &Ctx,
    scope: &Scope,
    id: ControlId,
    given: ControlPatch,
    linking: Linking,
    precondition: Precondition,
) -> Result<Record<Control>, Error> {
    ctx.change(scope, async move |c| {
        if linking == Linking::Add {
            registers::hold_links::<Control>(c, id, &given).await?;
        }
        let before = registers::lock::<Control>(c, id).await?;
        precondition.check(&[before.version])?;
        let after = registers::linked(&before, &given, linking)?;
        registers::change_to(c, &before, after).await
    })
    .await
}

/// Creates a control for each requirement of a framework that no control meets yet. The control also meets the
/// corresponding requirements of other frameworks.
#[boxed]
pub async fn from_framework(
    ctx: &Ctx,
    scope: &Scope,
    name: FrameworkName,
    named: Option<Vec<RequirementId>>,
) -> Result<Vec<Record<Control>>, Error> {
    ctx.change(scope, async move |c| {
        frameworks::hold(c).await?;
        let framework = frameworks::named(c.t, c.scope, &name).await?;
        let wrong: Vec<FieldError> = named
            .iter()
            .flatten()
            .enumerate()
            .filter(|(_, id)| framework.requirement(**id).is_none())
            .map(|(place, id)| FieldError {
                field: format!("requirementIds[{place}]"),
                message: format!("must be a requirement of {}; {id} is not one", framework.name),
            })
            .collect();
        if !wrong.is_empty() {
            return Err(Error::Invalid(wrong));
        }
        // Locks the register, so that a concurrent call sees the controls that this one creates.
        rows::hold(c.t, c.scope, Control::ENTITY).await?;
        let existing = registers::all::<Control>(c.t, c.scope).await?;
        let mut met: HashSet<RequirementId> =
            existing.iter().flat_map(|control| control.requirement_ids.iter()).collect();
        let mut made = Vec::new();
        for requirement in &framework.requirements {
            let is_wanted = named.as_ref().is_none_or(|named| named.contains(&requirement.id));
            if !is_wanted || met.contains(&requirement.id) {
                continue;
            }
            let patch = of_requirement(requirement)?;
            met.extend(patch.requirement_ids.iter().flat_map(IdSet::iter));
            made.push(registers::new::<Control>(c, &patch)?);
        }
        registers::add_many(c, &mut made).await?;
        Ok(made)
    })
    .await
}

fn of_requirement(requirement: &Requirement) -> Result<ControlPatch, Error> {
    let wrong = |message: String| Error::internal(format!("{}: {message}", requirement.id));
    let title: String = requirement.title.chars().take(200).collect();
    let others = mapped(requirement.id).iter().map(|(_, other)| other.id);
    Ok(ControlPatch {
        name: Some(Name::parse(&title).map_err(wrong)?),
        description: Some(AnyText::parse(&requirement.objective).map_err(wrong)?),
        requirement_ids: Some(IdSet::new([requirement.id].into_iter().chain(others).collect())),
        ..ControlPatch::default()
    })
}
