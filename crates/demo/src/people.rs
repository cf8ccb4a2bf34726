//! The members: invited, joined, left.

use anyhow::{Context, Result};
use attestry_app::core::precondition::Precondition;
use attestry_app::identity::invitations::{self, Acceptance, NewInvitation};
use attestry_app::identity::members;
use attestry_app::notices;
use attestry_domain::Parse;
use attestry_domain::access::{Roles, grant};
use attestry_domain::identity::notices::NoticesPatch;
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::SignInMethod;
use attestry_domain::text::Password;
use attestry_domain::words::Department;
use futures_util::FutureExt;
use serde::Deserialize;

use crate::plan::Plan;
use crate::story::{Story, email, name, text};

/// The compliance lead, who runs the programme.
pub(crate) const OWNER: &str = "ingrid";
/// The technical lead, who approves.
pub(crate) const APPROVER: &str = "rafael";
pub(crate) const AUDITOR: &str = "helena";
pub(crate) const EMPLOYEE: &str = "tomasz";

/// The state of an invitation at the end of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InvitationOutcome {
    /// The founder, who needs no invitation.
    Founded,
    Joined,
    /// Joined, and left later.
    Left,
    /// Has not responded yet.
    Invited,
}

/// An employee.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Worker {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    local: &'static str,
    role: &'static str,
    department: Department,
    /// The day of the invitation.
    ago: i64,
    state: InvitationOutcome,
    /// The day on which the member left.
    left: Option<i64>,
}

table!(WORKERS: Vec<Worker> = "people");

impl Worker {
    pub(crate) fn email(&self) -> String {
        format!("{}@northwind.example", self.local)
    }
}

/// Everyone who is still a member at the end.
pub(crate) fn active() -> impl Iterator<Item = &'static str> {
    let is_active =
        |one: &&Worker| matches!(one.state, InvitationOutcome::Founded | InvitationOutcome::Joined);
    WORKERS.iter().filter(is_active).map(|one| one.key)
}

pub(crate) fn named(key: &str) -> Result<&'static Worker> {
    WORKERS.iter().find(|one| one.key == key).with_context(|| format!("nobody is called {key}"))
}

/// An account that can sign in with the chosen password.
#[derive(Clone, Debug)]
pub struct Account {
    pub email: String,
    pub name: &'static str,
    pub role: &'static str,
}

const ACCOUNTS: [(&str, &str); 4] = [
    (OWNER, "compliance lead, owner"),
    (APPROVER, "technical lead, admin: approves"),
    (AUDITOR, "auditor: reads everything"),
    (EMPLOYEE, "employee: own tasks, policies to sign"),
];

pub(crate) fn accounts() -> Vec<Account> {
    let of = |(key, role): (&str, &'static str)| {
        let worker = named(key).ok()?;
        Some(Account { email: worker.email(), name: worker.name, role })
    };
    ACCOUNTS.into_iter().filter_map(of).collect()
}

pub(crate) fn plan(plan: &mut Plan) {
    for worker in WORKERS.iter() {
        if worker.state == InvitationOutcome::Founded {
            plan.at(worker.ago, 8 * 60, move |story| wants_no_mail(story, worker.key).boxed_local());
            continue;
        }
        plan.at(worker.ago, 7 * 60, move |story| invite(story, worker).boxed_local());
        if worker.state != InvitationOutcome::Invited {
            plan.at(worker.ago, 11 * 60, move |story| join(story, worker).boxed_local());
        }
        if let Some(ago) = worker.left {
            plan.at(ago, 15 * 60, move |story| leave(story, worker).boxed_local());
        }
    }
}

async fn invite(story: &mut Story, worker: &'static Worker) -> Result<()> {
    let scope = story.by::<grant::MemberCreate>(OWNER)?;
    let new = NewInvitation {
        email: email(&worker.email())?,
        name: Some(name(worker.name)?),
        role: text::<Roles>(worker.role)?,
        department: worker.department,
    };
    invitations::invite(&story.ctx, &scope, new).await?;
    Ok(())
}

async fn join(story: &mut Story, worker: &'static Worker) -> Result<()> {
    let token = story.mailed(&worker.email(), "/accept-invitation").await?;
    // Members without a listed account get a random password that is not stored.
    let password = match ACCOUNTS.iter().any(|(key, _)| *key == worker.key) {
        true => story.password.clone(),
        false => Password::parse(&story.ctx.keys.token().text).map_err(anyhow::Error::msg)?,
    };
    let origin = story.from(std::net::Ipv4Addr::new(198, 51, 100, 9));
    let acceptance = Acceptance {
        name: None,
        password: Some(password.expose().to_owned()),
        new_password: None,
        session: None,
    };
    let person = invitations::accept(&story.ctx, &token, acceptance, origin).await?;
    story.arrives(worker.key, &person);
    wants_no_mail(story, worker.key).await
}

/// Turns off all notification mail, because these addresses do not exist.
async fn wants_no_mail(story: &mut Story, key: &'static str) -> Result<()> {
    let (actor, now) = (story.actor(key)?, story.now());
    let session = Session {
        id: story.ctx.ids.next(),
        user_id: actor.principal.user,
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(story.ctx.settings.session_lifetime),
        ip: None,
        user_agent: None,
        confirmed_at: now,
        method: SignInMethod::Password,
        second_factor: None,
        longest_gap: 0,
    };
    let none = NoticesPatch {
        assigned: Some(false),
        due_soon: Some(false),
        overdue: Some(false),
        automations: Some(false),
        policies: Some(false),
        portal: Some(false),
        mentioned: Some(false),
    };
    notices::update(&story.ctx, &session, none, actor.origin).await?;
    Ok(())
}

async fn leave(story: &mut Story, worker: &'static Worker) -> Result<()> {
    let (scope, member) = (story.by::<grant::MemberDelete>(OWNER)?, story.member(worker.key)?);
    members::deactivate(&story.ctx, &scope, member, Precondition::default()).await?;
    Ok(())
}
