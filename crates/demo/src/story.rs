//! The state of the story: its members, the records created so far, and the time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use attestry_app::Ctx;
use attestry_app::core::precondition::Precondition;
use attestry_app::core::queue;
use attestry_app::identity::setup::{self, NewInstallation};
use attestry_app::identity::{members, organizations};
use attestry_app::soa::approval::Tables;
use attestry_domain::access::{Actor, Credential, Grant, Origin, Principal, Scope, grant};
use attestry_domain::clock::ManualClock;
use attestry_domain::date::Date;
use attestry_domain::id::{
    AccessRequestId, ApiKeyId, AutomationId, ControlId, MemberId, OrganizationId, PolicyId, RequestId,
    RiskId, SoaDocumentId, TaskId, VendorId,
};
use attestry_domain::identity::members::Person;
use attestry_domain::identity::organizations::OrganizationPatch;
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::{Parse, Patch, Time, Zone};
use attestry_mail::{Message, Sent};

use crate::people::{self, OWNER};
use crate::stage::Stage;

pub(crate) const NAME: &str = "Northwind Robotics";
const ZONE: &str = "Europe/Copenhagen";
/// The start of the story, in days before today.
const BEGINNING: i64 = 365;
const WEEK: Duration = Duration::from_hours(7 * 24);

/// The records of the programme, by the titles of their templates.
#[derive(Default)]
pub(crate) struct Begun {
    pub(crate) tasks: HashMap<&'static str, TaskId>,
    pub(crate) policies: HashMap<&'static str, PolicyId>,
}

pub(crate) struct Story {
    pub(crate) ctx: Ctx,
    pub(crate) today: Date,
    pub(crate) organization: OrganizationId,
    pub(crate) password: Password,
    pub(crate) tables: Tables,
    clock: Arc<ManualClock>,
    sent: Sent,
    /// Mails whose links have not been used yet.
    letters: Vec<Message>,
    zone: Zone,
    /// The time of the next job run.
    next_jobs: Time,
    people: HashMap<&'static str, Actor>,
    pub(crate) risks: HashMap<&'static str, RiskId>,
    pub(crate) vendors: HashMap<&'static str, VendorId>,
    pub(crate) tasks: HashMap<&'static str, TaskId>,
    pub(crate) automations: HashMap<&'static str, AutomationId>,
    pub(crate) policies: HashMap<&'static str, PolicyId>,
    /// The first control that meets a requirement, by its code.
    pub(crate) controls: HashMap<&'static str, ControlId>,
    pub(crate) programme: Begun,
    pub(crate) keys: HashMap<&'static str, ApiKeyId>,
    pub(crate) requests: HashMap<&'static str, AccessRequestId>,
    /// The tokens of portal links, by email address.
    pub(crate) readers: HashMap<&'static str, String>,
    pub(crate) statement: Option<SoaDocumentId>,
}

/// The next Monday, just after the morning's automations are due.
fn monday_after(time: Time) -> Time {
    // 1 January 1970 was a Thursday, so the 5th was a Monday.
    let first = Time::from_millis(0).plus(Duration::from_hours(4 * 24 + 5)).plus(Duration::from_mins(4));
    let weeks = time.since(first).as_secs() / WEEK.as_secs() + 1;
    first.plus(WEEK * u32::try_from(weeks).unwrap_or(0))
}

/// Parses a text of the story, which is always valid.
pub(crate) fn text<T: Parse>(text: &str) -> Result<T> {
    T::parse(text).map_err(|message| anyhow!("{text:?} {message}"))
}

impl Story {
    /// Creates the organization with its owner. Also returns the owner's API key.
    pub(crate) async fn begin(
        ctx: &Ctx,
        stage: &Stage,
        password: &Password,
        tables: Tables,
    ) -> Result<(Self, String)> {
        let (clock, today) = (stage.clock(), stage.today());
        let began = today.plus_days(-BEGINNING).start().plus(Duration::from_hours(7));
        clock.set(began);
        let owner = people::named(OWNER)?;
        let new = NewInstallation {
            organization: text(NAME)?,
            email: text(&owner.email())?,
            password: Some(password.clone()),
            name: Some(text(owner.name)?),
        };
        let (founded, key) = setup::by_operator(ctx, new).await?;
        let mut story = Self {
            ctx: ctx.clone(),
            today,
            organization: founded.organization,
            password: password.clone(),
            tables,
            clock,
            sent: stage.sent(),
            letters: Vec::new(),
            zone: text(ZONE)?,
            next_jobs: monday_after(began),
            people: HashMap::new(),
            risks: HashMap::new(),
            vendors: HashMap::new(),
            tasks: HashMap::new(),
            automations: HashMap::new(),
            policies: HashMap::new(),
            controls: HashMap::new(),
            programme: Begun::default(),
            keys: HashMap::new(),
            requests: HashMap::new(),
            readers: HashMap::new(),
            statement: None,
        };
        queue::schedule(ctx).await?;
        let everybody = members::everybody(ctx, founded.organization).await?;
        let person = everybody.into_iter().next().context("the owner is missing")?;
        story.arrives(OWNER, &person);
        let patch = OrganizationPatch {
            website: Patch::Value(text("https://www.northwind.example")?),
            time_zone: Some(text(ZONE)?),
            ..OrganizationPatch::default()
        };
        let scope = story.by::<grant::OrganizationUpdate>(OWNER)?;
        organizations::update(ctx, &scope, patch, Precondition::default()).await?;
        Ok((story, key.text))
    }

    /// Advances the clock. Once a week, runs the jobs that are due, like the server would.
    pub(crate) async fn pass_time(&mut self, to: Time) -> Result<()> {
        while self.next_jobs <= to {
            self.clock.set(self.next_jobs);
            self.next_jobs = self.next_jobs.plus(WEEK);
            self.work().await?;
        }
        self.clock.set(to);
        Ok(())
    }

    /// Ends the story at the start of today: runs all due jobs, so that a server has only recurring ones left, and
    /// fails if any job has failed.
    pub(crate) async fn end(&mut self) -> Result<()> {
        self.clock.set(self.today.start());
        self.work().await?;
        match queue::counts(&self.ctx).await? {
            (_, 0) => Ok(()),
            (_, failed) => bail!("{failed} jobs failed; the log says which"),
        }
    }

    /// Runs all pending jobs.
    pub(crate) async fn work(&self) -> Result<()> {
        queue::drain(&self.ctx).await?;
        Ok(())
    }

    pub(crate) fn task(&self, key: &str) -> Result<TaskId> {
        self.tasks.get(key).copied().with_context(|| format!("the task {key} is not there yet"))
    }

    pub(crate) fn automation(&self, key: &str) -> Result<AutomationId> {
        self.automations.get(key).copied().with_context(|| format!("the automation {key} is not there yet"))
    }

    pub(crate) fn policy(&self, key: &str) -> Result<PolicyId> {
        self.policies.get(key).copied().with_context(|| format!("the policy {key} is not there yet"))
    }

    /// The current date in the organization's time zone.
    pub(crate) fn local_day(&self) -> Date {
        self.zone.date_of(self.now())
    }

    pub(crate) fn now(&self) -> Time {
        self.ctx.now()
    }

    /// The date this many days before today.
    pub(crate) fn day(&self, ago: i64) -> Date {
        self.today.plus_days(-ago)
    }

    /// Registers a member, who can act from now on.
    pub(crate) fn arrives(&mut self, name: &'static str, person: &Person) {
        let Person { member, user } = person;
        let principal = Principal {
            organization: member.organization_id,
            member: member.id,
            user: user.id,
            email: user.email.clone(),
            credential: Credential::Session(self.ctx.ids.next()),
            permissions: member.role.permissions(),
            zone: self.zone.clone(),
        };
        let place = u8::try_from(self.people.len()).unwrap_or(0);
        let origin = self.from(Ipv4Addr::new(198, 51, 100, 20 + place));
        self.people.insert(name, Actor { principal: Arc::new(principal), origin });
    }

    /// The origin of a request from this IP address.
    pub(crate) fn from(&self, ip: Ipv4Addr) -> Origin {
        let id: RequestId = self.ctx.ids.next();
        Origin { request_id: id.to_string().into(), ip: Some(IpAddr::V4(ip)), ..Origin::command("") }
    }

    pub(crate) fn actor(&self, name: &str) -> Result<Actor> {
        let known = self.people.get(name).with_context(|| format!("{name} is not there yet"))?;
        let id: RequestId = self.ctx.ids.next();
        let origin = Origin { request_id: id.to_string().into(), ..known.origin.clone() };
        Ok(Actor { principal: Arc::clone(&known.principal), origin })
    }

    /// Returns the scope of a member with this permission.
    pub(crate) fn by<G: Grant>(&self, name: &str) -> Result<Scope> {
        self.actor(name)?.authorize::<G>().map_err(|denied| anyhow!("{name} {denied}"))
    }

    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.people.contains_key(name)
    }

    pub(crate) fn member(&self, name: &str) -> Result<MemberId> {
        Ok(self.actor(name)?.principal.member)
    }

    /// Returns the name of a member.
    pub(crate) fn name_of(&self, member: MemberId) -> Option<&'static str> {
        self.people.iter().find(|(_, actor)| actor.principal.member == member).map(|(name, _)| *name)
    }

    /// Returns the token in the latest mailed link to this address and path.
    pub(crate) async fn mailed(&mut self, to: &str, path: &str) -> Result<String> {
        self.work().await?;
        self.letters.extend(self.sent.take());
        let marker = format!("{path}?token=");
        let leads_there = |letter: &Message| letter.to_address == to && letter.text.contains(&marker);
        let place = self.letters.iter().rposition(leads_there);
        let letter =
            self.letters.swap_remove(place.with_context(|| format!("no letter to {to} leads to {path}"))?);
        let (_, rest) = letter.text.split_once(&marker).unwrap_or_default();
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
        Ok(rest.chars().take_while(|c| is_of_token(*c)).collect())
    }
}

pub(crate) fn email(address: &str) -> Result<Email> {
    text(address)
}

pub(crate) fn name(words: &str) -> Result<Name> {
    text(words)
}
