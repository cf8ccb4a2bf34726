//! Realistic data, made through the product's own use cases, journal included.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use attestry_app::keys::Keys;
use attestry_app::setup::{self, NewInstallation};
use attestry_app::{Ctx, Settings, members, risks, vendors};
use attestry_db::{Config, Db};
use attestry_domain::Parse;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::api_keys::{NewApiKey, Scopes};
use attestry_domain::clock::{Entropy, SystemClock, SystemEntropy};
use attestry_domain::id::{OrganizationId, UserId};
use attestry_domain::members::NewMember;
use attestry_domain::risks::{NewRisk, RiskCategory, RiskStatus, TreatmentStrategy};
use attestry_domain::scales::{Impact, Likelihood};
use attestry_domain::users::User;
use attestry_domain::vendors::{NewVendor, VendorCategory, VendorStatus};
use attestry_domain::words::Department;
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

/// A database of its own in the private cluster.
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
        session_idle: Duration::from_hours(1),
        invitation_lifetime: Duration::from_hours(1),
        reset_lifetime: Duration::from_hours(1),
    };
    Ok(Ctx::new(
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
) -> Result<Home> {
    let ctx = context(data, database)?;
    ctx.db.migrate(MIGRATIONS).await?;
    setup::bind_secret_key(&ctx, false).await?;
    let made: Vec<Result<Home>> = stream::iter(0..organizations)
        .map(|number| organization(&ctx, number, keys / organizations))
        .buffer_unordered(8)
        .collect()
        .await;
    let mut homes = made.into_iter().collect::<Result<Vec<_>>>()?;
    settle(&ctx, database).await?;
    homes.pop().context("an organization")
}

/// Lets the database look after what was written, as it does by itself in time.
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
    // What seeding left in the system's own buffers would be written while something else is measured.
    std::process::Command::new("sync").status()?;
    Ok(())
}

/// Adds risks to an organization until it has `total`; how many it had.
pub(crate) async fn fill(
    data: &Path,
    database: Option<&str>,
    organization: OrganizationId,
    total: usize,
) -> Result<usize> {
    const BATCH: usize = 2000;
    let ctx = context(data, database)?;
    let scope = Scope::system(organization, "bench");
    let (inherent, _) = risks::matrix(&ctx, &scope).await?;
    let had = usize::try_from(inherent.iter().map(|cell| cell.count).sum::<i64>())?;
    for start in (had..total).step_by(BATCH) {
        let items = (start..total.min(start + BATCH)).map(risk).collect::<Result<_>>()?;
        risks::create_many(&ctx, &scope, items).await?;
    }
    settle(&ctx, database).await?;
    Ok(had)
}

async fn organization(ctx: &Ctx, number: usize, keys: usize) -> Result<Home> {
    let new = NewInstallation {
        organization: read(&format!("Organization {number}"))?,
        email: read(&format!("owner{number}@example.com"))?,
        password: Some(read("correct horse battery")?),
        name: None,
    };
    let (founded, made) = setup::by_operator(ctx, new).await?;
    let users = people(ctx, number).await?;
    let scope = Scope::system(founded.organization, "bench");
    let items =
        users.into_iter().enumerate().map(|(index, user_id)| (index, member(index, user_id))).collect();
    let (created, refused) = members::create_many(ctx, &scope, items).await?;
    anyhow::ensure!(refused.is_empty(), "{refused:?}");
    for index in 1..keys {
        api_key(ctx, founded.organization, number, index).await?;
    }
    let vendors = vendors::create_many(ctx, &scope, (0..100).map(vendor).collect::<Result<_>>()?).await?;
    let risks = risks::create_many(ctx, &scope, (0..200).map(risk).collect::<Result<_>>()?).await?;
    Ok(Home {
        organization: founded.organization,
        key: made.text,
        members: created.iter().map(|person| person.member.id.to_string()).collect(),
        vendors: vendors.iter().map(|vendor| vendor.id.to_string()).collect(),
        risk: risks[0].id.to_string(),
    })
}

fn vendor(number: usize) -> Result<NewVendor> {
    Ok(NewVendor {
        name: read(&format!("Vendor {number}"))?,
        description: read("Hosts the servers and keeps the backups.")?,
        category: VendorCategory::Cloud,
        status: VendorStatus::Assessed,
        inherent_probability: Likelihood::ALL[number % 5],
        inherent_impact: Impact::ALL[number / 5 % 5],
        residual_probability: Likelihood::Unlikely,
        residual_impact: Impact::Minor,
        website: Some(read("vendor.example.com")?),
        assignee_id: None,
    })
}

fn risk(number: usize) -> Result<NewRisk> {
    Ok(NewRisk {
        title: read(&format!("Risk {number}"))?,
        description: read("A laptop with customer data on it is lost on a train.")?,
        category: RiskCategory::Technology,
        department: Some(Department::It),
        status: RiskStatus::Open,
        likelihood: Likelihood::ALL[number % 5],
        impact: Impact::ALL[number / 5 % 5],
        residual_likelihood: Likelihood::Unlikely,
        residual_impact: Impact::Minor,
        treatment_strategy: TreatmentStrategy::Mitigate,
        treatment_strategy_description: Some(read("Encrypt every disk.")?),
        assignee_id: None,
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

async fn people(ctx: &Ctx, number: usize) -> Result<Vec<UserId>> {
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
    ctx.db
        .write(async move |t| {
            for user in &all {
                users::insert(t, user, None).await?;
            }
            Ok::<_, attestry_storage::Error>(())
        })
        .await?;
    Ok(ids)
}
