//! Identity: organizations and their members, invitations, sessions, passwords, API keys.

pub mod api_keys;
pub mod invitations;
pub mod members;
pub mod organizations;
pub(crate) mod password_reset;
pub mod passwords;
pub mod principals;
pub mod sessions;
pub mod setup;
pub(crate) mod sign_in_failure;
