//! Identity: organizations and their members, invitations, sessions, passwords, second factors, passkeys, single sign-on,
//! directories, API keys, service accounts.

pub mod access_review;
pub mod api_keys;
pub mod confirmation;
pub mod directory;
pub(crate) mod exemptions;
pub(crate) mod identity_checks;
pub mod invitations;
pub(crate) mod joining;
pub mod mail_domains;
pub mod members;
pub(crate) mod mfa_required;
pub mod organizations;
pub(crate) mod owners;
pub mod passkeys;
pub(crate) mod password_reset;
pub mod passwords;
pub mod principals;
pub mod second_factors;
pub mod service_accounts;
pub mod sessions;
pub mod setup;
pub(crate) mod sign_in_failure;
pub mod sign_in_policy;
pub mod sso;
pub(crate) mod tickets;
