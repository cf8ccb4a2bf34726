//! Ids in the path. A malformed id is reported as not found, at the point where the handler checks that the record
//! exists.

use attestry_domain::id::{Id, Kind};
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use crate::answer::problem::Problem;
use crate::document::schemas::schema_of;
use crate::request::facts::{Argument, Facts, IdInPath};
use crate::state::Api;

/// The id at a position of the path, counted from the left; the ids of parents come first.
#[derive(Debug)]
pub struct IdAt<K: Kind, const PLACE: usize>(Option<Id<K>>);

/// The last id of a path, which identifies the subject of the request.
#[derive(Debug)]
pub struct PathId<K: Kind>(Option<Id<K>>);

/// The first id of a path with several.
pub type ParentId<K> = IdAt<K, 0>;

fn found<K: Kind>(id: Option<Id<K>>) -> Result<Id<K>, Problem> {
    id.ok_or_else(|| Problem::not_found(K::NOUN))
}

impl<K: Kind, const PLACE: usize> IdAt<K, PLACE> {
    pub fn found(&self) -> Result<Id<K>, Problem> {
        found(self.0)
    }
}

impl<K: Kind> PathId<K> {
    pub fn found(&self) -> Result<Id<K>, Problem> {
        found(self.0)
    }
}

async fn params<K: Kind, S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<RawPathParams, Problem> {
    RawPathParams::from_request_parts(parts, state).await.map_err(|_| Problem::not_found(K::NOUN))
}

impl<K: Kind> FromRequestParts<Api> for PathId<K> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = params::<K, _>(parts, api).await?;
        Ok(Self(params.iter().last().and_then(|(_, value)| Id::read(value))))
    }
}

impl<K: Kind, S: Send + Sync, const PLACE: usize> FromRequestParts<S> for IdAt<K, PLACE> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = params::<K, S>(parts, state).await?;
        Ok(Self(params.iter().nth(PLACE).and_then(|(_, value)| Id::read(value))))
    }
}

fn id_in_path<K: Kind>(place: Option<usize>) -> IdInPath {
    IdInPath { place, noun: K::NOUN, schema: schema_of::<Id<K>> }
}

impl<K: Kind> Argument for PathId<K> {
    fn describe(facts: &mut Facts) {
        facts.add_id(id_in_path::<K>(None));
    }
}

impl<K: Kind, const PLACE: usize> Argument for IdAt<K, PLACE> {
    fn describe(facts: &mut Facts) {
        facts.add_id(id_in_path::<K>(Some(PLACE)));
    }
}

#[cfg(test)]
mod tests {
    use attestry_domain::id::kind;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use http::{Request, StatusCode};
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_path_can_have_three_ids() {
        let handler =
            async |risk: IdAt<kind::Risk, 0>, vendor: IdAt<kind::Vendor, 1>, job: IdAt<kind::Job, 2>| {
                let all = [risk.found().is_ok(), vendor.found().is_ok(), job.found().is_ok()];
                if all == [true, true, false] { StatusCode::OK } else { StatusCode::BAD_REQUEST }
            };
        let router: Router = Router::new().route("/{a}/x/{b}/y/{c}", get(handler));
        let path = "/rsk_01jcqg3v5mefzr7d0a6w3k9x2b/x/vnd_01jcqg3v5mefzr7d0a6w3k9x2b/y/nonsense";
        let request = Request::get(path).body(Body::empty()).expect("a request");
        assert_eq!(router.oneshot(request).await.expect("an answer").status(), StatusCode::OK);
    }
}
