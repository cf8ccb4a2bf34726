//! Operations specific to policies: approval, publishing and reviews; and the distinction between the draft and the
//! published version that members read.

use std::collections::HashMap;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::id::{MemberId, OrganizationId, PolicyId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::{After, Key, Page, PageRequest, page_of};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicyFile, PolicySort, PolicyStatus, PolicyVersion};
use attestry_domain::registers::attachments::Attachment;
use attestry_domain::registers::comments::CommentText;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::registers::{Record, Register, Wanted};
use attestry_storage::{Tx, attachments, policies, registers as rows};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::{members, organizations};
use crate::policies::sign_requests::SignRequests;
use crate::{comments, notices, registers};

pub mod chat;
pub mod comparisons;
pub mod files;
pub mod prints;
pub(crate) mod reviews;
pub(crate) mod sign_requests;
pub mod signing;
pub mod templates;
pub mod versions;

pub(crate) const MISSING: Error = Error::NotFound("policy");
pub(crate) const VERSION: &str = "policy_version";

/// Returns the time of a state; the current one is the state as of the maximum time.
fn moment(at: Option<Time>) -> Time {
    at.unwrap_or(Time::from_millis(i64::MAX))
}

/// Reduces policies to what the caller may see, and returns the members who have signed each of them as of `at`.
#[boxed]
pub async fn complete(
    ctx: &Ctx,
    scope: &Scope,
    records: &mut [Record<Policy>],
    at: Option<Time>,
) -> Result<Vec<Vec<MemberId>>, Error> {
    let ids = || records.iter().map(|record| record.id);
    let (Some(first), Some(last)) = (ids().min(), ids().max()) else { return Ok(Vec::new()) };
    let (own, sees_all) = (scope.clone(), scope.allows(Permission::PolicyRead));
    let at = moment(at);
    let found = ctx.db.read(async move |t| {
        let signed = policies::signed_by(t, &own, first, last, at).await?;
        let versions =
            if sees_all { Vec::new() } else { policies::current_versions(t, &own, first, last).await? };
        Ok::<_, Error>((signed, versions))
    });
    let (signed, versions) = found.await?;
    for version in versions {
        if let Some(record) = records.iter_mut().find(|record| record.id == version.policy_id) {
            record.fields = record.fields.as_published(version);
        }
    }
    let member = scope.member();
    let of = |policy: PolicyId| {
        let is_shown =
            |(signed, by): &&(PolicyId, MemberId)| *signed == policy && (sees_all || Some(*by) == member);
        signed.iter().filter(is_shown).map(|(_, by)| *by).collect()
    };
    Ok(records.iter().map(|record| of(record.id)).collect())
}

/// These policies with their published versions.
pub(crate) async fn with_versions(
    t: &Tx<'_>,
    scope: &Scope,
    ids: Vec<PolicyId>,
) -> Result<Vec<(Record<Policy>, PolicyVersion)>, Error> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(record) = rows::get::<Policy>(t, scope, id).await? else { continue };
        let Some(current) = record.current_version_id else { continue };
        if let Some(version) = policies::version(t, scope, current).await? {
            found.push((record, version));
        }
    }
    Ok(found)
}

/// A policy as members see it: with the content of the published version.
fn as_published((mut record, version): (Record<Policy>, PolicyVersion)) -> Record<Policy> {
    record.fields = record.fields.as_published(version);
    record
}

/// The published policies as members see them, filtered by their published content.
async fn published(ctx: &Ctx, scope: &Scope, wanted: &Wanted<Policy>) -> Result<Vec<Record<Policy>>, Error> {
    let mut wanted = wanted.clone();
    if !Policy::narrow(&mut wanted.filter, scope) {
        return Ok(Vec::new());
    }
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let ids = policies::published(t, &own).await?;
        with_versions(t, &own, ids).await
    });
    Ok(found.await?.into_iter().map(as_published).filter(|record| wanted.takes(record)).collect())
}

/// Lists policies. A caller without access to drafts learns nothing about them from filters or sort order.
#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<Policy>,
    page: PageRequest<PolicySort>,
    at: Option<Time>,
) -> Result<Page<Record<Policy>>, Error> {
    let sees_all = scope.allows(Permission::PolicyRead);
    let counts = match page.sort {
        PolicySort::Signatures => {
            // Members see only their own signatures.
            let (own, of) = (scope.clone(), if sees_all { None } else { scope.member() });
            ctx.db.read(async move |t| policies::signature_counts(t, &own, of, moment(at)).await).await?
        }
        _ => HashMap::new(),
    };
    let rank =
        |record: &Record<Policy>| record.signature_rank(counts.get(&record.id).copied().unwrap_or_default());
    if sees_all || at.is_some() {
        return match page.sort {
            PolicySort::Signatures => registers::list_by(ctx, scope, wanted, page, at, rank).await,
            _ => registers::list(ctx, scope, wanted, page, at).await,
        };
    }
    let place = |record: &Record<Policy>| match page.sort {
        PolicySort::Signatures => After { key: Key::Number(rank(record)), id: record.id.to_string() },
        sort => record.place(sort, |member| member.to_string()),
    };
    let found = published(ctx, scope, wanted).await?;
    let mut items = page_of(found, page.order, page.after.as_ref(), place);
    items.truncate(usize::from(page.limit) + 1);
    Ok(Page::cut(items, page.limit, place))
}

/// The number of policies on all pages of the list.
#[boxed]
pub async fn count(
    ctx: &Ctx,
    scope: &Scope,
    wanted: &Wanted<Policy>,
    at: Option<Time>,
) -> Result<i64, Error> {
    if scope.allows(Permission::PolicyRead) || at.is_some() {
        return registers::count(ctx, scope, wanted, at).await;
    }
    i64::try_from(published(ctx, scope, wanted).await?.len()).map_err(Error::internal)
}

/// Removes the versions of a deleted policy.
pub(crate) async fn remove_all(c: &Change<'_>, policy: &str) -> Result<(), Error> {
    let Some(policy) = PolicyId::read(policy) else { return Ok(()) };
    for version in policies::delete_versions(c.t, c.scope, policy).await? {
        c.record_gone("policy.version_deleted", VERSION, version);
    }
    Ok(())
}

/// Clears a leaving member as approver.
pub(crate) async fn release(c: &Change<'_>, member: MemberId) -> Result<(), Error> {
    for id in policies::awaiting(c.t, c.scope, member).await? {
        let Some(before) = rows::lock::<Policy>(c.t, c.scope, id).await? else { continue };
        let mut after = before.clone();
        after.fields.approver_id = None;
        registers::save(c, &before, after).await?;
    }
    Ok(())
}

/// Notifies members about a policy.
fn tell(c: &Change<'_>, whom: impl IntoIterator<Item = MemberId>, policy: PolicyId, line: &str) {
    notices::tell_others(c, whom, Notice::Policies, &About::new(Policy::ENTITY, policy), line, None);
}

async fn changed(
    c: &Change<'_>,
    before: &Record<Policy>,
    fields: Policy,
    action: &'static str,
) -> Result<Record<Policy>, Error> {
    registers::save_as(c, before, Record { fields, ..before.clone() }, action).await
}

fn must_not_be_archived(policy: &Policy) -> Result<(), Error> {
    match policy.is_archived {
        false => Ok(()),
        true => Err(Error::Conflict {
            code: "policy_archived",
            message: "The policy is archived. Set isArchived to false first.".to_owned(),
        }),
    }
}

/// Asks a member to approve the policy in its current state.
#[boxed]
pub async fn submit_for_approval(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    approver: MemberId,
    precondition: Precondition,
) -> Result<Record<Policy>, Error> {
    ctx.change(scope, async move |c| {
        let before = registers::lock::<Policy>(c, id).await?;
        precondition.check(&[before.version])?;
        must_not_be_archived(&before)?;
        if !before.has_text() {
            return Err(Error::Conflict {
                code: "policy_empty",
                message: "The policy has no text yet: give it content or a file first.".to_owned(),
            });
        }
        if !members::may(c, approver, Permission::PolicyApprove).await? {
            let message = "must be an active member who may approve policies, such as an owner or an admin";
            return Err(Error::field("approverId", message));
        }
        organizations::reject_self_approval(c, c.scope.member(), approver).await?;
        let after =
            changed(c, &before, before.submitted(approver, c.scope.member()), "policy.submitted").await?;
        tell(c, [approver], id, &format!("Please approve {}", after.label()));
        Ok(after)
    })
    .await
}

/// Locks a policy that waits for the caller's approval until the transaction ends.
async fn lock_submitted(
    c: &Change<'_>,
    id: PolicyId,
    precondition: &Precondition,
) -> Result<Record<Policy>, Error> {
    let policy = registers::lock::<Policy>(c, id).await?;
    precondition.check(&[policy.version])?;
    must_not_be_archived(&policy)?;
    match (policy.status, policy.approver_id) {
        (PolicyStatus::NeedsReview, Some(approver)) if Some(approver) == c.scope.member() => Ok(policy),
        (PolicyStatus::NeedsReview, Some(_)) => Err(Error::Forbidden {
            code: "not_the_approver",
            message: "Only the member who was asked to approve this policy can approve or deny it."
                .to_owned(),
        }),
        _ => Err(Error::Conflict {
            code: "not_submitted",
            message: "The policy does not wait for an approval: it was not submitted, or was changed since. \
                      Submit it for approval first."
                .to_owned(),
        }),
    }
}

/// Approves a policy, which publishes it.
#[boxed]
pub async fn approve(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    precondition: Precondition,
) -> Result<Record<Policy>, Error> {
    ctx.change(scope, async move |c| {
        let before = lock_submitted(c, id, &precondition).await?;
        if let Some(approver) = before.approver_id {
            organizations::reject_self_approval(c, before.submitted_by_id, approver).await?;
        }
        let version = next_version(c, &before).await?;
        policies::insert_version(c.t, c.scope, &version).await?;
        c.record("policy.version_published", VERSION, version.id, &version)?;
        if version.is_changed {
            policies::end_signatures(c.t, c.scope, id, c.now).await?;
        }
        let published = before.published(&version, organizations::today(c).await?);
        let after = changed(c, &before, published, "policy.published").await?;
        let line = format!("{} is published as version {}", after.label(), version.number);
        tell(c, after.assignee_id.into_iter().chain(before.submitted_by_id), id, &line);
        if version.is_changed && after.is_required_to_sign.0 {
            c.enqueue(&SignRequests {
                organization: c.organization(),
                policy: id,
                version: version.id,
                only: None,
            })
            .await?;
        }
        Ok(after)
    })
    .await
}

/// A snapshot of the policy as its next version.
async fn next_version(c: &Change<'_>, policy: &Record<Policy>) -> Result<PolicyVersion, Error> {
    let file = match policy.file_id {
        None => None,
        Some(file) => attachments::get(c.t, c.scope, file).await?,
    };
    let current = match policy.current_version_id {
        None => None,
        Some(current) => policies::version(c.t, c.scope, current).await?,
    };
    let mut version = PolicyVersion {
        id: c.next_id(),
        organization_id: c.organization(),
        policy_id: policy.id,
        number: VersionNumber::after(policies::count_versions(c.t, c.scope, policy.id).await?),
        name: policy.name.as_str().to_owned(),
        description: policy.description.as_str().to_owned(),
        content: policy.content.clone(),
        file: file.map(|Attachment { id, name, sha256, .. }| PolicyFile { id, name, sha256 }),
        is_changed: true,
        approver_id: policy.approver_id,
        submitted_by_id: policy.submitted_by_id,
        published_at: c.now,
    };
    version.is_changed = current.is_none_or(|current| !version.says_the_same(&current));
    Ok(version)
}

/// Rejects a policy, with a comment that gives the reason.
#[boxed]
pub async fn deny(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    comment: CommentText,
    precondition: Precondition,
) -> Result<Record<Policy>, Error> {
    ctx.change(scope, async move |c| {
        let before = lock_submitted(c, id, &precondition).await?;
        comments::add(c, Subject::Policy, &id.to_string(), comment.clone()).await?;
        let after = changed(c, &before, before.denied(), "policy.denied").await?;
        let line = format!("{} was not approved: {}", after.label(), comment.as_str());
        tell(c, after.assignee_id.into_iter().chain(before.submitted_by_id), id, &line);
        Ok(after)
    })
    .await
}

/// Returns an organization's published policies to their approvers when their review is due.
pub(crate) async fn review(ctx: &Ctx, organization: OrganizationId, ids: Vec<PolicyId>) -> Result<(), Error> {
    let scope = Scope::system(organization, "policy-reviews");
    ctx.change(&scope, async move |c| {
        let today = organizations::today(c).await?;
        for id in &ids {
            let Some(before) = rows::lock::<Policy>(c.t, c.scope, *id).await? else { continue };
            if !before.is_due(today) {
                continue;
            }
            let mut fields = before.fields.clone();
            fields.status = PolicyStatus::NeedsReview;
            fields.submitted_by_id = None;
            if let Some(approver) = fields.approver_id
                && !members::may(c, approver, Permission::PolicyApprove).await?
            {
                fields.approver_id = None;
            }
            let after = changed(c, &before, fields, "policy.review_due").await?;
            let whom = after.assignee_id.into_iter().chain(after.approver_id);
            tell(c, whom, *id, &format!("{} is due for review", after.label()));
        }
        Ok(())
    })
    .await
}
