//! Policies as PDF.

use std::collections::HashMap;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::content::{Block, Content, Inline};
use attestry_domain::id::{MemberId, PolicyId};
use attestry_domain::policies::{Policy, PolicySignature, PolicyStatus, PolicyVersion};
use attestry_domain::registers::{Record, Register};
use attestry_domain::{Time, Zone};
use attestry_pdf::{Approval, Collection, Document, Failure, Pdf, Signature};
use attestry_storage::{Tx, members, organizations, policies, registers as rows};

use super::versions::{self, TextSelector};
use super::{MISSING, with_versions};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::files::downloads::Download;

/// Data shared by all policies of an organization.
struct PrintContext {
    organization: String,
    zone: Zone,
    names: HashMap<MemberId, String>,
    sees_all: bool,
    member: Option<MemberId>,
}

impl PrintContext {
    async fn of(t: &Tx<'_>, scope: &Scope) -> Result<Self, Error> {
        let organization = organizations::get(t, scope).await?.ok_or(Error::NotFound("organization"))?;
        Ok(Self {
            organization: organization.name,
            zone: organization.time_zone,
            names: members::names(t, scope).await?.into_iter().collect(),
            sees_all: scope.allows(Permission::PolicyRead),
            member: scope.member(),
        })
    }

    fn name(&self, member: MemberId) -> String {
        self.names.get(&member).cloned().unwrap_or_else(|| member.to_string())
    }

    fn day(&self, at: Time) -> String {
        self.zone.date_of(at).to_string()
    }

    /// A published version with its signatures.
    fn published(
        &self,
        policy: &Record<Policy>,
        version: PolicyVersion,
        signatures: &[PolicySignature],
    ) -> Result<Document, Error> {
        let is_current = policy.current_version_id == Some(version.id);
        let is_shown = |one: &&PolicySignature| {
            let counts = if is_current { one.ended_at.is_none() } else { one.version == version.number };
            // Callers without access to all policies see only their own signature.
            counts && (self.sees_all || Some(one.member_id) == self.member)
        };
        let sign =
            |one: &PolicySignature| Signature { name: self.name(one.member_id), at: self.day(one.signed_at) };
        let approval = version
            .approver_id
            .map(|approver| Approval { by: self.name(approver), at: self.day(version.published_at) });
        let content = match &version.file {
            Some(file) => said(&format!("This policy is the file {} (SHA-256 {}).", file.name, file.sha256)),
            None => version.content.content().map_err(Error::internal)?,
        };
        Ok(Document {
            title: version.name,
            description: Some(version.description).filter(|text| !text.is_empty()),
            organization: self.organization.clone(),
            status: if is_current { "Published" } else { "Replaced" }.to_owned(),
            version: u32::try_from(version.number.get()).ok(),
            owner: policy.assignee_id.map(|owner| self.name(owner)),
            approval,
            review_date: policy.review_date.filter(|_| is_current).map(|date| date.to_string()),
            signatures: signatures.iter().filter(is_shown).map(sign).collect(),
            content,
        })
    }

    fn draft(&self, policy: &Record<Policy>) -> Result<Document, Error> {
        let status = match policy.status {
            PolicyStatus::NeedsReview => "Awaiting approval",
            PolicyStatus::Draft | PolicyStatus::Published => "Draft",
        };
        Ok(Document {
            title: policy.name.as_str().to_owned(),
            description: Some(policy.description.as_str().to_owned()).filter(|text| !text.is_empty()),
            organization: self.organization.clone(),
            status: status.to_owned(),
            owner: policy.assignee_id.map(|owner| self.name(owner)),
            review_date: policy.review_date.map(|date| date.to_string()),
            content: policy.content.content().map_err(Error::internal)?,
            ..Document::default()
        })
    }
}

fn said(text: &str) -> Content {
    Content(vec![Block::Paragraph(vec![Inline::plain(text)])])
}

fn is_a_file() -> Error {
    Error::Conflict {
        code: "policy_is_a_file",
        message: "This policy is an uploaded file; GET /v1/policies/{id}/file leads to it.".to_owned(),
    }
}

/// One policy: the requested version, or else the published one, or else the draft.
#[boxed]
pub async fn policy(
    ctx: &Ctx,
    scope: &Scope,
    id: PolicyId,
    which: Option<TextSelector>,
) -> Result<Download, Error> {
    let own = scope.clone();
    let found = ctx.db.read(async move |t| {
        let policy = rows::get::<Policy>(t, &own, id).await?;
        let policy = policy.filter(|policy| policy.is_visible(&own)).ok_or(MISSING)?;
        let around = PrintContext::of(t, &own).await?;
        let is_published = policy.status == PolicyStatus::Published || !around.sees_all;
        let current = policy.current_version_id.filter(|_| is_published).map(TextSelector::Version);
        let which = which.or(current).unwrap_or(TextSelector::Draft);
        if which == TextSelector::Draft {
            if policy.file_id.is_some() {
                return Err(is_a_file());
            }
            return Ok((around.draft(&policy)?, policy.reference()));
        }
        let version = versions::find(t, &own, &policy, which).await?;
        if version.file.is_some() {
            return Err(is_a_file());
        }
        let signatures = policies::signatures(t, &own, id).await?;
        Ok((around.published(&policy, version, &signatures)?, policy.reference()))
    });
    let (document, reference) = found.await?;
    let version = document.version.map_or_else(String::new, |version| format!(" v{version}"));
    let file_name = format!("{reference} {}{version}.pdf", document.title);
    print(ctx, scope, file_name, move || attestry_pdf::policy(&document)).await
}

/// All published policies, or a selection of them, in one file.
#[boxed]
pub async fn all(ctx: &Ctx, scope: &Scope, only: Option<Vec<PolicyId>>) -> Result<Download, Error> {
    let (own, now) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let around = PrintContext::of(t, &own).await?;
        let mut all = Vec::new();
        let mut ids = policies::published(t, &own).await?;
        ids.retain(|id| only.as_ref().is_none_or(|only| only.contains(id)));
        for (policy, version) in with_versions(t, &own, ids).await? {
            let signatures = policies::signatures(t, &own, policy.id).await?;
            all.push(around.published(&policy, version, &signatures)?);
        }
        Ok::<_, Error>(Collection {
            organization: around.organization.clone(),
            title: "Policies".to_owned(),
            date: around.day(now),
            policies: all,
        })
    });
    let collection = found.await?;
    let file_name = format!("{} policies {}.pdf", collection.organization, collection.date);
    print(ctx, scope, file_name, move || attestry_pdf::collection(&collection)).await
}

async fn print(
    ctx: &Ctx,
    scope: &Scope,
    file_name: String,
    make: impl FnOnce() -> Result<Pdf, Failure> + Send + 'static,
) -> Result<Download, Error> {
    let made = ctx.printing.work(scope.organization(), make).await?;
    let Pdf { bytes, missing } = made?;
    Ok(Download { file_name, bytes, missing, permit: None })
}
