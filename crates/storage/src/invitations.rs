//! Invitations.

use attestry_db::{Error, Row, Tx, Value};
use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, UserId};
use attestry_domain::identity::invitations::Invitation;
use attestry_domain::journal::Hash;

use crate::sql::{Columns, id, time};

macro_rules! columns {
    () => {
        "SELECT id, org_id, member_id, user_id, email, created_at, expires_at, accepted_at, by_mail FROM invitations"
    };
}

statements! {
    INSERT = "INSERT INTO invitations (id, org_id, member_id, user_id, email, token_hash, created_at, expires_at, by_mail) VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9)";
    FIND = concat!(columns!(), " WHERE token_hash = $1");
    LOCK = concat!(columns!(), " WHERE org_id = $1 AND id = $2 FOR UPDATE");
    ACCEPT = "UPDATE invitations SET accepted_at = $3, user_id = $4 WHERE org_id = $1 AND id = $2";
    DELETE_OPEN = "DELETE FROM invitations WHERE org_id = $1 AND member_id = $2 AND accepted_at IS NULL";
}

fn read(row: &Row<'_>) -> Result<Invitation, Error> {
    Ok(Invitation {
        id: row.parse(0)?,
        organization_id: row.parse(1)?,
        member_id: row.parse(2)?,
        user_id: row.parse(3)?,
        email: row.text(4)?,
        created_at: row.time(5)?,
        expires_at: row.time(6)?,
        accepted_at: row.opt_time(7)?,
        by_mail: row.bool(8)?,
    })
}

pub async fn insert(
    t: &Tx<'_>,
    scope: &Scope,
    invitation: &Invitation,
    token_hash: &Hash,
) -> Result<(), Error> {
    let params = [
        id(scope.organization()),
        id(invitation.id),
        id(invitation.member_id),
        id(invitation.user_id),
        Value::from(&invitation.email),
        Value::from(token_hash),
        time(invitation.created_at),
        time(invitation.expires_at),
        Value::Bool(invitation.by_mail),
    ];
    t.execute(INSERT, &params).await.map(|_| ())
}

/// Finds the invitation of a link. The token is the credential; the scope follows from it.
pub async fn find(t: &Tx<'_>, token_hash: &Hash) -> Result<Option<Invitation>, Error> {
    t.opt(FIND, &[Value::from(token_hash)], read).await
}

pub async fn lock(t: &Tx<'_>, scope: &Scope, invitation: &Invitation) -> Result<Option<Invitation>, Error> {
    t.opt(LOCK, &[id(scope.organization()), id(invitation.id)], read).await
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
