//! Undoes the last start of a programme as a whole: deletes what it created and restores what it changed, as long as
//! nobody has edited any of it.

use std::time::Duration;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::Id;
use attestry_domain::policies::Policy;
use attestry_domain::programme::Programme;
use attestry_domain::registers::Record;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_domain::tasks::Task;
use attestry_storage::programmes::{self, Touched};
use attestry_storage::registers::Stored;
use attestry_storage::{attachments, comments, journal, registers as rows};

use super::{ENTITY, MISSING, hold, must_be_allowed};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers;

/// The time for which a start can be undone.
pub const UNDO_FOR: Duration = Duration::from_hours(24);
/// The maximum number of records that a refusal names.
const MAX_NAMED: usize = 5;

/// The result of undoing a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    pub deleted: usize,
    pub restored: usize,
}

/// Undoes the last start.
#[boxed]
pub async fn undo(ctx: &Ctx, scope: &Scope) -> Result<Undone, Error> {
    must_be_allowed(scope)?;
    for permission in [
        Permission::ControlDelete,
        Permission::PolicyDelete,
        Permission::TaskDelete,
        Permission::ContextDelete,
    ] {
        scope.require(permission)?;
    }
    ctx.change(scope, async move |c| {
        hold(c).await?;
        let programme = programmes::get(c.t, c.scope).await?.ok_or(MISSING)?;
        let run = programmes::last_run(c.t, c.scope).await?;
        let Some(run) = run.filter(|run| run.finished_at.is_some_and(|at| at.plus(UNDO_FOR) > c.now)) else {
            return Err(Error::Conflict {
                code: "programme_undo_expired",
                message:
                    "A start of the programme can be undone for a day. Delete what is not needed instead."
                        .to_owned(),
            });
        };
        let mut undoing = Undoing::default();
        let touched = &run.content.touched;
        undoing.find::<Control>(c, touched).await?;
        undoing.find::<Policy>(c, touched).await?;
        undoing.find::<Task>(c, touched).await?;
        undoing.find::<ContextEntry>(c, touched).await?;
        undoing.must_be_untouched()?;
        let mut undone = Undone::default();
        // Controls come first: a deleted policy or task is removed from the controls that are linked to it.
        restore::<Control>(c, touched, &mut undone).await?;
        remove::<Control>(c, touched, &mut undone).await?;
        restore::<Task>(c, touched, &mut undone).await?;
        remove::<Task>(c, touched, &mut undone).await?;
        remove::<Policy>(c, touched, &mut undone).await?;
        restore::<ContextEntry>(c, touched, &mut undone).await?;
        remove::<ContextEntry>(c, touched, &mut undone).await?;
        match run.content.before {
            Some(settings) => {
                let version = programme.version + 1;
                let before = Programme { settings, updated_at: c.now, version, ..programme };
                programmes::put(c.t, c.scope, &before).await?;
                c.record("programme.undone", ENTITY, before.id, &before)?;
            }
            None => {
                programmes::delete(c.t, c.scope).await?;
                c.record_gone("programme.undone", ENTITY, programme.id);
            }
        }
        programmes::delete_run(c.t, c.scope, run.id).await?;
        Ok(undone)
    })
    .await
}

fn of_kind<R: Stored>(touched: &[Touched]) -> impl Iterator<Item = (Id<R::Kind>, &Touched)> {
    touched.iter().filter_map(|one| Some((Id::read(&one.id)?, one)))
}

/// The records that were edited since the start.
#[derive(Debug, Default)]
struct Undoing {
    edited: Vec<String>,
}

impl Undoing {
    /// Locks the records of a register and finds those that were edited: changed, commented on, or given a file. A
    /// record that was deleted stands in nobody's way.
    async fn find<R: Stored>(&mut self, c: &Change<'_>, touched: &[Touched]) -> Result<(), Error> {
        let mut ids: Vec<Id<R::Kind>> = of_kind::<R>(touched).map(|(id, _)| id).collect();
        ids.sort_unstable();
        for record in rows::lock_some::<R>(c.t, c.scope, &ids).await? {
            let id = record.id.to_string();
            let is_same = touched.iter().any(|one| one.id == id && one.version == record.version);
            let has_files = attachments::count(c.t, c.scope, &id).await? > 0;
            if !is_same || has_files || !comments::of_entity(c.t, c.scope, &id).await?.is_empty() {
                self.edited.push(record.reference());
            }
        }
        Ok(())
    }

    fn must_be_untouched(&self) -> Result<(), Error> {
        if self.edited.is_empty() {
            return Ok(());
        }
        let named = self.edited.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = match self.edited.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(Error::Conflict {
            code: "programme_edited",
            message: format!(
                "The start cannot be undone as a whole any more. Edited since: {named}{more}. Delete what is not needed \
                 instead."
            ),
        })
    }
}

async fn remove<R: Stored>(c: &Change<'_>, touched: &[Touched], undone: &mut Undone) -> Result<(), Error> {
    for (id, _) in of_kind::<R>(touched).filter(|(_, one)| one.is_new) {
        if rows::get::<R>(c.t, c.scope, id).await?.is_some() {
            registers::remove::<R>(c, id).await?;
            undone.deleted += 1;
        }
    }
    Ok(())
}

async fn restore<R: Stored>(c: &Change<'_>, touched: &[Touched], undone: &mut Undone) -> Result<(), Error> {
    for (id, one) in of_kind::<R>(touched).filter(|(_, one)| !one.is_new) {
        let Some(now) = rows::lock::<R>(c.t, c.scope, id).await? else { continue };
        let state = journal::state_before_last(c.t, c.scope, &one.id, R::ENTITY).await?;
        let before: Option<Record<R>> = state.map(|state| Record::recorded(&state)).transpose()?;
        if let Some(before) = before {
            let after = Record { fields: before.fields, ..now.clone() };
            registers::save(c, &now, after).await?;
            undone.restored += 1;
        }
    }
    Ok(())
}
