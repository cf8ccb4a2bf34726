//! One follower: its cursor in the journal, its next event, and its authorization.

use std::sync::Arc;
use std::time::Duration;

use attestry_storage::journal::{self, EntrySummary};
use tokio::sync::watch;
use tokio::time::Instant;

use super::sight::shown;
use super::{StreamLimits, StreamPermit};
use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::principals::{CREDENTIAL_CACHE_TTL, LastingScope};

/// The maximum number of entries that a reconnecting follower catches up on. With more than that, the client reloads
/// everything.
pub const MAX_CATCH_UP_ENTRIES: i64 = 5000;

/// An event of a follower's stream.
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// The stream starts after this entry.
    Begin(i64),
    /// The follower has missed too many entries; the stream restarts after this entry.
    Reset(i64),
    Entries(Vec<Arc<EntrySummary>>),
    /// A heartbeat: there were no visible entries for a while. Carries the new cursor, if it has moved.
    Silence(Option<i64>),
}

#[derive(Debug)]
pub struct Follower {
    ctx: Ctx,
    caller: LastingScope,
    place: StreamPermit,
    bell: watch::Receiver<u64>,
    is_closed: watch::Receiver<bool>,
    /// The first event of the stream.
    first: Option<StreamEvent>,
    /// The last entry that was read, and the last that the client knows of.
    last: i64,
    known: i64,
    /// The heartbeat interval, and the time of the next heartbeat.
    silence: Duration,
    until: Instant,
    /// The time at which the credential is checked again because of the last entries: until then another process may have
    /// ended it without its cached copy here knowing.
    recheck: Option<Instant>,
}

/// Follows the journal, from now on or from after an entry.
#[boxed]
pub async fn follow(
    ctx: &Ctx,
    caller: LastingScope,
    after: Option<i64>,
    most: StreamLimits,
    silence: Duration,
) -> Result<Follower, Error> {
    let scope = &caller.scope;
    let principal = scope.principal().ok_or_else(|| Error::internal("only a member follows"))?;
    let place = ctx.feed().enter(ctx, principal, most)?;
    // Entries that are committed from here on wake the follower.
    let bell = place.news.bell.subscribe();
    let organization = scope.organization();
    let head = ctx.db.read(async move |t| journal::head(t, organization).await).await?;
    let head = head.ok_or_else(|| Error::internal("no journal"))?.head.sequence;
    let (last, first) = match after {
        None => (head, StreamEvent::Begin(head)),
        Some(after) if (head - MAX_CATCH_UP_ENTRIES..=head).contains(&after) => {
            (after, StreamEvent::Begin(after))
        }
        Some(_) => (head, StreamEvent::Reset(head)),
    };
    Ok(Follower {
        ctx: ctx.clone(),
        caller,
        bell,
        is_closed: ctx.feed().is_closed.subscribe(),
        place,
        first: Some(first),
        last,
        known: last,
        silence,
        until: Instant::now() + silence,
        recheck: None,
    })
}

impl Follower {
    /// Waits for the next event; `None` when the stream ends.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        let said = match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.wait().await,
        };
        self.until = Instant::now() + self.silence;
        said.unwrap_or_else(|error| {
            // The client reconnects, and the error is returned to that request.
            tracing::warn!(%error, "an event stream ended early");
            None
        })
    }

    async fn wait(&mut self) -> Result<Option<StreamEvent>, Error> {
        loop {
            let rung = *self.bell.borrow_and_update();
            let page = self.place.news.after(&self.place, self.last, rung).await?;
            let last = page.last().map(|told| told.sequence);
            let now = Instant::now();
            match last {
                Some(_) => self.recheck = Some(now + CREDENTIAL_CACHE_TTL),
                None => self.recheck = self.recheck.filter(|at| *at > now),
            }
            let shown = shown(&self.ctx, &self.caller.scope, page).await?;
            if *self.is_closed.borrow() || !self.caller.is_allowed(&self.ctx).await? {
                return Ok(None);
            }
            self.last = last.unwrap_or(self.last);
            if let Some(told) = shown.last() {
                self.known = told.sequence;
                return Ok(Some(StreamEvent::Entries(shown)));
            }
            if Instant::now() >= self.until {
                let is_new = std::mem::replace(&mut self.known, self.last) != self.last;
                return Ok(Some(StreamEvent::Silence(is_new.then_some(self.last))));
            }
            if last.is_none() {
                tokio::select! {
                    _ = self.bell.changed() => {}
                    _ = self.is_closed.changed() => {}
                    () = tokio::time::sleep_until(self.recheck.map_or(self.until, |at| at.min(self.until))) => {}
                }
            }
        }
    }
}
