//! The table of policies, their versions and signatures.

use std::collections::HashSet;

use attestry_db::{Error, Row, RowChange, Tx, Value};
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{AttachmentId, MemberId, OrganizationId, PolicyId, PolicyVersionId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::plain::{Keep, Plain};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicyFile, PolicySignature, PolicyVersion};
use attestry_domain::{Time, policy_fields};

use crate::sql::{Columns, by_id, id, number, opt_id, opt_time, owned, page_params, read_page, time};

policy_fields!(stored Policy in "policies");

macro_rules! version {
    ($from:literal) => {
        concat!("SELECT v.id, v.org_id, v.policy_id, v.number, v.name, v.description, v.content, v.file_id, v.file_name, v.file_sha256, v.is_changed, v.approver_id, v.submitted_by_id, v.published_at FROM policy_versions v", $from)
    };
}

macro_rules! signature {
    () => {
        "SELECT id, org_id, policy_id, version_id, number, member_id, signed_at, ended_at FROM policy_signatures"
    };
}

statements! {
    TO_SIGN = "SELECT id FROM policies p WHERE org_id = $1 AND archived = FALSE AND is_published = TRUE AND is_required_to_sign = TRUE AND NOT EXISTS (SELECT 1 FROM policy_signatures s WHERE s.org_id = $1 AND s.policy_id = p.id AND s.member_id = $2 AND s.ended_at IS NULL) ORDER BY id";
    APPROVED_BY = "SELECT id FROM policies WHERE org_id = $1 AND approver_id = $2 AND status = 'needs_review' ORDER BY id";
    DUE = "SELECT org_id, id FROM policies WHERE status = 'published' AND archived = FALSE AND review_date <= $1 AND id > $2 ORDER BY id LIMIT $3";
    IDS = "SELECT id FROM policies WHERE org_id = $1";
    PUBLISHED = "SELECT id FROM policies WHERE org_id = $1 AND archived = FALSE AND is_published = TRUE ORDER BY name_key, id";
    PUBLISHED_NAMES = "SELECT p.id, v.name FROM policies p JOIN policy_versions v ON v.org_id = $1 AND v.id = p.current_version_id WHERE p.org_id = $1 AND p.archived = FALSE AND p.is_published = TRUE ORDER BY p.name_key, p.id";
    OF_FILE = "SELECT (SELECT COUNT(*) FROM policies WHERE org_id = $1 AND file_id = $2) + (SELECT COUNT(*) FROM policy_versions WHERE org_id = $1 AND file_id = $2)";
    INSERT_VERSION = "INSERT INTO policy_versions (org_id, id, policy_id, number, name, description, content, file_id, file_name, file_sha256, is_changed, approver_id, submitted_by_id, published_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    VERSION = version!(" WHERE v.org_id = $1 AND v.id = $2");
    VERSION_NUMBERED = version!(" WHERE v.org_id = $1 AND v.policy_id = $2 AND v.number = $3");
    CURRENT_VERSIONS = version!(" JOIN policies p ON p.current_version_id = v.id WHERE v.org_id = $1 AND p.org_id = $1 AND p.id >= $2 AND p.id <= $3");
    COUNT_VERSIONS = "SELECT COUNT(*) FROM policy_versions WHERE org_id = $1 AND policy_id = $2";
    DELETE_VERSIONS = "DELETE FROM policy_versions WHERE org_id = $1 AND policy_id = $2";
    VERSION_IDS = "SELECT id FROM policy_versions WHERE org_id = $1 AND policy_id = $2 ORDER BY id";
    INSERT_SIGNATURE = "INSERT INTO policy_signatures (org_id, id, policy_id, version_id, number, member_id, signed_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    OWN_SIGNATURE = concat!(signature!(), " WHERE org_id = $1 AND policy_id = $2 AND member_id = $3 AND ended_at IS NULL");
    SIGNATURES = concat!(signature!(), " WHERE org_id = $1 AND policy_id = $2 ORDER BY id");
    SIGNED_BY = "SELECT policy_id, member_id FROM policy_signatures WHERE org_id = $1 AND policy_id >= $2 AND policy_id <= $3 AND signed_at <= $4 AND (ended_at IS NULL OR ended_at > $4) ORDER BY policy_id, id";
    END_SIGNATURES = "UPDATE policy_signatures SET ended_at = $3 WHERE org_id = $1 AND policy_id = $2 AND ended_at IS NULL";
    REMINDED = "SELECT member_id FROM policy_reminders WHERE org_id = $1 AND version_id = $2 AND reminded_at > $3";
    REMIND = "INSERT INTO policy_reminders (org_id, policy_id, version_id, member_id, reminded_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (org_id, version_id, member_id) DO UPDATE SET reminded_at = excluded.reminded_at";
    DELETE_REMINDERS = "DELETE FROM policy_reminders WHERE org_id = $1 AND policy_id = $2";
    DELETE_SIGNATURES = "DELETE FROM policy_signatures WHERE org_id = $1 AND policy_id = $2";
    ;
    pages
    VERSIONS = (version!(" WHERE v.org_id = $1 AND v.policy_id = $2"), "v.id", None);
}

fn read_version(row: &Row<'_>) -> Result<PolicyVersion, Error> {
    let content = Keep::kept(Plain::Text(row.str(6)?.into()))
        .map_err(|message| Error::Column { column: 6, message })?;
    let file = match (row.opt_parse(7)?, row.opt_text(8)?, row.opt_text(9)?) {
        (Some(id), Some(name), Some(sha256)) => Some(PolicyFile { id, name, sha256 }),
        _ => None,
    };
    Ok(PolicyVersion {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        policy_id: row.parse(2)?,
        number: number(row, 3)?,
        name: row.text(4)?,
        description: row.text(5)?,
        content,
        file,
        is_changed: row.bool(10)?,
        approver_id: row.opt_parse(11)?,
        submitted_by_id: row.opt_parse(12)?,
        published_at: row.time(13)?,
    })
}

fn read_signature(row: &Row<'_>) -> Result<PolicySignature, Error> {
    Ok(PolicySignature {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        policy_id: row.parse(2)?,
        version_id: row.parse(3)?,
        version: number(row, 4)?,
        member_id: row.parse(5)?,
        signed_at: row.time(6)?,
        ended_at: row.opt_time(7)?,
    })
}

/// Returns the policies that a member has to sign, oldest first.
pub async fn to_sign(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<Vec<PolicyId>, Error> {
    t.all(TO_SIGN, &[id(scope.organization()), id(member)], |row| row.parse(0)).await
}

/// The policies that wait for a member's approval.
pub async fn awaiting(t: &Tx<'_>, scope: &Scope, approver: MemberId) -> Result<Vec<PolicyId>, Error> {
    t.all(APPROVED_BY, &[id(scope.organization()), id(approver)], |row| row.parse(0)).await
}

/// Returns every published policy, ordered by name.
pub async fn published(t: &Tx<'_>, scope: &Scope) -> Result<Vec<PolicyId>, Error> {
    t.all(PUBLISHED, &[id(scope.organization())], |row| row.parse(0)).await
}

/// Returns the ids of all policies.
pub async fn ids(t: &Tx<'_>, scope: &Scope) -> Result<HashSet<PolicyId>, Error> {
    let all = t.all(IDS, &[id(scope.organization())], |row| row.parse(0)).await?;
    Ok(all.into_iter().collect())
}

/// Returns every published policy with its published name, ordered by name.
pub async fn published_names(t: &Tx<'_>, scope: &Scope) -> Result<Vec<(PolicyId, String)>, Error> {
    t.all(PUBLISHED_NAMES, &[id(scope.organization())], |row| Ok((row.parse(0)?, row.text(1)?))).await
}

/// Returns the policies of all organizations whose review may be due, ordered by id, for the review job.
pub async fn due(
    t: &Tx<'_>,
    by: Date,
    after: &str,
    most: i64,
) -> Result<Vec<(OrganizationId, PolicyId)>, Error> {
    let params = [Value::from(by.to_string()), after.into(), most.into()];
    t.all(DUE, &params, |row| Ok((row.parse(0)?, row.parse(1)?))).await
}

/// Returns true when a file is the text of a policy or of a policy version.
pub async fn uses_file(t: &Tx<'_>, scope: &Scope, file: AttachmentId) -> Result<bool, Error> {
    Ok(t.one(OF_FILE, &[id(scope.organization()), id(file)], |row| row.int(0)).await? > 0)
}

pub async fn insert_version(t: &Tx<'_>, scope: &Scope, version: &PolicyVersion) -> Result<(), Error> {
    let file = version.file.as_ref();
    let params = [
        id(scope.organization()),
        id(version.id),
        id(version.policy_id),
        Value::Int(version.number.get()),
        Value::from(&version.name),
        Value::from(&version.description),
        Value::from(version.content.as_json()),
        opt_id(file.map(|file| file.id)),
        Value::from(file.map(|file| &file.name)),
        Value::from(file.map(|file| &file.sha256)),
        Value::Bool(version.is_changed),
        opt_id(version.approver_id),
        opt_id(version.submitted_by_id),
        time(version.published_at),
    ];
    t.execute(INSERT_VERSION, &params).await.map(|_| ())
}

pub async fn version(
    t: &Tx<'_>,
    scope: &Scope,
    version: PolicyVersionId,
) -> Result<Option<PolicyVersion>, Error> {
    t.opt(VERSION, &[id(scope.organization()), id(version)], read_version).await
}

pub async fn version_numbered(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
    number: VersionNumber,
) -> Result<Option<PolicyVersion>, Error> {
    let params = [id(scope.organization()), id(policy), Value::Int(number.get())];
    t.opt(VERSION_NUMBERED, &params, read_version).await
}

/// Returns the published versions of the policies from `first` to `last`.
pub async fn current_versions(
    t: &Tx<'_>,
    scope: &Scope,
    first: PolicyId,
    last: PolicyId,
) -> Result<Vec<PolicyVersion>, Error> {
    t.all(CURRENT_VERSIONS, &[id(scope.organization()), id(first), id(last)], read_version).await
}

/// The versions of a policy, newest first.
pub async fn versions(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
    limit: u16,
    after: Option<&After>,
) -> Result<Page<PolicyVersion>, Error> {
    let mut params = vec![id(scope.organization()), id(policy)];
    page_params(&mut params, limit, after);
    let sql = VERSIONS.pick(Order::Descending, after.is_some());
    read_page(t, sql, &params, limit, read_version, |one| by_id(one.id)).await
}

pub async fn count_versions(t: &Tx<'_>, scope: &Scope, policy: PolicyId) -> Result<i64, Error> {
    t.one(COUNT_VERSIONS, &[id(scope.organization()), id(policy)], |row| row.int(0)).await
}

pub async fn insert_signature(t: &Tx<'_>, scope: &Scope, signature: &PolicySignature) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(signature.id),
        id(signature.policy_id),
        id(signature.version_id),
        Value::Int(signature.version.get()),
        id(signature.member_id),
        time(signature.signed_at),
        opt_time(signature.ended_at),
    ];
    t.execute(INSERT_SIGNATURE, &params).await.map(|_| ())
}

/// Returns a member's signature, if it is still valid.
pub async fn own_signature(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
    member: MemberId,
) -> Result<Option<PolicySignature>, Error> {
    t.opt(OWN_SIGNATURE, &[id(scope.organization()), id(policy), id(member)], read_signature).await
}

/// Returns the signatures of all versions of a policy, oldest first.
pub async fn signatures(t: &Tx<'_>, scope: &Scope, policy: PolicyId) -> Result<Vec<PolicySignature>, Error> {
    t.all(SIGNATURES, &[id(scope.organization()), id(policy)], read_signature).await
}

/// Returns the members whose signatures were valid at a time, for the policies from `first` to `last`.
pub async fn signed_by(
    t: &Tx<'_>,
    scope: &Scope,
    first: PolicyId,
    last: PolicyId,
    at: Time,
) -> Result<Vec<(PolicyId, MemberId)>, Error> {
    let params = [id(scope.organization()), id(first), id(last), time(at)];
    t.all(SIGNED_BY, &params, |row| Ok((row.parse(0)?, row.parse(1)?))).await
}

/// Ends all valid signatures of a policy.
pub async fn end_signatures(t: &Tx<'_>, scope: &Scope, policy: PolicyId, at: Time) -> Result<(), Error> {
    t.execute(END_SIGNATURES, &[id(scope.organization()), id(policy), time(at)]).await.map(|_| ())
}

/// Deletes the versions of a policy with their signatures, and returns the version ids.
pub async fn delete_versions(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
) -> Result<Vec<PolicyVersionId>, Error> {
    let own = [id(scope.organization()), id(policy)];
    let versions = t.all(VERSION_IDS, &own, |row| row.parse(0)).await?;
    t.execute(DELETE_REMINDERS, &own).await?;
    t.execute(DELETE_SIGNATURES, &own).await?;
    t.execute(DELETE_VERSIONS, &own).await?;
    Ok(versions)
}

/// Members who were reminded of a version after a time.
pub async fn reminded(
    t: &Tx<'_>,
    scope: &Scope,
    version: PolicyVersionId,
    after: Time,
) -> Result<HashSet<MemberId>, Error> {
    let params = [id(scope.organization()), id(version), time(after)];
    Ok(t.all(REMINDED, &params, |row| row.parse(0)).await?.into_iter().collect())
}

pub async fn note_reminder(
    t: &Tx<'_>,
    scope: &Scope,
    (policy, version): (PolicyId, PolicyVersionId),
    member: MemberId,
    at: Time,
) -> Result<(), Error> {
    let params = [id(scope.organization()), id(policy), id(version), id(member), time(at)];
    t.execute_later(RowChange::Single(REMIND), owned(params.into())).await
}
