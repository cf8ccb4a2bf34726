//! What the story needs in place of the world: a clock that is moved, ids that are the same each time, mail that nobody
//! gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow};
use attestry_app::automations::runner::Answers;
use attestry_domain::clock::{Entropy, ManualClock};
use attestry_domain::date::Date;
use attestry_domain::journal::sha256;
use attestry_mail::{Mailer, Sent};

use crate::outside::Outside;

/// What a context is made with for the story to happen in it.
#[derive(Debug)]
pub struct Stage {
    today: Date,
    clock: Arc<ManualClock>,
    mailer: Mailer,
    sent: Sent,
}

impl Stage {
    /// `today`: the day after the story ends.
    pub fn new(today: Date) -> Result<Self> {
        let (mailer, sent) =
            Mailer::memory("Attestry <attestry@northwind.example>").map_err(|e| anyhow!(e))?;
        let clock = Arc::new(ManualClock::at(today.start()));
        Ok(Self { today, clock, mailer, sent })
    }

    pub(crate) fn today(&self) -> Date {
        self.today
    }

    pub fn clock(&self) -> Arc<ManualClock> {
        Arc::clone(&self.clock)
    }

    /// Where ids get their random part from. Not for secrets.
    pub fn ids(&self) -> Arc<dyn Entropy> {
        Arc::new(Numbered::default())
    }

    pub(crate) fn sent(&self) -> Sent {
        self.sent.clone()
    }

    /// What scripts find outside.
    pub fn outside(&self) -> Arc<dyn Answers> {
        Arc::new(Outside { clock: self.clock(), today: self.today })
    }

    pub fn mailer(&self) -> Mailer {
        self.mailer.clone()
    }
}

/// The same bytes each time.
#[derive(Debug, Default)]
struct Numbered(AtomicU64);

impl Entropy for Numbered {
    fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(32) {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            let hash = sha256(format!("Northwind Robotics {number}").as_bytes());
            part.copy_from_slice(&hash[..part.len()]);
        }
    }
}
