//! Realistic data, created through the product's own use cases, including the journal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use attestry_app::core::keys::Keys;
use attestry_app::identity::members;
use attestry_app::identity::setup::{self, NewInstallation};
use attestry_app::registers::{self, Imported, Stored};
use attestry_app::{Ctx, Settings};
use attestry_db::{Config, Db};
use attestry_domain::access::{Roles, Scope};
use attestry_domain::automations::{Evaluation, Run, RunStatus, Trigger};
use attestry_domain::clock::{Entropy, SystemClock, SystemEntropy};
use attestry_domain::id::{AutomationId, OrganizationId, TaskId, UserId};
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_domain::identity::members::{Member, NewMember};
use attestry_domain::identity::users::User;
use attestry_domain::registers::risks::{Risk, RiskCategory, RiskPatch, RiskStatus, TreatmentStrategy};
use attestry_domain::registers::scales::{Impact, Likelihood};
use attestry_domain::registers::vendors::{Vendor, VendorCategory, VendorPatch, VendorStatus};
use attestry_domain::registers::{Record, Wanted};
use attestry_domain::tasks::{Frequency, Task, TaskPatch, TaskStatus};
use attestry_domain::words::Department;
use attestry_domain::{Parse, Patch, Time};
use attestry_hosting::{DnsSettings, Hosting};
use attestry_mail::Mailer;
use attestry_storage::schema::MIGRATIONS;
use attestry_storage::users;
use futures_util::{StreamExt, stream};

/// The organization that is measured.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) organization: OrganizationId,
    pub(crate) key: String,
    pub(crate) members: Vec<String>,
    pub(crate) vendors: Vec<String>,
    pub(crate) risk: String,
}

const MEMBERS: usize = 500;

/// Creates a database in the private cluster.
pub(crate) async fn fresh_postgres() -> Result<String> {
    let base =
        std::env::var("TEST_POSTGRES_URL").context("TEST_POSTGRES_URL is not set: run `make bench`")?;
    let (client, connection) = tokio_postgres::connect(&base, tokio_postgres::NoTls).await?;
    let driver = tokio::spawn(connection);
    let name = format!("bench{}", std::process::id());
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
    client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
    drop(client);
    let _ = driver.await;
    Ok(base.replace("/postgres?", &format!("/{name}?")))
}

fn context(data: &Path, database: Option<&str>) -> Result<Ctx> {
    const SECRET: &str = "the secret of a benchmark is no secret at all";
    std::fs::write(data.join("attestry.key"), SECRET)?;
    let config = match database {
        Some(url) => Config::Postgres { url: url.to_owned(), connections: 8 },
        None => Config::Sqlite { path: data.join("attestry.db"), readers: 2, queue: 4096 },
    };
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let keys = Keys::new(SECRET.as_bytes(), Arc::clone(&entropy))?;
    let (mailer, _) = Mailer::memory("bench@example.com").map_err(anyhow::Error::msg)?;
    let settings = Settings {
        public_url: "http://localhost".to_owned(),
        session_lifetime: Duration::from_hours(1),
        session_max_age: Duration::from_hours(1),
        session_idle: Duration::from_hours(1),
        invitation_lifetime: Duration::from_hours(1),
        reset_lifetime: Duration::from_hours(1),
        runner: attestry_app::RunnerSettings::default(),
        stamper: attestry_app::StamperSettings::default(),
        assistant: attestry_app::assistant::Assistant::default(),
        domains: Hosting::new(attestry_hosting::Settings::Dns(DnsSettings::new("localhost")))?,
        oidc: attestry_oidc::Settings::default(),
    };
    Ok(Ctx::assemble(
        Arc::new(SystemClock),
        entropy,
        Db::open(&config)?,
        keys,
        mailer,
        attestry_blobs::Blobs::memory(),
        settings,
    ))
}

fn read<T: Parse>(text: &str) -> Result<T> {
    T::parse(text).map_err(anyhow::Error::msg)
}

pub(crate) async fn seed(
    data: &Path,
    database: Option<&str>,
    organizations: usize,
    keys: usize,
) -> Result<Vec<Home>> {
    let ctx = context(data, database)?;
    ctx.db.migrate(MIGRATIONS).await?;
    setup::bind_secret_key(&ctx, false).await?;
    let made: Vec<Result<Home>> = stream::iter(0..organizations)
        .map(|number| organization(&ctx, number, keys / organizations))
        .buffer_unordered(8)
        .collect()
        .await;
    let homes = made.into_iter().collect::<Result<Vec<_>>>()?;
    settle(&ctx, database).await?;
    Ok(homes)
}

/// Runs the maintenance that the database would do by itself in time.
async fn settle(ctx: &Ctx, database: Option<&str>) -> Result<()> {
    ctx.db.maintain().await?;
    if let Some(url) = database {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        let driver = tokio::spawn(connection);
        client.batch_execute("VACUUM ANALYZE").await?;
        client.batch_execute("CHECKPOINT").await?;
        drop(client);
        let _ = driver.await;
    }
    // Flush the system's buffers, so that the writes of the seeding do not disturb the measurement.
    std::process::Command::new("sync").status()?;
    Ok(())
}

/// Adds risks to an organization until it has `total`; returns the previous number.
pub(crate) async fn fill(
    data: &Path,
    database: Option<&str>,
    organization: OrganizationId,
    total: usize,
) -> Result<usize> {
    const BATCH: usize = 2000;
    let ctx = context(data, database)?;
    let scope = Scope::system(organization, "bench");
    let matrix = registers::matrix::<Risk>(&ctx, &scope, &Wanted::default(), None).await?;
    let had = usize::try_from(matrix.inherent.cells.iter().map(|cell| cell.count).sum::<i64>())?;
    for start in (had..total).step_by(BATCH) {
        add::<Risk>(&ctx, &scope, (start..total.min(start + BATCH)).map(risk)).await?;
    }
    settle(&ctx, database).await?;
    Ok(had)
}

/// Adds tasks to an organization.
pub(crate) async fn tasks(
    data: &Path,
    database: Option<&str>,
    organization: OrganizationId,
    total: usize,
) -> Result<()> {
    let ctx = context(data, database)?;
    add::<Task>(&ctx, &Scope::system(organization, "bench"), (0..total).map(task)).await?;
    settle(&ctx, database).await
}

fn task(number: usize) -> Result<TaskPatch> {
    Ok(TaskPatch {
        title: Some(read(&format!("Task {number}"))?),
        description: Some(read("Export the list of accounts and have each one confirmed by its owner.")?),
        status: Some(TaskStatus::ALL[number % 4]),
        department: Patch::Value(Department::It),
        frequency: Patch::Value(Frequency::Quarterly),
        due_date: Patch::Value(read("2027-03-31")?),
        ..Default::default()
    })
}

/// Adds completed runs to an automation.
pub(crate) async fn runs(
    data: &Path,
    database: Option<&str>,
    organization: OrganizationId,
    task: TaskId,
    automation: AutomationId,
    total: usize,
) -> Result<()> {
    let ctx = context(data, database)?;
    let scope = Scope::system(organization, "bench");
    let now = ctx.now();
    let made: Vec<Run> = (0..total).map(|_| ended(&ctx, organization, task, automation, now)).collect();
    ctx.db
        .write(async move |t| {
            for run in &made {
                attestry_storage::runs::insert(t, organization, run).await?;
                attestry_storage::runs::finish(t, &scope, run).await?;
            }
            Ok::<_, attestry_storage::Error>(())
        })
        .await?;
    settle(&ctx, database).await
}

fn ended(ctx: &Ctx, organization: OrganizationId, task: TaskId, automation: AutomationId, now: Time) -> Run {
    Run {
        id: ctx.ids.next(),
        organization_id: organization,
        task_id: task,
        automation_id: automation,
        script: 1,
        trigger: Trigger::Scheduled,
        status: RunStatus::Completed,
        event: None,
        created_at: now,
        started_at: Some(now),
        completed_at: Some(now),
        evaluation: Some(Evaluation::Pass),
        reason: Some("The certificate is valid for another 60 days.".to_owned()),
        output: Some("{\"daysLeft\": 60}".to_owned()),
        error: None,
        attachment_id: None,
        logs: vec!["asking www.example.com".to_owned(), "it answered".to_owned()],
    }
}

/// Adds rows to a register, as an import does.
async fn add<R: Stored>(
    ctx: &Ctx,
    scope: &Scope,
    rows: impl Iterator<Item = Result<R::Patch>>,
) -> Result<Vec<Record<R>>> {
    let rows = rows.map(|row| row.map(|row| (0, Ok(row)))).collect::<Result<_>>()?;
    match registers::import::<R>(ctx, scope, rows, false).await? {
        Imported::Made(records) => Ok(records),
        Imported::Checked(errors) => anyhow::bail!("{errors:?}"),
    }
}

async fn organization(ctx: &Ctx, number: usize, keys: usize) -> Result<Home> {
    let new = NewInstallation {
        organization: read(&format!("Organization {number}"))?,
        email: read(&format!("owner{number}@example.com"))?,
        password: Some(read("correct horse battery")?),
        name: None,
    };
    let (founded, made) = setup::by_operator(ctx, new).await?;
    let scope = Scope::system(founded.organization, "bench");
    let users = people(ctx, &scope, number).await?;
    let items =
        users.into_iter().enumerate().map(|(index, user_id)| (index, member(index, user_id))).collect();
    let (created, refused) = members::create_many(ctx, &scope, items).await?;
    anyhow::ensure!(refused.is_empty(), "{refused:?}");
    for index in 1..keys {
        api_key(ctx, founded.organization, number, index).await?;
    }
    let vendors = add::<Vendor>(ctx, &scope, (0..100).map(vendor)).await?;
    let risks = add::<Risk>(ctx, &scope, (0..200).map(risk)).await?;
    Ok(Home {
        organization: founded.organization,
        key: made.text,
        members: created.iter().map(|changed| changed.person.member.id.to_string()).collect(),
        vendors: vendors.iter().map(|vendor| vendor.id.to_string()).collect(),
        risk: risks[0].id.to_string(),
    })
}

fn vendor(number: usize) -> Result<VendorPatch> {
    Ok(VendorPatch {
        name: Some(read(&format!("Vendor {number}"))?),
        description: Some(read("Hosts the servers and keeps the backups.")?),
        category: Some(VendorCategory::Cloud),
        status: Some(VendorStatus::Assessed),
        inherent_probability: Patch::Value(Likelihood::ALL[number % 5]),
        inherent_impact: Patch::Value(Impact::ALL[number / 5 % 5]),
        residual_probability: Patch::Value(Likelihood::Unlikely),
        residual_impact: Patch::Value(Impact::Minor),
        website: Patch::Value(read("vendor.example.com")?),
        ..Default::default()
    })
}

fn risk(number: usize) -> Result<RiskPatch> {
    Ok(RiskPatch {
        title: Some(read(&format!("Risk {number}"))?),
        description: Some(read("A laptop with customer data on it is lost on a train.")?),
        category: Some(RiskCategory::Technology),
        department: Patch::Value(Department::It),
        status: Some(RiskStatus::Open),
        likelihood: Patch::Value(Likelihood::ALL[number % 5]),
        impact: Patch::Value(Impact::ALL[number / 5 % 5]),
        residual_likelihood: Patch::Value(Likelihood::Unlikely),
        residual_impact: Patch::Value(Impact::Minor),
        treatment_strategy: Patch::Value(TreatmentStrategy::Mitigate),
        treatment_strategy_description: Patch::Value(read("Encrypt every disk.")?),
        ..Default::default()
    })
}

async fn api_key(ctx: &Ctx, organization: OrganizationId, number: usize, index: usize) -> Result<()> {
    let email = read(&format!("owner{number}@example.com"))?;
    let new = NewApiKey { name: format!("key {index}"), scopes: Scopes::All, expires_at: None };
    setup::key_by_operator(ctx, organization, &email, new).await?;
    Ok(())
}

fn member(index: usize, user_id: UserId) -> NewMember {
    let department = Department::ALL[index % Department::ALL.len()];
    NewMember {
        user_id,
        role: Roles::stored("employee".to_owned()),
        department,
        is_active: true,
        device_label_id: None,
    }
}

/// Users who were members before, so that they can be added without an invitation.
async fn people(ctx: &Ctx, scope: &Scope, number: usize) -> Result<Vec<UserId>> {
    let now = ctx.now();
    let all: Vec<User> = (0..MEMBERS)
        .map(|index| {
            let (name, email) = (
                format!("Person {index} of {number}"),
                format!("person{index}@organization{number}.example.com"),
            );
            User { last_login: Some(now), ..User::new(ctx.ids.next(), name, email, true, now) }
        })
        .collect();
    let ids = all.iter().map(|user| user.id).collect();
    let (own, ids_of_members) = (scope.clone(), ctx.ids.clone());
    ctx.db
        .write(async move |t| {
            for (index, user) in all.iter().enumerate() {
                users::insert(t, user, None).await?;
                let before = NewMember { is_active: false, ..member(index, user.id) };
                let before = Member::new(ids_of_members.next(), own.organization(), before, now);
                attestry_storage::members::insert(t, &own, &before).await?;
            }
            Ok::<_, attestry_storage::Error>(())
        })
        .await?;
    Ok(ids)
}
