//! The domain model: ids, entities, enums and the rules that need no data.
//!
//! Nothing here performs I/O: time and randomness are injected through [`clock`], and storage and HTTP depend on this
//! crate. There is one folder per area and one file per resource or mechanism.

pub mod access;
pub mod any_of;
pub mod automations;
pub mod clock;
pub mod content;
pub mod date;
pub mod files;
pub mod frameworks;
pub mod hash;
pub mod id;
pub mod identity;
pub mod journal;
pub mod json;
pub mod page;
pub mod patch;
pub mod plain;
pub mod policies;
pub mod portals;
pub mod programme;
pub mod registers;
pub mod row;
pub mod soa;
pub mod tasks;
pub mod text;
pub mod time;
pub mod words;
pub mod zone;

pub use json::JsonSchema;
pub use patch::Patch;
pub use text::Parse;
pub use time::Time;
pub use zone::Zone;
