//! Compares two texts of a policy, and applies selected changes.

use attestry_domain::access::Scope;
use attestry_domain::content::diff::{self, Difference};
use attestry_domain::content::{Body, Content};
use attestry_domain::id::PolicyId;
use attestry_domain::policies::{Policy, PolicyPatch};
use attestry_domain::registers::Record;
use attestry_storage::registers as rows;

use super::MISSING;
use super::versions::{self, TextSelector};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::core::precondition::Precondition;
use crate::registers;

/// A text of a policy, with the policy's name at that time.
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
#[boxed]
pub async fn both(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    which: [TextSelector; 2],
) -> Result<[Text; 2], Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?.ok_or(MISSING)?;
        let mut texts = Vec::new();
        for one in which {
            texts.push(match one {
                TextSelector::Draft => Text::of(policy.name.as_str(), &policy.content)?,
                version => {
                    let version = versions::find(t, &own, &policy, version).await?;
                    Text::of(&version.name, &version.content)?
                }
            });
        }
        <[Text; 2]>::try_from(texts).map_err(|_| Error::internal("there are two texts"))
    });
    found.await
}

/// The draft, and its version for `If-Match`.
#[boxed]
pub async fn draft(ctx: &Ctx, scope: &Scope, id: PolicyId) -> Result<(Text, i64), Error> {
    let policy = registers::get::<Policy>(ctx, scope, id).await?;
    Ok((Text::of(policy.name.as_str(), &policy.content)?, policy.version))
}

/// Applies some changes of a proposal, which are named by their indexes in the list of differences.
#[boxed]
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
    let merged = ctx.comparing.work(scope.organization(), move || {
        let differences = diff::diff(&text.content, &proposal);
        must_be_changes(&differences, &wanted)?;
        diff::applied(&differences, &wanted).checked().map_err(|message| {
            Error::field("apply", format!("would make a text that is too large: {message}"))
        })
    });
    let merged = merged.await??;
    let patch = PolicyPatch { content: Some(Body::of(&merged)?), ..PolicyPatch::default() };
    // The indexes are valid only for the version that was compared.
    registers::update::<Policy>(ctx, scope, id, patch, Precondition(Some(vec![vec![version]]))).await
}

fn must_be_changes(differences: &[Difference<'_>], wanted: &[usize]) -> Result<(), Error> {
    let is_change =
        |place: &usize| differences.get(*place).is_some_and(|one| one.fate != diff::ChangeKind::Same);
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
