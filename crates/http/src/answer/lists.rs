//! The page parameters of all lists, and the opaque cursor.

use std::borrow::Cow;
use std::fmt::Display;

use attestry_domain::JsonSchema;
use attestry_domain::page::{After, Key, Order, Page, PageRequest, Sort};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{CONTENT_TYPE, LINK};
use http::{HeaderValue, Uri};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::document::schemas::{reference, schema, schema_of};
use crate::request::query::{FromQuery, Query};

pub const DEFAULT_LIMIT: u16 = 100;
const MAX_PAGE_SIZE: u16 = 1000;
const MAX_OFFSET: u64 = 100_000;
/// The maximum length of a cursor in characters.
const MAX_CURSOR: usize = 12_000;

pub fn limit(query: &mut Query) -> u16 {
    limit_by("limit", query)
}

/// Reads the limit from a parameter with another name.
pub fn limit_by(name: &str, query: &mut Query) -> u16 {
    let Some(text) = query.raw(name) else { return DEFAULT_LIMIT };
    match text.parse() {
        Ok(limit @ 1..=MAX_PAGE_SIZE) => limit,
        _ => {
            query.note(name, format!("must be a whole number from 1 to {MAX_PAGE_SIZE}"));
            DEFAULT_LIMIT
        }
    }
}

/// Reads the search text from `q` or `search`, trimmed; empty text means no search.
pub fn search(query: &mut Query) -> Option<String> {
    let name = alternative(query, "q", "search");
    let text = query.raw(name)?;
    let text = text.trim();
    if text.contains('\0') || text.chars().count() > 255 {
        query.note(name, "must have at most 255 characters and no NUL");
    }
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// Returns which of two names for a parameter the query uses.
fn alternative(query: &mut Query, name: &'static str, other: &'static str) -> &'static str {
    if query.has(name) && query.has(other) {
        query.raw(other);
        query.note(other, format!("is the same as {name}; give one of them"));
    }
    if query.has(other) { other } else { name }
}

/// Returns the parameters `q` and `search`.
pub fn search_parameters(about: &str) -> [Parameter; 2] {
    [parameter("q", text(), about), parameter("search", text(), "The same as `q`.")]
}

/// Reads `total`: true counts the items of all pages.
pub fn total(query: &mut Query) -> bool {
    query.get("total").unwrap_or(false)
}

pub fn total_parameter() -> Parameter {
    parameter("total", flag(), "true also answers `total`, an exact count of all pages together.")
}

pub fn total_schema() -> RefOr<Schema> {
    let about = "The number of items on all pages. Only with `total=true`.";
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(about)).into()
}

/// A page of a list in a response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageView<T> {
    pub data: Vec<T>,
    count: usize,
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
}

impl<T> PageView<T> {
    pub fn new(
        items: impl IntoIterator<Item: Into<T>>,
        next_cursor: Option<String>,
        total: Option<i64>,
    ) -> Self {
        let data: Vec<T> = items.into_iter().map(Into::into).collect();
        Self { count: data.len(), data, next_cursor, total }
    }

    /// Builds a list that has one page.
    pub fn whole(items: impl IntoIterator<Item: Into<T>>) -> Self {
        Self::new(items, None, None)
    }
}

/// A view that is returned in lists.
pub trait Item: ToSchema {
    /// The name of a page's schema in the OpenAPI document.
    const PAGE: &'static str;
    /// True if the items of all pages can be counted.
    const HAS_TOTAL: bool = true;

    fn example() -> Value;
}

/// Defines the page type of a view, its name in the OpenAPI document, and an example item.
#[macro_export]
macro_rules! page_of {
    ($(#[$about:meta])* $vis:vis $list:ident = $view:ty, $name:literal, $example:expr $(, HAS_TOTAL = $total:literal)?) => {
        $(#[$about])*
        $vis type $list = $crate::answer::lists::PageView<$view>;

        impl $crate::answer::lists::Item for $view {
            const PAGE: &'static str = $name;
            $(const HAS_TOTAL: bool = $total;)?

            fn example() -> serde_json::Value {
                $example
            }
        }
    };
}

impl<T: Item> PartialSchema for PageView<T> {
    fn schema() -> RefOr<Schema> {
        let mut page = json!({
            "type": "object", "required": ["data", "count", "nextCursor"],
            "properties": {
                "data": {"type": "array", "items": reference(&T::name())},
                "count": {"type": "integer", "minimum": 0, "description": "The number of items in this page."},
                "nextCursor": {"type": ["string", "null"], "description": "The cursor of the next page; null on the last page."}
            },
            "example": {"data": [T::example()], "count": 1, "nextCursor": null}
        });
        if T::HAS_TOTAL {
            page["properties"]["total"] = json!(total_schema());
        }
        schema(page)
    }
}

impl<T: Item> ToSchema for PageView<T> {
    fn name() -> Cow<'static, str> {
        T::PAGE.into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

/// The parameters `page` and `perPage`: a page by its number, in place of `limit` and `cursor`.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    pub page: u32,
    pub per_page: u16,
}

impl Numbered {
    const DEFAULT_PER_PAGE: u16 = 50;

    pub fn read(query: &mut Query) -> Option<Self> {
        if !query.has("page") && !query.has("perPage") {
            return None;
        }
        for name in ["limit", "cursor"] {
            if query.has(name) {
                query.note(name, "cannot be combined with page and perPage");
            }
        }
        let per_page = match query.raw("perPage").map(|text| text.parse()) {
            None => Self::DEFAULT_PER_PAGE,
            Some(Ok(number @ 1..=MAX_PAGE_SIZE)) => number,
            Some(_) => {
                query.note("perPage", format!("must be a whole number from 1 to {MAX_PAGE_SIZE}"));
                1
            }
        };
        let page = match query.raw("page").map(|text| text.parse()) {
            None => 1,
            Some(Ok(number @ 1..)) => number,
            Some(_) => {
                query.note("page", "must be a whole number of 1 or more");
                1
            }
        };
        Some(Self { page, per_page })
    }

    /// Returns the number of items before the page.
    pub fn skipped(self) -> u64 {
        u64::from(self.page - 1) * u64::from(self.per_page)
    }

    pub fn page_count(self, total: i64) -> i64 {
        let per_page = i64::from(self.per_page);
        (total + per_page - 1) / per_page
    }

    pub fn parameters() -> [Parameter; 2] {
        let number = || ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
        let per_page = number().maximum(Some(MAX_PAGE_SIZE));
        let about = "The number of a page, from 1 on, in place of `cursor`; also answers `total`, `page` and `pageCount`. \
                     A cursor is faster for long lists.";
        [
            parameter("page", number().into(), about),
            parameter(
                "perPage",
                per_page.into(),
                "The number of items on a page, in place of `limit`; 50 if only `page` is given.",
            ),
        ]
    }
}

/// Reads `offset`: the number of items to skip.
pub fn offset(query: &mut Query) -> u64 {
    match query.raw("offset").filter(|text| !text.is_empty()).map(|text| text.parse()) {
        None => 0,
        Some(Ok(offset @ 0..=MAX_OFFSET)) => offset,
        Some(_) => {
            query.note("offset", format!("must be a whole number from 0 to {MAX_OFFSET}"));
            0
        }
    }
}

pub fn offset_parameter() -> Parameter {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(MAX_OFFSET));
    parameter("offset", number.into(), "The number of items to skip. A cursor is faster for long lists.")
}

/// Returns the page at an offset. The items before it are read and skipped.
pub async fn page_at_offset<T, E, F>(
    mut skipped: u64,
    limit: u16,
    mut after: Option<After>,
    read: impl Fn(u16, Option<After>) -> F,
) -> Result<Page<T>, E>
where
    F: Future<Output = Result<Page<T>, E>>,
{
    let mut items: Vec<T> = Vec::new();
    loop {
        let missing = u64::from(limit) - u64::try_from(items.len()).unwrap_or_default();
        let wanted = u16::try_from(skipped + missing).unwrap_or(MAX_PAGE_SIZE).min(MAX_PAGE_SIZE);
        let found = read(wanted, after).await?;
        let passed = usize::try_from(skipped).unwrap_or(usize::MAX).min(found.items.len());
        skipped -= u64::try_from(passed).unwrap_or_default();
        items.extend(found.items.into_iter().skip(passed));
        match found.next {
            Some(next) if items.len() < usize::from(limit) => after = Some(next),
            next => return Ok(Page { items, next }),
        }
    }
}

/// Reads `sort` and `order`.
pub fn sorting<S: Sort>(query: &mut Query) -> (S, Order) {
    let sort: S = query.get("sort").unwrap_or_default();
    (sort, order(query, sort.natural_order()))
}

/// Reads `order`.
pub fn order(query: &mut Query, natural: Order) -> Order {
    let name = alternative(query, "order", "sortDirection");
    match query.raw(name).as_deref() {
        None => natural,
        Some("desc") => Order::Descending,
        Some("asc") => Order::Ascending,
        Some(_) => {
            query.note(name, "must be one of: asc desc");
            Order::Descending
        }
    }
}

/// Reads `limit`, `cursor`, `sort` and `order`.
pub fn page<S: Sort>(query: &mut Query) -> PageRequest<S> {
    let (sort, order) = sorting::<S>(query);
    let after = cursor(query, &tag(sort, order), |key| sort.takes(key));
    PageRequest { sort, order, limit: limit(query), after }
}

fn tag(sort: impl Display, order: Order) -> String {
    format!("{sort} {}", if order == Order::Ascending { "asc" } else { "desc" })
}

/// Reads `cursor`, which must have been created for the same order.
pub fn cursor(query: &mut Query, tag: &str, takes: impl Fn(&Key) -> bool) -> Option<After> {
    let text = query.raw("cursor")?;
    let after = URL_SAFE_NO_PAD.decode(&text).ok().and_then(|bytes| {
        let parts: (String, Value, String) = serde_json::from_slice(&bytes).ok()?;
        let key = match parts.1 {
            Value::Null => Key::Id,
            Value::String(text) => Key::Text(text),
            other => Key::Number(other.as_i64()?),
        };
        let odd = |text: &str| text.contains('\0') || text.len() > 4000;
        let fits =
            parts.0 == tag && takes(&key) && !odd(&parts.2) && !matches!(&key, Key::Text(text) if odd(text));
        fits.then_some(After { key, id: parts.2 })
    });
    if after.is_none() {
        query.note("cursor", "is not the nextCursor of a page with the same sort and order");
    }
    after
}

pub fn next_cursor(tag: &str, next: Option<After>) -> Option<String> {
    let After { key, id } = next?;
    let key = match key {
        Key::Id => Value::Null,
        Key::Text(text) => Value::String(text),
        Key::Number(number) => Value::from(number),
    };
    Some(URL_SAFE_NO_PAD.encode(json!([tag, key, id]).to_string()))
}

pub fn next_of<S: Display, T>(sort: S, order: Order, page: &mut Page<T>) -> Option<String> {
    next_cursor(&tag(sort, order), page.next.take())
}

/// Returns the cursor for the position after a page.
pub fn cursor_of<S: Display>(sort: S, order: Order, next: Option<After>) -> Option<String> {
    next_cursor(&tag(sort, order), next)
}

/// Responds with a plain array; the `Link` header points to the next page.
pub fn linked(uri: &Uri, next_cursor: Option<String>, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    if let Some(cursor) = next_cursor {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let given = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        query.extend_pairs(given.filter(|(name, _)| name != "cursor"));
        query.append_pair("cursor", &cursor);
        let link = format!("<{}?{}>; rel=\"next\"", uri.path(), query.finish());
        if let Ok(link) = HeaderValue::from_str(&link) {
            response.headers_mut().insert(LINK, link);
        }
    }
    response
}

/// Streams a plain array that is too long for memory, page by page. `first` is the first page.
pub fn streamed<T, V, F>(
    first: Page<T>,
    next: impl Fn(After) -> F + Send + 'static,
    view: impl Fn(T) -> V + Send + 'static,
) -> Response
where
    T: Send + 'static,
    V: Serialize,
    F: Future<Output = Result<Page<T>, attestry_app::Error>> + Send,
{
    let state = (Some(first), next, view, true);
    let pieces = stream::unfold(state, |(page, next, view, is_first)| async move {
        let Page { items, next: after } = page?;
        let mut text = Vec::with_capacity(64 << 10);
        if is_first {
            text.push(b'[');
        }
        let mut separator: &[u8] = if is_first { b"" } else { b"," };
        for item in items {
            text.extend_from_slice(separator);
            if let Err(error) = serde_json::to_writer(&mut text, &view(item)) {
                return Some((Err(std::io::Error::other(error)), (None, next, view, false)));
            }
            separator = b",";
        }
        let Some(after) = after else {
            text.push(b']');
            return Some((Ok(Bytes::from(text)), (None, next, view, false)));
        };
        // An interrupted list is a parse error for the client, because the array is not closed.
        match next(after).await {
            Ok(page) => Some((Ok(Bytes::from(text)), (Some(page), next, view, false))),
            Err(error) => {
                tracing::error!(%error, "a list broke off");
                Some((Err(std::io::Error::other("the list broke off")), (None, next, view, false)))
            }
        }
    });
    // Fused, because the compression layer polls again after the end.
    ([(CONTENT_TYPE, "application/json")], Body::from_stream(pieces.fuse())).into_response()
}

/// Builds the documentation of a query parameter.
pub fn parameter(name: &str, schema: RefOr<Schema>, about: &str) -> Parameter {
    // Several values are one comma-separated text.
    let is_list = matches!(schema, RefOr::T(Schema::OneOf(_)));
    let about = if is_list {
        format!("{about} Several values: any of them, with commas between them.")
    } else {
        about.to_owned()
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(about))
        .style(is_list.then_some(ParameterStyle::Form))
        .explode(is_list.then_some(false))
        .schema(Some(schema))
        .build()
}

/// Builds the documentation of a required query parameter.
pub fn required(name: &str, schema: RefOr<Schema>, about: &str) -> Parameter {
    let mut parameter = parameter(name, schema, about);
    parameter.required = utoipa::openapi::Required::True;
    parameter
}

pub fn text() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).max_length(Some(255)).into()
}

/// Reads a flag that some clients always send, empty if it is not set.
pub fn flag_or_empty(query: &mut Query, name: &str) -> Option<bool> {
    let text = query.raw(name).filter(|text| !text.is_empty())?;
    match text.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => {
            query.note(name, "must be true or false");
            None
        }
    }
}

pub fn flag() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Boolean).into()
}

/// Returns the parameters of a list without a choice of order.
pub fn plain_parameters() -> Vec<Parameter> {
    page_parameters(
        Some(DEFAULT_LIMIT.into()),
        "The maximum number of items in a page.",
        "The `nextCursor` of the previous page.",
    )
}

/// Returns the parameters of a plain array, which contains all items unless a page is requested.
pub fn bare_parameters() -> Vec<Parameter> {
    page_parameters(
        None,
        "The maximum number of items in a page; everything without it.",
        "The start of a page, from the `Link` header of the previous one.",
    )
}

fn page_parameters(default: Option<Value>, limit: &str, cursor: &str) -> Vec<Parameter> {
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(MAX_PAGE_SIZE))
        .default(default);
    let opaque = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[A-Za-z0-9_-]+$"))
        .max_length(Some(MAX_CURSOR));
    vec![parameter("limit", number.into(), limit), parameter("cursor", opaque.into(), cursor)]
}

/// The query of a list without a choice of order, sorted by id.
#[derive(Debug)]
pub struct ById {
    pub limit: u16,
    pub after: Option<After>,
    pub total: bool,
}

impl ById {
    /// Returns the number of all items, if requested.
    pub fn total_of(&self, all: usize) -> Option<i64> {
        self.total.then(|| i64::try_from(all).unwrap_or(i64::MAX))
    }

    /// Returns a page of a complete list that is in the order of its ids, and the cursor of the next page.
    pub fn cut<T, I: Display>(
        &self,
        all: impl IntoIterator<Item = T>,
        id: impl Fn(&T) -> I,
    ) -> (Vec<T>, Option<String>) {
        let is_later = |one: &T| self.after.as_ref().is_none_or(|after| id(one).to_string() > after.id);
        let found = all.into_iter().filter(is_later).take(usize::from(self.limit) + 1).collect();
        let page = Page::cut(found, self.limit, |one| After { key: Key::Id, id: id(one).to_string() });
        (page.items, next_id(page.next))
    }
}

const BY_ID: &str = "id";

impl FromQuery for ById {
    fn read(query: &mut Query) -> Self {
        Self { limit: limit(query), after: after_id(query), total: total(query) }
    }
}

impl IntoParams for ById {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = plain_parameters();
        all.push(total_parameter());
        all
    }
}

/// Reads the cursor of a list that is sorted by id.
pub fn after_id(query: &mut Query) -> Option<After> {
    cursor(query, BY_ID, |key| matches!(key, Key::Id))
}

pub fn next_id(next: Option<After>) -> Option<String> {
    next_cursor(BY_ID, next)
}

/// Returns the parameters of a list that can be sorted by `S`.
pub fn parameters<S: Sort + JsonSchema>() -> Vec<Parameter> {
    plain_parameters().into_iter().chain(sorting_parameters::<S>()).collect()
}

pub fn sorting_parameters<S: Sort + JsonSchema>() -> [Parameter; 3] {
    let natural = if S::default().natural_order() == Order::Ascending { "asc" } else { "desc" };
    let about = format!("The sort order; `{}` by default.", S::default());
    let direction = format!("Ascending or descending; for the default sort order `{natural}`.");
    let [order, alternative] = order_parameters(&direction);
    [parameter("sort", schema_of::<S>(), &about), order, alternative]
}

/// Returns the parameters `order` and `sortDirection`.
pub fn order_parameters(about: &str) -> [Parameter; 2] {
    let order = || ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["asc", "desc"]));
    [
        parameter("order", order().into(), about),
        parameter("sortDirection", order().into(), "The same as `order`."),
    ]
}
