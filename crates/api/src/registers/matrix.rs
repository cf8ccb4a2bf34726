//! The five by five matrix of a register with ratings.

use attestry_app::registers::{self, StoredRating};
use attestry_domain::registers::scales::{self, Impact, Likelihood, Matrix, score};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::ValidQuery;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Narrowed, RegisterApi};

pub(super) async fn show_matrix<R: RegisterApi + StoredRating>(
    api: State<Api>,
    scope: Granted<R::Read>,
    query: ValidQuery<Narrowed<R>>,
) -> Result<Json<MatrixView>, Problem> {
    let ValidQuery(narrowed) = query;
    let today = scope.day(narrowed.as_of, api.ctx.now());
    let (wanted, as_of) = narrowed.on(today);
    Ok(Json(registers::matrix::<R>(&api.ctx, &scope, &wanted, as_of).await?.into()))
}

/// One cell of the matrix.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"likelihood": "likely", "impact": "major", "score": 16, "count": 3}))]
pub(crate) struct CellView {
    #[schema(schema_with = schema_of::<Likelihood>)]
    likelihood: Likelihood,
    #[schema(schema_with = schema_of::<Impact>)]
    impact: Impact,
    /// The score, from 1 to 25.
    score: i64,
    count: i64,
}

/// The five by five matrix, before and after treatment: all 25 cells of each.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "inherent": [{"likelihood": "likely", "impact": "major", "score": 16, "count": 3}],
    "residual": [{"likelihood": "unlikely", "impact": "major", "score": 8, "count": 3}],
    "notAssessed": 2, "residualNotAssessed": 5
}))]
pub(crate) struct MatrixView {
    inherent: Vec<CellView>,
    residual: Vec<CellView>,
    /// Rows without a rating before treatment; they are in no cell of `inherent`.
    not_assessed: i64,
    /// The same after treatment, for `residual`.
    residual_not_assessed: i64,
}

impl From<Matrix> for MatrixView {
    fn from(Matrix { inherent, residual }: Matrix) -> Self {
        Self {
            inherent: all_cells(&inherent.cells),
            residual: all_cells(&residual.cells),
            not_assessed: inherent.not_assessed,
            residual_not_assessed: residual.not_assessed,
        }
    }
}

fn all_cells(known: &[scales::Cell]) -> Vec<CellView> {
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
