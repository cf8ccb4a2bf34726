//! The OpenAPI schemas and operations of a register.

use std::marker::PhantomData;

use attestry_app::registers::StoredRating;
use attestry_domain::JsonSchema;
use attestry_domain::id::Id;
use attestry_domain::plain::PlainKind;
use attestry_domain::registers::{Field, Mode};
use attestry_http::answer::lists::{self, Numbered};
use attestry_http::answer::tables::export::Shape;
use attestry_http::answer::tables::{CSV, XLSX};
use attestry_http::document::listed::{Listed, Operations};
use attestry_http::document::operations::{Described, capitalized, json_of};
use attestry_http::document::schemas::{reference, schema};
use attestry_http::request::facts::Route;
use attestry_http::request::wire::{described, or_null};
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::{RefOr, Schema};

use super::matrix::{CellView, MatrixView};
use super::{AuthInfo, AuthenticatedUser, Extension, Names, Narrowed, RegisterApi, as_of_parameter};
use crate::registers::import::{ImportQuery, ImportResult, PreviewRow, TablePreview};
use crate::service::audit_logs::EntryList;

/// Returns the schema of a field.
pub(super) fn schema_of_field(field: &Field) -> Value {
    let schema = schema((field.schema)());
    json!(described(if field.is_nullable { or_null(schema) } else { schema }, field.about))
}

/// Returns the schema of a field in a body.
fn given_schema(field: &Field) -> Value {
    match field.mode {
        Mode::Reset => json!(described(or_null(schema((field.schema)())), field.about)),
        _ => schema_of_field(field),
    }
}

/// Returns the schema of a field in a creation.
fn schema_with_default(field: &Field) -> Value {
    let mut schema = schema_of_field(field);
    // An empty set or text is the obvious default and is not documented.
    let is_set = field.kind == PlainKind::Words;
    let default = field.default.map(|default| default()).filter(|default| !is_set && *default != json!(""));
    if let Some(default) = default {
        schema["default"] = default;
    }
    schema
}

struct Document<R>(PhantomData<fn() -> R>);

impl<R: RegisterApi> Document<R> {
    fn view() -> Value {
        let time = json!({"type": "string", "format": "date-time"});
        let mut properties = Map::new();
        let mut add = |name: &str, schema: Value| properties.insert(name.to_owned(), schema);
        add("id", Id::<R::Kind>::json_schema());
        add(
            "reference",
            json!({"type": "string", "description": "A short name for it, never given to another one."}),
        );
        for field in R::FIELDS {
            add(field.wire, schema_of_field(field));
        }
        for live in R::LIVE {
            add(live.wire, json!({"type": "string", "enum": live.words, "description": live.about}));
        }
        add("organizationId", json!({"type": "string", "examples": ["org_01jcqg3v5mefzr7d0a6w3k9x2b"]}));
        add("createdAt", time.clone());
        add("updatedAt", time);
        for (wire, about) in R::COMPUTED.iter().filter_map(|computed| computed.shown) {
            add(wire, json!({"type": "integer", "description": about}));
        }
        let required: Vec<String> = properties.keys().cloned().collect();
        properties
            .extend(R::Extension::properties().into_iter().map(|(wire, schema)| (wire.to_owned(), schema)));
        json!({"type": "object", "required": required, "properties": properties, "example": R::example()})
    }

    fn body(whole: bool) -> Value {
        let given = || R::FIELDS.iter().filter(|field| field.is_given());
        let required = given().filter(|field| whole && field.mode == Mode::Required);
        let also = R::also_given().into_iter().map(|(wire, schema)| (wire.to_owned(), schema));
        let of = if whole { schema_with_default } else { given_schema };
        let properties = given().map(|field| (field.wire.to_owned(), of(field))).chain(also);
        let (about, example) = match (whole, R::example()) {
            (true, Value::Object(row)) => (
                format!("A {} to add. Fields with a default can be left out.", R::NAMES.one),
                row.into_iter().filter(|(name, _)| R::GIVEN.contains(&name.as_str())).collect(),
            ),
            _ => (
                "The fields to change. Fields that are left out stay as they are; null clears.".to_owned(),
                R::change_example(),
            ),
        };
        json!({
            "type": "object", "description": about, "additionalProperties": false,
            "required": required.map(|field| field.wire).collect::<Vec<_>>(),
            "properties": properties.collect::<Map<_, _>>(), "examples": [example]
        })
    }

    fn deletion() -> Value {
        let (Names { deleted, one, .. }, row) = (R::NAMES, R::example());
        let Some(deleted) = deleted else {
            return json!({
                "type": "object", "required": ["success", "message"],
                "properties": {"success": {"type": "boolean"}, "message": {"type": "string"}},
                "example": {"success": true, "message": format!("The {one} is deleted.")}
            });
        };
        json!({
            "type": "object", "required": ["success", deleted],
            "properties": {"success": {"type": "boolean"}, deleted: {
                "type": "object", "required": ["id", R::NAMED_BY],
                "properties": {"id": {"type": "string"}, R::NAMED_BY: {"type": "string"}}
            }},
            "example": {"success": true, deleted: {"id": row["id"], R::NAMED_BY: row[R::NAMED_BY]}}
        })
    }

    fn schemas() -> Vec<(String, RefOr<Schema>)> {
        let Names { schema: name, one, many, .. } = R::NAMES;
        let (mut answer, view) = (R::example(), reference(&format!("{name}View")));
        answer["authType"] = json!("api-key");
        let list = json!({"data": [R::example()], "count": 1, "nextCursor": null, "authType": "api-key"});
        let page = json!({
            "type": "object", "required": ["data", "count", "nextCursor"],
            "properties": {
                "data": {"type": "array", "items": view},
                "count": {"type": "integer", "minimum": 0, "description": "The number of items in this page."},
                "nextCursor": {"type": ["string", "null"]},
                "total": lists::total_schema(),
                "page": {"type": "integer", "minimum": 1, "description": "The number of this page. Only with `page` or `perPage`."},
                "pageCount": {"type": "integer", "minimum": 0, "description": "The number of pages. Only with `page` or `perPage`."}
            }
        });
        let all = [
            (format!("{name}View"), Self::view()),
            (format!("Create{name}"), Self::body(true)),
            (format!("Update{name}"), Self::body(false)),
            (format!("{name}Deletion"), Self::deletion()),
            (format!("Bulk{name}"), super::bulk::body_schema::<R>()),
        ];
        let framed = [
            (
                name.to_owned(),
                json!({
                    "description": format!("A {one}, and how the request was authenticated."),
                    "allOf": [view, reference("AuthInfo")], "example": answer
                }),
            ),
            (
                format!("{name}List"),
                json!({
                    "description": format!("One page of the {many}."),
                    "allOf": [reference("AuthInfo"), page], "example": list
                }),
            ),
        ];
        let array = json!({"type": "array", "items": reference(name), "example": [R::example()]});
        let bare = [(name.to_owned(), Self::view()), (format!("{name}List"), array)];
        let picked = R::TABLES.then(|| (format!("Picked{name}"), super::bulk::picked_schema::<R>()));
        let (views, rest) = if R::BARE { (bare, &all[1..]) } else { (framed, &all[..]) };
        rest.iter().cloned().chain(views).chain(picked).map(|(name, json)| (name, schema(json))).collect()
    }

    /// Returns the documentation that all operations on the register, or on a row of it, have in common.
    fn told(id: String, summary: String) -> Described {
        Described::new(id, summary).tagged(capitalized(R::NAMES.many)).answers(
            200,
            "As it is now.",
            json_of(R::NAMES.schema),
        )
    }

    fn operation(
        under: &'static str,
        route: Route,
        described: impl FnOnce() -> Described + 'static,
    ) -> Operations {
        let row = format!("{{{}}}", R::NAMES.parameter);
        let path = format!("/v1/{}{}", R::NAMES.many, under.replace("{id}", &row));
        Operations::described(path, route, described)
    }

    fn listed() -> Operations {
        let Names { many, schema: name, .. } = R::NAMES;
        let route = if R::BARE {
            Route::new(HttpMethod::Get, super::list_bare::<R>)
        } else {
            Route::new(HttpMethod::Get, super::list::<R>)
        };
        Self::operation("", route, move || {
            let (id, summary) = (format!("list_{many}"), format!("Lists the {many}"));
            let described = Self::told(id, summary)
                .takes(Narrowed::<R>::parameters())
                .takes(if R::BARE { lists::bare_parameters() } else { lists::plain_parameters() })
                .takes(lists::sorting_parameters::<R::Sort>())
                .takes(R::Extension::parameters());
            let content = json_of(&format!("{name}List"));
            match R::BARE {
                true => described
                    .says("Everything, unless `limit` or `cursor` asks for a page; the `Link` header then leads to the next one.")
                    .answers(200, "The rows.", content),
                false => described
                    .takes([lists::total_parameter()])
                    .takes(Numbered::parameters())
                    .answers(200, "One page, newest first.", content),
            }
        })
    }

    fn rows() -> Vec<Operations> {
        let Names { one, schema: name, .. } = R::NAMES;
        let id = move |before: &str, after: &str| format!("{before}_{}{after}", one.replace(' ', "_"));
        vec![
            Self::listed(),
            Self::operation("", Route::new(HttpMethod::Post, super::create::<R>), move || {
                Self::told(id("create", ""), format!("Adds a {one}"))
                    .takes(R::Extension::parameters())
                    .reads(json_of(&format!("Create{name}")))
                    .answers(201, "The added records.", json_of(name))
            }),
            Self::operation("/{id}", Route::new(HttpMethod::Get, super::show::<R>), move || {
                Self::told(id("get", ""), format!("Shows one {one}"))
                    .takes([as_of_parameter()])
                    .takes(R::Extension::parameters())
                    .answers(200, "As it is, or as it was.", json_of(name))
            }),
            Self::operation("/{id}", Route::new(HttpMethod::Patch, super::update::<R>), move || {
                Self::told(id("update", ""), format!("Changes a {one}"))
                    .takes(R::Extension::parameters())
                    .reads(json_of(&format!("Update{name}")))
            }),
            Self::operation("/{id}", Route::new(HttpMethod::Delete, super::remove::<R>), move || {
                Self::told(id("delete", ""), format!("Deletes a {one}"))
                    .says("Deletes its comments and files as well; its history stays.")
                    .answers(200, "Deleted.", json_of(&format!("{name}Deletion")))
            }),
            Self::operation(
                "/{id}/history",
                Route::new(HttpMethod::Get, super::show_history::<R>),
                move || {
                    let summary = format!("Shows who changed a {one}, when and how, field by field");
                    Self::told(id("get", "_history"), summary).takes(lists::plain_parameters()).answers(
                        200,
                        "The entries about it, newest first.",
                        json_of("EntryList"),
                    )
                },
            ),
        ]
    }

    fn bulk() -> Operations {
        let Names { many, schema: name, .. } = R::NAMES;
        Self::operation("/bulk", Route::new(HttpMethod::Post, super::bulk::apply::<R>), move || {
            let summary = format!("Changes or deletes many {many} at once");
            Self::told(format!("bulk_{many}"), summary)
                .says(
                    "In one transaction, each row with its own entry in the audit log. A change can be undone as a whole for a day. \
                     Deleting needs the permission to delete.",
                )
                .reads(json_of(&format!("Bulk{name}")))
                .answers(200, "The outcome.", json_of("BulkChangeResult"))
                .fails(404, "There is no such change that can be undone.")
                .fails(409, "The filter matches too many rows.")
        })
    }

    fn tables() -> Vec<Operations> {
        let Names { many, .. } = R::NAMES;
        let table = || {
            let binary = json!({"schema": {"type": "string", "format": "binary"}});
            json!({CSV: {"schema": {"type": "string"}}, XLSX: binary})
        };
        vec![
            Self::operation("/export", Route::new(HttpMethod::Get, super::tables::export::<R>), move || {
                let summary = format!("Downloads the {many} as a table");
                let sorted = lists::sorting_parameters::<R::Sort>();
                Self::told(format!("export_{many}"), summary)
                    .says("The export is recorded in the audit log.")
                    .takes(Narrowed::<R>::parameters().into_iter().chain(Shape::parameters()).chain(sorted))
                    .answers(200, "The table as a file.", table())
            }),
            Self::operation("/export", Route::new(HttpMethod::Post, super::bulk::export::<R>), move || {
                let summary = format!("Downloads some {many} as a table");
                Self::told(format!("export_selected_{many}"), summary)
                    .says("The rows with these ids, in this order. The export is recorded in the audit log.")
                    .takes(Shape::parameters())
                    .reads(json_of(&format!("Picked{}", R::NAMES.schema)))
                    .fails(404, "None of the rows is there.")
                    .answers(200, "The table as a file.", table())
            }),
            Self::operation("/import", Route::new(HttpMethod::Post, super::tables::import::<R>), move || {
                let summary = format!("Adds the {many} of a table: all rows or none");
                Self::told(format!("import_{many}"), summary)
                    .says(
                        "The header row holds the names of the fields in any case, or common names for them such as `Owner` or `Chance`; an \
                         empty cell is a field that is left out. Words may be written with capitals and spaces (`Very likely`), owners by \
                         name or e-mail address, dates as in spreadsheets. The columns that an export adds are ignored.",
                    )
                    .takes(ImportQuery::parameters())
                    .reads(table())
                    .answers(200, "The added records, or in a dry run the errors.", json_of("ImportResult"))
            }),
            Self::operation(
                "/import/preview",
                Route::new(HttpMethod::Post, super::tables::preview::<R>),
                move || {
                    let summary = format!("Shows a table of {many} as an import reads it");
                    Self::told(format!("preview_import_of_{many}"), summary)
                    .says(
                        "The sheets of a workbook, and the cells of one of them as text. Nothing is stored.",
                    )
                    .takes([ImportQuery::sheet_parameter()])
                    .reads(table())
                    .answers(200, "The table.", json_of("TablePreview"))
                },
            ),
        ]
    }
}

/// Adds the routes of a register with ratings: those of every register, and the matrix.
pub(crate) fn rated_routes<R: RegisterApi + StoredRating>(listed: Listed) -> Listed {
    let Names { one, many, .. } = R::NAMES;
    let matrix = Document::<R>::operation(
        "/matrix",
        Route::new(HttpMethod::Get, super::matrix::show_matrix::<R>),
        move || {
            let summary = format!("Counts the {many} in each cell of the matrix");
            Document::<R>::told(format!("get_{one}_matrix"), summary)
                .says("The filters are those of the list.")
                .takes(Narrowed::<R>::parameters())
                .answers(200, "The counts.", json_of("MatrixView"))
        },
    );
    routes::<R>(listed).routes(matrix)
}

/// Adds the routes of a register, with their documentation.
pub(crate) fn routes<R: RegisterApi>(mut listed: Listed) -> Listed {
    let tables = if R::TABLES { Document::<R>::tables() } else { Vec::new() };
    for operation in Document::<R>::rows().into_iter().chain([Document::<R>::bulk()]).chain(tables) {
        listed = listed.routes(operation);
    }
    listed.schemas(Document::<R>::schemas).schemas(|| {
        vec![
            ("AuthInfo", AuthInfo::schema()),
            ("AuthenticatedUser", AuthenticatedUser::schema()),
            ("MatrixView", MatrixView::schema()),
            ("CellView", CellView::schema()),
            ("EntryList", EntryList::schema()),
            ("ImportResult", ImportResult::schema()),
            ("TablePreview", TablePreview::schema()),
            ("PreviewRow", PreviewRow::schema()),
            ("BulkChangeResult", super::bulk::result_schema()),
        ]
    })
}
