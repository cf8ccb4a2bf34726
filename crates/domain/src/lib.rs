//! The words of the business: ids, entities, enums and the rules that need no data.
//!
//! Nothing here performs I/O: time and randomness come in through [`clock`], storage and HTTP
//! look at these types from outside. One file a resource, one file a mechanism.

pub mod access;
pub mod any_of;
pub mod api_keys;
pub mod assistant;
pub mod attachments;
pub mod automation_checks;
pub mod automation_hosts;
pub mod automations;
pub mod canonical;
pub mod clock;
pub mod comments;
pub mod content;
pub mod context_entries;
pub mod controls;
pub mod date;
pub mod feed;
pub mod files;
pub mod frameworks;
pub mod id;
pub mod id_set;
pub mod invitations;
pub mod journal;
pub mod links;
pub mod masking;
pub mod members;
pub mod notices;
pub mod numbers;
pub mod organizations;
pub mod page;
pub mod patch;
pub mod plain;
pub mod policies;
pub mod policy_templates;
pub mod portals;
pub mod registers;
pub mod risks;
pub mod scales;
pub mod schedules;
pub mod secrets;
pub mod sessions;
pub mod soa;
pub mod subjects;
pub mod task_templates;
pub mod tasks;
pub mod text;
pub mod time;
pub mod trust_access;
pub mod users;
pub mod vendors;
pub mod version;
pub mod views;
pub mod words;
pub mod zone;

pub use patch::Patch;
pub use text::Parse;
pub use time::Time;
pub use zone::Zone;
