//! The assistant that helps to edit policies and statements of applicability: a language model at a provider, or
//! built-in rules; off unless the operator configures it.

pub(crate) mod context_entries;
pub(crate) mod streams;

use attestry_ai::Provider;

use crate::core::context::Ctx;
use crate::core::error::Error;

#[derive(Clone, Debug, Default)]
pub enum Assistant {
    #[default]
    Nobody,
    Rules,
    Provider(Provider),
}

/// Instructions that tell the operator how to configure an assistant.
const SETUP_HINT: &str = "set ATTESTRY_AI_PROVIDER to openai or anthropic, with ATTESTRY_AI_MODEL and ATTESTRY_AI_API_KEY, \
                   or to rules for the built-in assistant";

impl Ctx {
    pub fn assistant(&self) -> &Assistant {
        self.part()
    }
}

impl Assistant {
    /// Sends a minimal request to the provider. For `doctor`.
    pub async fn check(&self) -> Result<String, String> {
        match self {
            Self::Nobody => Ok(format!("not configured; {SETUP_HINT}")),
            Self::Rules => Ok("the built-in rules".to_owned()),
            Self::Provider(provider) => match provider.check().await {
                Ok(model) => Ok(format!("{} answers as {model}", provider.kind())),
                Err(failure) => Err(format!("{failure} Check the settings ai.*.")),
            },
        }
    }
}

/// Default `Retry-After` of a provider that names none.
const BUSY_RETRY_SECONDS: u64 = 10;

pub(crate) fn not_configured() -> Error {
    Error::Outside {
        code: "ai_not_configured",
        message: format!("No AI provider is configured. The operator of this server can {SETUP_HINT}."),
        cause: None,
        retry_after: None,
    }
}

impl From<attestry_ai::Failure> for Error {
    fn from(failure: attestry_ai::Failure) -> Self {
        let wait = failure.retry_after().map(|wait| wait.as_secs().max(1));
        let (code, retry_after) = match failure.is_busy() {
            true => ("ai_busy", Some(wait.unwrap_or(BUSY_RETRY_SECONDS))),
            false => ("ai_failed", wait),
        };
        Self::Outside { code, message: failure.plain(), cause: Some(failure.to_string()), retry_after }
    }
}
