//! What `If-Match` asks for, checked inside the transaction that changes something.

use crate::core::error::Error;

/// The versions the caller has seen; any of them will do. None: whatever it is.
#[derive(Clone, Debug, Default)]
pub struct Precondition(pub Option<Vec<Vec<i64>>>);

impl Precondition {
    pub fn check(&self, versions: &[i64]) -> Result<(), Error> {
        match &self.0 {
            // A tag can have more in it than what is changed.
            Some(seen) if !seen.iter().any(|seen| seen.starts_with(versions)) => {
                Err(Error::PreconditionFailed)
            }
            _ => Ok(()),
        }
    }
}
