//! The page parameters every list has, and the opaque cursor.

use std::fmt::Display;

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
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema};

use crate::request::query::{FromQuery, Query};

pub(crate) const DEFAULT_LIMIT: u16 = 100;
const MOST: u16 = 1000;

pub(crate) fn limit(query: &mut Query) -> u16 {
    let Some(text) = query.raw("limit") else { return DEFAULT_LIMIT };
    match text.parse() {
        Ok(limit @ 1..=MOST) => limit,
        _ => {
            query.note("limit", "must be a whole number from 1 to 1000");
            DEFAULT_LIMIT
        }
    }
}

/// `q`: what to search for, trimmed; nothing is no search.
pub(crate) fn search(query: &mut Query) -> Option<String> {
    let text = query.raw("q")?;
    let text = text.trim();
    if text.contains('\0') || text.chars().count() > 255 {
        query.note("q", "must have at most 255 characters and no NUL");
    }
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// `total`: whether all items are counted.
pub(crate) fn total(query: &mut Query) -> bool {
    query.get("total").unwrap_or(false)
}

pub(crate) fn total_parameter() -> Parameter {
    parameter("total", flag(), "true also answers `total`, an exact count of all pages together.")
}

pub(crate) fn total_schema() -> RefOr<Schema> {
    let about = "How many items all pages hold together. Only with `total=true`.";
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(about)).into()
}

/// `sort` and `order`.
pub(crate) fn sorting<S: Sort>(query: &mut Query) -> (S, Order) {
    let sort: S = query.get("sort").unwrap_or_default();
    let order = match query.raw("order").as_deref() {
        None => sort.natural_order(),
        Some("desc") => Order::Descending,
        Some("asc") => Order::Ascending,
        Some(_) => {
            query.note("order", "must be one of: asc desc");
            Order::Descending
        }
    };
    (sort, order)
}

/// `limit`, `cursor`, `sort` and `order`.
pub(crate) fn page<S: Sort>(query: &mut Query) -> PageRequest<S> {
    let (sort, order) = sorting::<S>(query);
    let after = cursor(query, &tag(sort, order), |key| sort.takes(key));
    PageRequest { sort, order, limit: limit(query), after }
}

fn tag(sort: impl Display, order: Order) -> String {
    format!("{sort} {}", if order == Order::Ascending { "asc" } else { "desc" })
}

/// Reads `cursor`, which must have been made for the same order.
pub(crate) fn cursor(query: &mut Query, tag: &str, takes: impl Fn(&Key) -> bool) -> Option<After> {
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

pub(crate) fn next_cursor(tag: &str, next: Option<After>) -> Option<String> {
    let After { key, id } = next?;
    let key = match key {
        Key::Id => Value::Null,
        Key::Text(text) => Value::String(text),
        Key::Number(number) => Value::from(number),
    };
    Some(URL_SAFE_NO_PAD.encode(json!([tag, key, id]).to_string()))
}

pub(crate) fn next_of<S: Display, T>(sort: S, order: Order, page: &mut Page<T>) -> Option<String> {
    next_cursor(&tag(sort, order), page.next.take())
}

/// The same of where a list goes on.
pub(crate) fn cursor_of<S: Display>(sort: S, order: Order, next: Option<After>) -> Option<String> {
    next_cursor(&tag(sort, order), next)
}

/// A bare list; the `Link` header leads to the next page.
pub(crate) fn linked(uri: &Uri, next_cursor: Option<String>, body: impl IntoResponse) -> Response {
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

/// A bare list that is too long to be held: page after page, as it is read. `first` is the first page.
pub(crate) fn streamed<T, V, F>(
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
        // A list that breaks off is an error for whoever reads it: nothing closes it.
        match next(after).await {
            Ok(page) => Some((Ok(Bytes::from(text)), (Some(page), next, view, false))),
            Err(error) => {
                tracing::error!(%error, "a list broke off");
                Some((Err(std::io::Error::other("the list broke off")), (None, next, view, false)))
            }
        }
    });
    // Whoever compresses asks again after the end.
    ([(CONTENT_TYPE, "application/json")], Body::from_stream(pieces.fuse())).into_response()
}

/// A documented query parameter.
pub(crate) fn parameter(name: &str, schema: RefOr<Schema>, about: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(about))
        .schema(Some(schema))
        .build()
}

/// A query parameter that must be there.
pub(crate) fn required(name: &str, schema: RefOr<Schema>, about: &str) -> Parameter {
    let mut parameter = parameter(name, schema, about);
    parameter.required = utoipa::openapi::Required::True;
    parameter
}

pub(crate) fn text() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).max_length(Some(255)).into()
}

pub(crate) fn flag() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Boolean).into()
}

/// The parameters of a list without a choice of order.
pub(crate) fn plain_parameters() -> Vec<Parameter> {
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(MOST))
        .default(Some(DEFAULT_LIMIT.into()));
    let cursor = ObjectBuilder::new().schema_type(Type::String);
    vec![
        parameter("limit", number.into(), "The maximum number of items in a page."),
        parameter("cursor", cursor.into(), "The `nextCursor` of the previous page."),
    ]
}

/// The query of a list without a choice of order, sorted by id.
#[derive(Debug)]
pub(crate) struct ById {
    pub(crate) limit: u16,
    pub(crate) after: Option<After>,
    pub(crate) total: bool,
}

impl ById {
    /// The page of a list that is there whole and in the order of its ids, and where the next one begins.
    pub(crate) fn cut<T, I: Display>(
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

/// The cursor of a list that is sorted by id.
pub(crate) fn after_id(query: &mut Query) -> Option<After> {
    cursor(query, BY_ID, |key| matches!(key, Key::Id))
}

pub(crate) fn next_id(next: Option<After>) -> Option<String> {
    next_cursor(BY_ID, next)
}

/// The parameters of a list that can be sorted by `S`.
pub(crate) fn parameters<S: Sort + PartialSchema>() -> Vec<Parameter> {
    let mut all = plain_parameters();
    all.extend(sorting_parameters::<S>());
    all
}

pub(crate) fn sorting_parameters<S: Sort + PartialSchema>() -> [Parameter; 2] {
    let natural = if S::default().natural_order() == Order::Ascending { "asc" } else { "desc" };
    let order = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["asc", "desc"]))
        .default(Some(natural.into()));
    let about = format!("The sort order; `{}` by default.", S::default());
    [parameter("sort", S::schema(), &about), parameter("order", order.into(), "Ascending or descending.")]
}
