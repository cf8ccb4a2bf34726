//! Exports and imports of a register as a table.

use std::collections::HashMap;
use std::sync::Arc;

use attestry_app::core::journal;
use attestry_app::identity::members;
use attestry_app::registers;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::MemberId;
use attestry_domain::page::{Order, Page, PageRequest};
use attestry_domain::plain::{Plain, PlainKind};
use attestry_domain::registers::{Field, Record};
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, Shape, all_rows, download};
use attestry_http::answer::tables::{Cell, text};
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::Method;

use super::{Narrowed, RegisterApi};
use crate::registers::import::{ImportResult, Table, TablePreview};

#[derive(Debug)]
pub(super) struct ExportQuery<R: RegisterApi> {
    narrowed: Narrowed<R>,
    shape: Shape,
    sorting: (R::Sort, Order),
}

impl<R: RegisterApi> FromQuery for ExportQuery<R> {
    fn read(query: &mut Query) -> Self {
        Self { narrowed: Narrowed::read(query), shape: Shape::read(query), sorting: lists::sorting(query) }
    }
}

pub(crate) const ASSIGNEE: &str = "assigneeId";

/// Returns the display width of a column.
fn width(field: &Field) -> u16 {
    match field.kind {
        PlainKind::Bool | PlainKind::Int | PlainKind::Date => 14,
        PlainKind::Text if field.wire.to_lowercase().ends_with("description") => 60,
        PlainKind::Text if field.wire == ASSIGNEE => 32,
        PlainKind::Text if matches!(field.wire, "title" | "name" | "website") => 40,
        PlainKind::Words => 32,
        PlainKind::Text | PlainKind::Bytes | PlainKind::Time => 20,
    }
}

/// Returns the columns of an export. The assignee's name follows the id.
pub(crate) fn columns<R: RegisterApi>() -> Vec<Column> {
    let mut columns = vec![Column { name: "id", width: 32 }, Column { name: "reference", width: 12 }];
    for field in R::FIELDS {
        columns.push(Column { name: field.wire, width: width(field) });
        if field.wire == ASSIGNEE {
            columns.push(Column { name: "assigneeName", width: 24 });
        }
    }
    let computed = R::COMPUTED.iter().filter_map(|computed| computed.shown);
    columns.extend(computed.map(|(name, _)| Column { name, width: 14 }));
    columns.extend(R::LIVE.iter().map(|live| Column { name: live.wire, width: 14 }));
    columns.extend(["createdAt", "updatedAt"].map(|name| Column { name, width: 20 }));
    columns
}

fn cells<R: RegisterApi>(
    record: &Record<R>,
    assignees: &HashMap<MemberId, String>,
    today: Date,
) -> Vec<Cell> {
    let mut cells = vec![text(record.id.to_string()), text(record.reference())];
    // A residual rating and a treatment that are only defaults are left empty.
    let is_empty = |column: &str| match column {
        "treatment_strategy" => record.field("treatment_decided_at") == Plain::Null,
        _ => R::RATINGS.get(1).is_some_and(|residual| residual.has(column) && !record.is_rated(residual)),
    };
    for field in R::FIELDS {
        cells.push(match is_empty(field.column) {
            true => Plain::Null,
            false => record.field(field.column).into_owned(),
        });
        if field.wire == ASSIGNEE {
            let name = record.assignee().and_then(|member| assignees.get(&member));
            cells.push(name.map_or(Plain::Null, text));
        }
    }
    let computed = R::COMPUTED.iter().filter(|computed| computed.shown.is_some());
    cells.extend(computed.map(|computed| match is_empty(computed.column) {
        true => Plain::Null,
        false => (computed.of)(&record.fields).into_owned(),
    }));
    cells.extend(R::LIVE.iter().map(|live| text((live.of)(&record.fields, today))));
    cells.extend([Plain::Time(record.created_at), Plain::Time(record.updated_at)]);
    cells
}

pub(super) async fn export<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::ReadAll>,
    query: ValidQuery<ExportQuery<R>>,
    RawQuery(asked): RawQuery,
    method: Method,
) -> Result<Response, Problem> {
    let ValidQuery(ExportQuery { narrowed, shape, sorting: (sort, order) }) = query;
    let today = scope.day(narrowed.as_of, api.ctx.now());
    let (wanted, as_of) = narrowed.on(today);
    if method != Method::HEAD {
        let (format, asked) = (shape.format.as_str(), asked.unwrap_or_default());
        journal::exported(&api.ctx, &scope, R::ACTIONS.exported, R::ENTITY, format, &asked).await?;
    }
    let named = file_name::<R>(today);
    let assignees = members::names(&api.ctx, &scope).await?;
    let (api, scope, wanted): (Api, Scope, _) = (api.0.clone(), (*scope).clone(), Arc::new(wanted));
    let rows = all_rows(
        as_of,
        move |record| cells::<R>(&record, &assignees, today),
        move |after, limit| {
            let (api, scope, wanted) = (api.clone(), scope.clone(), Arc::clone(&wanted));
            let page = PageRequest { sort, order, limit, after };
            async move { R::page(&api.ctx, &scope, &wanted, page, as_of).await }
        },
    );
    download(R::NAMES.many, &named, shape, columns::<R>(), rows).await
}

/// Returns the name of an export, such as `risks-2026-11-18`; the date is that of the data.
fn file_name<R: RegisterApi>(day: Date) -> String {
    format!("{}-{day}", R::NAMES.many)
}

/// Exports selected rows.
pub(super) async fn selected<R: RegisterApi>(
    api: &Api,
    scope: &Scope,
    shape: Shape,
    page: Page<Record<R>>,
) -> Result<Response, Problem> {
    let asked = format!("ids={}", page.items.len());
    journal::exported(&api.ctx, scope, R::ACTIONS.exported, R::ENTITY, shape.format.as_str(), &asked).await?;
    let today = scope.today(api.ctx.now());
    let assignees = members::names(&api.ctx, scope).await?;
    let rows = all_rows(
        None,
        move |record| cells::<R>(&record, &assignees, today),
        move |_, _| std::future::ready(Ok(page.clone())),
    );
    download(R::NAMES.many, &file_name::<R>(today), shape, columns::<R>(), rows).await
}

pub(super) async fn import<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Create>,
    Table { rows, is_dry_run }: Table<R>,
) -> Result<Json<ImportResult>, Problem> {
    let total = rows.len();
    let imported = registers::import::<R>(&api.ctx, &scope, rows, is_dry_run).await?;
    Ok(Json(ImportResult::new(is_dry_run, total, imported)?))
}

/// Responds with the parsed table; nothing is stored.
pub(super) async fn preview<R: RegisterApi>(
    _scope: Granted<R::Create>,
    table: TablePreview,
) -> Json<TablePreview> {
    Json(table)
}
