//! What the risk register and the vendors share on the wire: who asked, the past, scores and the matrix.

use attestry_domain::Time;
use attestry_domain::access::{AuthType, Scope};
use attestry_domain::id::UserId;
use attestry_domain::scales::{Cell, Impact, Likelihood, score};
use attestry_domain::text::Parse;
use serde::Serialize;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::lists;
use crate::query::{FromQuery, Query};

/// The user behind a session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "email": "ada@example.com"}))]
pub struct AuthenticatedUser {
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: UserId,
    email: String,
}

/// How the request was authenticated.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"authType": "api-key"}))]
pub struct Asker {
    #[schema(inline)]
    auth_type: AuthType,
    /// Only with a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    authenticated_user: Option<AuthenticatedUser>,
}

impl Asker {
    /// A program with a key.
    pub fn by_key() -> Self {
        Self { auth_type: AuthType::ApiKey, authenticated_user: None }
    }
}

impl From<&Scope> for Asker {
    fn from(scope: &Scope) -> Self {
        let auth_type = scope.auth_type().unwrap_or(AuthType::ApiKey);
        let user = scope.principal().filter(|_| auth_type == AuthType::Session);
        let authenticated_user =
            user.map(|user| AuthenticatedUser { id: user.user, email: user.email.clone() });
        Self { auth_type, authenticated_user }
    }
}

/// `asOf`: the moment to look at.
#[derive(Debug)]
pub(crate) struct AsOf(pub(crate) Option<Time>);

impl FromQuery for AsOf {
    fn read(query: &mut Query) -> Self {
        Self(query.get("asOf"))
    }
}

impl IntoParams for AsOf {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![as_of_parameter()]
    }
}

pub(crate) fn as_of_parameter() -> Parameter {
    lists::parameter("asOf", Time::schema(), "As it stood at this moment, from the journal.")
}

/// A least score of a filter: 1 to 25.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score(pub(crate) i64);

impl Parse for Score {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(score @ 1..=25) => Ok(Self(score)),
            _ => Err("must be a whole number from 1 to 25".to_owned()),
        }
    }
}

/// One cell of the matrix.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"likelihood": "likely", "impact": "major", "score": 16, "count": 3}))]
pub(crate) struct CellView {
    #[schema(inline)]
    likelihood: Likelihood,
    #[schema(inline)]
    impact: Impact,
    /// 1 to 25.
    score: i64,
    count: i64,
}

/// The five by five matrix, before and after treatment: all 25 cells of each.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "inherent": [{"likelihood": "likely", "impact": "major", "score": 16, "count": 3}],
    "residual": [{"likelihood": "unlikely", "impact": "major", "score": 8, "count": 3}]
}))]
pub(crate) struct MatrixView {
    inherent: Vec<CellView>,
    residual: Vec<CellView>,
}

impl From<(Vec<Cell>, Vec<Cell>)> for MatrixView {
    fn from((inherent, residual): (Vec<Cell>, Vec<Cell>)) -> Self {
        Self { inherent: all_cells(&inherent), residual: all_cells(&residual) }
    }
}

fn all_cells(known: &[Cell]) -> Vec<CellView> {
    let pairs = Likelihood::ALL
        .iter()
        .flat_map(|likelihood| Impact::ALL.iter().map(move |impact| (*likelihood, *impact)));
    pairs
        .map(|(likelihood, impact)| {
            let found = known.iter().find(|cell| cell.likelihood == likelihood && cell.impact == impact);
            CellView {
                likelihood,
                impact,
                score: score(likelihood, impact),
                count: found.map_or(0, |cell| cell.count),
            }
        })
        .collect()
}
