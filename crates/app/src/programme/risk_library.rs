//! Risks created from the risk library.

use std::collections::HashSet;

use attestry_domain::Parse;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::RiskId;
use attestry_domain::patch::Patch;
use attestry_domain::programme::risk_library::{self, LibraryRisk};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::risks::{Risk, RiskPatch};
use attestry_domain::registers::{Record, Register};
use attestry_domain::text::Name;
use attestry_storage::{programmes, registers as rows};

use super::{consequences_of, hold};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers;

/// Creates the named risks of the library, or all that apply to the scope of the programme, and links them to the
/// controls of the catalogue that treat them if the caller may change controls. A risk whose title the register already
/// has is left out.
#[boxed]
pub async fn create(
    ctx: &Ctx,
    scope: &Scope,
    named: Option<Vec<String>>,
) -> Result<Vec<Record<Risk>>, Error> {
    ctx.change(scope, async move |c| {
        hold(c).await?;
        rows::hold(c.t, c.scope, Risk::ENTITY).await?;
        let wanted: Vec<&LibraryRisk> = match &named {
            Some(keys) => keys.iter().filter_map(|key| risk_library::get(key)).collect(),
            None => applicable(c).await?,
        };
        let existing: HashSet<String> = registers::all::<Risk>(c.t, c.scope)
            .await?
            .iter()
            .map(|risk| risk.name().to_lowercase())
            .collect();
        let wanted: Vec<&LibraryRisk> =
            wanted.into_iter().filter(|risk| !existing.contains(&risk.title.to_lowercase())).collect();
        let mut made = Vec::with_capacity(wanted.len());
        for risk in &wanted {
            made.push(registers::new::<Risk>(c, &patch(risk)?)?);
        }
        registers::add_many(c, &mut made).await?;
        let pairs: Vec<(&LibraryRisk, RiskId)> =
            wanted.into_iter().zip(made.iter().map(|risk| risk.id)).collect();
        if c.scope.allows(Permission::ControlUpdate) {
            link(c, &pairs).await?;
        }
        Ok(made)
    })
    .await
}

/// The risks that apply to the scope of the programme; all of them without a programme.
async fn applicable(c: &Change<'_>) -> Result<Vec<&'static LibraryRisk>, Error> {
    let Some(programme) = programmes::get(c.t, c.scope).await? else {
        return Ok(risk_library::all().iter().collect());
    };
    let scope = consequences_of(c.t, c.scope, &programme.settings).await?;
    Ok(risk_library::all().iter().filter(|risk| scope.applies(risk.applies_when.as_deref())).collect())
}

fn patch(risk: &LibraryRisk) -> Result<RiskPatch, Error> {
    let wrong = |message: String| Error::internal(format!("risk {}: {message}", risk.key));
    Ok(RiskPatch {
        title: Some(Name::parse(&risk.title).map_err(wrong)?),
        description: Some(Parse::parse(&risk.description).map_err(wrong)?),
        category: Some(risk.category),
        department: Patch::Value(risk.department),
        ..RiskPatch::default()
    })
}

/// Links the controls of the catalogue to the new risks that they treat.
async fn link(c: &Change<'_>, made: &[(&LibraryRisk, RiskId)]) -> Result<(), Error> {
    for control in registers::all::<Control>(c.t, c.scope).await? {
        let Some(key) = &control.catalogue_key else { continue };
        let treats = made.iter().filter(|(risk, _)| risk.controls.iter().any(|one| one == key.as_str()));
        let ids = IdSet::new(treats.map(|(_, id)| *id).collect());
        if ids.is_empty() {
            continue;
        }
        let Some(before) = rows::lock::<Control>(c.t, c.scope, control.id).await? else { continue };
        let mut after = before.clone();
        after.fields.risk_ids = before.risk_ids.with(&ids);
        if after.risk_ids.len() <= IdSet::<attestry_domain::id::kind::Risk>::MAX {
            registers::save(c, &before, after).await?;
        }
    }
    Ok(())
}
