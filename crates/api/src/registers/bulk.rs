//! Bulk operations on the rows of a register: update, delete, undo, export.

use attestry_app::registers::bulk::{self, Action, MAX_ROWS, Outcome, Selection};
use attestry_derive::View;
use attestry_domain::id::{BulkChangeId, Id};
use attestry_domain::page::Page;
use attestry_domain::registers::links::Linking;
use attestry_http::answer::problem::{FieldProblem, Problem};
use attestry_http::answer::tables::export::Shape;
use attestry_http::document::schemas::{reference, schema};
use attestry_http::request::caller::Granted;
use attestry_http::request::facts::{Argument, BodyLimit, Facts};
use attestry_http::request::json::{FromJson, Ids, Json as JsonValue};
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Fields;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::tables::selected;
use super::{Narrowed, RegisterApi};

/// A bulk request.
pub(super) enum Bulk<R: RegisterApi> {
    Apply(Selected<R>, Action<R::Patch>),
    Undo(BulkChangeId),
}

/// The rows of a bulk request.
pub(super) enum Selected<R: RegisterApi> {
    Ids(Vec<Id<R::Kind>>),
    Matching(Narrowed<R>),
}

/// The query parameters of a list as an object: each a string, a boolean or an array of strings.
struct ListFilter(Vec<(String, String)>);

impl FromJson for ListFilter {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let object: Map<String, Value> = json.value().map_err(|_| "must be an object".to_owned())?;
        let mut pairs = Vec::new();
        for (name, value) in object {
            let texts = match value {
                Value::Array(items) => items,
                one => vec![one],
            };
            for text in texts {
                pairs.push((
                    name.clone(),
                    match text {
                        Value::String(text) => text,
                        Value::Bool(flag) => flag.to_string(),
                        Value::Number(number) => number.to_string(),
                        _ => return Err(format!("must have a string, or several, for {name}")),
                    },
                ));
            }
        }
        Ok(Self(pairs))
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "object",
            "description": format!("Parameters of the list, by their names; `{{}}` is all of it. It may match at most {MAX_ROWS} rows."),
            "additionalProperties": {"anyOf": [
                {"type": "string"}, {"type": "boolean"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}
            ]}
        }))
    }
}

/// Prefixes the fields of errors with the property that contains them.
fn within(name: &str, errors: Vec<FieldProblem>) -> Vec<FieldProblem> {
    errors
        .into_iter()
        .map(|error| FieldProblem { field: format!("{name}.{}", error.field), ..error })
        .collect()
}

fn only(field: &str, message: &str) -> Vec<FieldProblem> {
    vec![FieldProblem::new(field, message)]
}

fn selection<R: RegisterApi>(
    api: &Api,
    ids: Option<Ids<R::Kind>>,
    filter: Option<ListFilter>,
) -> Result<Selected<R>, Vec<FieldProblem>> {
    match (ids, filter) {
        (Some(ids), None) => Ok(Selected::Ids(ids.0)),
        (None, Some(ListFilter(pairs))) => {
            let mut query = Query::of(pairs, api.ctx.now());
            let narrowed = Narrowed::<R>::read(&mut query);
            query.finish().map_err(|problem| within("filter", problem.errors))?;
            match narrowed.as_of {
                Some(_) => Err(only("filter.asOf", "cannot be given: the past is not changed")),
                None => Ok(Selected::Matching(narrowed)),
            }
        }
        _ => Err(only("ids", "is required, or else filter; not both")),
    }
}

impl<R: RegisterApi> Bulk<R> {
    fn read(api: &Api, fields: Fields) -> Result<Self, Vec<FieldProblem>> {
        let (ids, filter, change, links, is_delete, undo) = fields.read_by(|fields| {
            let (ids, filter) =
                (fields.optional::<Ids<R::Kind>>("ids"), fields.optional::<ListFilter>("filter"));
            let (change, is_delete) =
                (fields.optional::<JsonValue>("change"), fields.optional::<bool>("delete"));
            let links = match R::LINKS {
                None => Some((None, None)),
                Some(_) => fields
                    .optional::<JsonValue>("link")
                    .and_then(|link| Some((link, fields.optional::<JsonValue>("unlink")?))),
            };
            let undo = fields.optional::<BulkChangeId>("undo");
            Some((ids?, filter?, change?, links?, is_delete?, undo?))
        })?;
        let given = |name: &'static str, json: &JsonValue, read: fn(&mut Fields) -> Option<R::Patch>| {
            let fields = Fields::of(json).map_err(|message| only(name, &message))?;
            fields.read_by(read).map_err(|errors| within(name, errors))
        };
        let action = match (change, links, is_delete.unwrap_or_default(), undo) {
            (None, (None, None), false, Some(change)) if ids.is_none() && filter.is_none() => {
                return Ok(Self::Undo(change));
            }
            (Some(json), (None, None), false, None) => {
                Action::Change(given("change", &json, |fields| R::body(fields, false))?)
            }
            (None, (Some(json), None), false, None) => {
                Action::Link(given("link", &json, R::links_in)?, Linking::Add)
            }
            (None, (None, Some(json)), false, None) => {
                Action::Link(given("unlink", &json, R::links_in)?, Linking::Remove)
            }
            (None, (None, None), true, None) => Action::Delete,
            _ if R::LINKS.is_some() => {
                return Err(only("change", "is required, or else link, unlink, delete: true, or undo alone"));
            }
            _ => return Err(only("change", "is required, or else delete: true, or undo alone")),
        };
        Ok(Self::Apply(selection(api, ids, filter)?, action))
    }
}

impl<R: RegisterApi> Argument for Bulk<R> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Large;
    }
}

impl<R: RegisterApi> FromRequest<Api> for Bulk<R> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        Self::read(api, Fields::of_request(request).await?).map_err(Problem::invalid)
    }
}

/// The result of a bulk change.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Outcome)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"changed": 5061, "unchanged": 2, "missing": [], "undo": "blk_01jcqg3v5mefzr7d0a6w3k9x2b"}))]
pub(crate) struct BulkChangeResult {
    /// Rows that were changed or deleted.
    changed: usize,
    /// Rows that already had the requested values; for an undo, rows that have changed since.
    unchanged: usize,
    /// Requested ids that do not exist, or no longer exist.
    missing: Vec<String>,
    /// Send it as `undo` within a day to undo the change; null if there is nothing to undo.
    #[schema(required, value_type = Option<String>)]
    undo: Option<BulkChangeId>,
}

pub(super) async fn apply<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Update>,
    bulk: Bulk<R>,
) -> Result<Json<BulkChangeResult>, Problem> {
    let (selected, action) = match bulk {
        Bulk::Undo(change) => return Ok(Json(bulk::undo::<R>(&api.ctx, &scope, change).await?.into())),
        Bulk::Apply(selected, action) => (selected, action),
    };
    if matches!(action, Action::Delete) {
        scope.require_grant::<R::Delete>().map_err(attestry_app::Error::from)?;
    }
    let selection = match selected {
        Selected::Ids(ids) => Selection::Ids(ids),
        Selected::Matching(narrowed) => {
            Selection::Matching(Box::new(narrowed.on(scope.today(api.ctx.now())).0))
        }
    };
    Ok(Json(bulk::apply::<R>(&api.ctx, &scope, selection, action).await?.into()))
}

/// Returns the schema of the body.
pub(super) fn body_schema<R: RegisterApi>() -> Value {
    let mut ids = json!(<Ids<R::Kind> as FromJson>::schema());
    ids["description"] = json!("The rows, at most 1000; or else give a filter.");
    let mut body = json!({
        "type": "object", "additionalProperties": false,
        "description": "`ids` or `filter`, with `change` or `delete`; or `undo` alone.",
        "properties": {
            "ids": ids,
            "filter": ListFilter::schema(),
            "change": reference(&format!("Update{}", R::NAMES.schema)),
            "delete": {"type": "boolean", "description": "true deletes the rows with their comments and files, for good."},
            "undo": {"type": "string", "description": "The `undo` of an earlier answer: its rows become what they were, unless they were changed again since."}
        },
        "examples": [{"ids": [R::example()["id"]], "change": R::change_example()}]
    });
    if let Some(links) = R::LINKS {
        body["description"] =
            json!("`ids` or `filter`, with `change`, `link`, `unlink` or `delete`; or `undo` alone.");
        body["properties"]["link"] = json!(reference(links));
        body["properties"]["unlink"] = json!(reference(links));
    }
    body
}

pub(super) fn result_schema() -> RefOr<Schema> {
    BulkChangeResult::schema()
}

/// The rows to export.
pub(super) struct Picked<R: RegisterApi>(Vec<Id<R::Kind>>);

impl<R: RegisterApi> Argument for Picked<R> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Medium;
    }
}

impl<R: RegisterApi> FromRequest<Api> for Picked<R> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        let fields = Fields::of_request(request).await?;
        let ids =
            fields.read_by(|fields| fields.required::<Ids<R::Kind>>("ids")).map_err(Problem::invalid)?;
        Ok(Self(ids.0))
    }
}

pub(super) fn picked_schema<R: RegisterApi>() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["ids"],
        "properties": {"ids": json!(<Ids<R::Kind> as FromJson>::schema())},
        "examples": [{"ids": [R::example()["id"]]}]
    })
}

/// Exports the selected rows in the order of the request.
pub(super) async fn export<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::ReadAll>,
    ValidQuery(shape): ValidQuery<Shape>,
    Picked(ids): Picked<R>,
) -> Result<Response, Problem> {
    let rows = bulk::rows_of::<R>(&api.ctx, &scope, ids).await?;
    selected::<R>(&api, &scope, shape, Page { items: rows, next: None }).await
}
