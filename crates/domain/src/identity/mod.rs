//! Organizations, their people, how they sign in and what they are told.

pub mod api_keys;
pub mod invitations;
pub mod members;
pub mod notices;
pub mod organizations;
pub mod sessions;
pub mod users;
