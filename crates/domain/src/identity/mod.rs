//! Organizations, their members, sign-in and notifications.

pub mod api_keys;
pub mod chat_channels;
pub mod directory;
pub mod inbox;
pub mod invitations;
pub mod mail_domains;
pub mod members;
pub mod notices;
pub mod organizations;
pub mod passkeys;
pub mod releases;
pub mod service_accounts;
pub mod sessions;
pub mod sign_in;
pub mod sso;
pub mod users;
