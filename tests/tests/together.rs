//! Several servers on one PostgreSQL: many organizations write, sign in and import concurrently without errors.

#![expect(clippy::expect_used, reason = "test code")]

use attestry_app::Ctx;
use attestry_app::identity::setup::{self, NewInstallation};
use attestry_domain::Parse;
use attestry_tests::binary::{Server, command};
use attestry_tests::database::{Database, Engine};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

const SECRET: &str = "a secret that these servers share: 0123456789";
const PASSWORD: &str = "correct horse battery";
const ORGANIZATIONS: usize = 50;
const EVERYWHERE: &str = "everywhere@example.com";

/// Creates an organization and returns an API key; the sign-in of an owner who owns several is recorded in each.
async fn organization(ctx: &Ctx, number: usize, owner: &str) -> String {
    let is_new = number == 0 || owner != EVERYWHERE;
    let new = NewInstallation {
        organization: Parse::parse(&format!("Organization {number}")).expect("a name"),
        email: Parse::parse(owner).expect("an address"),
        password: is_new.then(|| Parse::parse(PASSWORD).expect("a password")),
        name: None,
    };
    setup::by_operator(ctx, new).await.expect("an organization").1.text
}

fn server(database: &Database, data: &TempDir) -> Server {
    let attestry_db::Config::Postgres { url, .. } = database.config() else { unreachable!("PostgreSQL") };
    let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0", "--database-url", &url]);
    serve.env("ATTESTRY_SECRET_KEY", SECRET).env("ATTESTRY_RATE_LIMIT_PUBLIC_PER_SECOND", "0");
    Server::from(serve)
}

async fn post(client: &reqwest::Client, url: String, key: &str, body: Value) {
    let reply = client.post(url).header("x-api-key", key).json(&body).send().await.expect("an answer");
    assert!(reply.status().is_success(), "{}", reply.text().await.expect("text"));
}

#[tokio::test]
async fn organizations_do_not_harm_each_other() {
    let database = Database::create(Engine::Postgres).await;
    let ctx = database.context(SECRET).await;
    let mut keys = Vec::new();
    for number in 0..ORGANIZATIONS {
        keys.push(organization(&ctx, number, EVERYWHERE).await);
    }
    // An import blocks only the writers of its own organization.
    let importing = organization(&ctx, ORGANIZATIONS, "importing@example.com").await;
    let (one, two) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    let servers = [server(&database, &one), server(&database, &two)];
    let client = reqwest::Client::new();
    let writes = keys.iter().enumerate().map(async |(number, key)| {
        for round in 0..6 {
            let url = format!("{}/v1/risks", servers[(number + round) % 2].url);
            let risk = json!({"title": format!("Risk {round}"), "description": "x", "category": "other"});
            post(&client, url, key, risk).await;
            let url = format!("{}/v1/people/invite", servers[(number + round + 1) % 2].url);
            post(&client, url, key, json!({"email": format!("p{round}@example.com"), "role": "employee"}))
                .await;
        }
    });
    let sign_ins = (0..12).map(async |number| {
        let body = json!({"email": EVERYWHERE, "password": PASSWORD});
        post(&client, format!("{}/v1/auth/login", servers[number % 2].url), "", body).await;
    });
    let rows: Vec<String> = (0..5000).map(|number| format!("Imported {number},x,other\n")).collect();
    let table = format!("title,description,category\n{}", rows.concat());
    let import = async {
        let sent = client.post(format!("{}/v1/risks/import", servers[0].url)).header("x-api-key", &importing);
        let reply = sent.header("content-type", "text/csv").body(table).send().await.expect("an answer");
        assert_eq!(reply.status(), 200, "{}", reply.text().await.expect("text"));
    };
    futures_util::join!(join_all(writes), join_all(sign_ins), import);
    let deadlocks = ctx
        .db
        .read(async |t| {
            // PostgreSQL reports a connection's statistics once it is idle.
            t.one("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()", &[], |row| {
                row.int(0)
            })
            .await
        })
        .await
        .expect("counted");
    assert_eq!(deadlocks, 0);
    let log = std::fs::read_to_string(std::env::var("TEST_POSTGRES_LOG").expect("a log")).expect("text");
    let waited: Vec<&str> =
        log.lines().filter(|line| line.contains("still waiting") || line.contains("deadlock")).collect();
    assert!(waited.is_empty(), "somebody waited for a second: {waited:#?}");
    for verdict in attestry_app::identity::organizations::all(&ctx).await.expect("organizations") {
        let verdict =
            attestry_app::core::verification::verify(&ctx, verdict.id, &[]).await.expect("a verdict");
        assert!(matches!(verdict, attestry_app::core::verification::Verdict::Intact { .. }), "{verdict:?}");
    }
    assert!(servers.into_iter().all(Server::stop));
    drop(ctx);
    database.remove().await;
}
