//! The `If-Match` precondition, checked inside the transaction of the change.

use crate::core::error::Error;

/// The versions that the caller has seen, any of which matches. `None` matches every version.
#[derive(Clone, Debug, Default)]
pub struct Precondition(pub Option<Vec<Vec<i64>>>);

impl Precondition {
    pub fn check(&self, versions: &[i64]) -> Result<(), Error> {
        match &self.0 {
            // A tag may list more versions than those of the changed entity.
            Some(seen) if !seen.iter().any(|seen| seen.starts_with(versions)) => {
                Err(Error::PreconditionFailed)
            }
            _ => Ok(()),
        }
    }
}
