//! Following the journal as it grows. Each followed organization has a wake-up channel, its bell: it rings after a
//! commit in this process, when another process reports that the journal grew, and periodically in any case. Nothing
//! is queued for a follower: it has a cursor in the journal, and reads on when its client does.
//!
//! Other processes are notified outside the commits: PostgreSQL serializes the commits of transactions that call
//! `NOTIFY`, and organizations would wait for each other.

mod followers;
mod sight;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use attestry_db::Engine;
use attestry_domain::access::Principal;
use attestry_domain::id::{MemberId, OrganizationId, kind};
pub use attestry_storage::journal::EntrySummary;
use attestry_storage::journal::follow as read;
use tokio::sync::{Mutex as Turns, Notify, watch};
use tokio::time::MissedTickBehavior;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;
pub use followers::{Follower, MAX_CATCH_UP_ENTRIES, StreamEvent, follow};

const CHANNEL: &str = "attestry_events";
/// The interval at which all bells ring in any case.
const POLL: Duration = Duration::from_secs(15);
/// The minimum interval between two notifications of other processes.
const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum number of organizations per notification, whose payload must be shorter than 8000 bytes.
const NAMED: usize = 200;
/// The maximum number of entries per read.
const MAX_ENTRIES_PER_READ: usize = 200;
/// The maximum number of cached entries per organization, shared by its followers.
const RECENT: usize = 400;
/// The maximum number of streams per member, including those of their API keys.
const MAX_STREAMS_PER_MEMBER: usize = 20;
/// The `Retry-After` of a rejected stream, in seconds.
const RETRY_AFTER_SECONDS: u64 = 15;

/// Limits on the number of streams.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    pub in_all: usize,
    pub of_one_organization: usize,
}

/// The streams that follow the journals.
#[derive(Debug)]
pub struct Feed {
    followed: Mutex<Followed>,
    /// The organizations whose journals grew since the last notification of other processes; `None` if there are no
    /// other processes.
    untold: Option<Mutex<BTreeSet<OrganizationId>>>,
    to_tell: Notify,
    /// The name of this process, by which it ignores its own notifications.
    name: OnceLock<String>,
    is_closed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Followed {
    streams: usize,
    organizations: HashMap<OrganizationId, Followers>,
}

/// The followers of one organization.
#[derive(Debug, Default)]
struct Followers {
    streams: HashMap<MemberId, usize>,
    news: Arc<OrganizationFeed>,
}

impl Ctx {
    pub fn feed(&self) -> &Feed {
        self.part()
    }
}

impl Feed {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            followed: Mutex::default(),
            untold: (engine == Engine::Postgres).then(Mutex::default),
            to_tell: Notify::new(),
            name: OnceLock::new(),
            is_closed: watch::Sender::new(false),
        }
    }

    /// Ends every stream, including those that begin later.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// Returns the number of open streams.
    pub fn streams(&self) -> usize {
        self.followed().streams
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports to followers and other processes that the journals of these organizations grew on disk.
    pub(crate) fn grew(&self, organizations: BTreeSet<OrganizationId>) {
        if organizations.is_empty() {
            return;
        }
        self.ring(&organizations);
        if let Some(untold) = &self.untold {
            untold.lock().unwrap_or_else(PoisonError::into_inner).extend(organizations);
            self.to_tell.notify_one();
        }
    }

    fn ring(&self, organizations: &BTreeSet<OrganizationId>) {
        let followed = self.followed();
        for followers in organizations.iter().filter_map(|one| followed.organizations.get(one)) {
            followers.news.ring();
        }
    }

    fn ring_all(&self) {
        for followers in self.followed().organizations.values() {
            followers.news.ring();
        }
    }

    /// Handles a notification of another process: its name, then the organizations whose journals grew.
    fn hear(&self, ctx: &Ctx, said: &str) {
        let mut words = said.split(' ');
        if words.next() != Some(self.name(ctx)) {
            self.ring(&words.filter_map(OrganizationId::read).collect());
        }
    }

    fn name(&self, ctx: &Ctx) -> &str {
        self.name.get_or_init(|| ctx.ids.next::<kind::Lease>().to_string())
    }

    fn take_untold(&self) -> Vec<OrganizationId> {
        let taken = self
            .untold
            .as_ref()
            .map(|untold| std::mem::take(&mut *untold.lock().unwrap_or_else(PoisonError::into_inner)));
        taken.into_iter().flatten().collect()
    }

    /// Acquires a permit for one more stream, if the limits allow it.
    fn enter(&self, ctx: &Ctx, principal: &Principal, most: StreamLimits) -> Result<StreamPermit, Error> {
        let (organization, member) = (principal.organization, principal.member);
        let mut followed = self.followed();
        let known = followed.organizations.get(&organization);
        let of_organization = known.map_or(0, |known| known.streams.values().sum());
        let of_member = known.and_then(|known| known.streams.get(&member)).copied().unwrap_or_default();
        for (open, most, message) in [
            (
                of_member,
                MAX_STREAMS_PER_MEMBER,
                "You have too many event streams open; close one, or try again later.",
            ),
            (
                of_organization,
                most.of_one_organization,
                "Your organization has too many event streams open; try again later.",
            ),
            (followed.streams, most.in_all, "The server has too many event streams open; try again later."),
        ] {
            if open >= most {
                return Err(Error::TooMany { message, retry_after: RETRY_AFTER_SECONDS });
            }
        }
        followed.streams += 1;
        let followers = followed.organizations.entry(organization).or_default();
        *followers.streams.entry(member).or_default() += 1;
        Ok(StreamPermit { ctx: ctx.clone(), organization, member, news: Arc::clone(&followers.news) })
    }

    fn defer_to_commit(&self, organization: OrganizationId, member: MemberId) {
        let mut followed = self.followed();
        followed.streams -= 1;
        let Some(followers) = followed.organizations.get_mut(&organization) else { return };
        if let Some(open) = followers.streams.get_mut(&member) {
            *open -= 1;
        }
        followers.streams.retain(|_, open| *open > 0);
        if followers.streams.is_empty() {
            followed.organizations.remove(&organization);
        }
    }
}

/// A permit for one stream, released on drop.
#[derive(Debug)]
struct StreamPermit {
    ctx: Ctx,
    organization: OrganizationId,
    member: MemberId,
    news: Arc<OrganizationFeed>,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.ctx.feed().defer_to_commit(self.organization, self.member);
    }
}

/// The bell of an organization, and a cache of its latest entries, which are read once for all its followers.
#[derive(Debug, Default)]
struct OrganizationFeed {
    /// The number of times the bell rang.
    bell: watch::Sender<u64>,
    recent: Turns<Recent>,
}

/// All entries after `from`, up to `to`. They were complete when the bell had rung `rung` times.
#[derive(Debug, Default)]
struct Recent {
    from: i64,
    to: i64,
    rung: Option<u64>,
    entries: Vec<Arc<EntrySummary>>,
}

impl Recent {
    /// Returns the cached entries after a cursor, up to one page.
    fn after(&self, last: i64) -> Vec<Arc<EntrySummary>> {
        self.entries.iter().filter(|told| told.sequence > last).take(MAX_ENTRIES_PER_READ).cloned().collect()
    }

    fn add(&mut self, more: Vec<Arc<EntrySummary>>) {
        self.entries.extend(more);
        let excess = self.entries.len().saturating_sub(RECENT);
        if let Some(dropped) = self.entries.drain(..excess).next_back() {
            self.from = dropped.sequence;
        }
        self.to = self.entries.last().map_or(self.to, |told| told.sequence);
    }
}

impl OrganizationFeed {
    fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }

    /// Returns the next entries after a cursor, as of that ring of the bell; empty if there are none.
    async fn after(
        &self,
        place: &StreamPermit,
        last: i64,
        rung: u64,
    ) -> Result<Vec<Arc<EntrySummary>>, Error> {
        let mut recent = self.recent.lock().await;
        if last < recent.from {
            // A follower that has to catch up reads its own pages.
            drop(recent);
            return page(place, last).await;
        }
        if last > recent.to {
            *recent = Recent { from: last, to: last, ..Recent::default() };
        }
        if last == recent.to && recent.rung < Some(rung) {
            let more = page(place, last).await?;
            if more.len() < MAX_ENTRIES_PER_READ {
                recent.rung = Some(rung);
            }
            recent.add(more);
        }
        Ok(recent.after(last))
    }
}

async fn page(place: &StreamPermit, last: i64) -> Result<Vec<Arc<EntrySummary>>, Error> {
    let organization = place.organization;
    let most = i64::try_from(MAX_ENTRIES_PER_READ).map_err(Error::internal)?;
    let found = place.ctx.db.read(async move |t| read(t, organization, last, most).await).await?;
    Ok(found.into_iter().map(Arc::new).collect())
}

/// Notifies other processes of grown journals until `stop` is set. If a notification is lost, they find out by
/// polling.
#[boxed]
pub async fn announce(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::select! {
            () = ctx.feed().to_tell.notified() => {}
            _ = stop.changed() => return,
        }
        for some in ctx.feed().take_untold().chunks(NAMED) {
            let names: Vec<String> = some.iter().map(ToString::to_string).collect();
            let text = format!("{} {}", ctx.feed().name(&ctx), names.join(" "));
            let told = ctx.db.write(async move |t| t.tell(CHANNEL, &text).await).await;
            if let Err(error) = told {
                tracing::debug!(%error, "other processes were not told what happened");
            }
        }
        tokio::time::sleep(ANNOUNCE_INTERVAL).await;
    }
}

/// Rings the bells on notifications from other processes, until `stop` is set.
#[boxed]
pub async fn listen(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    let mut poll = tokio::time::interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !*stop.borrow() {
        let channel = ctx.db.listen(CHANNEL).await;
        let can_hear = channel.is_some();
        let mut heard = channel.and_then(|channel| {
            channel.inspect_err(|error| tracing::debug!(%error, "other processes cannot be heard")).ok()
        });
        // Notifications sent while the connection was down are lost.
        ctx.feed().ring_all();
        loop {
            let next = async {
                match &mut heard {
                    Some(heard) => heard.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                said = next => match said {
                    Some(said) => ctx.feed().hear(&ctx, &said),
                    // Listens again at the next tick.
                    None => heard = None,
                },
                _ = poll.tick() => {
                    ctx.feed().ring_all();
                    if can_hear && heard.is_none() {
                        break;
                    }
                }
                _ = stop.changed() => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attestry_domain::Time;

    fn told(sequence: i64) -> Arc<EntrySummary> {
        let text = || "x".to_owned();
        let at = Time::from_millis(0);
        Arc::new(EntrySummary { sequence, at, action: text(), entity_type: text(), entity_id: text() })
    }

    #[test]
    fn only_so_many_entries_are_kept() {
        let mut recent = Recent { from: 10, to: 10, ..Recent::default() };
        recent.add((11..=300).map(told).collect());
        assert_eq!((recent.from, recent.to), (10, 300));
        let sequences = |last| recent.after(last).iter().map(|told| told.sequence).collect::<Vec<_>>();
        assert_eq!(sequences(10), (11..=210).collect::<Vec<_>>(), "a page");
        assert_eq!(sequences(299), [300]);
        assert!(sequences(300).is_empty());
        recent.add((301..=500).map(told).collect());
        assert_eq!((recent.from, recent.to, recent.entries.len()), (100, 500, RECENT));
        recent.add(Vec::new());
        assert_eq!((recent.from, recent.to), (100, 500));
    }
}
