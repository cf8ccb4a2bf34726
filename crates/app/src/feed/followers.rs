//! One follower: where it is, what it is told next, and whether it still may be told.

use std::sync::Arc;
use std::time::Duration;

use attestry_storage::journal::{self, Told};
use tokio::sync::watch;
use tokio::time::Instant;

use super::sight::shown;
use super::{Most, Place};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::identity::principals::LastingScope;

/// How many entries somebody is told who was away. Whoever has missed more reloads everything.
pub const MOST_BEHIND: i64 = 5000;

/// What a follower hears.
#[derive(Clone, Debug)]
pub enum Said {
    /// It follows from after this entry on.
    Begin(i64),
    /// It has missed too much, and follows from after this entry on.
    Reset(i64),
    Entries(Vec<Arc<Told>>),
    /// Nothing to be told of has happened for a while; it has seen everything up to this entry, if that is new.
    Silence(Option<i64>),
}

#[derive(Debug)]
pub struct Follower {
    ctx: Ctx,
    caller: LastingScope,
    place: Place,
    bell: watch::Receiver<u64>,
    is_closed: watch::Receiver<bool>,
    /// What is said before anything else.
    first: Option<Said>,
    /// The last entry that was looked at, and the last that the client knows of.
    last: i64,
    known: i64,
    /// How long it is silent at most, and when that will be over.
    silence: Duration,
    until: Instant,
}

/// Follows the journal: from now on, or from after an entry on.
pub async fn follow(
    ctx: &Ctx,
    caller: LastingScope,
    after: Option<i64>,
    most: Most,
    silence: Duration,
) -> Result<Follower, Error> {
    let scope = &caller.scope;
    let principal = scope.principal().ok_or_else(|| Error::internal("only a member follows"))?;
    let place = ctx.feed().enter(ctx, principal, most)?;
    // Whatever is written from here on rings.
    let bell = place.news.bell.subscribe();
    let organization = scope.organization();
    let head = ctx.db.read(async move |t| journal::head(t, organization).await).await?;
    let head = head.ok_or_else(|| Error::internal("no journal"))?.head.sequence;
    let (last, first) = match after {
        None => (head, Said::Begin(head)),
        Some(after) if (head - MOST_BEHIND..=head).contains(&after) => (after, Said::Begin(after)),
        Some(_) => (head, Said::Reset(head)),
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
    })
}

impl Follower {
    /// What is to be said next, once there is something; `None` when the stream is over.
    pub async fn next(&mut self) -> Option<Said> {
        let said = match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.wait().await,
        };
        self.until = Instant::now() + self.silence;
        said.unwrap_or_else(|error| {
            // The client asks again, and then is told what is wrong.
            tracing::warn!(%error, "an event stream ended early");
            None
        })
    }

    async fn wait(&mut self) -> Result<Option<Said>, Error> {
        loop {
            let rung = *self.bell.borrow_and_update();
            let page = self.place.news.after(&self.place, self.last, rung).await?;
            let last = page.last().map(|told| told.sequence);
            let shown = shown(&self.ctx, &self.caller.scope, page).await?;
            if *self.is_closed.borrow() || !self.caller.is_allowed(&self.ctx).await? {
                return Ok(None);
            }
            self.last = last.unwrap_or(self.last);
            if let Some(told) = shown.last() {
                self.known = told.sequence;
                return Ok(Some(Said::Entries(shown)));
            }
            if Instant::now() >= self.until {
                let is_new = std::mem::replace(&mut self.known, self.last) != self.last;
                return Ok(Some(Said::Silence(is_new.then_some(self.last))));
            }
            if last.is_none() {
                tokio::select! {
                    _ = self.bell.changed() => {}
                    _ = self.is_closed.changed() => {}
                    () = tokio::time::sleep_until(self.until) => {}
                }
            }
        }
    }
}
