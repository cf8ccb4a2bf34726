//! Strict query strings: unknown parameters are rejected, duplicates too unless the parameter is a list, and all
//! errors are reported together.

use attestry_domain::Time;
use attestry_domain::any_of::AnyOf;
use attestry_domain::date::Moment;
use attestry_domain::json::GivenQuery;
use attestry_domain::text::Parse;
use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::answer::problem::{FieldProblem, Problem};
use crate::request::facts::{Argument, Facts};
use crate::state::Api;

/// The parameters, each of which is read once.
#[derive(Debug)]
pub struct Query {
    parameters: Vec<(String, Option<String>)>,
    /// The names of the parameters that were read, if they are recorded to derive the facts of an operation.
    asked: Option<Vec<String>>,
    errors: Vec<FieldProblem>,
    /// The time of the request.
    now: Time,
}

impl Query {
    pub fn parse(query: Option<&str>, now: Time) -> Self {
        let mut own = Self { parameters: Vec::new(), asked: None, errors: Vec::new(), now };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            own.parameters.push((name.into_owned(), Some(value.into_owned())));
        }
        own
    }

    /// Builds a query from parameters that did not come in the URL.
    pub fn of(parameters: Vec<(String, String)>, now: Time) -> Self {
        let parameters = parameters.into_iter().map(|(name, value)| (name, Some(value))).collect();
        Self { parameters, asked: None, errors: Vec::new(), now }
    }

    pub fn note(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(FieldProblem::new(name, message));
    }

    /// Takes every value of a parameter.
    fn take(&mut self, name: &str) -> Vec<String> {
        if let Some(asked) = &mut self.asked {
            asked.push(name.to_owned());
        }
        self.parameters
            .iter_mut()
            .filter(|(known, _)| known == name)
            .filter_map(|(_, value)| value.take())
            .collect()
    }

    pub fn raw(&mut self, name: &str) -> Option<String> {
        let values = self.take(name);
        if values.len() > 1 {
            self.note(name, "is given more than once");
            return None;
        }
        values.into_iter().next()
    }

    /// Reads a parameter with several values, comma-separated or repeated.
    pub fn any_of<T: Parse + PartialEq>(&mut self, name: &str) -> Option<AnyOf<T>> {
        self.several(name)
    }

    pub fn get<T: Parse>(&mut self, name: &str) -> Option<T> {
        let text = self.raw(name)?;
        match T::parse(&text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.note(name, message);
                None
            }
        }
    }

    /// Reads a required parameter.
    pub fn required<T: Parse>(&mut self, name: &str) -> Option<T> {
        if !self.parameters.iter().any(|(known, _)| known == name) {
            self.note(name, "is required");
        }
        self.get(name)
    }

    /// Returns true if a parameter is present and has not been read yet.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|(known, value)| known == name && value.is_some())
    }

    /// Reads a time that is not in the future: a time, or the end of a day.
    pub fn as_of(&mut self, name: &str) -> Option<Time> {
        let moment = self.get::<Moment>(name)?;
        if moment.start() > self.now {
            self.note(name, "must not be in the future");
        }
        Some(moment.end())
    }

    /// Accepts all other parameters, which another server added.
    pub fn ignore_others(&mut self) {
        for (_, value) in &mut self.parameters {
            *value = None;
        }
    }

    pub fn finish(mut self) -> Result<(), Problem> {
        let mut unknown: Vec<String> = Vec::new();
        for (name, value) in &self.parameters {
            if value.is_some() && !unknown.contains(name) {
                unknown.push(name.clone());
            }
        }
        for name in unknown {
            self.note(&name, "is not a known query parameter");
        }
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::invalid(self.errors)) }
    }
}

impl GivenQuery for Query {
    fn get<T: Parse>(&mut self, name: &str) -> Option<T> {
        self.get(name)
    }

    fn several<T: Parse>(&mut self, name: &str) -> Option<T> {
        let values = self.take(name);
        if values.is_empty() {
            return None;
        }
        T::parse(&values.join(",")).map_err(|message| self.note(name, message)).ok()
    }
}

/// Query parameters that can be read from a [`Query`].
pub trait FromQuery: Sized {
    fn read(query: &mut Query) -> Self;
}

/// A validated query string.
#[derive(Debug)]
pub struct ValidQuery<T>(pub T);

impl<T: FromQuery> FromRequestParts<Api> for ValidQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let mut query = Query::parse(parts.uri.query(), api.ctx.now());
        let read = T::read(&mut query);
        query.finish()?;
        Ok(Self(read))
    }
}

impl<T: FromQuery> Argument for ValidQuery<T> {
    fn describe(facts: &mut Facts) {
        let mut query = Query { asked: Some(Vec::new()), ..Query::parse(None, Time::from_millis(0)) };
        T::read(&mut query);
        let asked = query.asked.unwrap_or_default();
        facts.takes_query |= !asked.is_empty();
        facts.is_list |= asked.iter().any(|name| name == "limit");
    }
}

/// An empty query string.
#[derive(Debug)]
pub struct NoQuery;

impl FromQuery for NoQuery {
    fn read(_: &mut Query) -> Self {
        Self
    }
}
