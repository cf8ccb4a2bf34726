//! `/v1/programme`: the plan of the organization, from its scope to the audit.

pub(crate) mod export;
mod views;

use attestry_app::programme::{self, NewProgramme};
use attestry_domain::access::grant;
use attestry_domain::date::Date;
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::id::{MemberId, PolicyId, ProgrammeRunId, TaskId};
use attestry_domain::programme::scope::{Answers, questions};
use attestry_domain::programme::{OwnerRole, Owners};
use attestry_domain::text::Parse;
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue, not_empty};
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::{Optional, Valid};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};

pub(crate) mod risk_library;

use views::{PlanView, ProgrammeView, QuestionList, QuestionView, RemindedView, StartedView, UndoneView};

/// The maximum number of frameworks of a programme.
const MAX_FRAMEWORKS: usize = 50;

/// The frameworks of a programme.
#[derive(Clone, Debug)]
pub(crate) struct ChosenFrameworks(Vec<FrameworkName>);

impl FromJson for ChosenFrameworks {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        not_empty(json.each(MAX_FRAMEWORKS, FrameworkName::from_json)?).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "array", "minItems": 1, "maxItems": MAX_FRAMEWORKS,
            "items": {"type": "string", "maxLength": 50, "examples": ["iso_27001"]}
        }))
    }
}

/// Answers to the scope questions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeAnswers(Answers);

impl FromJson for ScopeAnswers {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all: Map<String, Value> = json.value().map_err(|_| "must be an object of answers".to_owned())?;
        let one_line = |wrong: Vec<(String, String)>| {
            wrong.into_iter().map(|(key, message)| format!("{key}: {message}")).collect::<Vec<_>>().join("; ")
        };
        Answers::read(&all).map(Self).map_err(one_line)
    }

    fn schema() -> RefOr<Schema> {
        schema(views::answers_schema())
    }
}

/// The member who has each role.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoleOwners(Owners);

impl FromJson for RoleOwners {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all: Map<String, Value> =
            json.value().map_err(|_| "must be an object of member ids by role".to_owned())?;
        let read = |(role, member): (&String, &Value)| {
            let role = OwnerRole::parse(role).map_err(|message| format!("{role}: {message}"))?;
            let member = member.as_str().and_then(MemberId::read);
            let member = member.ok_or_else(|| format!("{role}: must be the id of a member (mem_…)"))?;
            Ok::<_, String>((role, member))
        };
        all.iter().map(read).collect::<Result<Owners, _>>().map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(views::owners_schema())
    }
}

body! {
    /// The settings of a programme.
    PlanProgramme (Medium) {
        framework_ids "frameworkIds": required ChosenFrameworks = "The frameworks to work towards, by id or alias.",
        audit_date "auditDate": nullable Date = "The day of the audit. The plan ends two weeks before it; without it, the plan takes 26 weeks.",
        scope "scope": optional ScopeAnswers = "Answers to the questions of `GET /v1/programme/questions`, by key. A question without an answer leaves nothing out.",
        owners "owners": optional RoleOwners = "The member who has each role, by role.",
        start "start": nullable Date = "The day on which the plan starts. If it is left out, the start of the programme stays as it is; a new one starts today.",
    }
    example json!({
        "frameworkIds": ["iso_27001", "soc_2"], "auditDate": "2027-06-01",
        "scope": {"people": 40, "offices": 0, "own_servers": false, "software": true},
        "owners": {"security_lead": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"}
    })
}

impl From<PlanProgramme> for NewProgramme {
    fn from(body: PlanProgramme) -> Self {
        let PlanProgramme { framework_ids, audit_date, scope, owners, start } = body;
        Self {
            frameworks: framework_ids.0,
            audit_date,
            scope: scope.map(|scope| scope.0),
            owners: owners.map(|owners| owners.0),
            start: start.into_option(),
        }
    }
}

/// Lists the scope questions
///
/// Ask them in this order. Skip a question with `onlyIf` unless another answer sets that flag, and one with
/// `frameworks` unless one of these is chosen.
#[utoipa::path(
    get, path = "/v1/programme/questions", tag = "Programme",
    responses((status = 200, body = QuestionList, description = "The questions."))
)]
pub(crate) async fn list_scope_questions(
    _scope: Granted<grant::ProgrammeRead>,
    _none: ValidQuery<NoQuery>,
) -> Json<QuestionList> {
    Json(PageView::whole(questions().iter().map(QuestionView::from).collect::<Vec<_>>()))
}

/// Previews a plan
///
/// Computes what starting the programme with these settings would create and reuse, with owners and due dates, and the
/// decisions that it leaves to you. Nothing is created.
#[utoipa::path(
    post, path = "/v1/programme/preview", tag = "Programme", request_body = PlanProgramme,
    responses((status = 200, body = PlanView, description = "The plan."))
)]
pub(crate) async fn preview_programme(
    api: State<Api>,
    scope: Granted<grant::ProgrammeRead>,
    Valid(body): Valid<PlanProgramme>,
) -> Result<Json<PlanView>, Problem> {
    let (settings, plan) = programme::preview(&api.ctx, &scope, body.into()).await?;
    Ok(Json(PlanView::new(&settings, &plan)))
}

/// Starts or extends the programme
///
/// Creates the controls, policies and tasks of the plan that the organization does not have yet, links them, and gives
/// them owners and due dates. What exists is never overwritten, so you can repeat the request after an interruption,
/// or send it with another framework beside those that are planned. `auditDate`, `scope`, `owners` and `start` stay as they are if they are
/// left out. Needs the permissions to create and change controls, policies, tasks and context
/// entries, and `organization:update` if it adds a framework to those that the organization works on.
#[utoipa::path(
    post, path = "/v1/programme", tag = "Programme", request_body = PlanProgramme,
    responses(
        (status = 201, body = StartedView, description = "The programme, and what was created."),
        (status = 409, description = "Another start is not complete yet, or changed the programme meanwhile.")
    )
)]
pub(crate) async fn start_programme(
    api: State<Api>,
    scope: Granted<grant::ProgrammeUpdate>,
    Valid(body): Valid<PlanProgramme>,
) -> Result<(StatusCode, Json<StartedView>), Problem> {
    let started = programme::start(&api.ctx, &scope, body.into()).await?;
    Ok((StatusCode::CREATED, Json(StartedView::new(&started))))
}

/// Shows the programme
///
/// Its policies and tasks, as far as you may see them, by week: done, due, late and blocked; a forecast from the pace of the last four weeks, and the
/// burn-up line.
#[utoipa::path(
    get, path = "/v1/programme", tag = "Programme",
    responses(
        (status = 200, body = ProgrammeView, description = "The programme."),
        (status = 404, description = "No programme was started.")
    )
)]
pub(crate) async fn get_programme(
    api: State<Api>,
    scope: Granted<grant::ProgrammeRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<ProgrammeView>, Problem> {
    Ok(Json(ProgrammeView::new(programme::status(&api.ctx, &scope).await?)))
}

/// Ids of items of the programme.
#[derive(Clone, Debug)]
pub(crate) struct ItemIds(Vec<String>);

impl FromJson for ItemIds {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        json.each(1000, |item| {
            let id = item.text()?;
            match TaskId::read(&id).is_some() || PolicyId::read(&id).is_some() {
                true => Ok(id.into_owned()),
                false => Err("must be the id of a task (tsk_…) or a policy (pol_…)".to_owned()),
            }
        })
        .map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "array", "maxItems": 1000,
            "items": {"type": "string", "maxLength": 30, "examples": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"]}
        }))
    }
}

body! {
    /// The late items to remind of.
    RemindOwners (Medium) {
        ids "ids": optional ItemIds = "The late tasks and policies; all of them, if it is left out. Items that are not late are left out.",
    }
    example json!({"ids": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"]})
}

/// Reminds owners of what is late
///
/// Each owner gets one mail, unless they switched such mails off. The body can be left out.
#[utoipa::path(
    post, path = "/v1/programme/remind", tag = "Programme", request_body = Option<RemindOwners>,
    responses(
        (status = 200, body = RemindedView, description = "The number of late items and of their owners."),
        (status = 404, description = "No programme was started.")
    )
)]
pub(crate) async fn remind_owners(
    api: State<Api>,
    scope: Granted<grant::ProgrammeUpdate>,
    body: Optional<RemindOwners>,
) -> Result<Json<RemindedView>, Problem> {
    let named = body.0.and_then(|body| body.ids).map(|ids| ids.0);
    let reminded = programme::remind(&api.ctx, &scope, named).await?;
    Ok(Json(RemindedView { items: reminded.items, members: reminded.members }))
}

/// The id of a start.
#[derive(Clone, Debug)]
pub(crate) struct StartId(ProgrammeRunId);

impl FromJson for StartId {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let id = ProgrammeRunId::read(&json.text()?);
        id.map(Self).ok_or_else(|| "must be the id of a start (prr_…)".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "string", "maxLength": 30, "examples": ["prr_01jcqg3v5mefzr7d0a6w3k9x2b"]}))
    }
}

body! {
    /// The start to undo.
    UndoStart (Small) {
        start_id "startId": optional StartId = "The start, which has to be the last one. Without it, the last start is undone, so a repeated request undoes the one before.",
    }
    example json!({"startId": "prr_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

/// Undoes the last start of the programme
///
/// Deletes the records that it created and restores those that it changed. Possible for a day, as long as none of them
/// was edited. Needs `organization:update` if the start added a framework to those that the organization works on. The
/// body can be left out.
#[utoipa::path(
    post, path = "/v1/programme/undo", tag = "Programme", request_body = Option<UndoStart>,
    responses(
        (status = 200, body = UndoneView, description = "The start is undone."),
        (status = 404, description = "No programme was started."),
        (status = 409, description = "The day has passed, or something was edited since.")
    )
)]
pub(crate) async fn undo_programme(
    api: State<Api>,
    scope: Granted<grant::ProgrammeUpdate>,
    body: Optional<UndoStart>,
) -> Result<Json<UndoneView>, Problem> {
    let start = body.0.and_then(|body| body.start_id).map(|id| id.0);
    let undone = programme::undo(&api.ctx, &scope, start).await?;
    Ok(Json(UndoneView { success: true, deleted: undone.deleted, restored: undone.restored }))
}
