//! The query string, strictly: every parameter known, none twice, all errors at once.

use attestry_domain::text::Parse;
use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::problem::{FieldProblem, Problem};
use crate::state::Api;

/// The parameters, each looked at once.
#[derive(Debug)]
pub(crate) struct Query {
    parameters: Vec<(String, Option<String>)>,
    errors: Vec<FieldProblem>,
}

impl Query {
    pub(crate) fn parse(query: Option<&str>) -> Self {
        let mut own = Self { parameters: Vec::new(), errors: Vec::new() };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if own.parameters.iter().any(|(known, _)| *known == name) {
                own.note(&name, "stands twice");
            } else {
                own.parameters.push((name.into_owned(), Some(value.into_owned())));
            }
        }
        own
    }

    pub(crate) fn note(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(FieldProblem { field: name.to_owned(), message: message.into() });
    }

    pub(crate) fn raw(&mut self, name: &str) -> Option<String> {
        self.parameters.iter_mut().find(|(known, _)| known == name).and_then(|(_, value)| value.take())
    }

    pub(crate) fn get<T: Parse>(&mut self, name: &str) -> Option<T> {
        let text = self.raw(name)?;
        match T::parse(&text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.note(name, message);
                None
            }
        }
    }

    /// A parameter that must be there.
    pub(crate) fn required<T: Parse>(&mut self, name: &str) -> Option<T> {
        if !self.parameters.iter().any(|(known, _)| known == name) {
            self.note(name, "is required");
        }
        self.get(name)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        match self.raw(name)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.note(name, "must be true or false");
                None
            }
        }
    }

    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        let unknown: Vec<String> = self
            .parameters
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(name, _)| name.clone())
            .collect();
        for name in unknown {
            self.note(&name, "is not a known query parameter");
        }
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::invalid(self.errors)) }
    }
}

/// Query parameters that are read from [`Query`].
pub(crate) trait FromQuery: Sized {
    fn read(query: &mut Query) -> Self;
}

/// A query string that has passed all its rules.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: FromQuery> FromRequestParts<Api> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let mut query = Query::parse(parts.uri.query());
        let asked = T::read(&mut query);
        query.finish()?;
        Ok(Self(asked))
    }
}

/// No query parameters at all.
#[derive(Debug)]
pub(crate) struct NoQuery;

impl FromQuery for NoQuery {
    fn read(_: &mut Query) -> Self {
        Self
    }
}
