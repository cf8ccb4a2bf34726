//! Organizations, their members, and authentication.

pub(crate) mod access_review;
pub(crate) mod api_keys;
pub(crate) mod auth;
pub(crate) mod chat_channels;
pub(crate) mod directory;
pub(crate) mod inbox;
pub(crate) mod mail_domains;
pub(crate) mod members;
pub(crate) mod organization;
pub(crate) mod passkeys;
pub(crate) mod releases;
pub(crate) mod scim;
pub(crate) mod second_factors;
pub(crate) mod service_accounts;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod sign_in_policy;
pub(crate) mod sso;
pub(crate) mod sso_connections;
