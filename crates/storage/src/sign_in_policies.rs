//! The sign-in policies of organizations.

use attestry_db::{Error, Tx};
use attestry_domain::access::Scope;
use attestry_domain::identity::sign_in::SignInPolicy;

use crate::sql::id;
use crate::table::read;

statements! {
    ;
    tables
    POLICIES: SignInPolicy = "sign_in_policies" by "org_id" {
        GET = " WHERE org_id = $1";
    }
}

/// Returns the policy of the organization, or the default.
pub async fn get(t: &Tx<'_>, scope: &Scope) -> Result<SignInPolicy, Error> {
    Ok(t.opt(*GET, &[id(scope.organization())], read).await?.unwrap_or_default())
}

/// Inserts or updates the policy.
pub async fn put(t: &Tx<'_>, scope: &Scope, policy: &SignInPolicy) -> Result<(), Error> {
    POLICIES.upsert(t, scope, policy, Vec::new()).await
}
