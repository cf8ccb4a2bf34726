//! Asks a language model and streams its answer: any OpenAI-compatible endpoint, or Anthropic.
//!
//! A provider is slow, strict and sometimes away, so a question is repeated, but only until the first event of an
//! answer: what a reader has seen is never said twice. Text is passed on event by event and never gathered. An
//! [`Answer`] ends well only when the provider says that it is complete; everything else is a [`Failure`] with a
//! sentence for the reader, and none of them holds the key.

mod answer;
mod anthropic;
mod events;
mod failure;
#[cfg(feature = "fake")]
pub mod fake;
mod openai;
mod problem;
mod provider;
mod request;
mod settings;

pub use answer::Answer;
pub use failure::{Failure, Wait};
pub use provider::Provider;
pub use settings::{Error, Key, Kind, Settings};

/// What the model is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What the model is to be and to do. May be empty.
    pub system: String,
    /// The conversation so far. The last turn is usually the user's.
    pub turns: Vec<Turn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub role: Role,
    /// Anthropic refuses an empty one.
    pub content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

impl Turn {
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}
