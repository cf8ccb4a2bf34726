//! Requests of identity providers: the token of a directory, SCIM bodies, and the parameters of lists.

use attestry_app::identity::directory::{self, Query};
use attestry_domain::access::Scope;
use attestry_domain::identity::directory::{Projection, Resource, Type, loggable};
use axum::extract::{FromRequest, FromRequestParts, Request};
use http::header;
use http::request::Parts;
use serde_json::Value;
use url::form_urlencoded;

use crate::answer::problem::Problem;
use crate::answer::scim::SCIM;
use crate::request::bodies::JSON;
use crate::request::caller::request_context;
use crate::request::facts::{Argument, BodyLimit, Facts};
use crate::request::wire::read_request;
use crate::state::Api;

/// An identity provider with the token of an organization.
#[derive(Debug)]
pub struct Directory(pub Scope);

impl FromRequestParts<Api> for Directory {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let context = request_context(&parts.extensions)?;
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = value
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let Some((_, token)) = token else {
            let about = "Send the token of the directory: Authorization: Bearer ats_….";
            return Err(Problem::new("missing_credentials", about));
        };
        let found = directory::authenticate(&api.ctx, token.trim(), context.origin()).await;
        let scope = match found {
            Ok(scope) => scope,
            Err(error) => {
                // Guessing tokens is rate-limited like signing in.
                if let attestry_app::Error::Unauthenticated { .. } = &error {
                    api.limits.check_address(context.ip)?;
                }
                return Err(error.into());
            }
        };
        if let Some(token) = scope.directory_token() {
            let _ = context.directory.set((scope.organization(), token));
            api.limits.check_directory(token)?;
        }
        Ok(Self(scope))
    }
}

impl Argument for Directory {
    fn describe(facts: &mut Facts) {
        facts.is_directory = true;
    }
}

/// A JSON object. Unlike in other bodies, unknown properties are allowed.
#[derive(Debug)]
pub struct ScimBody(pub Resource);

impl FromRequest<Api> for ScimBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Api) -> Result<Self, Problem> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or(JSON);
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case(JSON) && !kind.eq_ignore_ascii_case(SCIM) {
            return Err(Problem::new("unsupported_media_type", "Send the body as application/scim+json."));
        }
        let context = request_context(request.extensions())?;
        let bytes = read_request(request).await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(body)) => {
                let _ = context.directory_body.set(loggable(&body));
                Ok(Self(body))
            }
            Ok(_) => Err(Problem::new("scim_invalid_syntax", "The body must be a JSON object.")),
            Err(error) => Err(Problem::new("scim_invalid_syntax", format!("The body is not JSON: {error}."))),
        }
    }
}

impl Argument for ScimBody {
    fn describe(facts: &mut Facts) {
        facts.body_limit = facts.body_limit.max(BodyLimit::Medium);
    }
}

/// The default and the maximum size of a page.
const PAGE: i64 = 100;
pub const MAX_PAGE: i64 = 200;

/// Reads the parameters of a list, or those of a single resource.
pub fn query(of: &Type, raw: Option<&str>) -> Result<Query, Problem> {
    let mut query = Query { start: 1, count: PAGE, ..Query::default() };
    let (mut attributes, mut excluded) = (String::new(), String::new());
    for (name, value) in form_urlencoded::parse(raw.unwrap_or_default().as_bytes()) {
        let number = || {
            value
                .trim()
                .parse::<i64>()
                .map_err(|_| Problem::new("scim_invalid_value", format!("{name} must be a whole number.")))
        };
        match name.to_ascii_lowercase().as_str() {
            "filter" if !value.trim().is_empty() => query.filter = Some(value.into_owned()),
            "startindex" => query.start = number()?.clamp(1, i64::from(i32::MAX)),
            "count" => query.count = number()?.clamp(0, MAX_PAGE),
            "attributes" => attributes = value.into_owned(),
            "excludedattributes" => excluded = value.into_owned(),
            // Others, such as those of sorting, have no effect.
            _ => {}
        }
    }
    query.projection = Projection::of(of, &attributes, &excluded);
    Ok(query)
}
