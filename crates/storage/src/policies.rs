//! The table of policies, their versions and signatures.

use std::collections::{HashMap, HashSet};

use attestry_db::{Error, RowChange, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::id::{AttachmentId, MemberId, OrganizationId, PolicyId, PolicyVersionId};
use attestry_domain::page::{After, Order, Page};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::policies::{Policy, PolicySignature, PolicyVersion};

use crate::sql::{Columns, by_id, id, opt_id, owned, page_params, read_page, time};
use crate::table::read;

stored!(Policy in "policies");

statements! {
    TO_SIGN = "SELECT id FROM policies p WHERE org_id = $1 AND archived = FALSE AND is_published = TRUE AND is_required_to_sign = TRUE AND NOT EXISTS (SELECT 1 FROM policy_signatures s WHERE s.org_id = $1 AND s.policy_id = p.id AND s.member_id = $2 AND s.ended_at IS NULL) ORDER BY id";
    APPROVED_BY = "SELECT id FROM policies WHERE org_id = $1 AND approver_id = $2 AND status = 'needs_review' ORDER BY id";
    DUE = "SELECT org_id, id FROM policies WHERE status = 'published' AND archived = FALSE AND review_date <= $1 AND id > $2 ORDER BY id LIMIT $3";
    IDS = "SELECT id FROM policies WHERE org_id = $1";
    PUBLISHED = "SELECT id FROM policies WHERE org_id = $1 AND archived = FALSE AND is_published = TRUE ORDER BY name_key, id";
    PUBLISHED_NAMES = "SELECT p.id, v.name FROM policies p JOIN policy_versions v ON v.org_id = $1 AND v.id = p.current_version_id WHERE p.org_id = $1 AND p.archived = FALSE AND p.is_published = TRUE ORDER BY p.name_key, p.id";
    OF_FILE = "SELECT (SELECT COUNT(*) FROM policies WHERE org_id = $1 AND file_id = $2) + (SELECT COUNT(*) FROM policy_versions WHERE org_id = $1 AND file_id = $2)";
    COUNT_VERSIONS = "SELECT COUNT(*) FROM policy_versions WHERE org_id = $1 AND policy_id = $2";
    DELETE_VERSIONS = "DELETE FROM policy_versions WHERE org_id = $1 AND policy_id = $2";
    VERSION_IDS = "SELECT id FROM policy_versions WHERE org_id = $1 AND policy_id = $2 ORDER BY id";
    SIGNED_BY = "SELECT policy_id, member_id FROM policy_signatures WHERE org_id = $1 AND policy_id >= $2 AND policy_id <= $3 AND signed_at <= $4 AND (ended_at IS NULL OR ended_at > $4) ORDER BY policy_id, id";
    SIGNATURE_COUNTS = "SELECT s.policy_id, COUNT(*) FROM policy_signatures s JOIN members m ON m.org_id = $1 AND m.id = s.member_id WHERE s.org_id = $1 AND s.signed_at <= $2 AND (s.ended_at IS NULL OR s.ended_at > $2) AND m.is_active = TRUE AND m.role <> 'auditor' AND (CAST($3 AS TEXT) IS NULL OR s.member_id = $3) GROUP BY s.policy_id";
    END_SIGNATURES = "UPDATE policy_signatures SET ended_at = $3 WHERE org_id = $1 AND policy_id = $2 AND ended_at IS NULL";
    REMINDED = "SELECT member_id FROM policy_reminders WHERE org_id = $1 AND version_id = $2 AND reminded_at > $3";
    REMIND = "INSERT INTO policy_reminders (org_id, policy_id, version_id, member_id, reminded_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (org_id, version_id, member_id) DO UPDATE SET reminded_at = excluded.reminded_at";
    DELETE_REMINDERS = "DELETE FROM policy_reminders WHERE org_id = $1 AND policy_id = $2";
    DELETE_SIGNATURES = "DELETE FROM policy_signatures WHERE org_id = $1 AND policy_id = $2";
    ;
    tables
    VERSION_ROWS: PolicyVersion = "policy_versions v" {
        VERSION = " WHERE v.org_id = $1 AND v.id = $2";
        VERSION_NUMBERED = " WHERE v.org_id = $1 AND v.policy_id = $2 AND v.number = $3";
        CURRENT_VERSIONS = " JOIN policies p ON p.current_version_id = v.id WHERE v.org_id = $1 AND p.org_id = $1 AND p.id >= $2 AND p.id <= $3";
    }
    SIGNATURE_ROWS: PolicySignature = "policy_signatures" {
        OWN_SIGNATURE = " WHERE org_id = $1 AND policy_id = $2 AND member_id = $3 AND ended_at IS NULL";
        SIGNATURES = " WHERE org_id = $1 AND policy_id = $2 ORDER BY id";
    }
    ;
    pages
    VERSIONS = (VERSION_ROWS.select(" WHERE v.org_id = $1 AND v.policy_id = $2"), "v.id", None);
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
    VERSION_ROWS.insert(t, scope, version).await
}

pub async fn version(
    t: &Tx<'_>,
    scope: &Scope,
    version: PolicyVersionId,
) -> Result<Option<PolicyVersion>, Error> {
    t.opt(*VERSION, &[id(scope.organization()), id(version)], read).await
}

pub async fn version_numbered(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
    number: VersionNumber,
) -> Result<Option<PolicyVersion>, Error> {
    let params = [id(scope.organization()), id(policy), Value::Int(number.get())];
    t.opt(*VERSION_NUMBERED, &params, read).await
}

/// Returns the published versions of the policies from `first` to `last`.
pub async fn current_versions(
    t: &Tx<'_>,
    scope: &Scope,
    first: PolicyId,
    last: PolicyId,
) -> Result<Vec<PolicyVersion>, Error> {
    t.all(*CURRENT_VERSIONS, &[id(scope.organization()), id(first), id(last)], read).await
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
    read_page(t, sql, &params, limit, read, |one: &PolicyVersion| by_id(one.id)).await
}

pub async fn count_versions(t: &Tx<'_>, scope: &Scope, policy: PolicyId) -> Result<i64, Error> {
    t.one(COUNT_VERSIONS, &[id(scope.organization()), id(policy)], |row| row.int(0)).await
}

pub async fn insert_signature(t: &Tx<'_>, scope: &Scope, signature: &PolicySignature) -> Result<(), Error> {
    SIGNATURE_ROWS.insert(t, scope, signature).await
}

/// Returns a member's signature, if it is still valid.
pub async fn own_signature(
    t: &Tx<'_>,
    scope: &Scope,
    policy: PolicyId,
    member: MemberId,
) -> Result<Option<PolicySignature>, Error> {
    t.opt(*OWN_SIGNATURE, &[id(scope.organization()), id(policy), id(member)], read).await
}

/// Returns the signatures of all versions of a policy, oldest first.
pub async fn signatures(t: &Tx<'_>, scope: &Scope, policy: PolicyId) -> Result<Vec<PolicySignature>, Error> {
    t.all(*SIGNATURES, &[id(scope.organization()), id(policy)], read).await
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

/// Returns for each policy the number of signatures of members who have to sign, valid at a time; of one member, if
/// given.
pub async fn signature_counts(
    t: &Tx<'_>,
    scope: &Scope,
    of: Option<MemberId>,
    at: Time,
) -> Result<HashMap<PolicyId, i64>, Error> {
    let params = [id(scope.organization()), time(at), opt_id(of)];
    let counts = t.all(SIGNATURE_COUNTS, &params, |row| Ok((row.parse(0)?, row.int(1)?))).await?;
    Ok(counts.into_iter().collect())
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
