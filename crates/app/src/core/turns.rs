//! Taking turns: the attempts of one account from one network, one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use attestry_domain::journal::Hash;
use tokio::sync::Mutex as Turns;

/// Who is proving a password at the moment.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Hash, Arc<Turns<()>>>>);

impl Attempts {
    pub(crate) fn of(&self, subject: Hash) -> Arc<Turns<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(subject).or_default())
    }

    /// Forgets a subject that nobody else is waiting for.
    pub(crate) fn leave(&self, subject: Hash, turns: Arc<Turns<()>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turns);
        if all.get(&subject).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            all.remove(&subject);
        }
    }
}
