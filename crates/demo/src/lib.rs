//! A sample organization with a year of history: Northwind Robotics, a fictional maker of warehouse robots. `attestry
//! demo` fills an empty database with it.
//!
//! Everything is done through the use cases, by members with the required permissions, on a clock that is moved
//! through the year; so the journal is a real chain with the times of the story. Each area of the product has a file
//! with a table of its events, and `plan` schedules them. This crate has no access to the database, and nothing it
//! does leaves the machine.

#[macro_use]
mod data;

mod automations;
mod company;
mod controls;
mod evidence;
mod outside;
mod people;
mod plan;
mod policies;
mod programme;
mod risks;
mod soa;
mod stage;
mod story;
mod tasks;
mod trust;
mod vendors;

use anyhow::{Context, Result};
use attestry_app::Ctx;
use attestry_app::soa::approval::Tables;
use attestry_domain::text::Password;

pub use people::Account;
pub use stage::Stage;

use plan::Plan;
use story::Story;

/// The result: everything needed to use the sample organization.
#[derive(Clone, Debug)]
pub struct Filled {
    pub organization: &'static str,
    /// The accounts that use the chosen password.
    pub accounts: Vec<Account>,
    /// An API key of the owner.
    pub api_key: String,
    /// The path of the trust portal.
    pub portal: &'static str,
}

/// Fills an empty database. `ctx` must have been created with the parts of `stage`.
pub async fn fill(ctx: &Ctx, stage: &Stage, password: &Password, tables: Tables) -> Result<Filled> {
    let mut plan = Plan::new(stage.today());
    people::plan(&mut plan);
    programme::plan(&mut plan);
    risks::plan(&mut plan);
    vendors::plan(&mut plan);
    tasks::plan(&mut plan);
    automations::plan(&mut plan);
    policies::plan(&mut plan);
    controls::plan(&mut plan);
    soa::plan(&mut plan);
    trust::plan(&mut plan);
    company::plan(&mut plan);
    let (mut story, api_key) = Story::begin(ctx, stage, password, tables).await?;
    for step in plan.in_order() {
        story.pass_time(step.at).await?;
        let day = step.at;
        (step.act)(&mut story).await.with_context(|| format!("the story stopped at {day}"))?;
    }
    story.end().await?;
    Ok(Filled {
        organization: story::NAME,
        accounts: people::accounts(),
        api_key,
        portal: "/trust/northwind",
    })
}
