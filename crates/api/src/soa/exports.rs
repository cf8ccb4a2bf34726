//! Exports of statements as files, and the verification of approved files.

use attestry_app::core::journal;
use attestry_app::soa::approval;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::files::MediaType;
use attestry_domain::id::{MemberId, kind};
use attestry_domain::plain::Plain;
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::soa::{FrozenRow, SoaFormat, SoaSnapshot};
use attestry_domain::text::Parse;
use attestry_http::answer::downloads::download;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::answer::tables::export::{Column, book, table};
use attestry_http::answer::tables::{CSV_UTF8, Cell, XLSX, text};
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::Method;
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

const COLUMNS: &[Column] = &[
    Column { name: "number", width: 10 },
    Column { name: "title", width: 40 },
    Column { name: "theme", width: 18 },
    Column { name: "applicable", width: 12 },
    Column { name: "justification", width: 60 },
    Column { name: "requiredBy", width: 30 },
    Column { name: "status", width: 16 },
    Column { name: "owner", width: 24 },
    Column { name: "state", width: 12 },
    Column { name: "statement", width: 36 },
    Column { name: "version", width: 10 },
    Column { name: "statementStatus", width: 16 },
    Column { name: "approvedBy", width: 24 },
    Column { name: "date", width: 14 },
];

/// Returns the cells of a row. They include the statement's version, so that tables of different versions cannot be
/// confused.
fn cells(frozen: &SoaSnapshot, row: &FrozenRow) -> Vec<Cell> {
    let applicable = match row.is_applicable {
        None => "",
        Some(true) => "yes",
        Some(false) => "no",
    };
    let state = match (row.is_applicable, row.is_proposed) {
        (None, _) => "open",
        (_, true) => "proposed",
        (_, false) => "confirmed",
    };
    vec![
        text(&row.code),
        text(&row.title),
        text(&row.theme),
        text(applicable),
        text(&row.justification),
        text(&row.obligation),
        row.status.map_or(Plain::Null, |status| text(status.as_str())),
        row.owner.as_ref().map_or(Plain::Null, text),
        text(state),
        text(frozen.document_id.to_string()),
        Plain::Int(frozen.version.get()),
        text(frozen.status.as_str()),
        frozen.approved_by.as_ref().map_or(Plain::Null, text),
        Plain::Date(frozen.date),
    ]
}

/// Renders a statement as a table.
pub fn tables(frozen: &SoaSnapshot, format: SoaFormat) -> Result<Vec<u8>, String> {
    let rows: Vec<Vec<Cell>> = frozen.rows.iter().map(|row| cells(frozen, row)).collect();
    match format {
        SoaFormat::Csv => table(COLUMNS, &rows).map_err(|error| error.to_string()),
        SoaFormat::Xlsx | SoaFormat::Pdf => book("statement", COLUMNS, rows),
    }
}

#[derive(Debug)]
pub(crate) struct ExportSoa {
    format: SoaFormat,
}

impl FromQuery for ExportSoa {
    fn read(query: &mut Query) -> Self {
        Self { format: query.get("format").unwrap_or(SoaFormat::Pdf) }
    }
}

impl IntoParams for ExportSoa {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![lists::parameter("format", schema_of::<SoaFormat>(), "`pdf` (default), `xlsx` or `csv`.")]
    }
}

/// Downloads a statement of applicability
///
/// For an approved statement you get the file that was generated at approval; any other statement is rendered from
/// its current answers and marked as not approved. The audit log records the download.
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}/export", tag = "Statement of applicability",
    params(ExportSoa),
    responses(
        (status = 200, description = "The file.", content(
            (Vec<u8> = "application/pdf"), (String = "text/csv"),
            (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
    )
)]
pub(crate) async fn export_soa(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    id: PathId<kind::SoaDocument>,
    ValidQuery(ExportSoa { format }): ValidQuery<ExportSoa>,
    method: Method,
) -> Result<Response, Problem> {
    let id = id.found()?;
    let exported = approval::export(&api.ctx, &scope, id, format, tables).await?;
    if method != Method::HEAD {
        let asked = format!("id={id}");
        journal::exported(&api.ctx, &scope, "soa.exported", "soa_document", format.as_str(), &asked).await?;
    }
    let media_type = match format {
        SoaFormat::Pdf => MediaType::PDF,
        SoaFormat::Xlsx => XLSX,
        SoaFormat::Csv => CSV_UTF8,
    };
    Ok(download(media_type, exported))
}

/// The SHA-256 of a file, in hexadecimal.
#[derive(Clone, Debug)]
pub(crate) struct Sha256(String);

impl Parse for Sha256 {
    fn parse(text: &str) -> Result<Self, String> {
        match text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => {
                Err("must be the SHA-256 of the file: 64 hexadecimal digits, as sha256sum prints it"
                    .to_owned())
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct VerifySoa {
    sha256: Option<Sha256>,
}

impl FromQuery for VerifySoa {
    fn read(query: &mut Query) -> Self {
        if !query.has("sha256") {
            query.note("sha256", "is required: the SHA-256 of the file, as sha256sum prints it");
        }
        Self { sha256: query.get("sha256") }
    }
}

impl IntoParams for VerifySoa {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let digits = schema(json!({"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}));
        vec![lists::required("sha256", digits, "The SHA-256 of the file, as `sha256sum` prints it.")]
    }
}

/// The verification of a file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SoaVerification, example = json!({
    "isApproved": true, "isCurrent": true, "format": "pdf", "version": 2, "approvedAt": "2026-11-15T09:30:00.000Z",
    "approverId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
    "contentHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
}))]
pub(crate) struct Verification {
    /// True if the file was generated when this statement was approved.
    is_approved: bool,
    /// True if the statement has not changed since.
    is_current: bool,
    #[schema(required, schema_with = schema_of::<Option<SoaFormat>>)]
    format: Option<SoaFormat>,
    #[schema(required, value_type = Option<i64>)]
    version: Option<VersionNumber>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    approved_at: Option<Time>,
    #[schema(required, value_type = Option<String>)]
    approver_id: Option<MemberId>,
    /// The SHA-256 of the approved content, as canonical JSON.
    #[schema(required)]
    content_hash: Option<String>,
}

/// Verifies that a file is an approved version of a statement of applicability
#[utoipa::path(
    get, path = "/v1/soa/documents/{id}/verify", tag = "Statement of applicability",
    params(VerifySoa),
    responses((status = 200, body = Verification, description = "True if it is one of the issued ones, and its details."))
)]
pub(crate) async fn verify_soa(
    api: State<Api>,
    scope: Granted<grant::SoaRead>,
    id: PathId<kind::SoaDocument>,
    ValidQuery(VerifySoa { sha256 }): ValidQuery<VerifySoa>,
) -> Result<Json<Verification>, Problem> {
    let hash = sha256.map(|hash| hash.0).unwrap_or_default();
    let found = approval::verify(&api.ctx, &scope, id.found()?, hash).await?;
    Ok(Json(Verification {
        is_approved: found.is_some(),
        is_current: found.as_ref().is_some_and(|found| found.is_current),
        format: found.as_ref().map(|found| found.format),
        version: found.as_ref().map(|found| found.approval.content.version),
        approved_at: found.as_ref().map(|found| found.approval.approved_at),
        approver_id: found.as_ref().map(|found| found.approval.approver_id),
        content_hash: found.map(|found| found.approval.content_hash),
    }))
}
