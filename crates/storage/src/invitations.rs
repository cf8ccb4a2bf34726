//! Invitations.

use attestry_db::{Error, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::hash::Hash;
use attestry_domain::id::{MemberId, UserId};
use attestry_domain::identity::invitations::Invitation;

use crate::sql::{id, time};
use crate::table::read;

statements! {
    ACCEPT = "UPDATE invitations SET accepted_at = $3, user_id = $4 WHERE org_id = $1 AND id = $2";
    DELETE_OPEN = "DELETE FROM invitations WHERE org_id = $1 AND member_id = $2 AND accepted_at IS NULL";
    ;
    tables
    INVITATIONS: Invitation = "invitations" + "token_hash" {
        FIND = " WHERE token_hash = $1";
        LOCK = " WHERE org_id = $1 AND id = $2 FOR UPDATE";
    }
}

pub async fn insert(
    t: &Tx<'_>,
    scope: &Scope,
    invitation: &Invitation,
    token_hash: &Hash,
) -> Result<(), Error> {
    INVITATIONS.insert_with(t, scope.organization(), invitation, vec![Value::from(token_hash)]).await
}

/// Finds the invitation of a link. The token is the credential; the scope follows from it.
pub async fn find(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<Invitation>, Error> {
    t.opt(*FIND, &[Value::from(token_hash)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, invitation: &Invitation) -> Result<Option<Invitation>, Error> {
    t.opt(*LOCK, &[id(scope.organization()), id(invitation.id)], read).await
}

/// Records the user who accepted, since the invited person may already have had an account.
pub async fn accept(
    t: &Tx<'_>,
    scope: &Scope,
    invitation: &Invitation,
    user: UserId,
    at: Time,
) -> Result<(), Error> {
    t.execute(ACCEPT, &[id(scope.organization()), id(invitation.id), time(at), id(user)]).await.map(|_| ())
}

/// Deletes the unused invitations of this member.
pub async fn delete_open(t: &Tx<'_>, scope: &Scope, member: MemberId) -> Result<u64, Error> {
    t.execute(DELETE_OPEN, &[id(scope.organization()), id(member)]).await
}
