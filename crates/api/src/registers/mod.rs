//! The HTTP interface of all registers. The file of a register defines its names and permissions; bodies, views,
//! filters and table columns come from the fields of its struct in the domain.

use attestry_app::Ctx;
use attestry_app::core::history;
use attestry_app::registers::{self, Stored};
use attestry_domain::Time;
use attestry_domain::access::{AuthType, Grant, Scope};
use attestry_domain::date::Date;
use attestry_domain::id::UserId;
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::registers::{Condition, Filter, Record, Wanted};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::{self, Numbered};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::facts::{Argument, BodyLimit, Facts};
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Fields;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use crate::service::audit_logs::{EntryList, ListHistory, history as history_page};

pub(crate) mod attachments;
mod bulk;
pub(crate) mod comments;
mod document;
pub(crate) mod import;
mod matrix;
mod meaning;
pub(crate) mod risk_criteria;
mod tables;
pub(crate) mod views;
mod workbook;

pub(crate) use document::{rated_routes, routes};
pub(crate) use tables::{ASSIGNEE, columns};

mod context_entries;
mod risks;
mod vendors;

/// The names of a register in the HTTP interface.
#[derive(Debug)]
pub(crate) struct Names {
    /// The name of a row's schema in the OpenAPI document.
    pub(crate) schema: &'static str,
    pub(crate) one: &'static str,
    pub(crate) many: &'static str,
    /// The property of a deletion response that contains the deleted row; `None` responds with a message instead.
    pub(crate) deleted: Option<&'static str>,
    /// The name of the id parameter in paths.
    pub(crate) parameter: &'static str,
}

/// A register that is served over HTTP.
pub(crate) trait RegisterApi: Stored {
    type Read: Grant;
    /// The permission to see the whole register: histories and exports.
    type ReadAll: Grant;
    type Create: Grant;
    type Update: Grant;
    type Delete: Grant;
    type Extension: Extension<Self>;
    const NAMES: Names;
    /// True if lists are plain arrays, unpaged by default, and responses do not include the authentication type.
    const BARE: bool = false;
    const BODY_LIMIT: BodyLimit = BodyLimit::Medium;
    /// True if the register can be exported and imported as a table.
    const TABLES: bool = true;
    /// The schema of links that can be added to rows and removed from them.
    const LINKS: Option<&'static str> = None;
    /// The fields in the example of a creation.
    const GIVEN: &'static [&'static str];

    /// Returns a page of the rows that the caller may see.
    fn page(
        ctx: &Ctx,
        scope: &Scope,
        wanted: &Wanted<Self>,
        page: PageRequest<Self::Sort>,
        at: Option<Time>,
    ) -> impl Future<Output = Result<Page<Record<Self>>, attestry_app::Error>> + Send {
        async move { registers::list(ctx, scope, wanted, page, at).await }
    }

    /// Returns the number of rows on all pages of the list.
    fn count(
        ctx: &Ctx,
        scope: &Scope,
        wanted: &Wanted<Self>,
        at: Option<Time>,
    ) -> impl Future<Output = Result<i64, attestry_app::Error>> + Send {
        async move { registers::count(ctx, scope, wanted, at).await }
    }

    /// Reads the body of a creation (`whole`) or of an update.
    fn body(fields: &mut Fields, whole: bool) -> Option<Self::Patch> {
        Self::given_in(fields, whole)
    }

    /// Reads links to add or remove.
    fn links_in(_fields: &mut Fields) -> Option<Self::Patch> {
        None
    }

    /// Returns the additional properties of a body, with their schemas.
    fn also_given() -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Returns the example of a row.
    fn example() -> Value;

    /// Returns the example body of an update.
    fn change_example() -> Value;
}

/// An extension of rows with data that is not in their fields, controlled by query parameters.
pub(crate) trait Extension<R: RegisterApi>: FromQuery + Default + Send + Sync {
    type ExtensionView: ExtensionView;

    fn parameters() -> Vec<Parameter>;

    /// Returns the schemas of the added properties.
    fn properties() -> Vec<(&'static str, Value)>;

    /// Computes the extension of each row, and reduces the rows to what the caller may see.
    fn find(
        &self,
        api: &Api,
        scope: &Scope,
        records: &mut [Record<R>],
        at: Option<Time>,
    ) -> impl Future<Output = Result<Vec<Self::ExtensionView>, Problem>> + Send;
}

/// The extension view of one row.
pub trait ExtensionView: std::fmt::Debug + Send + 'static {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Returns the version that the ETag includes in addition to the row's version.
    fn version(&self) -> Option<i64>;
}

impl ExtensionView for () {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    fn version(&self) -> Option<i64> {
        None
    }
}

/// The empty extension.
#[derive(Debug, Default)]
pub(crate) struct Nothing;

impl FromQuery for Nothing {
    fn read(_: &mut Query) -> Self {
        Self
    }
}

impl<R: RegisterApi> Extension<R> for Nothing {
    type ExtensionView = ();

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn properties() -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    async fn find(
        &self,
        _: &Api,
        _: &Scope,
        records: &mut [Record<R>],
        _: Option<Time>,
    ) -> Result<Vec<()>, Problem> {
        Ok(vec![(); records.len()])
    }
}

type ShownOf<R> = <<R as RegisterApi>::Extension as Extension<R>>::ExtensionView;

/// The user of a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "email": "ada@example.com"}))]
pub struct AuthenticatedUser {
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: UserId,
    email: String,
}

/// The authentication of the request.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"authType": "api-key"}))]
pub struct AuthInfo {
    #[schema(schema_with = schema_of::<AuthType>)]
    auth_type: AuthType,
    /// Present only with a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    authenticated_user: Option<AuthenticatedUser>,
}

impl AuthInfo {
    /// Returns the value for a request with an API key.
    pub fn by_key() -> Self {
        Self { auth_type: AuthType::ApiKey, authenticated_user: None }
    }
}

impl From<&Scope> for AuthInfo {
    fn from(scope: &Scope) -> Self {
        let auth_type = scope.auth_type().unwrap_or(AuthType::ApiKey);
        let user = scope.principal().filter(|_| auth_type == AuthType::Session);
        let authenticated_user =
            user.map(|user| AuthenticatedUser { id: user.user, email: user.email.clone() });
        Self { auth_type, authenticated_user }
    }
}

/// A row in a response.
#[derive(Debug)]
pub struct View<R: Stored, S: ExtensionView = ()> {
    record: Record<R>,
    /// The current day, on which some properties depend.
    today: Date,
    beside: S,
}

impl<R: Stored> View<R> {
    pub fn new(record: Record<R>, today: Date) -> Self {
        Self { record, today, beside: () }
    }
}

impl<R: Stored, S: ExtensionView> View<R, S> {
    /// Returns the versions that the ETag is built from.
    fn versions(&self) -> Vec<i64> {
        [self.record.version].into_iter().chain(self.beside.version()).collect()
    }
}

/// Returns the views of rows, reduced to what the caller may see.
pub(crate) async fn views<R: RegisterApi>(
    api: &Api,
    scope: &Scope,
    beside: &R::Extension,
    mut records: Vec<Record<R>>,
    at: Option<Time>,
) -> Result<Vec<View<R, ShownOf<R>>>, Problem> {
    let today = scope.day(at, api.ctx.now());
    let shown = beside.find(api, scope, &mut records, at).await?;
    Ok(records.into_iter().zip(shown).map(|(record, beside)| View { record, today, beside }).collect())
}

impl<R: Stored, B: ExtensionView> Serialize for View<R, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.record.write(&mut map)?;
        for computed in R::COMPUTED {
            if let Some((wire, _)) = computed.shown {
                map.serialize_entry(wire, &(computed.of)(&self.record.fields))?;
            }
        }
        for live in R::LIVE {
            map.serialize_entry(live.wire, (live.of)(&self.record.fields, self.today))?;
        }
        self.beside.write(&mut map)?;
        map.end()
    }
}

#[derive(Serialize)]
#[serde(bound = "")]
pub(crate) struct Answer<R: Stored, S: ExtensionView> {
    #[serde(flatten)]
    row: View<R, S>,
    #[serde(flatten)]
    auth: Option<AuthInfo>,
}

/// Returns the response for one row, and the versions for its ETag.
pub(crate) async fn answer<R: RegisterApi>(
    api: &Api,
    scope: &Scope,
    beside: &R::Extension,
    record: Record<R>,
    at: Option<Time>,
) -> Result<(Vec<i64>, Answer<R, ShownOf<R>>), Problem> {
    let mut rows = views(api, scope, beside, vec![record], at).await?;
    let row = rows.pop().ok_or(attestry_app::Error::NotFound(R::NAMES.one))?;
    let auth = (!R::BARE).then(|| scope.into());
    Ok((row.versions(), Answer { row, auth }))
}

/// One page of a register.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub struct List<R: Stored, S: ExtensionView = ()> {
    data: Vec<View<R, S>>,
    count: usize,
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
    /// The page number and the page count, if the page was requested by number.
    #[serde(flatten)]
    numbers: Option<PageNumbers>,
    #[serde(flatten)]
    auth: AuthInfo,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageNumbers {
    page: u32,
    page_count: i64,
}

impl<R: Stored, S: ExtensionView> List<R, S> {
    pub fn new(
        data: Vec<View<R, S>>,
        next_cursor: Option<String>,
        total: Option<i64>,
        auth: AuthInfo,
    ) -> Self {
        Self { count: data.len(), data, next_cursor, total, numbers: None, auth }
    }
}

/// The `asOf` parameter, and the parameters of the extension.
#[derive(Debug)]
pub(crate) struct AsOf<B> {
    at: Option<Time>,
    beside: B,
}

impl<B: FromQuery> FromQuery for AsOf<B> {
    fn read(query: &mut Query) -> Self {
        Self { at: query.as_of("asOf"), beside: B::read(query) }
    }
}

/// The query of what can be shown as of a point in time.
#[derive(Debug)]
pub(crate) struct AsOfQuery {
    pub(crate) at: Option<Time>,
}

impl FromQuery for AsOfQuery {
    fn read(query: &mut Query) -> Self {
        Self { at: query.as_of("asOf") }
    }
}

impl IntoParams for AsOfQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![as_of_parameter()]
    }
}

fn as_of_parameter() -> Parameter {
    let about =
        "As it stood at this moment, from the journal: a time, or a date, which means its end in UTC.";
    lists::parameter("asOf", schema_of::<attestry_domain::date::Moment>(), about)
}

/// The filter of a list, and its `asOf` time.
#[derive(Debug)]
struct Narrowed<R: RegisterApi> {
    wanted: Wanted<R>,
    /// True if only due rows are requested.
    is_due: bool,
    as_of: Option<Time>,
}

impl<R: RegisterApi> FromQuery for Narrowed<R> {
    fn read(query: &mut Query) -> Self {
        let is_due = query.get(R::DUE.wire).unwrap_or(false);
        let wanted = Wanted { filter: R::Filter::read(query), q: lists::search(query), due_by: None };
        Self { wanted, is_due, as_of: query.as_of("asOf") }
    }
}

impl<R: RegisterApi> Narrowed<R> {
    /// Resolves the filter for a day, and returns it with the `asOf` time.
    fn on(self, today: Date) -> (Wanted<R>, Option<Time>) {
        let by = if R::DUE.on_the_day { today } else { today.plus_days(-1) };
        (Wanted { due_by: self.is_due.then_some(by), ..self.wanted }, self.as_of)
    }

    fn parameters() -> Vec<Parameter> {
        let of = |condition: &Condition| {
            lists::parameter(condition.wire, schema((condition.schema)()), condition.about)
        };
        let mut all: Vec<Parameter> = R::Filter::CONDITIONS.iter().map(of).collect();
        let named_by = R::NAMED_BY;
        let about = format!(
            "Part of the {named_by} or the description, case-insensitive, or a reference such as `{}-14`.",
            R::REFERENCE
        );
        all.extend(lists::search_parameters(&about));
        all.push(lists::parameter(R::DUE.wire, lists::flag(), R::DUE.about));
        all.push(as_of_parameter());
        all
    }
}

#[derive(Debug)]
struct ListQuery<R: RegisterApi> {
    narrowed: Narrowed<R>,
    beside: R::Extension,
    numbered: Option<Numbered>,
    page: PageRequest<R::Sort>,
    total: bool,
}

impl<R: RegisterApi> FromQuery for ListQuery<R> {
    fn read(query: &mut Query) -> Self {
        Self {
            numbered: Numbered::read(query),
            narrowed: Narrowed::read(query),
            beside: R::Extension::read(query),
            page: lists::page(query),
            total: lists::total(query),
        }
    }
}

async fn list<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Read>,
    query: ValidQuery<ListQuery<R>>,
) -> Result<Json<List<R, ShownOf<R>>>, Problem> {
    let ValidQuery(ListQuery { narrowed, beside, numbered, page, total }) = query;
    let today = scope.day(narrowed.as_of, api.ctx.now());
    let (wanted, as_of) = narrowed.on(today);
    let (sort, order) = (page.sort, page.order);
    let total = match total || numbered.is_some() {
        true => Some(R::count(&api.ctx, &scope, &wanted, as_of).await?),
        false => None,
    };
    let mut found = match numbered {
        None => R::page(&api.ctx, &scope, &wanted, page, as_of).await?,
        // A page beyond the end is empty: do not skip through all rows to find that out.
        Some(numbered)
            if u64::try_from(total.unwrap_or_default()).unwrap_or_default() <= numbered.skipped() =>
        {
            Page::empty()
        }
        Some(numbered) => {
            let (ctx, own, wanted) = (&api.ctx, &*scope, &wanted);
            let read =
                |limit, after| R::page(ctx, own, wanted, PageRequest { limit, after, ..page.clone() }, as_of);
            lists::page_at_offset(numbered.skipped(), numbered.per_page, None, read).await?
        }
    };
    let next_cursor = lists::next_of(sort, order, &mut found);
    let rows = views(&api, &scope, &beside, found.items, as_of).await?;
    let mut list = List::new(rows, next_cursor, total, (&*scope).into());
    list.numbers = numbered.map(|numbered| PageNumbers {
        page: numbered.page,
        page_count: numbered.page_count(total.unwrap_or_default()),
    });
    Ok(Json(list))
}

/// The query of a plain array, which returns a page only if one is requested.
#[derive(Debug)]
struct BareQuery<R: RegisterApi> {
    narrowed: Narrowed<R>,
    beside: R::Extension,
    page: PageRequest<R::Sort>,
    is_paged: bool,
}

impl<R: RegisterApi> FromQuery for BareQuery<R> {
    fn read(query: &mut Query) -> Self {
        let is_paged = query.has("limit") || query.has("cursor");
        let mut page = lists::page(query);
        if !is_paged {
            page.limit = u16::MAX;
        }
        Self { narrowed: Narrowed::read(query), beside: R::Extension::read(query), page, is_paged }
    }
}

async fn list_bare<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Read>,
    query: ValidQuery<BareQuery<R>>,
    uri: Uri,
) -> Result<Response, Problem> {
    let ValidQuery(BareQuery { narrowed, beside, mut page, is_paged }) = query;
    let today = scope.day(narrowed.as_of, api.ctx.now());
    let (wanted, as_of) = narrowed.on(today);
    let (sort, order) = (page.sort, page.order);
    let mut rows = Vec::new();
    let next = loop {
        let mut found = R::page(&api.ctx, &scope, &wanted, page.clone(), as_of).await?;
        rows.append(&mut found.items);
        match found.next {
            Some(next) if !is_paged => page.after = Some(next),
            next => break next,
        }
    };
    let rows = views(&api, &scope, &beside, rows, as_of).await?;
    Ok(lists::linked(&uri, lists::cursor_of(sort, order, next), Json(rows)))
}

/// The body of a creation (`WHOLE`) or of an update.
struct Given<R: RegisterApi, const WHOLE: bool>(R::Patch);

impl<R: RegisterApi, const WHOLE: bool> Argument for Given<R, WHOLE> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = R::BODY_LIMIT;
    }
}

impl<R: RegisterApi, const WHOLE: bool> FromRequest<Api> for Given<R, WHOLE> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        let fields = Fields::of_request(request).await?;
        fields.read_by(|fields| R::body(fields, WHOLE)).map(Self).map_err(Problem::invalid)
    }
}

async fn create<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Create>,
    ValidQuery(beside): ValidQuery<R::Extension>,
    Given(given): Given<R, true>,
) -> Result<Response, Problem> {
    let record = registers::create::<R>(&api.ctx, &scope, given).await?;
    let (tag, row) = answer(&api, &scope, &beside, record, None).await?;
    Ok(with_tag(StatusCode::CREATED, &tag, row))
}

async fn show<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Read>,
    id: PathId<R::Kind>,
    query: ValidQuery<AsOf<R::Extension>>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let ValidQuery(AsOf { at, beside }) = query;
    if let Some(moment) = at {
        let record = registers::get_at::<R>(&api.ctx, &scope, id.found()?, moment).await?;
        return Ok(Json(answer(&api, &scope, &beside, record, at).await?.1).into_response());
    }
    let record = registers::get::<R>(&api.ctx, &scope, id.found()?).await?;
    let (tag, row) = answer(&api, &scope, &beside, record, None).await?;
    Ok(conditions.respond(&tag, row))
}

async fn update<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Update>,
    id: PathId<R::Kind>,
    ValidQuery(beside): ValidQuery<R::Extension>,
    conditions: Conditions,
    Given(patch): Given<R, false>,
) -> Result<Response, Problem> {
    let record = registers::update::<R>(&api.ctx, &scope, id.found()?, patch, conditions.if_match()).await?;
    let (tag, row) = answer(&api, &scope, &beside, record, None).await?;
    Ok(with_tag(StatusCode::OK, &tag, row))
}

async fn remove<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::Delete>,
    id: PathId<R::Kind>,
    conditions: Conditions,
) -> Result<Json<Value>, Problem> {
    let record = registers::delete::<R>(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(match R::NAMES.deleted {
        Some(property) => json!({"success": true, property: {"id": record.id, R::NAMED_BY: record.name()}}),
        None => json!({"success": true, "message": format!("The {} is deleted.", R::NAMES.one)}),
    }))
}

async fn show_history<R: RegisterApi>(
    api: State<Api>,
    scope: Granted<R::ReadAll>,
    id: PathId<R::Kind>,
    query: ValidQuery<ListHistory>,
) -> Result<Json<EntryList>, Problem> {
    let ValidQuery(ListHistory { limit, before }) = query;
    Ok(Json(history_page(history::of(&api.ctx, &scope, id.found()?, limit, before).await?)))
}
