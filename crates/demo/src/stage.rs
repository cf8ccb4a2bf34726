//! The environment of the story: a manual clock, deterministic ids, and mail that is not delivered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow};
use attestry_app::automations::runner::Answers;
use attestry_domain::clock::{Entropy, ManualClock};
use attestry_domain::date::Date;
use attestry_domain::hash::sha256;
use attestry_mail::{Mailer, Sent};

use crate::outside::Outside;

/// The dependencies of the context in which the story runs.
#[derive(Debug)]
pub struct Stage {
    today: Date,
    clock: Arc<ManualClock>,
    mailer: Mailer,
    sent: Sent,
}

impl Stage {
    /// Creates a stage; `today` is the day after the story ends.
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

    /// The source of the random part of ids. Not for secrets.
    pub fn ids(&self) -> Arc<dyn Entropy> {
        Arc::new(Numbered::default())
    }

    pub(crate) fn sent(&self) -> Sent {
        self.sent.clone()
    }

    /// The fake external servers for scripts.
    pub fn outside(&self) -> Arc<dyn Answers> {
        Arc::new(Outside { clock: self.clock(), today: self.today })
    }

    pub fn mailer(&self) -> Mailer {
        self.mailer.clone()
    }
}

/// A deterministic source of bytes.
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
