//! Custom frameworks, added as JSON, CSV or an OSCAL catalog; and the export of any framework as a file.

use attestry_app::frameworks;
use attestry_domain::access::grant;
use attestry_domain::frameworks::drafts::{
    MAX_CODE_CHARS, MAX_KIND_CHARS, MAX_REPORTED_ERRORS, MAX_REQUIREMENTS, MAX_TITLE_CHARS,
};
use attestry_domain::frameworks::{Framework, FrameworkDraft, Requirement, RequirementDraft, oscal};
use attestry_domain::id::{FrameworkId, kind};
use attestry_domain::registers::context_entries::Tags;
use attestry_domain::text::{AnyText, Line, Name};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists;
use attestry_http::answer::problem::{FieldProblem, Problem};
use attestry_http::answer::tables::export::{Column, table};
use attestry_http::answer::tables::{CSV, CSV_UTF8, text};
use attestry_http::document::schemas::{reference, schema, schema_of};
use attestry_http::request::bodies::{JSON, MediaType, Meter, media_type, must_be};
use attestry_http::request::caller::{Granted, caller_of};
use attestry_http::request::facts::{Argument, BodyLimit, Facts};
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::{Fields, read_request};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::{FrameworkView, Named};
use crate::registers::import::{Lines, read_csv};

/// A framework as received.
#[derive(Debug)]
pub(crate) enum Sent {
    Ours(Fields),
    /// An OSCAL document, such as a catalog.
    Oscal(Value),
    Csv(Vec<RequirementDraft>),
}

impl Argument for Sent {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Large;
    }
}

impl FromRequest<Api> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let is_csv = media_type(request.headers(), CSV) != MediaType::Other;
        if !is_csv {
            must_be(request.headers(), JSON).map_err(|problem| Problem {
                detail: format!(
                    "Send the framework as Content-Type: {JSON} (an OSCAL catalog, or ours), or as {CSV}."
                ),
                ..problem
            })?;
        }
        let (context, organization) = caller_of(&request)?;
        let bytes = read_request(request).await?;
        let read = api.ctx.importing.work(organization, move || {
            let mut meter = Meter::beyond(&context.memory, bytes.len());
            if is_csv {
                return rows(read_csv(&bytes, &mut meter)?).map(Self::Csv);
            }
            let fields = Fields::parse(&bytes)?;
            if !oscal::MODELS.iter().any(|model| fields.has(model)) {
                return Ok(Self::Ours(fields));
            }
            // A parsed value takes many times the memory of its bytes.
            let values = memchr::memchr3_iter(b',', b'[', b'{', &bytes).count();
            meter.charge(bytes.len() + values * 2 * size_of::<Value>())?;
            serde_json::from_slice(&bytes)
                .map(Self::Oscal)
                .map_err(|error| Problem::new("malformed_body", format!("The body is not JSON: {error}.")))
        });
        read.await?
    }
}

const COLUMNS: &[Column] = &[
    Column { name: "code", width: 12 },
    Column { name: "title", width: 40 },
    Column { name: "theme", width: 20 },
    Column { name: "kind", width: 12 },
    Column { name: "objective", width: 60 },
    Column { name: "tags", width: 20 },
    // The columns from here on are written only if a requirement has a value in one of them.
    Column { name: "guidance", width: 60 },
    Column { name: "controlId", width: 12 },
    Column { name: "groupId", width: 12 },
];

const USUAL_COLUMNS: usize = 6;

fn rows(lines: Lines) -> Result<Vec<RequirementDraft>, Problem> {
    let mut wrong = Vec::new();
    for (place, name) in lines.names.iter().enumerate() {
        let is = |other: &&String| other.eq_ignore_ascii_case(name);
        if !COLUMNS.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            let known: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
            wrong.push(FieldProblem::new(
                name,
                format!("is not a column; must be one of: {}", known.join(", ")),
            ));
        } else if lines.names[..place].iter().any(|other| is(&other)) {
            wrong.push(FieldProblem::new(name, "is given more than once"));
        }
    }
    for required in ["code", "title"] {
        if !lines.names.iter().any(|name| name.eq_ignore_ascii_case(required)) {
            wrong.push(FieldProblem::new(required, "is required: a column of the table"));
        }
    }
    if !wrong.is_empty() {
        return Err(Problem::invalid(wrong));
    }
    let read = |(_, cells): (usize, Vec<String>)| {
        let cell = |name: &str| {
            let place = lines.names.iter().position(|known| known.eq_ignore_ascii_case(name));
            place.and_then(|place| cells.get(place)).cloned().unwrap_or_default()
        };
        RequirementDraft {
            code: cell("code"),
            title: cell("title"),
            theme: cell("theme"),
            kind: cell("kind"),
            objective: cell("objective"),
            guidance: cell("guidance"),
            tags: cell("tags").split_whitespace().map(str::to_owned).collect(),
            control_id: cell("controlId"),
            group_id: cell("groupId"),
        }
    };
    Ok(lines.rows.into_iter().map(read).collect())
}

body! {
    /// A requirement of a framework.
    OwnRequirement {
        code "code": required Line<1, MAX_CODE_CHARS> = "Its number or short name.",
        title "title": required Line<1, MAX_TITLE_CHARS> = "Its name.",
        theme "theme": optional Line<0, MAX_TITLE_CHARS> = "Its theme.",
        kind "kind": optional Line<0, MAX_KIND_CHARS> = "The framework's own word for it; `control` by default.",
        objective "objective": optional AnyText = "Its purpose.",
        guidance "guidance": optional AnyText = "Guidance on meeting it.",
        tags "tags": optional Tags = "Its topics.",
        control_id "controlId": optional Line<0, MAX_KIND_CHARS> = "Its id in an OSCAL catalog; made of the code, if it is left out.",
        group_id "groupId": optional Line<0, MAX_KIND_CHARS> = "The id of its theme there; made of the theme, if it is left out.",
    }
    example json!({"code": "1", "title": "Backups", "theme": "Operations", "objective": "Data can be restored."})
}

/// The requirements of a framework, parsed later.
#[derive(Clone, Debug)]
pub(crate) struct OwnRequirements(Vec<JsonValue>);

impl FromJson for OwnRequirements {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        json.items(MAX_REQUIREMENTS).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(
            json!({"type": "array", "minItems": 1, "maxItems": MAX_REQUIREMENTS, "items": OwnRequirement::schema()}),
        )
    }
}

body! {
    /// A custom framework.
    OwnFramework {
        name "name": required Name = "Its name.",
        alias "alias": nullable Line<1, 50> = "A name for programs: lowercase letters, digits and underscores. Made of the name, if it is left out.",
        description "description": optional AnyText = "A description.",
        version "version": optional Line<0, 100> = "Its edition.",
        source "source": optional AnyText = "The publisher.",
        licence "licence": optional AnyText = "On what terms.",
        attribution "attribution": optional AnyText = "The source to be credited.",
        requirements "requirements": required OwnRequirements = "Its requirements.",
    }
    example json!({
        "name": "Our customers' rules", "requirements": [
            {"code": "1", "title": "Backups", "theme": "Operations", "objective": "Data can be restored."}
        ]
    })
}

fn own(text: Option<impl Into<String>>) -> String {
    text.map(Into::into).unwrap_or_default()
}

/// Parses a framework, and returns all its errors together.
fn read_own(fields: Fields) -> Result<FrameworkDraft, Vec<FieldProblem>> {
    let OwnFramework { name, alias, description, version, source, licence, attribution, requirements } =
        fields.read()?;
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    for (place, one) in requirements.0.iter().enumerate() {
        let at = format!("requirements[{place}]");
        let one = Fields::of(one).map_err(|message| vec![FieldProblem::new(&at, message)]);
        match one.and_then(Fields::read::<OwnRequirement>) {
            Ok(one) => read.push(RequirementDraft {
                code: one.code.into(),
                title: one.title.into(),
                theme: own(one.theme),
                kind: own(one.kind),
                objective: own(one.objective),
                guidance: own(one.guidance),
                tags: one.tags.iter().flat_map(Tags::iter).map(str::to_owned).collect(),
                control_id: own(one.control_id),
                group_id: own(one.group_id),
            }),
            Err(errors) => wrong.extend(errors.into_iter().map(|one| match one.field == at {
                true => one,
                false => FieldProblem { field: format!("{at}.{}", one.field), ..one },
            })),
        }
        if wrong.len() > MAX_REPORTED_ERRORS {
            break;
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(FrameworkDraft {
        alias: alias.into_option().map(Into::into),
        name: name.into(),
        description: own(description),
        version: own(version),
        source: own(source),
        licence: own(licence),
        attribution: own(attribution),
        requirements: read,
    })
}

/// The query parameters of an import.
#[derive(Debug)]
pub(crate) struct ImportFramework {
    dry_run: bool,
    name: Option<String>,
    alias: Option<String>,
    version: Option<String>,
}

impl FromQuery for ImportFramework {
    fn read(query: &mut Query) -> Self {
        Self {
            dry_run: query.get("dryRun").unwrap_or(false),
            name: query.raw("name"),
            alias: query.raw("alias"),
            version: query.raw("version"),
        }
    }
}

impl IntoParams for ImportFramework {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            lists::parameter("dryRun", lists::flag(), "true only says what would become of it."),
            lists::parameter("name", lists::text(), "The framework's name; for a table, which has none."),
            lists::parameter(
                "alias",
                lists::text(),
                "A name for programs; made of the name, if it is left out.",
            ),
            lists::parameter("version", lists::text(), "The framework's edition."),
        ]
    }
}

impl ImportFramework {
    /// Builds the framework from the request, or returns its errors.
    fn draft(&self, sent: Sent) -> Result<FrameworkDraft, Vec<FieldProblem>> {
        let mut draft = match sent {
            Sent::Csv(_) if self.name.is_none() => {
                return Err(vec![FieldProblem::new(
                    "name",
                    "is required in the query, since a table has no name",
                )]);
            }
            Sent::Csv(requirements) => FrameworkDraft { requirements, ..FrameworkDraft::default() },
            Sent::Oscal(document) => oscal::read(&document).map_err(|errors| {
                errors.into_iter().map(|one| FieldProblem::new(&one.field, one.message)).collect::<Vec<_>>()
            })?,
            Sent::Ours(fields) => read_own(fields)?,
        };
        if let Some(name) = &self.name {
            name.clone_into(&mut draft.name);
        }
        if let Some(version) = &self.version {
            version.clone_into(&mut draft.version);
        }
        if let Some(alias) = &self.alias {
            draft.alias = Some(alias.clone());
        }
        Ok(draft.trimmed())
    }
}

/// A framework to add, or an OSCAL catalog.
#[derive(Debug)]
pub(crate) struct AddFramework;

impl PartialSchema for AddFramework {
    fn schema() -> RefOr<Schema> {
        let examples = json!(OwnFramework::schema())["examples"].clone();
        schema(json!({
            "description": "A framework, or an OSCAL catalog.",
            "anyOf": [reference("OwnFramework"), reference("OscalDocument")],
            "examples": examples
        }))
    }
}

/// Returns the schemas of the formats in which a framework is added, by name.
pub(crate) fn schemas() -> Vec<(&'static str, RefOr<Schema>)> {
    let catalog = json!({
        "type": "object", "description": "An OSCAL document with a catalog.", "required": ["catalog"],
        "properties": {"catalog": {"type": "object"}}, "example": {"catalog": {}}
    });
    vec![("OwnFramework", OwnFramework::schema()), ("OscalDocument", schema(catalog))]
}

impl ToSchema for AddFramework {}

/// The result of a dry run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"dryRun": true, "framework": null, "errors": [{"field": "requirements[1].code", "message": "\"1\" is the code of requirements[0] too"}]}))]
pub(crate) struct FrameworkTrial {
    dry_run: bool,
    /// The framework as it would be saved; it has no id yet.
    #[schema(required)]
    framework: Option<FrameworkView>,
    errors: Vec<FieldProblem>,
}

impl FrameworkTrial {
    fn wrong(errors: Vec<FieldProblem>) -> Self {
        Self { dry_run: true, framework: None, errors }
    }

    fn new(checked: frameworks::Checked) -> Self {
        match checked {
            Ok(framework) => Self { dry_run: true, framework: Some((&framework).into()), errors: Vec::new() },
            Err(errors) => Self::wrong(errors.into_iter().map(Into::into).collect()),
        }
    }
}

/// Adds a custom framework
///
/// As JSON, as an OSCAL catalog (JSON), or as CSV with the columns `code`, `title`, `theme`, `kind`, `objective`,
/// `tags`, `guidance`, `controlId` and `groupId`. With `dryRun=true` nothing is saved, and the response is the
/// resulting framework or its errors.
#[utoipa::path(
    post, path = "/v1/frameworks", tag = "Frameworks", params(ImportFramework),
    request_body(content((AddFramework = "application/json"), (String = "text/csv"))),
    responses(
        (status = 200, body = FrameworkTrial, description = "With `dryRun=true`: what would become of it."),
        (status = 201, body = FrameworkView, description = "The framework."),
    )
)]
pub(crate) async fn create_framework(
    api: State<Api>,
    scope: Granted<grant::FrameworkCreate>,
    ValidQuery(query): ValidQuery<ImportFramework>,
    sent: Sent,
) -> Result<Response, Problem> {
    let draft = match query.draft(sent) {
        Err(errors) if query.dry_run => return Ok(Json(FrameworkTrial::wrong(errors)).into_response()),
        draft => draft.map_err(Problem::invalid)?,
    };
    if query.dry_run {
        let checked = frameworks::check(&api.ctx, &scope, draft, None).await?;
        return Ok(Json(FrameworkTrial::new(checked)).into_response());
    }
    let framework = frameworks::create(&api.ctx, &scope, draft).await?;
    Ok(with_tag(StatusCode::CREATED, &[framework.tag()], FrameworkView::from(&framework)))
}

/// The new edition, or the result of a dry run.
#[derive(Debug)]
pub(crate) struct FrameworkReplacement;

impl PartialSchema for FrameworkReplacement {
    fn schema() -> RefOr<Schema> {
        let example = json!(FrameworkView::schema())["example"].clone();
        schema(json!({"anyOf": [reference("Framework"), reference("FrameworkTrial")], "example": example}))
    }
}

impl ToSchema for FrameworkReplacement {}

/// Replaces a custom framework by a new edition
///
/// Requirements keep their ids by their codes; removed requirements are unlinked from controls. With `dryRun=true`
/// nothing is saved.
#[utoipa::path(
    put, path = "/v1/frameworks/{id}", tag = "Frameworks",
    params(ImportFramework),
    request_body(content((AddFramework = "application/json"), (String = "text/csv"))),
    responses(
        (status = 200, body = FrameworkReplacement, description = "The framework; with `dryRun=true`, what would become of it."),
        (status = 409, description = "The framework ships with the product, or there are statements for it."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn replace_framework(
    api: State<Api>,
    scope: Granted<grant::FrameworkCreate>,
    id: PathId<kind::Framework>,
    ValidQuery(query): ValidQuery<ImportFramework>,
    conditions: Conditions,
    sent: Sent,
) -> Result<Response, Problem> {
    let id = id.found()?;
    let draft = match query.draft(sent) {
        Err(errors) if query.dry_run => return Ok(Json(FrameworkTrial::wrong(errors)).into_response()),
        draft => draft.map_err(Problem::invalid)?,
    };
    if query.dry_run {
        let checked = frameworks::check(&api.ctx, &scope, draft, Some(id)).await?;
        return Ok(Json(FrameworkTrial::new(checked)).into_response());
    }
    let framework = frameworks::replace(&api.ctx, &scope, id, draft, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[framework.tag()], FrameworkView::from(&framework)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedFramework": {"id": "frk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Our customers' rules"}}))]
pub(crate) struct FrameworkDeletion {
    success: bool,
    deleted_framework: DeletedFramework,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "frk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Our customers' rules"}))]
pub(crate) struct DeletedFramework {
    #[schema(value_type = String)]
    id: FrameworkId,
    name: String,
}

/// Deletes a custom framework
#[utoipa::path(
    delete, path = "/v1/frameworks/{id}", tag = "Frameworks",
    responses(
        (status = 200, body = FrameworkDeletion, description = "The number of deleted records."),
        (status = 409, description = "The framework ships with the product, or there are statements for it."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn delete_framework(
    api: State<Api>,
    scope: Granted<grant::FrameworkDelete>,
    id: PathId<kind::Framework>,
    conditions: Conditions,
) -> Result<Json<FrameworkDeletion>, Problem> {
    let framework = frameworks::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    let deleted_framework = DeletedFramework { id: framework.id, name: framework.name.clone() };
    Ok(Json(FrameworkDeletion { success: true, deleted_framework }))
}

attestry_domain::words! {
    /// The file format of a framework.
    FrameworkFormat {
        /// A catalog of the Open Security Controls Assessment Language.
        Oscal = "oscal",
        /// The JSON format in which a framework can be added.
        Json = "json",
        Csv = "csv",
    }
}

#[derive(Debug)]
pub(crate) struct ExportFramework {
    format: FrameworkFormat,
}

impl FromQuery for ExportFramework {
    fn read(query: &mut Query) -> Self {
        Self { format: query.get("format").unwrap_or(FrameworkFormat::Json) }
    }
}

impl IntoParams for ExportFramework {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let about = "`json` (default), `csv`, or `oscal`: an OSCAL catalog.";
        vec![lists::parameter("format", schema_of::<FrameworkFormat>(), about)]
    }
}

fn as_given(framework: &Framework) -> Value {
    let Framework { alias, name, description, version, source, licence, attribution, requirements, .. } =
        framework;
    let requirement = |one: &Requirement| {
        json!({
            "code": one.code, "title": one.title, "theme": one.theme, "kind": one.kind,
            "objective": one.objective, "guidance": one.guidance, "tags": one.tags,
            "controlId": one.control_id, "groupId": one.group_id
        })
    };
    json!({
        "name": name, "alias": alias, "description": description, "version": version, "source": source,
        "licence": licence, "attribution": attribution,
        "requirements": requirements.iter().map(requirement).collect::<Vec<_>>()
    })
}

/// Downloads a framework
///
/// As an OSCAL catalog, or in one of the formats in which a framework can be added.
#[utoipa::path(
    get, path = "/v1/frameworks/{id}/export", tag = "Frameworks",
    params(
        ("id" = String, Path, description = "The framework's id or alias.", example = "iso_27001"),
        ExportFramework
    ),
    responses((status = 200, description = "The file.", content((Object = "application/json"), (String = "text/csv"))))
)]
pub(crate) async fn export_framework(
    api: State<Api>,
    scope: Granted<grant::FrameworkRead>,
    named: Named,
    ValidQuery(ExportFramework { format }): ValidQuery<ExportFramework>,
) -> Result<Response, Problem> {
    let framework = named.found(&api, &scope).await?;
    let (kind, ending, body) = match format {
        FrameworkFormat::Oscal => {
            (JSON.to_owned(), "oscal.json", oscal::write(&framework, api.ctx.now()).to_string().into_bytes())
        }
        FrameworkFormat::Json => (JSON.to_owned(), "json", as_given(&framework).to_string().into_bytes()),
        FrameworkFormat::Csv => {
            let row = |one: &Requirement| {
                let tags = one.tags.join(" ");
                let known = [&one.code, &one.title, &one.theme, &one.kind, &one.objective, &tags];
                known
                    .into_iter()
                    .chain([&one.guidance, &one.control_id, &one.group_id])
                    .map(text)
                    .collect::<Vec<_>>()
            };
            let has_more = |one: &Requirement| {
                [&one.guidance, &one.control_id, &one.group_id].iter().any(|text| !text.is_empty())
            };
            let columns = match framework.requirements.iter().any(has_more) {
                true => COLUMNS,
                false => &COLUMNS[..USUAL_COLUMNS],
            };
            let cut = |one| row(one).into_iter().take(columns.len()).collect();
            let rows: Vec<Vec<_>> = framework.requirements.iter().map(cut).collect();
            let written = table(columns, &rows).map_err(Problem::internal)?;
            (CSV_UTF8.to_owned(), "csv", written)
        }
    };
    let disposition = format!("attachment; filename=\"{}.{ending}\"", framework.alias);
    let header_value = |text: &str| HeaderValue::from_str(text).map_err(Problem::internal);
    let headers = [
        (header::CONTENT_TYPE, header_value(&kind)?),
        (header::CONTENT_DISPOSITION, header_value(&disposition)?),
    ];
    Ok((headers, body).into_response())
}
