//! Undoes the last start of a programme as a whole: deletes the records that it created and restores those that it
//! changed, as long as nobody has edited any of them.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::{Id, ProgrammeRunId, TaskId};
use attestry_domain::policies::Policy;
use attestry_domain::programme::Programme;
use attestry_domain::registers::Record;
use attestry_domain::registers::context_entries::ContextEntry;
use attestry_domain::tasks::Task;
use attestry_storage::programmes::{self, Run, Touched};
use attestry_storage::registers::Stored;
use attestry_storage::{attachments, automations, comments, controls, registers as rows};

use super::{ENTITY, MISSING, hold, must_be_allowed};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::organizations;
use crate::registers;

/// The time for which a start can be undone.
pub const UNDO_FOR: Duration = Duration::from_hours(24);
/// The maximum number of records that a refusal names.
const MAX_NAMED: usize = 5;

const NEEDED: [Permission; 4] =
    [Permission::ControlDelete, Permission::PolicyDelete, Permission::TaskDelete, Permission::ContextDelete];

/// The result of undoing a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    pub deleted: usize,
    pub restored: usize,
}

/// Undoes the last start, or one that was interrupted. With the id of a start, it must be the last one.
#[boxed]
pub async fn undo(ctx: &Ctx, scope: &Scope, start: Option<ProgrammeRunId>) -> Result<Undone, Error> {
    must_be_allowed(scope)?;
    for permission in NEEDED {
        scope.require(permission)?;
    }
    ctx.change(scope, async move |c| {
        hold(c).await?;
        let programme = programmes::get(c.t, c.scope).await?;
        let run = programmes::last_run(c.t, c.scope).await?;
        if programme.is_none() && run.is_none() {
            return Err(MISSING);
        }
        let run = must_be_recent(c, run, start)?;
        let touched = &run.content.touched;
        let mut edited = Vec::new();
        // Controls come last, because every change of a control locks the policies and tasks it is linked to first.
        find_edited::<Policy>(c, touched, &mut edited).await?;
        find_edited::<Task>(c, touched, &mut edited).await?;
        find_edited::<ContextEntry>(c, touched, &mut edited).await?;
        find_edited::<Control>(c, touched, &mut edited).await?;
        must_be_untouched(&edited)?;
        let mut undoing = Undoing::default();
        // Controls come first: a deleted policy or task is removed from the controls that are linked to it.
        undoing.undo::<Control>(c, touched).await?;
        undoing.undo::<Task>(c, touched).await?;
        undoing.undo::<Policy>(c, touched).await?;
        undoing.undo::<ContextEntry>(c, touched).await?;
        programmes::delete_run(c.t, c.scope, run.id).await?;
        organizations::drop_frameworks(c, &run.content.added_frameworks).await?;
        undoing.keep_earlier_starts_undoable(c, touched).await?;
        restore_settings(c, programme, run).await?;
        Ok(Undone { deleted: undoing.deleted, restored: undoing.restored.len() })
    })
    .await
}

fn must_be_recent(c: &Change<'_>, run: Option<Run>, start: Option<ProgrammeRunId>) -> Result<Run, Error> {
    if let (Some(run), Some(start)) = (&run, start)
        && run.id != start
    {
        return Err(Error::Conflict {
            code: "programme_changed",
            message: "This is not the last start of the programme any more. Reload it and try again."
                .to_owned(),
        });
    }
    let is_recent = |run: &Run| run.finished_at.unwrap_or(run.started_at).plus(UNDO_FOR) > c.now;
    run.filter(is_recent).ok_or_else(|| Error::Conflict {
        code: "programme_undo_expired",
        message: "A start of the programme can be undone for a day. Delete what is not needed instead."
            .to_owned(),
    })
}

async fn restore_settings(c: &Change<'_>, programme: Option<Programme>, run: Run) -> Result<(), Error> {
    match (programme, run.content.before) {
        (Some(programme), Some(settings)) => {
            let version = programme.version + 1;
            let before = Programme { settings, updated_at: c.now, version, ..programme };
            programmes::put(c.t, c.scope, &before).await?;
            c.record("programme.undone", ENTITY, before.id, &before)?;
        }
        (Some(programme), None) => {
            programmes::delete(c.t, c.scope).await?;
            c.record_gone("programme.undone", ENTITY, programme.id);
        }
        (None, _) => c.record_gone("programme.undone", ENTITY, run.id),
    }
    Ok(())
}

fn of_kind<R: Stored>(touched: &[Touched]) -> impl Iterator<Item = (Id<R::Kind>, &Touched)> {
    touched.iter().filter_map(|one| Some((Id::read(&one.id)?, one)))
}

/// Locks the records of a register and finds those that were edited since the start: changed, commented on, given a
/// file or an automation, or linked to a control outside this start. A deleted record does not prevent undoing.
async fn find_edited<R: Stored>(
    c: &Change<'_>,
    touched: &[Touched],
    edited: &mut Vec<String>,
) -> Result<(), Error> {
    let known: HashSet<&str> = touched.iter().map(|one| one.id.as_str()).collect();
    let mut ids: Vec<Id<R::Kind>> = of_kind::<R>(touched).map(|(id, _)| id).collect();
    ids.sort_unstable();
    for record in rows::lock_some::<R>(c.t, c.scope, &ids).await? {
        let id = record.id.to_string();
        let Some(one) = touched.iter().find(|one| one.id == id) else { continue };
        let mut is_edited = one.version != record.version;
        if one.is_new() && !is_edited {
            is_edited = attachments::count(c.t, c.scope, &id).await? > 0
                || !comments::of_entity(c.t, c.scope, &id).await?.is_empty()
                || has_automations(c, &id).await?
                || controls::linked(c.t, c.scope, &id)
                    .await?
                    .iter()
                    .any(|control| !known.contains(control.to_string().as_str()));
        }
        if is_edited {
            edited.push(record.reference());
        }
    }
    Ok(())
}

async fn has_automations(c: &Change<'_>, id: &str) -> Result<bool, Error> {
    let Some(task) = TaskId::read(id) else { return Ok(false) };
    Ok(automations::count(c.t, c.scope, task).await? > 0)
}

fn must_be_untouched(edited: &[String]) -> Result<(), Error> {
    if edited.is_empty() {
        return Ok(());
    }
    let named = edited.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match edited.len().saturating_sub(MAX_NAMED) {
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

#[derive(Debug, Default)]
struct Undoing {
    deleted: usize,
    /// The restored records, with their new versions.
    restored: HashMap<String, i64>,
}

impl Undoing {
    /// Restores the changed records of a register and deletes the new ones.
    async fn undo<R: Stored>(&mut self, c: &Change<'_>, touched: &[Touched]) -> Result<(), Error> {
        for (id, one) in of_kind::<R>(touched) {
            let Some(now) = rows::lock::<R>(c.t, c.scope, id).await? else { continue };
            match &one.before {
                None => {
                    registers::remove::<R>(c, id).await?;
                    self.deleted += 1;
                }
                Some((_, state)) => {
                    let before: Record<R> = Record::recorded(&state.to_string())?;
                    let after =
                        registers::save(c, &now, Record { fields: before.fields, ..now.clone() }).await?;
                    self.restored.insert(one.id.clone(), after.version);
                }
            }
        }
        Ok(())
    }

    /// Tells the starts before this one the new versions of the restored records, which are as they left them.
    async fn keep_earlier_starts_undoable(&self, c: &Change<'_>, touched: &[Touched]) -> Result<(), Error> {
        for mut earlier in programmes::runs(c.t, c.scope, c.now.minus(UNDO_FOR)).await? {
            let mut is_changed = false;
            for one in &mut earlier.content.touched {
                let undone = touched.iter().find(|undone| undone.id == one.id);
                let is_same = undone
                    .and_then(|undone| undone.before.as_ref())
                    .is_some_and(|(version, _)| *version == one.version);
                if let (true, Some(version)) = (is_same, self.restored.get(&one.id)) {
                    one.version = *version;
                    is_changed = true;
                }
            }
            if is_changed {
                programmes::put_run(c.t, c.scope, &earlier).await?;
            }
        }
        Ok(())
    }
}
