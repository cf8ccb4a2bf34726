//! Client for language models with streamed answers: any OpenAI-compatible endpoint, or Anthropic.
//!
//! Providers are slow, strict and sometimes unavailable, so a request is retried, but only until the first event of
//! an answer: text already shown is never repeated. Text is passed on event by event and never buffered. An
//! [`Answer`] succeeds only when the provider reports that it is complete; everything else is a [`Failure`] with a
//! sentence for the user, and none of them contains the key.

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
pub use settings::{Error, Kind, Settings};

/// The input of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt. May be empty.
    pub system: String,
    /// The conversation so far. The last turn is usually the user's.
    pub turns: Vec<Turn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub role: Role,
    /// Anthropic rejects an empty one.
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
