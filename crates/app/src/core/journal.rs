//! The journal: its records, and reading them. [`crate::core::change`] creates the entries; they are appended to the
//! chain with the commit, see [`crate::core::sealing`].

use std::borrow::Cow;
use std::net::IpAddr;

use attestry_domain::Time;
use attestry_domain::access::{ActorType, AuthType, Scope};
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::journal::canonical::canonical;
use attestry_domain::journal::{EntryFilter, ShownEntry};
use attestry_domain::page::{Order, Page};
use attestry_storage::journal::{self, SignedHead};
use serde::{Deserialize, Serialize};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// An action and the entity it applies to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub action: Cow<'static, str>,
    pub entity_type: Cow<'static, str>,
    pub entity_id: String,
    /// The entity after the change in canonical JSON; `None` if it was deleted.
    pub state: Option<String>,
}

/// The author of an entry: the actor, their organization, and how they authenticated.
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

/// A record that is not sealed yet, with its author and time.
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

/// Records the export of a whole list.
#[boxed]
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

/// Entries from a sequence on, each with the state before it.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: EntryFilter,
    order: Order,
    limit: u16,
    beyond: Option<i64>,
) -> Result<Page<ShownEntry>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| journal::list(t, &scope, &filter, order, limit, beyond).await).await?)
}

/// Counts the entries that match the filter.
#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, filter: EntryFilter) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| journal::count(t, &scope, &filter).await).await?)
}

/// Returns the signed head of the organization's chain, for safekeeping outside the server.
#[boxed]
pub async fn head(ctx: &Ctx, scope: &Scope) -> Result<SignedHead, Error> {
    let organization = scope.organization();
    ctx.db
        .read(async move |t| journal::head(t, organization).await)
        .await?
        .ok_or_else(|| Error::internal("no journal"))
}
