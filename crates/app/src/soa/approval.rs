//! Approval of a statement of applicability. It freezes the content and the files, which no longer change.

use std::collections::HashMap;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::any_of::AnyOf;
use attestry_domain::hash::{hex, sha256};
use attestry_domain::id::{MemberId, OrganizationId, RequirementId, SoaDocumentId};
use attestry_domain::journal::EntryFilter;
use attestry_domain::journal::canonical::canonical;
use attestry_domain::page::Order;
use attestry_domain::soa::{
    FrozenRow, ImplementationStatus, SoaAnswer, SoaApproval, SoaDocument, SoaFormat, SoaSnapshot, SoaStatus,
};
use attestry_domain::text::Name;
use attestry_pdf::{Approval, Pdf, StatementRow};
use attestry_storage::{Tx, members, organizations, soa};
use serde::{Deserialize, Serialize};

use super::{
    DOCUMENT, MISSING, SoaWithAnswers, framework_of, label, load, lock, must_be_approver, store, tell,
};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::journal;
use crate::files::downloads::Download;
use crate::identity::organizations::reject_self_approval;

/// Renders a statement as a table: a spreadsheet, or CSV.
pub type Tables = fn(&SoaSnapshot, SoaFormat) -> Result<Vec<u8>, String>;

/// A snapshot of a statement for export, dated `at`.
async fn freeze(
    t: &Tx<'_>,
    scope: &Scope,
    statement: &SoaWithAnswers,
    at: Time,
) -> Result<SoaSnapshot, Error> {
    let SoaWithAnswers { document, answers } = statement;
    let framework = framework_of(t, scope, document).await?;
    let organization = organizations::get(t, scope).await?.ok_or(Error::NotFound("organization"))?;
    let names: HashMap<MemberId, String> = members::names(t, scope).await?.into_iter().collect();
    let name = |member: MemberId| names.get(&member).cloned().unwrap_or_else(|| member.to_string());
    let answers: HashMap<RequirementId, &SoaAnswer> =
        answers.iter().map(|answer| (answer.question_id, answer)).collect();
    let rows = framework.questions().map(|requirement| {
        let answer = answers.get(&requirement.id);
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        FrozenRow {
            question_id: requirement.id,
            theme: requirement.theme.clone(),
            code: requirement.code.clone(),
            title: requirement.title.clone(),
            is_applicable: answer.map(|answer| answer.is_applicable),
            justification: text(answer.and_then(|answer| answer.justification.as_ref())),
            status: answer.and_then(|answer| answer.implementation_status),
            owner: answer.and_then(|answer| answer.owner_id).map(name),
            obligation: text(answer.and_then(|answer| answer.obligation.as_ref())),
            is_proposed: answer.is_some_and(|answer| !answer.is_confirmed()),
        }
    });
    let is_approved = document.status == SoaStatus::Approved;
    Ok(SoaSnapshot {
        document_id: document.id,
        framework_id: document.framework_id,
        organization: organization.name,
        framework: framework.name.clone(),
        attribution: framework.attribution.clone(),
        version: document.version,
        status: document.status,
        date: organization.time_zone.date_of(at),
        prepared_by: document.prepared_by.map(name),
        approved_by: document.approver_id.filter(|_| is_approved).map(name),
        rows: rows.collect(),
    })
}

fn printed(frozen: &SoaSnapshot) -> attestry_pdf::SoaReport {
    let status = |status: Option<ImplementationStatus>| match status {
        None => "",
        Some(ImplementationStatus::NotStarted) => "Not started",
        Some(ImplementationStatus::InProgress) => "In progress",
        Some(ImplementationStatus::Implemented) => "Implemented",
    };
    let row = |row: &FrozenRow| {
        let obligation = match row.obligation.as_str() {
            "" => String::new(),
            obligation => format!(" Required by: {obligation}"),
        };
        StatementRow {
            theme: row.theme.clone(),
            code: row.code.clone(),
            title: row.title.clone(),
            is_applicable: row.is_applicable,
            justification: format!("{}{obligation}", row.justification).trim().to_owned(),
            status: status(row.status).to_owned(),
            owner: row.owner.clone(),
            is_proposed: row.is_proposed,
        }
    };
    attestry_pdf::SoaReport {
        organization: frozen.organization.clone(),
        framework: frozen.framework.clone(),
        status: match frozen.status {
            SoaStatus::Draft => "Draft",
            SoaStatus::InProgress => "In progress",
            SoaStatus::Completed => "Completed",
            SoaStatus::NeedsReview => "Awaiting approval",
            SoaStatus::Approved => "Approved",
            SoaStatus::Declined => "Declined",
        }
        .to_owned(),
        version: u32::try_from(frozen.version.get()).unwrap_or_default(),
        date: frozen.date.to_string(),
        prepared_by: frozen.prepared_by.clone(),
        approval: frozen
            .approved_by
            .as_ref()
            .map(|by| Approval { by: by.clone(), at: frozen.date.to_string() }),
        attribution: frozen.attribution.clone(),
        rows: frozen.rows.iter().map(row).collect(),
    }
}

/// Renders a statement in these formats.
async fn files<const N: usize>(
    ctx: &Ctx,
    organization: OrganizationId,
    frozen: &SoaSnapshot,
    formats: [SoaFormat; N],
    tables: Tables,
) -> Result<[(SoaFormat, Vec<u8>); N], Error> {
    let frozen = frozen.clone();
    let made = ctx.printing.work(organization, move || {
        let mut files = formats.map(|format| (format, Vec::new()));
        for (format, bytes) in &mut files {
            *bytes = match format {
                SoaFormat::Pdf => {
                    let Pdf { bytes, .. } = attestry_pdf::statement(&printed(&frozen))?;
                    bytes
                }
                SoaFormat::Xlsx | SoaFormat::Csv => tables(&frozen, *format).map_err(Error::Internal)?,
            };
        }
        Ok::<_, Error>(files)
    });
    made.await?
}

/// An approval as recorded in the journal: the document, and its frozen files.
#[derive(Serialize)]
struct Approved<'a> {
    #[serde(flatten)]
    document: &'a SoaDocument,
    files: Vec<ApprovedFile>,
}

#[derive(Serialize, Deserialize)]
struct ApprovedFile {
    format: SoaFormat,
    sha256: String,
}

#[derive(Deserialize)]
struct ApprovedFiles {
    files: Vec<ApprovedFile>,
}

/// Approves a document. Its files are rendered first, which takes a while; if the document changes meanwhile, the
/// approval fails.
#[boxed]
pub async fn approve(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    tables: Tables,
) -> Result<SoaDocument, Error> {
    let (own, at) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let mut statement = load(t, &own, id).await?;
        let approver = must_be_approver(&own, &statement.document)?;
        let seen = statement.document.revision;
        statement.document.status = SoaStatus::Approved;
        let frozen = freeze(t, &own, &statement, at).await?;
        Ok::<_, Error>((frozen, approver, seen))
    });
    let (frozen, approver, seen) = found.await?;
    let files =
        files(ctx, scope.organization(), &frozen, [SoaFormat::Pdf, SoaFormat::Xlsx, SoaFormat::Csv], tables)
            .await?;
    let content = canonical(&frozen).map_err(Error::internal)?;
    let hash = hex(&sha256(content.as_bytes()));
    ctx.change(scope, async move |c| {
        let before = lock(c, id).await?;
        must_be_approver(c.scope, &before)?;
        reject_self_approval(c, before.submitted_by, approver).await?;
        if before.revision != seen {
            return Err(Error::Conflict {
                code: "soa_changed",
                message: "The statement was changed in the meantime. Look at it again before you approve it."
                    .to_owned(),
            });
        }
        let approval = SoaApproval {
            id: c.next_id(),
            document_id: id,
            framework_id: before.framework_id,
            approver_id: approver,
            approved_at: at,
            content_hash: hash.clone(),
            content: frozen.clone(),
        };
        soa::insert_approval(c.t, c.scope, &approval, &content).await?;
        let mut frozen_as = Vec::new();
        for (format, bytes) in &files {
            let sha256 = hex(&sha256(bytes));
            soa::insert_file(c.t, c.scope, approval.id, *format, &sha256, bytes).await?;
            frozen_as.push(ApprovedFile { format: *format, sha256 });
        }
        let after = SoaDocument {
            status: SoaStatus::Approved,
            approved_at: Some(at),
            content_hash: Some(hash.clone()),
            ..before.clone()
        };
        let after = store(c, &before, after).await?;
        let state = Approved { document: &after, files: frozen_as };
        c.record("soa.approved", DOCUMENT, after.id, &state)?;
        tell(c, before.prepared_by, before.id, &format!("Approved: {}", label(c, &after).await?));
        Ok(after)
    })
    .await
}

/// A file of a document: the frozen one if it is approved, otherwise one with the current content.
#[boxed]
pub async fn export(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    format: SoaFormat,
    tables: Tables,
) -> Result<Download, Error> {
    let (own, now) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let statement = load(t, &own, id).await?;
        if statement.document.status == SoaStatus::Approved
            && let Some(approval) = soa::approvals(t, &own, id).await?.into_iter().next()
        {
            let file = soa::file(t, &own, approval.id, format).await?;
            return Ok::<_, Error>((approval.content, file));
        }
        Ok((freeze(t, &own, &statement, now).await?, None))
    });
    let (frozen, file) = found.await?;
    let file_name = format!(
        "{} statement of applicability {} v{}.{format}",
        frozen.organization, frozen.framework, frozen.version
    );
    let bytes = match file {
        Some(bytes) => bytes,
        None => {
            let [(_, bytes)] = files(ctx, scope.organization(), &frozen, [format], tables).await?;
            bytes
        }
    };
    Ok(Download { file_name, bytes, missing: Vec::new(), permit: None })
}

/// The approved version that a file belongs to.
#[derive(Clone, Debug)]
pub struct Verified {
    pub approval: SoaApproval,
    pub format: SoaFormat,
    /// True if the document has not changed since this approval.
    pub is_current: bool,
}

/// Finds the approved version of a document whose file has this SHA-256. The approval must be in the journal, too.
#[boxed]
pub async fn verify(
    ctx: &Ctx,
    scope: &Scope,
    id: SoaDocumentId,
    sha256: String,
) -> Result<Option<Verified>, Error> {
    let (own, hash) = (scope.clone(), sha256.clone());
    let found = ctx.db.read(async move |t| {
        let document = soa::get(t, &own, id).await?.ok_or(MISSING)?;
        let files = soa::files(t, &own, id).await?;
        let Some((approval, format, _)) = files.into_iter().rev().find(|(.., known)| *known == hash) else {
            return Ok::<_, Error>(None);
        };
        let approvals = soa::approvals(t, &own, id).await?;
        let is_last = approvals.first().is_some_and(|last| last.id == approval);
        let is_current = is_last && document.is_latest && document.status == SoaStatus::Approved;
        let found = approvals.into_iter().find(|one| one.id == approval);
        Ok(found.map(|approval| Verified { approval, format, is_current }))
    });
    let Some(found) = found.await? else { return Ok(None) };
    let filter = EntryFilter {
        entity_id: Some(id.to_string()),
        action: Some(AnyOf::one(Name::stored("soa.approved".to_owned()))),
        ..EntryFilter::default()
    };
    let entries = journal::list(ctx, scope, filter, Order::Descending, u16::MAX, None).await?;
    let is_recorded = entries.items.iter().any(|shown| {
        let state = shown.entry.state.as_deref().unwrap_or_default();
        let files = serde_json::from_str(state).map_or_else(|_| Vec::new(), |read: ApprovedFiles| read.files);
        files.iter().any(|file| file.sha256 == sha256)
    });
    Ok(is_recorded.then_some(found))
}
