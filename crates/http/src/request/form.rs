//! Bodies of HTML forms, for protocols that send them.

use axum::extract::{FromRequest, Request};

use crate::answer::problem::Problem;
use crate::request::facts::Argument;
use crate::request::wire::read_request;
use crate::state::Api;

/// The media type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// The fields of a form.
#[derive(Debug)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Returns a field that is given once.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        values.next().filter(|_| values.next().is_none())
    }
}

impl FromRequest<Api> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        let body = read_request(request).await?;
        let fields = url::form_urlencoded::parse(&body);
        Ok(Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }
}

impl Argument for Form {}
