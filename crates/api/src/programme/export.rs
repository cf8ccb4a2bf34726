//! `/v1/programme/export`: the plan as a table.

use attestry_app::core::journal;
use attestry_app::programme;
use attestry_domain::access::grant;
use attestry_domain::date::Date;
use attestry_domain::page::Page;
use attestry_domain::plain::Plain;
use attestry_domain::programme::progress::Item;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, Shape, all_rows, download};
use attestry_http::answer::tables::{Cell, text};
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

/// The columns of the table, with their widths.
const COLUMNS: &[(&str, u16)] = &[
    ("Week", 12),
    ("Due", 12),
    ("Kind", 8),
    ("Reference", 10),
    ("Title", 50),
    ("Owner", 24),
    ("State", 10),
    ("Completed", 12),
];

#[derive(Debug)]
pub(crate) struct ExportPlan(Shape);

impl FromQuery for ExportPlan {
    fn read(query: &mut Query) -> Self {
        Self(Shape::read(query))
    }
}

impl IntoParams for ExportPlan {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        Shape::parameters().into()
    }
}

fn row(item: &Item, week: Option<Date>, owner: Option<&String>, today: Date) -> Vec<Cell> {
    let date = |date: Option<Date>| date.map_or(Plain::Null, Plain::Date);
    vec![
        date(week),
        date(item.due),
        text(item.kind.as_str()),
        text(item.reference.as_str()),
        text(item.title.as_str()),
        owner.map_or(Plain::Null, |owner| text(owner.as_str())),
        text(item.state(today).as_str()),
        date(item.completed),
    ]
}

/// Exports the plan
///
/// As CSV or XLSX, one row for each policy and each task that you may see, by week. The export is recorded in the audit
/// log.
#[utoipa::path(
    get, path = "/v1/programme/export", tag = "Programme", params(ExportPlan),
    responses(
        (status = 200, description = "The table.", content(
            (String = "text/csv"),
            (String = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
        )),
        (status = 404, description = "No programme was started.")
    )
)]
pub(crate) async fn export_programme(
    api: State<Api>,
    scope: Granted<grant::ProgrammeRead>,
    ValidQuery(ExportPlan(shape)): ValidQuery<ExportPlan>,
    method: Method,
) -> Result<Response, Problem> {
    let (found, names) = programme::status_with_names(&api.ctx, &scope).await?;
    if method != Method::HEAD {
        let format = shape.format.as_str();
        journal::exported(&api.ctx, &scope, "programme.exported", "programme", format, "").await?;
    }
    let today = found.today;
    let owner = |item: &Item| item.assignee.and_then(|member| names.get(&member.to_string()));
    let weeks = found.progress.weeks.iter();
    let scheduled = weeks.flat_map(|week| week.items.iter().map(|item| (item, Some(week.starts_on))));
    let unscheduled = found.progress.unscheduled.iter().map(|item| (item, None));
    let lines: Vec<Vec<Cell>> =
        scheduled.chain(unscheduled).map(|(item, week)| row(item, week, owner(item), today)).collect();
    let rows = all_rows(
        None,
        |row: Vec<Cell>| row,
        move |_, _| {
            let page = Page { items: lines.clone(), next: None };
            async move { Ok(page) }
        },
    );
    let columns = COLUMNS.iter().map(|(name, width)| Column { name, width: *width }).collect();
    download("plan", &format!("plan-{today}"), shape, columns, rows).await
}
