//! The ways in which accounts can sign in. They belong to the user, so most functions take no scope.

use attestry_db::{Error, Tx};
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{MemberId, OrganizationId, SsoConnectionId, UserId};
use attestry_domain::identity::sign_in::WaysIn;
use attestry_domain::row::Row;

use crate::sql::{Columns, id};
use crate::table::{read, select};

/// Sign-in without an identity provider, by both factors. A passkey is both.
macro_rules! break_glass {
    () => {
        "(EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id) OR (u.password_hash IS NOT NULL AND EXISTS (SELECT 1 FROM totp_secrets s WHERE s.user_id = u.id AND s.activated_at IS NOT NULL)))"
    };
}

statements! {
    EXEMPT_OWNERS = concat!("SELECT m.id, m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE AND m.is_exempt = TRUE AND ", break_glass!());
    OWNERS_WITHOUT = "SELECT m.id, m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.is_active = TRUE AND m.role LIKE '%owner%' AND (u.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id) OR EXISTS (SELECT 1 FROM sso_identities i JOIN sso_connections k ON k.id = i.connection_id WHERE i.org_id = $1 AND i.user_id = u.id AND k.is_enabled = TRUE AND k.id <> $2))";
    ;
    built
    OF_USER = select::<WaysIn>("users u WHERE u.id = $1");
    EXEMPTIONS = select::<Exemption>("members m LEFT JOIN sign_in_policies p ON p.org_id = m.org_id WHERE m.user_id = $1 AND m.is_active = TRUE AND m.is_exempt = TRUE AND (p.sso = 'required' OR EXISTS (SELECT 1 FROM directory_tokens d WHERE d.org_id = m.org_id))");
}

/// Returns the ways in which an account can sign in.
pub async fn of_user(t: &Tx<'_>, user: UserId) -> Result<WaysIn, Error> {
    Ok(t.opt(*OF_USER, &[id(user)], read).await?.unwrap_or_default())
}

/// A membership that is exempt, in an organization that needs exempt owners.
#[derive(Clone, Debug, Row)]
pub struct Exemption {
    #[row(column = "m.org_id")]
    pub organization: OrganizationId,
    #[row(column = "m.id")]
    pub member: MemberId,
    /// True if the organization requires single sign-on; otherwise a directory has tokens.
    #[row(column = "COALESCE(p.sso = 'required', FALSE)")]
    pub is_sso_required: bool,
}

/// Returns the exemptions of a user that other people rely on.
pub async fn exemptions(t: &Tx<'_>, user: UserId) -> Result<Vec<Exemption>, Error> {
    t.all(*EXEMPTIONS, &[id(user)], read).await
}

/// Returns the exempt owners who can sign in with both factors of their own.
pub async fn exempt_owners(t: &Tx<'_>, scope: &Scope) -> Result<Vec<MemberId>, Error> {
    let params = [id(scope.organization())];
    Ok(owners(t.all(EXEMPT_OWNERS, &params, |row| Ok((row.parse(0)?, row.text(1)?))).await?))
}

/// Returns the owners who can sign in without a connection.
pub async fn owners_without(
    t: &Tx<'_>,
    scope: &Scope,
    connection: SsoConnectionId,
) -> Result<Vec<MemberId>, Error> {
    let params = [id(scope.organization()), id(connection)];
    Ok(owners(t.all(OWNERS_WITHOUT, &params, |row| Ok((row.parse(0)?, row.text(1)?))).await?))
}

fn owners(found: Vec<(MemberId, String)>) -> Vec<MemberId> {
    found
        .into_iter()
        .filter(|(_, role)| Roles::stored(role.clone()).is_owner())
        .map(|(member, _)| member)
        .collect()
}
