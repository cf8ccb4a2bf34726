//! The journal: what is recorded, and how it is read. Entries are made by [`crate::core::change`] and come into the chain with
//! the commit, see [`crate::core::sealing`].

use std::borrow::Cow;
use std::net::IpAddr;

use attestry_domain::Time;
use attestry_domain::access::{ActorType, AuthType, Scope};
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::journal::canonical::canonical;
use attestry_domain::journal::{EntryFilter, ShownEntry};
use attestry_domain::page::Page;
use attestry_storage::journal::{self, SignedHead};
use serde::{Deserialize, Serialize};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// What happened to what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub action: Cow<'static, str>,
    pub entity_type: Cow<'static, str>,
    pub entity_id: String,
    /// The entity after the change in canonical JSON; `None` when it is gone.
    pub state: Option<String>,
}

/// Who did it, where, and how they came in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Author {
    pub(crate) organization: OrganizationId,
    pub(crate) actor_type: ActorType,
    pub(crate) actor_id: String,
    pub(crate) member: Option<MemberId>,
    pub(crate) auth_type: Option<AuthType>,
    pub(crate) request_id: String,
    pub(crate) ip: Option<IpAddr>,
}

impl From<&Scope> for Author {
    fn from(scope: &Scope) -> Self {
        let (actor_type, actor_id) = scope.actor();
        Self {
            organization: scope.organization(),
            actor_type,
            actor_id,
            member: scope.member(),
            auth_type: scope.auth_type(),
            request_id: scope.origin().request_id.to_string(),
            ip: scope.origin().ip,
        }
    }
}

/// A record on its way into the chain: who did it, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) author: Author,
    pub(crate) at: Time,
    pub(crate) record: Record,
}

#[derive(Serialize)]
struct Export<'a> {
    format: &'a str,
    query: &'a str,
}

/// Records that somebody takes a whole list with them.
pub async fn exported(
    ctx: &Ctx,
    scope: &Scope,
    action: &'static str,
    what: &str,
    format: &str,
    query: &str,
) -> Result<(), Error> {
    let state = canonical(&Export { format, query })?;
    let record = Record {
        action: action.into(),
        entity_type: "export".into(),
        entity_id: what.to_owned(),
        state: Some(state),
    };
    ctx.change(scope, async move |c| {
        c.put(record.clone());
        Ok(())
    })
    .await
}

/// Entries, newest first, each with the state before it.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: EntryFilter,
    limit: u16,
    before: Option<i64>,
) -> Result<Page<ShownEntry>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| journal::list(t, &scope, &filter, limit, before).await).await?)
}

/// How many entries there are.
pub async fn count(ctx: &Ctx, scope: &Scope, filter: EntryFilter) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| journal::count(t, &scope, &filter).await).await?)
}

/// The signed end of the organization's chain, to be kept elsewhere.
pub async fn head(ctx: &Ctx, scope: &Scope) -> Result<SignedHead, Error> {
    let organization = scope.organization();
    ctx.db
        .read(async move |t| journal::head(t, organization).await)
        .await?
        .ok_or_else(|| Error::internal("no journal"))
}
