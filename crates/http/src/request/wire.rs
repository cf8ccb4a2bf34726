//! Strict bodies. A body is declared once, by [`body!`], which generates the struct, a parser that reports all errors
//! together, and the schema. No value is coerced.

use std::borrow::Cow;

use attestry_domain::Patch;
use attestry_domain::json::{Given, GivenBody};
use axum::body::HttpBody;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::answer::problem::{FieldProblem, Problem};
use crate::request::bodies::{JSON, must_be, read_body};
use crate::request::caller::request_context;
use crate::request::facts::{Argument, BodyLimit, Facts};
use crate::request::json::{FromJson, Json};
use crate::state::Api;

/// The properties of an object, each of which is read once.
#[derive(Debug)]
pub struct Fields {
    properties: Vec<(String, Option<Json>)>,
    errors: Vec<FieldProblem>,
}

/// The maximum number of properties; more than any of our bodies has.
const MAX_PROPERTIES: usize = 200;

/// An object without duplicate properties.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Properties;
        impl<'de> Visitor<'de> for Properties {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut properties: Vec<(String, &'de RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    // Comparing each property with all others is fast for so few.
                    if properties.len() == MAX_PROPERTIES {
                        let many = format!("there are more than {MAX_PROPERTIES} properties");
                        return Err(serde::de::Error::custom(many));
                    }
                    if properties.iter().any(|(known, _)| *known == name) {
                        return Err(serde::de::Error::custom(format!(
                            "the property {name:?} is given more than once"
                        )));
                    }
                    properties.push((name, value));
                }
                Ok(Object(properties))
            }
        }
        deserializer.deserialize_map(Properties)
    }
}

impl Fields {
    pub fn parse(body: &Bytes) -> Result<Self, Problem> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(missing_body());
        }
        Self::of_object(body).map_err(|error| {
            Problem::new("malformed_body", format!("The body is not a JSON object as expected: {error}."))
        })
    }

    /// Reads the properties of a JSON body.
    pub async fn of_request(request: Request) -> Result<Self, Problem> {
        let headers = request.headers();
        if !headers.contains_key(CONTENT_TYPE) && request.body().is_end_stream() {
            return Err(missing_body());
        }
        must_be(headers, JSON)?;
        Self::parse(&read_request(request).await?)
    }

    fn of_object(body: &Bytes) -> Result<Self, serde_json::Error> {
        let Object(properties) = serde_json::from_slice(body)?;
        let properties =
            properties.into_iter().map(|(name, raw)| (name, Some(Json::within(body, raw)))).collect();
        Ok(Self { properties, errors: Vec::new() })
    }

    /// Reads the properties of an object within a body.
    pub fn of(json: &Json) -> Result<Self, String> {
        Self::of_object(json.bytes())
            .map_err(|_| "must be an object that gives no property more than once".to_owned())
    }

    /// Returns the text of a property without consuming or validating it.
    pub fn peek(&self, name: &str) -> Option<String> {
        let (_, json) = self.properties.iter().find(|(known, _)| known == name)?;
        json.as_ref()?.text().ok().map(Cow::into_owned)
    }

    /// Returns true if a property is present and has not been read yet.
    pub fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|(known, value)| known == name && value.is_some())
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        self.properties.iter_mut().find(|(known, _)| known == name).and_then(|(_, value)| value.take())
    }

    pub fn note(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(FieldProblem::new(name, message));
    }

    fn checked<T: FromJson>(&mut self, name: &str, json: &Json) -> Option<T> {
        match T::from_json(json) {
            Ok(value) => Some(value),
            Err(message) => {
                self.note(name, if json.is_null() { "must not be null".to_owned() } else { message });
                None
            }
        }
    }

    /// Reads a field that must be present and not null.
    pub fn required<T: FromJson>(&mut self, name: &str) -> Option<T> {
        match self.take(name) {
            Some(value) => self.checked(name, &value),
            None => {
                self.note(name, "is required");
                None
            }
        }
    }

    /// Reads a field that may be left out, but must not be null.
    pub fn optional<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        match self.take(name) {
            Some(value) => self.checked(name, &value).map(Some),
            None => Some(None),
        }
    }

    /// Reads a field that may be left out or null.
    pub fn nullable<T: FromJson>(&mut self, name: &str) -> Option<Patch<T>> {
        match self.take(name) {
            Some(json) if json.is_null() => Some(Patch::Null),
            Some(value) => self.checked(name, &value).map(Patch::Value),
            None => Some(Patch::Absent),
        }
    }

    pub fn read<B: Body>(self) -> Result<B, Vec<FieldProblem>> {
        self.read_by(B::read)
    }

    /// Reads the whole body, and reports the remaining properties as unknown.
    pub fn read_by<B>(mut self, read: impl FnOnce(&mut Self) -> Option<B>) -> Result<B, Vec<FieldProblem>> {
        let body = read(&mut self);
        let unknown: Vec<String> = self
            .properties
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(name, _)| name.clone())
            .collect();
        for name in unknown {
            self.note(&name, "is not a known property");
        }
        match body {
            Some(body) if self.errors.is_empty() => Ok(body),
            _ => Err(self.errors),
        }
    }
}

impl GivenBody for Fields {
    fn required<T: Given>(&mut self, name: &str) -> Option<T> {
        self.required(name)
    }

    fn optional<T: Given>(&mut self, name: &str) -> Option<Option<T>> {
        self.optional(name)
    }

    fn nullable<T: Given>(&mut self, name: &str) -> Option<Patch<T>> {
        self.nullable(name)
    }

    fn not_given(&mut self, name: &str) -> Option<()> {
        match self.take(name) {
            None => Some(()),
            Some(_) => {
                self.note(name, "is set by the product and cannot be given");
                None
            }
        }
    }
}

/// A body that [`body!`] declares.
pub trait Body: Sized {
    const LIMIT: BodyLimit = BodyLimit::Small;

    fn read(fields: &mut Fields) -> Option<Self>;
}

/// Adds a description to an inline schema.
pub fn described(schema: RefOr<Schema>, text: &str) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.description = Some(match object.description.take() {
                Some(general) => format!("{text} {general}"),
                None => text.to_owned(),
            });
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.description = Some(text.to_owned());
            RefOr::T(Schema::Array(array))
        }
        other => other,
    }
}

/// Makes a schema nullable.
pub fn or_null(schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Type(own) = object.schema_type {
                object.schema_type = SchemaType::Array(vec![own, Type::Null]);
            }
            if let Some(values) = &mut object.enum_values {
                values.push(Value::Null);
            }
            RefOr::T(Schema::Object(object))
        }
        other => other,
    }
}

/// Declares a body: `field "wireName": required|optional|nullable Type = "what it is"`.
#[macro_export]
macro_rules! body {
    (@type required $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type nullable $type:ty) => { attestry_domain::Patch<$type> };
    (@schema nullable $type:ty) => { $crate::request::wire::or_null(<$type as $crate::request::json::FromJson>::schema()) };
    (@schema $mode:ident $type:ty) => { <$type as $crate::request::json::FromJson>::schema() };
    (@required required $builder:ident $wire:literal) => { $builder.required($wire) };
    (@required $mode:ident $builder:ident $wire:literal) => { $builder };
    (
        $(#[doc = $about:literal])*
        $name:ident $(($limit:ident))? {
            $($field:ident $wire:literal : $mode:ident $type:ty = $doc:literal),* $(,)?
        }
        example $example:expr
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(#[doc = $doc] pub $field: $crate::body!(@type $mode $type)),*
        }

        impl $crate::request::wire::Body for $name {
            $(const LIMIT: $crate::request::facts::BodyLimit = $crate::request::facts::BodyLimit::$limit;)?

            fn read(fields: &mut $crate::request::wire::Fields) -> Option<Self> {
                $(let $field = fields.$mode::<$type>($wire);)*
                Some(Self { $($field: $field?),* })
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let builder = utoipa::openapi::schema::ObjectBuilder::new()
                    .description(Some(concat!($($about),*).trim()))
                    .additional_properties(Some(utoipa::openapi::schema::AdditionalProperties::<utoipa::openapi::Schema>::FreeForm(false)))
                    .examples([$example]);
                $(let builder = builder.property($wire, $crate::request::wire::described($crate::body!(@schema $mode $type), $doc));)*
                $(let builder = $crate::body!(@required $mode builder $wire);)*
                builder.into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}

/// A validated JSON body.
#[derive(Debug)]
pub struct Valid<B>(pub B);

impl<B: Body> FromRequest<Api> for Valid<B> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        Fields::of_request(request).await?.read().map(Self).map_err(Problem::invalid)
    }
}

impl<B: Body> Argument for Valid<B> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = B::LIMIT;
    }
}

impl<B: Body> Argument for Optional<B> {
    fn describe(facts: &mut Facts) {
        facts.body_limit = B::LIMIT;
    }
}

/// A body without fields.
#[derive(Debug)]
pub struct NoFields;

impl Body for NoFields {
    fn read(_: &mut Fields) -> Option<Self> {
        Some(Self)
    }
}

/// A JSON body that may be left out.
#[derive(Debug)]
pub struct Optional<B>(pub Option<B>);

impl<B: Body> FromRequest<Api> for Optional<B> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        if request.body().is_end_stream() {
            return Ok(Self(None));
        }
        Valid::from_request(request, api).await.map(|Valid(body)| Self(Some(body)))
    }
}

/// Reads the body of a request, up to the limit of its route.
pub async fn read_request(request: Request) -> Result<Bytes, Problem> {
    let context = request_context(request.extensions())?;
    read_body(request.into_body(), context.body_limit, &context.memory).await
}

fn missing_body() -> Problem {
    Problem::new("malformed_body", "The body is missing; send a JSON object.")
}
