//! Following the journal as it grows. Each organization that somebody follows has a bell: it rings after a commit in this
//! process, when another process says that the journal grew, and now and then in any case. Nothing is queued for a
//! follower. It knows the last entry it was told of, and reads on when its client does.
//!
//! Other processes are told beside the commits and not in them: PostgreSQL lets one transaction at a time commit that
//! notifies somebody, and organizations would wait for each other.

mod followers;
mod sight;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use attestry_db::Engine;
use attestry_domain::access::Principal;
use attestry_domain::id::{MemberId, OrganizationId, kind};
pub use attestry_storage::journal::Told;
use attestry_storage::journal::follow as read;
use tokio::sync::{Mutex as Turns, Notify, watch};
use tokio::time::MissedTickBehavior;

use crate::core::context::Ctx;
use crate::core::error::Error;
pub use followers::{Follower, MOST_BEHIND, Said, follow};

const CHANNEL: &str = "attestry_events";
/// How often every bell rings in any case.
const POLL: Duration = Duration::from_secs(15);
/// How long other processes wait for the next news at least.
const PAUSE: Duration = Duration::from_millis(50);
/// How many organizations one message names: it has fewer than 8000 bytes.
const NAMED: usize = 200;
/// How many entries are read at a time.
const MOST: usize = 200;
/// How many entries are kept for all followers of an organization.
const RECENT: usize = 400;
/// How many streams a member has, keys included.
const OF_A_MEMBER: usize = 20;
/// How many seconds somebody waits for whom there is no place.
const COME_BACK: u64 = 15;

/// How many streams there are at most.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub in_all: usize,
    pub of_one_organization: usize,
}

/// Who follows what happens.
#[derive(Debug)]
pub struct Feed {
    followed: Mutex<Followed>,
    /// Whose journal grew since other processes were told; nothing where there are none to tell.
    untold: Option<Mutex<BTreeSet<OrganizationId>>>,
    to_tell: Notify,
    /// What this process calls itself, so that it does not listen to itself.
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
    news: Arc<News>,
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

    /// Ends every stream, and those that are still to begin.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.followed().streams
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journals of these organizations grew, and that is on disk.
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

    /// Another process says whose journal grew: its own name, then theirs.
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

    /// A place for one more stream, if there is one.
    fn enter(&self, ctx: &Ctx, principal: &Principal, most: Most) -> Result<Place, Error> {
        let (organization, member) = (principal.organization, principal.member);
        let mut followed = self.followed();
        let known = followed.organizations.get(&organization);
        let of_organization = known.map_or(0, |known| known.streams.values().sum());
        let of_member = known.and_then(|known| known.streams.get(&member)).copied().unwrap_or_default();
        for (open, most, message) in [
            (of_member, OF_A_MEMBER, "You have too many event streams open; close one, or try again later."),
            (
                of_organization,
                most.of_one_organization,
                "Your organization has too many event streams open; try again later.",
            ),
            (followed.streams, most.in_all, "The server has too many event streams open; try again later."),
        ] {
            if open >= most {
                return Err(Error::TooMany { message, retry_after: COME_BACK });
            }
        }
        followed.streams += 1;
        let followers = followed.organizations.entry(organization).or_default();
        *followers.streams.entry(member).or_default() += 1;
        Ok(Place { ctx: ctx.clone(), organization, member, news: Arc::clone(&followers.news) })
    }

    fn leave(&self, organization: OrganizationId, member: MemberId) {
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

/// A place that is taken until this is dropped.
#[derive(Debug)]
struct Place {
    ctx: Ctx,
    organization: OrganizationId,
    member: MemberId,
    news: Arc<News>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.ctx.feed().leave(self.organization, self.member);
    }
}

/// The bell of an organization, and the last entries of its journal, which are read once for all its followers.
#[derive(Debug, Default)]
struct News {
    /// How often the bell rang.
    bell: watch::Sender<u64>,
    recent: Turns<Recent>,
}

/// All entries after `from`, up to `to`. There were no others when the bell had rung so often.
#[derive(Debug, Default)]
struct Recent {
    from: i64,
    to: i64,
    rung: Option<u64>,
    entries: Vec<Arc<Told>>,
}

impl Recent {
    /// Those after one of them.
    fn after(&self, last: i64) -> Vec<Arc<Told>> {
        self.entries.iter().filter(|told| told.sequence > last).take(MOST).cloned().collect()
    }

    fn add(&mut self, more: Vec<Arc<Told>>) {
        self.entries.extend(more);
        let excess = self.entries.len().saturating_sub(RECENT);
        if let Some(dropped) = self.entries.drain(..excess).next_back() {
            self.from = dropped.sequence;
        }
        self.to = self.entries.last().map_or(self.to, |told| told.sequence);
    }
}

impl News {
    fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }

    /// The next entries after one, as they are after the bell has rung so often; none when there are none.
    async fn after(&self, place: &Place, last: i64, rung: u64) -> Result<Vec<Arc<Told>>, Error> {
        let mut recent = self.recent.lock().await;
        if last < recent.from {
            // Somebody who has to catch up does so alone.
            drop(recent);
            return page(place, last).await;
        }
        if last > recent.to {
            *recent = Recent { from: last, to: last, ..Recent::default() };
        }
        if last == recent.to && recent.rung < Some(rung) {
            let more = page(place, last).await?;
            if more.len() < MOST {
                recent.rung = Some(rung);
            }
            recent.add(more);
        }
        Ok(recent.after(last))
    }
}

async fn page(place: &Place, last: i64) -> Result<Vec<Arc<Told>>, Error> {
    let organization = place.organization;
    let most = i64::try_from(MOST).map_err(Error::internal)?;
    let found = place.ctx.db.read(async move |t| read(t, organization, last, most).await).await?;
    Ok(found.into_iter().map(Arc::new).collect())
}

/// Tells other processes whose journal grew, until told to stop. They find out by themselves when this is not heard.
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
        tokio::time::sleep(PAUSE).await;
    }
}

/// Rings the bells for what other processes do, until told to stop.
pub async fn listen(ctx: Ctx, mut stop: watch::Receiver<bool>) {
    let mut poll = tokio::time::interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !*stop.borrow() {
        let channel = ctx.db.listen(CHANNEL).await;
        let can_hear = channel.is_some();
        let mut heard = channel.and_then(|channel| {
            channel.inspect_err(|error| tracing::debug!(%error, "other processes cannot be heard")).ok()
        });
        // What was said while nobody listened is not said again.
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

    fn told(sequence: i64) -> Arc<Told> {
        let text = || "x".to_owned();
        let at = Time::from_millis(0);
        Arc::new(Told { sequence, at, action: text(), entity_type: text(), entity_id: text() })
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
