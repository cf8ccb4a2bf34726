//! Ids in the path. One that cannot be an id names nothing: it is query for where existence is.

use attestry_domain::id::{Id, Kind};
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use crate::answer::problem::Problem;
use crate::state::Api;

/// The last id of a path: what the request is about.
#[derive(Debug)]
pub(crate) struct PathId<K: Kind>(Option<Id<K>>);

/// The first id of a path with two: what the other one belongs to.
#[derive(Debug)]
pub(crate) struct ParentId<K: Kind>(Option<Id<K>>);

impl<K: Kind> ParentId<K> {
    pub(crate) fn found(&self) -> Result<Id<K>, Problem> {
        self.0.ok_or_else(|| Problem::not_found(K::NOUN))
    }
}

impl<K: Kind> PathId<K> {
    pub(crate) fn found(&self) -> Result<Id<K>, Problem> {
        self.0.ok_or_else(|| Problem::not_found(K::NOUN))
    }
}

async fn params<K: Kind>(parts: &mut Parts, api: &Api) -> Result<RawPathParams, Problem> {
    RawPathParams::from_request_parts(parts, api).await.map_err(|_| Problem::not_found(K::NOUN))
}

impl<K: Kind> FromRequestParts<Api> for PathId<K> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = params::<K>(parts, api).await?;
        Ok(Self(params.iter().last().and_then(|(_, value)| Id::read(value))))
    }
}

impl<K: Kind> FromRequestParts<Api> for ParentId<K> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let params = params::<K>(parts, api).await?;
        Ok(Self(params.iter().next().and_then(|(_, value)| Id::read(value))))
    }
}
