//! The words of the business: ids, entities, enums and the rules that need no data.
//!
//! Nothing here performs I/O: time and randomness come in through [`clock`], storage and HTTP
//! look at these types from outside. One folder an area, one file a resource or a mechanism.

pub mod access;
pub mod automations;
pub mod clock;
pub mod content;
pub mod date;
pub mod files;
pub mod frameworks;
pub mod id;
pub mod identity;
pub mod journal;
pub mod numbers;
pub mod page;
pub mod patch;
pub mod plain;
pub mod policies;
pub mod portals;
pub mod registers;
pub mod soa;
pub mod tasks;
pub mod text;
pub mod time;
pub mod words;
pub mod zone;

pub use patch::Patch;
pub use text::Parse;
pub use time::Time;
pub use zone::Zone;
