//! Permissions, roles and scopes. A role is a set of [`Permission`]s, and a [`Scope`] is the proof that an actor
//! passed a permission check: storage requires one for all tenant data, and [`Actor::authorize`] issues it. The
//! scopes without a check, [`Scope::system`], [`Scope::visitor`] and [`Actor::for_the_record`], are easy to grep for.

mod permissions;
mod roles;
mod scope;

pub use permissions::{ChangeTasks, Grant, Permission, Permissions, SeePolicies, SeeTasks, grant};
pub use roles::{Role, Roles};
pub use scope::{
    Actor, ActorType, AuthType, Claim, Connection, Credential, Denied, Origin, Principal, Scope, network,
};
