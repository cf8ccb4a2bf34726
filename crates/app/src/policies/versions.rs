//! What was published of a policy, and what differs between two texts of it.

use std::sync::Arc;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::content::diff::{self, Difference};
use attestry_domain::content::{Body, Content};
use attestry_domain::id::{PolicyId, PolicyVersionId};
use attestry_domain::page::{After, Page};
use attestry_domain::policies::{Policy, PolicyPatch, PolicyVersion};
use attestry_domain::registers::Record;
use attestry_storage::{Tx, policies, registers as rows};

use super::MISSING;
use crate::context::Ctx;
use crate::error::{Error, FieldError};
use crate::precondition::Precondition;
use crate::registers;

const NO_VERSION: Error = Error::NotFound("policy version");

/// Which text of a policy is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one that people work on.
    Draft,
    Number(i64),
    Version(PolicyVersionId),
}

/// The versions of a policy, newest first. A member who may not see drafts sees the one that is published.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    limit: u16,
    after: Option<After>,
) -> Result<Page<PolicyVersion>, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        rows::get::<Policy>(t, &own, id).await?.ok_or(MISSING)?;
        Ok::<_, Error>(policies::versions(t, &own, id, limit, after.as_ref()).await?)
    });
    found.await
}

pub async fn count(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<i64, Error> {
    let own = scope.clone();
    Ok(ctx.db.read(async move |t| policies::count_versions(t, &own, id).await).await?)
}

/// A version of a policy, if the caller may see it.
pub(super) async fn find(
    t: &Tx<'_>,
    scope: &Scope,
    policy: &Record<Policy>,
    which: Which,
) -> Result<PolicyVersion, Error> {
    let found = match which {
        Which::Draft => None,
        Which::Number(number) => policies::version_numbered(t, scope, policy.id, number).await?,
        Which::Version(version) => {
            policies::version(t, scope, version).await?.filter(|found| found.policy_id == policy.id)
        }
    };
    let may_see = |version: &PolicyVersion| {
        scope.allows(Permission::PolicyRead) || policy.current_version_id == Some(version.id)
    };
    found.filter(may_see).ok_or(NO_VERSION)
}

/// A version of a policy that the caller may see.
pub async fn get(ctx: &Ctx, scope: &Scope, id: PolicyId, which: Which) -> Result<PolicyVersion, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?;
        let policy =
            policy.filter(|policy| attestry_domain::registers::Register::is_visible(&policy.fields, &own));
        find(t, &own, &policy.ok_or(MISSING)?, which).await
    });
    found.await
}

/// A text of a policy, with the name it has there.
#[derive(Clone, Debug)]
pub struct Text {
    pub name: String,
    pub content: Content,
}

impl Text {
    fn of(name: &str, content: &Body) -> Result<Self, Error> {
        Ok(Self { name: name.to_owned(), content: content.content().map_err(Error::internal)? })
    }
}

/// Two texts of a policy.
pub async fn both(ctx: &Ctx, scope: &Scope, id: PolicyId, which: [Which; 2]) -> Result<[Text; 2], Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?.ok_or(MISSING)?;
        let mut texts = Vec::new();
        for one in which {
            texts.push(match one {
                Which::Draft => Text::of(policy.name.as_str(), &policy.content)?,
                version => {
                    let version = find(t, &own, &policy, version).await?;
                    Text::of(&version.name, &version.content)?
                }
            });
        }
        <[Text; 2]>::try_from(texts).map_err(|_| Error::internal("there are two texts"))
    });
    found.await
}

/// The text that people work on, and its version for `If-Match`.
pub async fn draft(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<(Text, i64), Error> {
    let policy = registers::get::<Policy>(ctx, scope, id).await?;
    Ok((Text::of(policy.name.as_str(), &policy.content)?, policy.version))
}

/// Makes some of the changes of a proposal, which are named by their places among the differences.
pub async fn apply(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    proposal: Content,
    wanted: Vec<usize>,
    precondition: Precondition,
) -> Result<Record<Policy>, Error> {
    let (text, version) = draft(ctx, scope, id).await?;
    precondition.check(&[version])?;
    let merged = comparing(ctx, move || {
        let differences = diff::diff(&text.content, &proposal);
        must_be_changes(&differences, &wanted)?;
        diff::applied(&differences, &wanted).checked().map_err(|message| {
            Error::field("apply", format!("would make a text that is too large: {message}"))
        })
    });
    let merged = merged.await??;
    let patch = PolicyPatch { content: Some(Body::of(&merged)?), ..PolicyPatch::default() };
    // The places are those of the text that was looked at.
    registers::update::<Policy>(ctx, scope, id, patch, Precondition(Some(vec![vec![version]]))).await
}

/// Comparing computes for a while: on a thread of its own, and only some at a time.
pub async fn comparing<T: Send + 'static>(
    ctx: &Ctx,
    compare: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let place = Arc::clone(&ctx.comparing).acquire_owned().await.map_err(Error::internal)?;
    let compared = tokio::task::spawn_blocking(move || {
        let compared = compare();
        drop(place);
        compared
    });
    compared.await.map_err(Error::internal)
}

fn must_be_changes(differences: &[Difference<'_>], wanted: &[usize]) -> Result<(), Error> {
    let is_change = |place: &usize| differences.get(*place).is_some_and(|one| one.fate != diff::Fate::Same);
    let wrong: Vec<FieldError> = wanted
        .iter()
        .enumerate()
        .filter(|(_, place)| !is_change(place))
        .map(|(at, _)| FieldError {
            field: format!("apply[{at}]"),
            message: "must be the id of one of the changes".to_owned(),
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::Invalid(wrong)) }
}
