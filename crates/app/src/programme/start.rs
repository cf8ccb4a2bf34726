//! Starts a programme, or extends it: creates the records of the plan that the organization does not have. It never
//! overwrites an edit, so it can be repeated.
//!
//! Policies, tasks and controls are created in transactions of their own, so that no other writer waits for all of them.
//! The first one claims the run, so that a start with other settings is refused before it creates anything. A start
//! that is interrupted is completed by sending it again.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use attestry_domain::Parse;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::frameworks::controls::{Control, ControlPatch};
use attestry_domain::id::{ContextEntryId, ControlId, PolicyId, ProgrammeRunId, TaskId, TaskTemplateId};
use attestry_domain::patch::Patch;
use attestry_domain::policies::Policy;
use attestry_domain::programme::catalogue::{ControlKey, ControlTemplate};
use attestry_domain::programme::planner::{self, Existing, Plan, Planned};
use attestry_domain::programme::scope::{Answers, Consequences, Question, questions};
use attestry_domain::programme::{OwnerRole, Owners, Programme, Settings};
use attestry_domain::registers::context_entries::{ContextEntry, ContextEntryPatch, Tags};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::{Record, Register};
use attestry_domain::tasks::{Task, TaskStatus};
use attestry_domain::text::{AnyText, Name};
use attestry_storage::programmes::{self, Claim, Run, RunContent, Touched};
use attestry_storage::registers::Stored;
use attestry_storage::{Tx, members, registers as rows};
use serde::Serialize;

use super::{ENTITY, UNDO_FOR, consequences_of, distinct, hold, must_be_allowed, plan_of};
use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::identity::organizations;
use crate::policies::templates::{self as policy_templates, TemplateOverrides};
use crate::registers::assignees;
use crate::{frameworks, registers, tasks};

/// The maximum number of days between today and the start or the end of a plan.
const MAX_DAYS: i64 = 5 * 366;
/// The time after its last part for which an unfinished start keeps others from starting.
const CLAIM_FOR: Duration = Duration::from_mins(1);

/// The input of a plan.
#[derive(Clone, Debug)]
pub struct NewProgramme {
    pub frameworks: Vec<FrameworkName>,
    /// An absent date keeps the one of the programme.
    pub audit_date: Patch<Date>,
    pub scope: Option<Answers>,
    pub owners: Option<Owners>,
    /// If it is left out, the start stays as it is; a new programme starts today.
    pub start: Option<Date>,
}

/// Checks the input; all errors are reported.
pub(super) async fn checked(
    t: &Tx<'_>,
    scope: &Scope,
    new: &NewProgramme,
    today: Date,
) -> Result<Settings, Error> {
    let mut wrong: Vec<FieldError> = Vec::new();
    let mut refuse =
        |field: String, message: &str| wrong.push(FieldError { field, message: message.to_owned() });
    let mut ids = Vec::with_capacity(new.frameworks.len());
    for (place, name) in new.frameworks.iter().enumerate() {
        match frameworks::find(t, scope, name).await {
            Ok(found) => ids.push(found.id),
            Err(Error::NotFound(_)) => refuse(
                format!("frameworkIds[{place}]"),
                "is not one of the frameworks; GET /v1/frameworks lists them",
            ),
            Err(other) => return Err(other),
        }
    }
    let known = programmes::get(t, scope).await?.map(|programme| programme.settings);
    let starts_on = new.start.or(known.as_ref().map(|known| known.starts_on)).unwrap_or(today);
    let audit_date = new.audit_date.clone().apply(known.as_ref().and_then(|known| known.audit_date));
    // An audit that is over is no error where it stays as it is.
    match audit_date.filter(|_| new.audit_date != Patch::Absent) {
        Some(audit) if audit <= starts_on => {
            refuse("auditDate".to_owned(), "must be after the start of the plan");
        }
        Some(audit) if audit <= today => refuse("auditDate".to_owned(), "must be in the future"),
        Some(audit) if starts_on.max(today).days_until(audit) > MAX_DAYS => {
            refuse("auditDate".to_owned(), "must be within five years of today, or of a later start");
        }
        _ => {}
    }
    // A start that was long ago is no error where it stays as it is.
    if new.start.is_some_and(|start| start.days_until(today).abs() > MAX_DAYS) {
        refuse("start".to_owned(), "must be within five years of today");
    }
    let active = assignees::active(t, scope).await?;
    let owners = match (&new.owners, &known) {
        (Some(owners), _) => owners.clone(),
        (None, known) => known.as_ref().map(|known| known.owners.clone()).unwrap_or_default(),
    };
    for (role, member) in new.owners.iter().flatten() {
        if !active.contains(member) {
            wrong.push(assignees::not_active(&format!("owners.{role}")));
        }
    }
    if !wrong.is_empty() {
        return Err(Error::Invalid(wrong));
    }
    Ok(Settings {
        framework_ids: distinct(ids),
        starts_on,
        audit_date,
        scope: new.scope.clone().or(known.map(|known| known.scope)).unwrap_or_default(),
        owners,
    })
}

/// The result of a start.
#[derive(Clone, Debug)]
pub struct Started {
    pub programme: Programme,
    /// The id to undo it with; `None` if it changed nothing.
    pub run: Option<ProgrammeRunId>,
    pub plan: Plan,
    /// The number of controls, policies and tasks that were created.
    pub created: Created,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Created {
    pub controls: usize,
    pub policies: usize,
    pub tasks: usize,
}

/// Starts the programme with these settings, or changes it to them.
#[boxed]
pub async fn start(ctx: &Ctx, scope: &Scope, new: NewProgramme) -> Result<Started, Error> {
    must_be_allowed(scope)?;
    let today = scope.today(ctx.now());
    let parts = scope.without_claim();
    let (settings, run, policies) =
        ctx.change(&parts, async move |c| create_policies(c, &new, today).await).await?;
    let wanted = settings.clone();
    let tasks = ctx.change(&parts, async move |c| create_tasks(c, &wanted, run, today).await).await?;
    ctx.change(scope, async move |c| {
        hold(c).await?;
        rows::hold(c.t, c.scope, Control::ENTITY).await?;
        let mut run = run_of(c, run, &settings).await?;
        let settings = with_active_owners(c, &settings).await?;
        let (plan, existing) = plan_of(c.t, c.scope, &settings, today).await?;
        let controls = create_controls(c, &settings, &plan, &existing, &mut run).await?;
        save_answers(c, &settings, &mut run).await?;
        let created = Created { controls, policies, tasks };
        if let Some(programme) = programmes::get(c.t, c.scope).await?
            && run.content.touched.is_empty()
            && run.content.added_frameworks.is_empty()
            && programme.settings == settings
        {
            programmes::delete_run(c.t, c.scope, run.id).await?;
            return Ok(Started { programme, run: None, plan, created });
        }
        let programme = save(c, &settings).await?;
        run.finished_at = Some(c.now);
        run.content.claim = None;
        programmes::put_run(c.t, c.scope, &run).await?;
        let action = if run.content.before.is_some() { "programme.updated" } else { "programme.started" };
        c.record(action, ENTITY, programme.id, &programme)?;
        Ok(Started { programme, run: Some(run.id), plan, created })
    })
    .await
}

/// The first part: checks the input, claims the run, adds the frameworks to those that the organization works on, and
/// creates the missing policies.
async fn create_policies(
    c: &Change<'_>,
    new: &NewProgramme,
    today: Date,
) -> Result<(Settings, ProgrammeRunId, usize), Error> {
    hold(c).await?;
    rows::hold(c.t, c.scope, Policy::ENTITY).await?;
    let settings = checked(c.t, c.scope, new, today).await?;
    let (plan, _) = plan_of(c.t, c.scope, &settings, today).await?;
    let mut run = begin(c, &settings).await?;
    let added = organizations::choose_frameworks(c, &settings.framework_ids).await?;
    run.content.added_frameworks.extend(added);
    let contact = contact(c, &settings).await?;
    let mut made = Vec::new();
    for planned in plan.policies.iter().filter(|one| one.existing.is_none()) {
        let wishes = TemplateOverrides {
            assignee_id: planned.owner,
            contact: contact.clone(),
            ..TemplateOverrides::default()
        };
        let mut record = policy_templates::from_template(c, planned.template, &wishes).await?;
        record.fields.due_date = Some(planned.due);
        made.push(record);
    }
    registers::add_many(c, &mut made).await?;
    touch_new(&mut run, &made);
    programmes::put_run(c.t, c.scope, &run).await?;
    Ok((settings, run.id, made.len()))
}

/// The address that policies name as the contact: that of the security lead.
async fn contact(c: &Change<'_>, settings: &Settings) -> Result<Option<Name>, Error> {
    let Some(lead) = settings.owners.get(&OwnerRole::SecurityLead) else { return Ok(None) };
    let person = members::get(c.t, c.scope, *lead).await?;
    Ok(person.and_then(|person| Name::parse(person.user.email.as_str()).ok()))
}

/// Removes the owners who were deactivated since the input was checked.
async fn with_active_owners(c: &Change<'_>, settings: &Settings) -> Result<Settings, Error> {
    let active = assignees::active(c.t, c.scope).await?;
    let mut settings = settings.clone();
    settings.owners.retain(|_, member| active.contains(member));
    Ok(settings)
}

/// Claims a new run, or one that was interrupted within a day. A start with other settings may be at work on it until
/// [`CLAIM_FOR`] has passed.
async fn begin(c: &Change<'_>, settings: &Settings) -> Result<Run, Error> {
    let claim = Some(Claim { settings: settings.clone(), at: c.now });
    let last = programmes::last_run(c.t, c.scope).await?;
    let is_unfinished = |run: &Run| run.finished_at.is_none() && run.started_at.plus(UNDO_FOR) > c.now;
    let Some(mut run) = last.filter(is_unfinished) else {
        let before = programmes::get(c.t, c.scope).await?.map(|programme| programme.settings);
        let content = RunContent { before, claim, ..RunContent::default() };
        return Ok(Run { id: c.next_id(), started_at: c.now, finished_at: None, content });
    };
    let is_at_work = |claim: &Claim| claim.settings != *settings && claim.at.plus(CLAIM_FOR) > c.now;
    if run.content.claim.as_ref().is_some_and(is_at_work) {
        return Err(Error::Conflict {
            code: "programme_starting",
            message: "Another start of the programme is not complete yet. Try again in a minute.".to_owned(),
        });
    }
    run.content.claim = claim;
    Ok(run)
}

/// Returns the run with this id, as long as it is claimed by a start with these settings.
async fn run_of(c: &Change<'_>, id: ProgrammeRunId, settings: &Settings) -> Result<Run, Error> {
    let last = programmes::last_run(c.t, c.scope).await?;
    let is_claimed = |run: &Run| {
        run.id == id && run.content.claim.as_ref().is_some_and(|claim| claim.settings == *settings)
    };
    last.filter(is_claimed).ok_or_else(|| Error::Conflict {
        code: "programme_changed",
        message: "Another request changed the programme at the same time. Reload it and try again."
            .to_owned(),
    })
}

fn touch_new<R: Stored>(run: &mut Run, made: &[Record<R>]) {
    run.content.touched.extend(made.iter().map(|record| Touched {
        id: record.id.to_string(),
        version: record.version,
        before: None,
    }));
}

fn touch_changed<R: Stored>(run: &mut Run, before: &Record<R>, after: &Record<R>) -> Result<(), Error> {
    if after.version == before.version {
        return Ok(());
    }
    let (id, version) = (after.id.to_string(), after.version);
    match run.content.touched.iter_mut().find(|one| one.id == id) {
        // A version in between is an edit, which keeps the run from being undone.
        Some(known) if known.version == before.version => known.version = version,
        Some(_) => {}
        None => {
            let before = Some((before.version, serde_json::to_value(before)?));
            run.content.touched.push(Touched { id, version, before });
        }
    }
    Ok(())
}

/// The second part: creates the missing tasks. An open task that the organization already had gets an owner and a due
/// date if it has none and a control of this start is going to be linked to it.
async fn create_tasks(
    c: &Change<'_>,
    settings: &Settings,
    run: ProgrammeRunId,
    today: Date,
) -> Result<usize, Error> {
    hold(c).await?;
    rows::hold(c.t, c.scope, Task::ENTITY).await?;
    let mut run = run_of(c, run, settings).await?;
    run.content.claim = Some(Claim { settings: settings.clone(), at: c.now });
    let settings = with_active_owners(c, settings).await?;
    let (plan, _) = plan_of(c.t, c.scope, &settings, today).await?;
    let mut made = Vec::new();
    for planned in plan.tasks.iter().filter(|one| one.existing.is_none()) {
        let mut patch = tasks::from_template(planned.template)?;
        patch.assignee_id = planned.owner.map_or(Patch::Absent, Patch::Value);
        patch.due_date = Patch::Value(planned.due);
        made.push(registers::new::<Task>(c, &patch)?);
    }
    registers::add_many(c, &mut made).await?;
    touch_new(&mut run, &made);
    let new_controls = plan.controls.iter().filter(|one| one.existing.is_none());
    let wanted: HashSet<TaskTemplateId> =
        new_controls.flat_map(|one| one.template.task_templates.iter().copied()).collect();
    for planned in plan.tasks.iter().filter(|one| wanted.contains(&one.template.id)) {
        let Some(id) = planned.existing else { continue };
        if run.content.touched.iter().any(|one| one.id == id.to_string()) {
            continue;
        }
        let found = rows::lock::<Task>(c.t, c.scope, id).await?;
        let Some(before) = found.filter(|task| task.status != TaskStatus::Done) else { continue };
        let mut after = before.clone();
        after.fields.assignee_id = before.assignee_id.or(planned.owner);
        after.fields.due_date = before.due_date.or(Some(planned.due));
        let after = registers::save(c, &before, after).await?;
        touch_changed(&mut run, &before, &after)?;
    }
    programmes::put_run(c.t, c.scope, &run).await?;
    Ok(made.len())
}

/// The ids of the planned records that exist, by the ids of their templates.
fn ids<T, I: Copy, K: std::hash::Hash + Eq>(
    planned: &[Planned<T, I>],
    key: impl Fn(&T) -> K,
) -> HashMap<K, I> {
    planned.iter().filter_map(|one| Some((key(one.template), one.existing?))).collect()
}

/// Creates the missing controls, linked to their policies and tasks, and links those that exist to the policies and
/// tasks that this run created.
async fn create_controls(
    c: &Change<'_>,
    settings: &Settings,
    plan: &Plan,
    existing: &Existing,
    run: &mut Run,
) -> Result<usize, Error> {
    let (policies, tasks) = (ids(&plan.policies, |one| one.id), ids(&plan.tasks, |one| one.id));
    let consequences = consequences_of(c.t, c.scope, settings).await?;
    let links = |template: &ControlTemplate| -> (Vec<PolicyId>, Vec<TaskId>) {
        let policies = template.policy_templates.iter().filter_map(|id| policies.get(id).copied());
        let policies = policies.filter(|id| !existing.archived.contains(id));
        (policies.collect(), task_ids(template, &consequences, &tasks))
    };
    let is_new: HashSet<String> =
        run.content.touched.iter().filter(|one| one.is_new()).map(|one| one.id.clone()).collect();
    let mut made = Vec::new();
    for planned in &plan.controls {
        let (policies, tasks) = links(planned.template);
        let Some(id) = planned.existing else {
            let patch = control_patch(planned, policies, tasks)?;
            let mut record = registers::new::<Control>(c, &patch)?;
            record.fields.catalogue_key = Some(ControlKey::of(planned.template));
            made.push(record);
            continue;
        };
        let policies: Vec<PolicyId> =
            policies.into_iter().filter(|id| is_new.contains(&id.to_string())).collect();
        let tasks: Vec<TaskId> = tasks.into_iter().filter(|id| is_new.contains(&id.to_string())).collect();
        if policies.is_empty() && tasks.is_empty() {
            continue;
        }
        let Some(before) = rows::lock::<Control>(c.t, c.scope, id).await? else { continue };
        let mut after = before.clone();
        after.fields.policy_ids = before.policy_ids.with(&IdSet::new(policies));
        after.fields.task_ids = before.task_ids.with(&IdSet::new(tasks));
        let after = registers::save(c, &before, after).await?;
        touch_changed(run, &before, &after)?;
    }
    registers::add_many(c, &mut made).await?;
    touch_new(run, &made);
    Ok(made.len())
}

fn task_ids(
    template: &ControlTemplate,
    consequences: &Consequences,
    tasks: &HashMap<TaskTemplateId, TaskId>,
) -> Vec<TaskId> {
    planner::tasks_of(template, consequences).iter().filter_map(|task| tasks.get(&task.id).copied()).collect()
}

fn control_patch(
    planned: &Planned<ControlTemplate, ControlId>,
    policies: Vec<PolicyId>,
    tasks: Vec<TaskId>,
) -> Result<ControlPatch, Error> {
    let template = planned.template;
    let wrong = |message: String| Error::internal(format!("control {}: {message}", template.key));
    Ok(ControlPatch {
        name: Some(Name::parse(&template.title).map_err(wrong)?),
        description: Some(AnyText::parse(&template.description).map_err(wrong)?),
        assignee_id: planned.owner.map_or(Patch::Absent, Patch::Value),
        requirement_ids: Some(IdSet::new(template.requirements().to_vec())),
        policy_ids: Some(IdSet::new(policies)),
        task_ids: Some(IdSet::new(tasks)),
        ..ControlPatch::default()
    })
}

/// The tag of the context entry of a question.
fn tag(question: &Question) -> String {
    format!("scope_{}", question.key)
}

/// Writes the answers of the questions that were to be asked into the context of the organization, and empties the
/// entries whose answers were withdrawn. Edited entries stay as they are, and so do entries about the same question
/// that the plan did not write.
async fn save_answers(c: &Change<'_>, settings: &Settings, run: &mut Run) -> Result<(), Error> {
    let entries = registers::all::<ContextEntry>(c.t, c.scope).await?;
    let before = run.content.before.clone();
    let consequences = consequences_of(c.t, c.scope, settings).await?;
    let mut made = Vec::new();
    let earlier = |question: &Question| {
        before.as_ref().and_then(|before| before.scope.get(&question.key)).map(|old| question.in_words(old))
    };
    for (question, answer) in settings.scope.iter().filter(|(question, _)| consequences.asks(question)) {
        let words = question.in_words(answer);
        let is_about = |entry: &&Record<ContextEntry>| {
            entry.tags.contains(&tag(question)) || entry.question.as_str() == question.question
        };
        let known = entries.iter().find(is_about);
        let wrong = |message: String| Error::internal(format!("question {}: {message}", question.key));
        let text = Parse::parse(&words).map_err(wrong)?;
        let Some(known) = known else {
            let patch = ContextEntryPatch {
                question: Some(Parse::parse(&question.question).map_err(wrong)?),
                answer: Some(text),
                tags: Some(Tags::new(vec!["scope".to_owned(), tag(question)]).map_err(wrong)?),
                ..ContextEntryPatch::default()
            };
            made.push(registers::new::<ContextEntry>(c, &patch)?);
            continue;
        };
        let is_own = known.tags.contains(&tag(question));
        let is_unedited = known.answer.as_str() == earlier(question).unwrap_or_default();
        if is_own && is_unedited {
            answer_entry(c, run, known.id, text).await?;
        }
    }
    let is_answered =
        |question: &Question| consequences.asks(question) && settings.scope.get(&question.key).is_some();
    for question in questions().iter().filter(|question| !is_answered(question)) {
        let is_taken_back = |entry: &&Record<ContextEntry>| {
            entry.tags.contains(&tag(question))
                && earlier(question).is_some_and(|earlier| entry.answer.as_str() == earlier)
        };
        if let Some(known) = entries.iter().find(is_taken_back) {
            answer_entry(c, run, known.id, AnyText::default()).await?;
        }
    }
    registers::add_many(c, &mut made).await?;
    touch_new(run, &made);
    Ok(())
}

/// Changes the answer of a context entry, which the run can undo.
async fn answer_entry(
    c: &Change<'_>,
    run: &mut Run,
    entry: ContextEntryId,
    answer: AnyText,
) -> Result<(), Error> {
    let Some(before) = rows::lock::<ContextEntry>(c.t, c.scope, entry).await? else { return Ok(()) };
    let mut after = before.clone();
    after.fields.answer = answer;
    let after = registers::save(c, &before, after).await?;
    touch_changed(run, &before, &after)
}

/// Saves the settings of the programme.
async fn save(c: &Change<'_>, settings: &Settings) -> Result<Programme, Error> {
    let programme = match programmes::get(c.t, c.scope).await? {
        Some(before) => {
            Programme { settings: settings.clone(), updated_at: c.now, version: before.version + 1, ..before }
        }
        None => Programme {
            id: c.next_id(),
            organization_id: c.organization(),
            settings: settings.clone(),
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        },
    };
    programmes::put(c.t, c.scope, &programme).await?;
    Ok(programme)
}
