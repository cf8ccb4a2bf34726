//! The foundation of every feature: the unit of work, the journal, the queue, keys, errors, permits. Nothing here
//! depends on a feature; features extend shared steps with hooks, see [`crate::assembly`].

pub(crate) mod change;
pub mod context;
pub(crate) mod credentials;
pub mod data_key;
pub mod error;
pub mod hashing;
pub mod history;
pub(crate) mod hooks;
pub mod idempotency;
pub mod journal;
pub mod keys;
pub mod outages;
pub mod permits;
pub mod precondition;
pub mod queue;
pub mod refusals;
pub(crate) mod sealing;
pub(crate) mod throttle;
pub mod verification;
